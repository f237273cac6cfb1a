""""""

from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import reference_render as reference
import render_crowds as crowds
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.compute.hashing import scramble
from crowd_demo.config.loader import load_config
from crowd_demo.config.model import Optimizations
from crowd_demo.config.resources import assets_folder
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.cull import bounds_of
from crowd_demo.render.drawing import FrameInput
from crowd_demo.render.figures import crates
from crowd_demo.render.figures.sprites import load_manifest
from crowd_demo.sprites.pixels import frame_of, plain_surface

SIZE = 80, 50
AHEAD = np.float32(1 / 120)
zooms = st.sampled_from([0.05, 0.4, 1.0, 2.7, 8.0])


def frame_input(agents, half, zoom, workers=2, world=(crowds.WIDTH, crowds.HEIGHT), at=(200.0, 150.0), **changes):
    camera = Camera(world, SIZE)
    camera.look_at(at[0], at[1], zoom)
    options = Optimizations()
    for path, value in {"depth": "off", **changes}.items():
        options.set(path, value)
    columns: Any = SimpleNamespace(half=half)
    handles: Any = None  # crates have no memory
    nowhere = bounds_of(Rect(0, 0, 0, 0), Rect(0, 0, 0, 0))  # culling is over
    return FrameInput(workers, options, columns, agents, AHEAD, np.float64(0), camera, camera.view(), camera.view_rect(),
                      nowhere, handles)


def crowd(seed, count):
    half = np.random.default_rng(seed).uniform(1, 12, count + 16).astype(np.float32)
    slots = np.random.default_rng(seed).permutation(count)[:count - count // 4].astype(np.int32)
    return slots, crowds.crowd(seed, count), half


def figures(half_max=12):
    return crates.CrateFigures(load_config("crates", {"crates.half_max": half_max}), Path(), load_manifest(assets_folder()))


@given(crowds.seeds, crowds.counts, crowds.workers, zooms, st.sampled_from(["compiled", "pygame"]))
def test_crates_are_painted_as_the_reference_paints_them(seed, count, workers, zoom, blitter):
    slots, agents, half = crowd(seed, count)
    taken, surface = frame_input(agents, half, zoom, workers, blitter=blitter), plain_surface(SIZE)
    seen = figures().draw(surface, taken, slots)
    frame, touching, inks = np.zeros(SIZE[::-1], np.uint32), 0, crates.inks()
    for slot in slots:
        x, y, side = reference.square(slot, agents, half, AHEAD, taken.view)
        touching += x < SIZE[0] and x + side > 0 and y < SIZE[1] and y + side > 0
        look = int(scramble(agents.id[slot:slot + 1].astype(np.uint32))[0])
        reference.rectangles(frame, [(x + a, y + b, x + c, y + d, inks[look % 8, ink])
                                     for a, b, c, d, ink in crates.design(side, look // 256 % 4)])
    assert np.array_equal(frame_of(surface) & 0xFFFFFF, frame)
    assert seen == touching


@pytest.mark.quick
def test_the_margin_is_the_largest_half_side_and_a_pixel():
    assert figures(50).margin(0.5) == (52, 52, 52, 52)


# --- boxes -----------------------------------------------------------------------------------------------------------

BOXES_SIZE = 60, 40
INKS = np.arange(1, 7, dtype=np.uint32).reshape(2, 3) * np.uint32(0x102030)
squares = st.lists(st.tuples(st.integers(-40, 70), st.integers(-40, 50), st.integers(0, 30), st.integers(0, 1),
                             st.integers(0, 1)), max_size=12)


def design(side, style):
    """A square with one or two others inside it."""
    return [(0, 0, side, side, 0), (side // 4, style, side // 2, side - 1, 1), (side - 1, 0, side, side, 2)][:3 - style]


def listed(items):
    left, top, side, style, tone = np.array(items, np.int32).reshape(-1, 5).T.copy()
    return crates.Boxes(left, top, side, top + side // 2, style, tone)


def table_of(boxes_):
    patterns = crates.Patterns(design, 2)
    patterns.ensure(boxes_.side)
    return patterns.table


def compiled(items, workers, ordered):
    frame, list_ = np.zeros(BOXES_SIZE[::-1], np.uint32), listed(items)
    crates.fill_boxes(workers, frame, list_, table_of(list_), INKS, 16, ordered)
    return frame


def expected(items):
    frame = np.zeros(BOXES_SIZE[::-1], np.uint32)
    for x, y, side, style, tone in items:
        parts = design(side, style) if side else []
        reference.rectangles(frame, [(x + a, y + b, x + c, y + d, INKS[tone, ink]) for a, b, c, d, ink in parts])
    return frame


@given(squares, st.integers(1, 3))
def test_a_list_ordered_by_the_middle_may_be_searched(items, workers):
    items.sort(key=lambda item: item[1] + item[2] // 2)
    assert np.array_equal(compiled(items, workers, ordered=True), expected(items))


@given(st.lists(st.lists(st.integers(0, 40), max_size=5), max_size=6))
def test_a_side_is_designed_once_and_keeps_its_parts_when_others_come(frames):
    asked = []
    patterns = crates.Patterns(lambda side, style: asked.append((side, style)) or design(side, style), 2)
    for sides in frames:
        patterns.ensure(np.array(sides, np.int32))
        for side in set(sides) - {0}:
            for style in range(2):
                parts = patterns.table.parts[patterns.table.first[side, style]:patterns.table.last[side, style]]
                assert parts.tolist() == [list(part) for part in design(side, style)]
    assert sorted(asked) == sorted((side, style) for side in set(chain(*frames)) - {0} for style in range(2))
