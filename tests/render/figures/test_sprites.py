""""""

import numpy as np
import pygame
import pytest
import reference_render as reference
from hypothesis import example, given
from hypothesis import strategies as st

from crowd_demo.render.figures import sprited
from crowd_demo.render.figures.sprited import fade, fade_plain
from crowd_demo.render.figures.sprites import KEPT, Sheet, Sprites, load_manifest, load_sheet
from crowd_demo.sprites.blitter import DrawList, draw_sprites
from crowd_demo.sprites.pixels import NO_TINT, argb, frame_of, plain_surface


def neighbours(colours, cell=(48, 64)):
    """A sheet of plain cells that touch each other."""
    surface = argb((len(colours) * cell[0], cell[1]))
    for column, colour in enumerate(colours):
        surface.fill(colour, (column * cell[0], 0, *cell))
    return Sheet(surface, cell, (24, 56))


@pytest.mark.quick
@given(st.floats(0.01, 4))
def test_the_step_is_the_nearest_that_is_not_too_large(scale):
    atlas = Sprites(neighbours(["red"])).at(scale)
    assert atlas.size[0] <= max(1, round(48 * scale))
    assert atlas.size[0] >= round(48 * scale / 2**0.25 - 1)


@pytest.mark.quick
def test_steps_are_shared_and_only_the_last_few_are_kept():
    sprites = Sprites(neighbours(["red"]))
    first = sprites.at(1.0)
    assert sprites.at(1.1) is first and sprites.at(1.0) is first
    for step in range(KEPT):
        sprites.at(0.1 * 2**step)
    assert sprites.at(1.0) is not first


@pytest.mark.quick
@given(st.floats(0.05, 2))
def test_a_sprite_does_not_bleed_into_its_neighbour(scale):
    atlas = Sprites(neighbours(["red", (0, 0, 0, 0), "blue"])).at(scale)
    atlas.ensure(np.arange(3, dtype=np.int32))
    width, height = atlas.size
    assert atlas.view.box.tolist() == [[0, 0, width, height], [0, 0, 0, 0], [0, 0, width, height]]
    red, _, blue = map(atlas.pixels, range(3))
    assert not (red & 0xFFFF).any() and not (blue & 0xFFFF00).any()


@pytest.mark.quick
def test_only_what_is_asked_for_is_made_and_the_padding_stays_transparent():
    atlas = Sprites(neighbours(["red", "green", "blue"])).at(0.5)
    atlas.ensure(np.array([2, 2], np.int32))
    assert atlas.ready.tolist() == [False, False, True]
    assert [atlas.pixels(number).size for number in range(3)] == [0, 0, 24 * 32]
    assert np.count_nonzero(atlas.view.pixels) == 24 * 32


@pytest.mark.quick
def test_surfaces_are_the_same_pixels_cropped():
    sheet = neighbours([(0, 0, 0, 0)])
    pygame.draw.rect(sheet.surface, "red", (10, 20, 5, 7))
    atlas = Sprites(sheet).at(1.0)
    atlas.ensure(np.zeros(1, np.int32))
    assert atlas.view.box.tolist() == [[10, 20, 5, 7]]
    surface, = atlas.surfaces(np.zeros(1, np.int32), np.array([NO_TINT], np.uint32))
    assert np.array_equal(frame_of(surface), atlas.pixels(0))


@pytest.mark.quick
def test_the_grey_sheet_keeps_shapes_and_has_the_mean_that_colours_are_made_for():
    sheet = neighbours(["red", "green", "blue"])
    grey = sheet.grey()
    pixels, own = frame_of(grey.surface), frame_of(sheet.surface)
    assert np.array_equal(pixels >> 24, own >> 24)
    assert all(np.array_equal(pixels >> shift & 255, pixels & 255) for shift in (8, 16))
    assert (pixels & 255 <= pixels >> 24).all() and len(np.unique(pixels)) == 3


@pytest.mark.quick
def test_sheets_are_read_as_the_manifest_says(assets):
    sheet = load_sheet(assets, load_manifest(assets)["birds"])
    assert (sheet.columns, sheet.sprites, sheet.anchor) == (32, 384, (24, 24))


# --- blit ------------------------------------------------------------------------------------------------------------

SIZE = 70, 40
CELL = 20, 12


