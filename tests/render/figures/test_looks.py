"""People of all looks: told apart from near, made as their dyes say, and never more than there is room for."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pygame
import pytest
from eyes import EYES, lab_of
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.config.behaviours import PeopleSettings
from crowd_demo.config.resources import assets_folder
from crowd_demo.render.drawing import Bounds, moving
from crowd_demo.render.figures import sprites
from crowd_demo.render.figures.people import (
    DIRECTIONS,
    FADE_S,
    POSES,
    SPOT,
    STAND_POSE,
    STRONGEST,
    SpotIcons,
    choose_icons,
    fading,
    spots_in,
    strength,
)
from crowd_demo.render.figures.sprites import FAINTEST, FULL_DYE, DyedAtlas, DyedSheet, load_dyed, load_manifest
from crowd_demo.render.inks import channels_of
from crowd_demo.sprites.pixels import frame_of

pytestmark = pytest.mark.quick
NEAR, STONE = 1.0, (205, 193, 174)  # of the sheet: a zoom of 2; a light ground


@pytest.fixture(scope="module")
def sheet():
    found = load_dyed(assets_folder(), load_manifest(assets_folder())["people"])
    assert isinstance(found, DyedSheet)
    return found


def cell_of(atlas, number):
    """A sprite that exists in its cell: uint32[height, width]."""
    cell, (x, y, width, height) = np.zeros(atlas.size[::-1], np.uint32), atlas.view.box[number].tolist()
    cell[y:y + height, x:x + width] = atlas.pixels(number)
    return cell


def standing(sheet, direction):
    """All looks in that direction over stone: float [looks, height, width, 3], and where anybody is."""
    numbers = (np.arange(len(sheet.shape), dtype=np.int32) * DIRECTIONS + direction) * POSES + STAND_POSE
    atlas = DyedAtlas(sheet, NEAR)
    atlas.ensure(numbers)
    pixels = np.stack([cell_of(atlas, number) for number in numbers])
    alpha = (pixels >> 24)[..., None] / 255
    return channels_of(pixels) + np.array(STONE) * (1 - alpha), alpha[..., 0] > 0.5


@pytest.mark.parametrize("direction", [2, 6, 0])
def test_forty_looks_and_more_are_told_apart_from_near(sheet, direction):
    """By the mean distance in Lab of the pixels where one of the two is: from any side."""
    seen, there = standing(sheet, direction)
    tones = lab_of(seen, EYES["usual"])
    apart = [float(np.linalg.norm(tones[a] - tones[b], axis=-1)[there[a] | there[b]].mean())
             for a, b in combinations(range(len(seen)), 2)]
    assert len(seen) >= 40 and min(apart) > 8, min(apart)


@given(st.integers(0, 47), st.integers(0, 87), st.sampled_from([1.0, 0.5, 0.21]))
def test_a_sprite_is_its_drawing_and_so_much_of_each_dye(sheet, look, column, scale):
    number = np.array([look * 88 + column], np.int32)
    atlas, drawing = DyedAtlas(sheet, scale), int(sheet.shape[look]) * 88 + column
    atlas.ensure(number)
    base, shares = (frame_of(pygame.transform.smoothscale(each.sprite(drawing), atlas.size))
                    for each in (sheet.shapes, sheet.dyes))
    x, y, width, height = atlas.view.box[number[0]].tolist()
    faint = np.ones_like(base, bool)
    faint[y:y + height, x:x + width] = False
    assert (base[faint] >> 24 < FAINTEST).all()
    base, shares = np.where(faint, 0, base), np.where(faint, 0, shares)
    parts = np.stack([shares >> shift & 255 for shift in (16, 8, 0, 24)], axis=-1)
    lit = channels_of(base) + parts @ sheet.colours[look] / FULL_DYE
    expected = np.minimum(lit, (base >> 24)[..., None])
    found = cell_of(atlas, int(number[0]))
    assert np.array_equal(found >> 24, base >> 24)
    assert np.abs(channels_of(found).astype(float) - expected).max() <= 1.5


def test_all_looks_of_a_drawing_are_made_at_once_and_others_are_not(sheet, monkeypatch):
    monkeypatch.setattr(sprites, "MAX_AHEAD", 0)
    atlas = DyedAtlas(sheet, 0.5)
    atlas.ensure(np.array([5], np.int32))
    assert np.flatnonzero(atlas.ready).tolist() == [5, 88 + 5, 2 * 88 + 5, 3 * 88 + 5]


@pytest.mark.parametrize("shown", [np.array([5], np.int32), np.zeros(0, np.int32)], ids=["somebody", "nobody"])
def test_sprites_that_nobody_needs_yet_are_made_a_few_in_a_picture_and_like_those_that_are_needed(sheet, shown):
    atlas, at_once = DyedAtlas(sheet, 0.3), DyedAtlas(sheet, 0.3)
    before, pictures = 0, 0
    while not atlas.ready.all():
        atlas.ensure(shown)
        made, before, pictures = int(atlas.ready.sum()) - before, int(atlas.ready.sum()), pictures + 1
        assert 0 < made <= 4 * (sprites.FEW + 1)
    assert pictures <= -(-sheet.shapes.sprites // sprites.FEW)
    at_once.ensure(np.arange(sheet.sprites, dtype=np.int32))
    assert np.array_equal(atlas.view.box, at_once.view.box)
    assert all(np.array_equal(atlas.pixels(number), at_once.pixels(number)) for number in range(0, sheet.sprites, 7))
    assert len(atlas.view.pixels) < 3 * atlas.view.first.max(), "room for all, and little more"


def test_an_atlas_is_emptied_before_it_grows_too_large(sheet, monkeypatch):
    monkeypatch.setattr(sprites, "MAX_PIXELS", 5000)
    monkeypatch.setattr(sprites, "MAX_AHEAD", 0)
    atlas = DyedAtlas(sheet, 0.5)
    for number in range(40):
        atlas.ensure(np.array([number], np.int32))
        assert atlas.ready[number] and len(atlas.view.pixels) < 12_000
    assert 0 < atlas.ready.sum() < 160
    fresh = DyedAtlas(sheet, 0.5)
    fresh.ensure(np.array([39], np.int32))
    assert np.array_equal(atlas.pixels(39), fresh.pixels(39))
    first, (width, height) = atlas.view.first[39], atlas.view.box[39, 2:]
    padded = atlas.view.pixels[first:first + height * -(-width // 8) * 8].reshape(height, -1)
    assert not padded[:, width:].any(), "nothing of the sprites that were there before"


# --- icons of people: who has one, how strong it is, and that nothing but the crowd and the view decides -------------

SETTINGS = PeopleSettings(wait_s=10, stuck_s=2)


def strengths(state, *timers, settings=SETTINGS):
    return [strength(np.int32(state), np.float32(timer), fading(settings)) for timer in timers]


def chosen(agents, slots, power, bounds):
    """Slots of those who have an icon when they wait, and for so long that it is as strong as `power` says."""
    timer = ((np.asarray(power) + 0.5) / STRONGEST * FADE_S).astype(np.float32)
    timer[np.asarray(power) == STRONGEST] = 1
    spots = spots_in(bounds)
    count = spots.cells
    found = SpotIcons(np.empty(count, np.int64), np.empty(count, np.int32))
    choose_icons(slots, agents, np.ones(len(timer), np.int32), timer, np.float32(0), fading(SETTINGS), spots, found)
    return found.slot[found.key < 1 << 62].tolist()


def test_icons_of_those_who_wait_come_and_go_within_half_a_second():
    assert strengths(1, 10, 9.75, 9.5, 5, 0.5, 0.25, 0) == [0, 127, 255, 255, 255, 127, 0]


def test_icons_of_those_who_are_stuck_grow_from_nothing_and_are_gone_before_they_walk():
    assert strengths(2, 0, 1, 2, 2.5, 3, 4) == [0, 0, 0, 127, 255, 255]


def test_beyond_the_edges_of_the_world_are_spots_too():
    x, still = np.array([-1, 1], np.float32), np.zeros(2, np.float32)
    agents = moving(SimpleNamespace(id=np.array([7, 3], np.int32), x=x, y=x, vx=still, vy=still))
    bounds = Bounds(*map(np.float32, (-SPOT, -SPOT, SPOT, SPOT)))
    assert chosen(agents, np.array([0, 1], np.int32), [9, 9], bounds) == [0, 1]
