import numpy as np
import pygame
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.render.figures.sprites import KEPT, Sheet, Sprites, argb, load_manifest, load_sheet
from crowd_demo.render.pixels import NO_TINT, frame_of

pytestmark = pytest.mark.quick


def neighbours(colours, cell=(48, 64)):
    """A sheet of plain cells that touch each other."""
    surface = argb((len(colours) * cell[0], cell[1]))
    for column, colour in enumerate(colours):
        surface.fill(colour, (column * cell[0], 0, *cell))
    return Sheet(surface, cell, (24, 56))


@given(st.floats(0.01, 4))
def test_the_step_is_the_nearest_that_is_not_too_large(scale):
    atlas = Sprites(neighbours(["red"])).at(scale)
    assert atlas.size[0] <= max(1, round(48 * scale))
    assert atlas.size[0] >= round(48 * scale / 2**0.25 - 1)


def test_steps_are_shared_and_only_the_last_few_are_kept():
    sprites = Sprites(neighbours(["red"]))
    first = sprites.at(1.0)
    assert sprites.at(1.1) is first and sprites.at(1.0) is first
    for step in range(KEPT):
        sprites.at(0.1 * 2**step)
    assert sprites.at(1.0) is not first


@given(st.floats(0.05, 2))
def test_a_sprite_does_not_bleed_into_its_neighbour(scale):
    atlas = Sprites(neighbours(["red", (0, 0, 0, 0), "blue"])).at(scale)
    atlas.ensure(np.arange(3, dtype=np.int32))
    width, height = atlas.size
    assert atlas.view.box.tolist() == [[0, 0, width, height], [0, 0, 0, 0], [0, 0, width, height]]
    red, _, blue = map(atlas.pixels, range(3))
    assert not (red & 0xFFFF).any() and not (blue & 0xFFFF00).any()


def test_only_what_is_asked_for_is_made_and_the_padding_stays_transparent():
    atlas = Sprites(neighbours(["red", "green", "blue"])).at(0.5)
    atlas.ensure(np.array([2, 2], np.int32))
    assert atlas.ready.tolist() == [False, False, True]
    assert [atlas.pixels(number).size for number in range(3)] == [0, 0, 24 * 32]
    assert np.count_nonzero(atlas.view.pixels) == 24 * 32


def test_sprites_lie_close_together_in_rows_of_eights():
    sheet = neighbours(["red", "green", "blue"])
    for number, width in enumerate((8, 9, 20)):
        sheet.surface.fill(0, (48 * number + width, 0, 48 - width, 64))
    atlas = Sprites(sheet).at(1.0)
    atlas.ensure(np.array([1], np.int32))
    atlas.ensure(np.array([0, 2], np.int32))
    assert atlas.view.first.tolist() == [64 * 16, 0, 64 * (16 + 8)]
    for number, (width, colour) in enumerate(zip((8, 9, 20), (0xFFFF0000, 0xFF00FF00, 0xFF0000FF), strict=True)):
        assert atlas.pixels(number).shape == (64, width) and (atlas.pixels(number) == colour).all()


@given(st.floats(0.05, 1))
def test_shrunk_pixels_stay_premultiplied(scale):
    surface = argb((48, 64))
    alpha = np.random.default_rng(0).integers(0, 256, (64, 48))
    frame_of(surface)[:] = alpha << 24 | 0xFF8040
    atlas = Sprites(Sheet(surface.premul_alpha(), (48, 64), (24, 56))).at(scale)
    atlas.ensure(np.zeros(1, np.int32))
    pixels = atlas.pixels(0)
    for shift in (0, 8, 16):
        assert (pixels >> shift & 255 <= pixels >> 24).all()


def test_surfaces_are_the_same_pixels_cropped():
    sheet = neighbours([(0, 0, 0, 0)])
    pygame.draw.rect(sheet.surface, "red", (10, 20, 5, 7))
    atlas = Sprites(sheet).at(1.0)
    atlas.ensure(np.zeros(1, np.int32))
    assert atlas.view.box.tolist() == [[10, 20, 5, 7]]
    surface, = atlas.surfaces(np.zeros(1, np.int32), np.array([NO_TINT], np.uint32))
    assert np.array_equal(frame_of(surface), atlas.pixels(0))


def test_means_are_those_of_the_pixels_weighted_by_their_opacity():
    sheet = neighbours([(0, 0, 0, 0)] * 3)
    sheet.surface.fill((200, 100, 0, 255), (0, 0, 10, 10))
    sheet.surface.fill((0, 0, 60, 255), (48, 0, 10, 30))
    sheet.surface.fill((50, 25, 0, 127), (96, 0, 10, 20))  # premultiplied: half of (100, 50, 0)
    means = sheet.means(np.array([0, 1, 0], np.int32))
    assert means.colours.tolist() == [(round(255 * 300 / 509.0)) << 16 | round(255 * 150 / 509.0) << 8, 60]
    assert means.area == pytest.approx((100 + 300 + 200 * 127 / 255) / 3)


def test_the_grey_sheet_keeps_shapes_and_has_the_mean_that_colours_are_made_for():
    sheet = neighbours(["red", "green", "blue"])
    grey = sheet.grey()
    pixels, own = frame_of(grey.surface), frame_of(sheet.surface)
    assert np.array_equal(pixels >> 24, own >> 24)
    assert all(np.array_equal(pixels >> shift & 255, pixels & 255) for shift in (8, 16))
    assert (pixels & 255 <= pixels >> 24).all() and len(np.unique(pixels)) == 3


def test_sheets_are_read_as_the_manifest_says(assets):
    sheet = load_sheet(assets, load_manifest(assets)["birds"])
    assert (sheet.columns, sheet.sprites, sheet.anchor) == (32, 384, (24, 24))
