"""The legends: of overlays, each with its name, text and colours in as many lines as they take; and of the colour mode."""

from __future__ import annotations

import pytest
from hud_spy import Spy

from crowd_demo.render.colours.base import Legend, ramp
from crowd_demo.render.hud.canvas import THEMES, Canvas, Pen
from crowd_demo.render.hud.status import Key, LegendItem
from crowd_demo.render.hud.text_panels import EDGES, LINE, LegendPart, draw_colour_legend, draw_legend, in_lines, width_of

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
    assert lines(210) == [["culling", "8,000 agents tested"], [first], [second, third], ["bodies", first],
                          ["links", "there are none"]]


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


# --- the legend of the colour mode -----------------------------------------------------------------------------------

SIX = Legend("density", ramp(((0, 0, 255), (255, 0, 0)), 6), ("A free", "B", "C", "D", "E", "F jammed"))
RAMP = Legend("speed", ramp(((0, 0, 0), (255, 255, 0)), 24), ("standing", "80 units/s"))


def colours_in(canvas: Canvas) -> set[tuple[int, int, int]]:
    surface = canvas.surface
    width, height = surface.get_size()
    return {tuple(surface.get_at((x, y)))[:3] for x in range(width) for y in range(height)}  # type: ignore[misc]


@pytest.mark.parametrize("scale", [0.7, 1.15, 2.0])
@pytest.mark.parametrize("legend", [SIX, RAMP])
def test_a_legend_shows_every_colour_at_every_size(legend: Legend, scale: float) -> None:
    assert set(legend.colours) <= colours_in(draw_colour_legend(legend, 520, Pen(), scale))


def test_a_legend_is_as_wide_as_its_texts_and_no_wider_than_its_room() -> None:
    wide = draw_colour_legend(SIX, 520, Pen(), 1.0).size[0]
    assert wide < 520
    narrow, one_line = draw_colour_legend(SIX, 200, Pen(), 1.0), draw_colour_legend(SIX, 520, Pen(), 1.0)
    assert narrow.size[0] <= 200 and set(SIX.colours) <= colours_in(narrow)
    assert narrow.size[1] > one_line.size[1], "nothing is cut: it has more lines"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("texts", [("dark", "light"), ("from", "over", "to")])
def test_colours_like_the_panels_have_an_outline(theme: str, texts: tuple[str, ...]) -> None:
    pen = Pen(theme=THEMES[theme])
    panel = pen.colour("panel")[:3]
    drawn = draw_colour_legend(Legend("", (panel, panel), texts), 520, pen, 1.0)
    assert pen.colour("faint") in colours_in(drawn)


def test_a_click_on_it_goes_on_to_the_next_mode() -> None:
    targets = [region.target for region in draw_colour_legend(RAMP, 520, Pen(), 1.0).targets]
    assert [(target.kind, target.name) for target in targets] == [("action", "colours")]
