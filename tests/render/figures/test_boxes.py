from itertools import chain

import numpy as np
import reference_render as reference
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.render.figures import crates
from crowd_demo.render.pixels import frame_of, plain_surface

SIZE = 60, 40
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
    frame, list_ = np.zeros(SIZE[::-1], np.uint32), listed(items)
    crates.fill_boxes(workers, frame, list_, table_of(list_), INKS, 16, ordered)
    return frame


def by_pygame(items):
    surface, list_ = plain_surface(SIZE), listed(items)
    crates.fill_plain(surface, list_, table_of(list_), INKS)
    return frame_of(surface) & 0xFFFFFF


def expected(items):
    frame = np.zeros(SIZE[::-1], np.uint32)
    for x, y, side, style, tone in items:
        parts = design(side, style) if side else []
        reference.rectangles(frame, [(x + a, y + b, x + c, y + d, INKS[tone, ink]) for a, b, c, d, ink in parts])
    return frame


@given(squares, st.integers(1, 3))
def test_both_ways_paint_what_the_reference_paints(items, workers):
    frame = expected(items)
    assert np.array_equal(compiled(items, workers, ordered=False), frame)
    assert np.array_equal(by_pygame(items), frame)


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