def sheet(alphas):
    """Six sprites of noise with transparent edges, premultiplied; one is empty and one has a single pixel."""
    rng = np.random.default_rng(7)
    pixels = np.zeros((CELL[1], 6 * CELL[0]), np.uint32)
    for number in range(4):
        shape = 10 - number, 17 - 5 * number
        alpha = rng.choice(alphas, shape)
        channels = [(rng.integers(0, 256, shape) * alpha // 255) << shift for shift in (0, 8, 16)]
        pixels[1:1 + shape[0], number * CELL[0] + number:][:, :shape[1]] = sum(channels) | alpha << 24
    pixels[-1, -1] = 0xFF804020
    surface = argb((6 * CELL[0], CELL[1]))
    frame_of(surface)[:] = pixels
    return Sheet(surface, CELL, (10, 6))


TINTS = np.array([0xFF204080, NO_TINT, 0xFFFF00FF], np.uint32)
CUT_OUT, SOFT = sheet([0, 255]), sheet(range(256))
draw_lists = st.lists(st.tuples(st.integers(0, 5), st.integers(-30, 80), st.integers(-20, 50)), max_size=12)


def atlas_and_draws(sheet, items, tints=(NO_TINT,)):
    sprite, left, top = np.array(items, np.int32).reshape(-1, 3).T.copy()
    draws = DrawList(sprite, left, top, np.resize(np.array(tints, np.uint32), len(sprite)))
    atlas = Sprites(sheet).at(1.0)
    atlas.ensure(draws.sprite)
    return atlas, draws


def picture(surface):
    return frame_of(surface) & 0xFFFFFF


def background():
    surface = plain_surface(SIZE)
    frame_of(surface)[:] = np.random.default_rng(1).integers(0, 1 << 24, SIZE[::-1])
    return surface


def by_pygame(sheet, items, tints=(NO_TINT,)):
    surface = background()
    sprited.draw_fblits(surface, *atlas_and_draws(sheet, items, tints))
    return picture(surface)


def compiled(sheet, items, workers, ordered, tints=(NO_TINT,)):
    surface = background()
    atlas, draws = atlas_and_draws(sheet, items, tints)
    draw_sprites(workers, frame_of(surface), surface.get_width(), atlas.view, draws, ordered)
    return picture(surface)


@example([(number, 60, 9) for number in range(6)], 1)  # cut by the right edge
@given(draw_lists, st.integers(1, 3))
def test_compiled_rows_paint_what_the_reference_paints(items, workers):
    frame = picture(background())
    reference.paint(frame, [frame_of(SOFT.sprite(number)) for number in range(6)], items)
    assert np.array_equal(compiled(SOFT, items, workers, ordered=False), frame & 0xFFFFFF)


@given(draw_lists, st.integers(1, 3))
def test_an_ordered_list_may_be_searched(items, workers):
    items.sort(key=lambda item: item[2])
    assert np.array_equal(compiled(SOFT, items, workers, ordered=True), compiled(SOFT, items, 1, ordered=False))


@given(draw_lists)
def test_opaque_and_cut_out_pixels_are_pygames_to_the_last_bit(items):
    assert np.array_equal(compiled(CUT_OUT, items, 2, ordered=False), by_pygame(CUT_OUT, items))


@given(draw_lists, st.integers(1, 3))
def test_tinted_sprites_are_the_references_times_their_colours(items, workers):
    frame = picture(background())
    for item, tint in zip(items, np.resize(TINTS, len(items)).tolist(), strict=True):
        sprites = [[[reference.tinted(int(pixel), tint) for pixel in line] for line in frame_of(SOFT.sprite(number))]
                   for number in range(6)] if item else []
        reference.paint(frame, sprites, [item])
    assert np.array_equal(compiled(SOFT, items, workers, False, TINTS), frame & 0xFFFFFF)
    cut_out = compiled(CUT_OUT, items, workers, False, TINTS)
    assert np.array_equal(cut_out, by_pygame(CUT_OUT, items, TINTS))


@given(draw_lists)
def test_half_transparent_pixels_differ_by_at_most_one_a_layer(items):
    for item in items:
        ours, theirs = (paint.view(np.uint8).astype(int) for paint in
                        (compiled(SOFT, [item], 2, ordered=False), by_pygame(SOFT, [item])))
        assert np.abs(ours - theirs).max() <= 1


def test_every_pair_of_alpha_and_colour_blends_like_the_reference():
    alpha, colour = np.meshgrid(np.arange(256, dtype=np.uint32), np.arange(256, dtype=np.uint32))
    surface = argb((256, 256))
    frame_of(surface)[:] = alpha << 24 | (alpha // 2) << 16 | alpha << 8
    target = plain_surface((256, 256))
    frame_of(target)[:] = colour * 0x10101
    atlas = Sprites(Sheet(surface, (256, 256), (0, 0))).at(1.0)
    atlas.ensure(np.zeros(1, np.int32))
    nowhere = np.zeros(1, np.int32)
    draws = DrawList(nowhere, nowhere, nowhere, np.array([NO_TINT], np.uint32))
    draw_sprites(1, frame_of(target), target.get_width(), atlas.view, draws, True)
    expected = [[reference.blend(c * 0x10101, a << 24 | (a // 2) << 16 | a << 8) & 0xFFFFFF for a in range(1, 256)]
                for c in range(0, 256, 15)]
    assert np.array_equal(picture(target)[::15, 1:], expected)


# --- cross-fading ----------------------------------------------------------------------------------------------------

@given(st.integers(0, 2**32 - 1), st.integers(0, 256), st.integers(1, 3))
def test_pictures_are_mixed_by_kernel_by_numpy_and_by_the_reference(seed, share, workers):
    rng = np.random.default_rng(seed)
    one, other = rng.choice([0, 0xFFFFFF, 0x80FF01, *rng.integers(0, 1 << 24, 5)], (2, 7, 19)).astype(np.uint32)
    expected = [[reference.mixed(int(a), int(b), share) for a, b in zip(*lines, strict=True)]
                for lines in zip(one, other, strict=True)]
    compiled, plain = one.copy(), one.copy()
    fade(workers, compiled, other, share)
    fade_plain(plain, other, share)
    assert np.array_equal(compiled, expected) and np.array_equal(plain, expected)
