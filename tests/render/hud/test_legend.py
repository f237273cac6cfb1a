"""The legend of overlays: each with its name, its text, and its colours in as many lines as they take."""

from __future__ import annotations

import pytest
from hud_spy import Spy

from crowd_demo.render.hud.status import Key, LegendItem
from crowd_demo.render.hud.text_panels import EDGES, LINE, LegendPart, draw_legend, in_lines, width_of

pytestmark = pytest.mark.quick
KEYS = Key((200, 0, 0), "taken without a test"), Key((0, 200, 0), "tested", dashed=True), Key((0, 0, 200), "left out")
ITEMS = (LegendItem("culling", "8,000 agents tested", KEYS), LegendItem("bodies", "", KEYS[:1]),
        LegendItem("links", "there are none"))


def lines(room: float) -> list[list[str]]:
    """What is written, line by line."""
    spy = Spy()
    canvas = draw_legend(ITEMS, room, spy, 1.0)
    assert all(canvas.surface.get_rect().contains(each.box) for each in spy.written)
    middles = sorted({each.box.centery for each in spy.written})
    return [[each.text for each in spy.written if each.box.centery == middle] for middle in middles]


def test_names_stand_beside_texts_or_beside_colours_where_there_is_no_text() -> None:
    first, second, third = (key.what for key in KEYS)
    assert lines(600) == [["culling", "8,000 agents tested"], [first, second, third], ["bodies", first],
                          ["links", "there are none"]]
    assert lines(250) == [["culling", "8,000 agents tested"], [first], [second, third], ["bodies", first],
                          ["links", "there are none"]]


def test_it_is_no_higher_than_its_lines() -> None:
    heights = [draw_legend((item,), 600, Spy(), 1.0).size[1] for item in (*ITEMS, LegendItem("links", ""))]
    assert heights == [EDGES + LINE * lines for lines in (2, 1, 1, 1)]


def test_what_has_more_lines_than_there_is_room_for_scrolls() -> None:
    def shown(first: int) -> tuple[list[str], list[str]]:
        spy = Spy()
        canvas = draw_legend(ITEMS, 600, spy, 1.0, 3, first)
        assert canvas.size[1] == EDGES + 3 * LINE
        return spy.texts, [each.target.name for each in canvas.targets]

    names = {item.name for item in ITEMS}
    assert [text for text in shown(0)[0] if text in names] == ["culling", "bodies"]
    assert [text for text in shown(1)[0] if text in names] == ["culling", "bodies", "links"], "a name stays with its lines"
    assert shown(9) == shown(1) and shown(0)[1] == ["1"], "one line is not shown"
    assert not draw_legend(ITEMS, 600, Spy(), 1.0, 4).targets


def test_a_line_has_as_many_parts_as_fit() -> None:
    parts = [LegendPart(wide, lambda *_: None) for wide in (30, 40, 50, 200, 10)]
    found = in_lines(parts, 100, 10)
    assert [[part.wide for part in line] for line in found] == [[30, 40], [50], [200], [10]]
    assert width_of(found[0], 10) == 80 and in_lines([], 100, 10) == [[]]
