"""Legends, the minimap, the timeline and sliders."""

import numpy as np
import pygame
import pytest
from crowds import FLOCK, simulation
from hud_spy import Spy
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.config.loader import load_config
from crowd_demo.config.model import value_of
from crowd_demo.render.camera import Rect
from crowd_demo.render.colours.base import Legend, ramp
from crowd_demo.render.hud.canvas import THEMES, Canvas, Pen, scale_for
from crowd_demo.render.hud.navigation import (
    DARK,
    Minimap,
    column_of,
    label,
    picture_of,
    rendered,
    tick_at,
)
from crowd_demo.render.hud.panel_layout import PanelSection, bar_of
from crowd_demo.render.hud.sections import NEAR, SliderScale, rows_in_view
from crowd_demo.render.hud.status import Key, LegendItem, MinimapView, Past
from crowd_demo.render.hud.text_panels import EDGES, LINE, draw_colour_legend, draw_legend

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


@pytest.mark.quick
def test_names_stand_beside_texts_or_beside_colours_where_there_is_no_text() -> None:
    first, second, third = (key.what for key in KEYS)
    assert lines(600) == [["culling", "8,000 agents tested"], [first, second, third], ["bodies", first],
                          ["links", "there are none"]]
    assert lines(210) == [["culling", "8,000 agents tested"], [first], [second, third], ["bodies", first],
                          ["links", "there are none"]]


@pytest.mark.quick
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


# --- the legend of the colour mode -----------------------------------------------------------------------------------

SIX = Legend("density", ramp(((0, 0, 255), (255, 0, 0)), 6), ("A free", "B", "C", "D", "E", "F jammed"))
RAMP = Legend("speed", ramp(((0, 0, 0), (255, 255, 0)), 24), ("standing", "80 units/s"))


def colours_in(canvas: Canvas) -> set[tuple[int, int, int]]:
    surface = canvas.surface
    width, height = surface.get_size()
    return {tuple(surface.get_at((x, y)))[:3] for x in range(width) for y in range(height)}  # type: ignore[misc]


@pytest.mark.parametrize("scale", [0.7, 1.15, 2.0])
@pytest.mark.parametrize("legend", [SIX, RAMP])
@pytest.mark.quick
def test_a_legend_shows_every_colour_at_every_size(legend: Legend, scale: float) -> None:
    assert set(legend.colours) <= colours_in(draw_colour_legend(legend, 520, Pen(), scale))


@pytest.mark.quick
def test_a_legend_is_as_wide_as_its_texts_and_no_wider_than_its_room() -> None:
    assert draw_colour_legend(SIX, 520, Pen(), 1.0).size[0] < 520
    narrow, one_line = draw_colour_legend(SIX, 200, Pen(), 1.0), draw_colour_legend(SIX, 520, Pen(), 1.0)
    assert narrow.size[0] <= 200 and set(SIX.colours) <= colours_in(narrow)
    assert narrow.size[1] > one_line.size[1], "nothing is cut: it has more lines"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("texts", [("dark", "light"), ("from", "over", "to")])
@pytest.mark.quick
def test_colours_like_the_panels_have_an_outline(theme: str, texts: tuple[str, ...]) -> None:
    pen = Pen(theme=THEMES[theme])
    panel = pen.colour("panel")[:3]
    drawn = draw_colour_legend(Legend("", (panel, panel), texts), 520, pen, 1.0)
    assert pen.colour("faint") in colours_in(drawn)


@pytest.mark.quick
def test_a_click_on_it_goes_on_to_the_next_mode() -> None:
    targets = [region.target for region in draw_colour_legend(RAMP, 520, Pen(), 1.0).targets]
    assert [(target.kind, target.name) for target in targets] == [("action", "colours")]


# --- The minimap, and the bar that shows how far back one can go -----------------------------------------------------

SAND = np.full((3, 4, 3), (188, 178, 158), np.uint8)


def test_the_minimap_shows_the_world_the_crowd_and_the_view() -> None:
    sim = simulation(**FLOCK)
    before = sim.state_hash()
    columns, count = sim.agents.columns, sim.agents.count
    picture = picture_of(sim, SAND, (100, 80)).astype(int)
    dark = np.abs(picture - SAND[0, 0]).max(axis=2) > 8
    seen = np.zeros((100, 80), bool)
    seen[(columns.x[:count] / 5).astype(int).clip(0, 99), (columns.y[:count] / 5).astype(int).clip(0, 79)] = True
    assert np.array_equal(dark, seen) and not (picture == np.array(DARK)).all(axis=2).any()
    minimap, pen = Minimap(), Pen()
    views = (Rect(0, 0, 500, 400), None), (Rect(100, 100, 200, 200), None), (Rect(100, 100, 200, 200), Rect(50, 50, 300, 300))
    looks = [pygame.surfarray.array3d(minimap.draw(sim, MinimapView(view, frozen, SAND), pen, 1.0, 0.0).surface)
             for view, frozen in views]
    assert not np.array_equal(looks[0], looks[1]) and not np.array_equal(looks[1], looks[2])
    assert sim.state_hash() == before


@pytest.mark.parametrize("scale", [1.0, 1.7])
def test_each_pixel_is_a_place_of_the_world(scale: float) -> None:
    sim = simulation("20k-flock", agents=50, map="null", world__width=400.0, world__height=300.0)
    minimap = Minimap()
    canvas = minimap.draw(sim, MinimapView(Rect(190, 140, 210, 160), None, SAND), Pen(), scale, 0.0)
    width, height = canvas.surface.get_size()
    assert minimap.world_at(width / 2, height / 2) == pytest.approx((200, 150), abs=5)
    edge = 6 * scale
    assert minimap.world_at(edge, edge) == pytest.approx((0, 0), abs=5)
    assert minimap.world_at(width - edge, height - edge) == pytest.approx((400, 300), abs=5)


# --- the timeline ----------------------------------------------------------------------------------------------------

SPAN = 3600


def past(oldest: int = 1000, newest: int = 4000, tick: int = 4000, ms: float = 5.0) -> Past:
    return Past(oldest, newest, tick, SPAN, 60.0, 61_000_000, 64_000_000, np.full(SPAN, ms, np.float32))


@pytest.mark.quick
@pytest.mark.parametrize("size", [(800, 600), (1280, 720), (2560, 1440), (64, 64)])
def test_a_press_on_the_column_of_a_tick_goes_to_it_as_nearly_as_pixels_allow(size: tuple[int, int]) -> None:
    bar, known = bar_of(size, scale_for(size)), past()
    assert pygame.Rect((0, 0), size).contains(bar)
    for tick in (1000, 1234, 2500, 3999, 4000):
        found = tick_at(known, bar.left + column_of(known, tick, bar.width), bar)
        assert abs(found - tick) <= SPAN / bar.width + 1
    assert tick_at(known, -500, bar) == 1000 and tick_at(known, 10_000, bar) == 4000


@pytest.mark.quick
def test_it_says_where_one_is_and_how_far_back_one_can_go() -> None:
    assert label(past()) == "rewind 50 s (61 of 64 MB)"
    assert label(past()._replace(recorded=12_345)) == "rewind 50 s (61 of 64 MB), recording 0.01 MB"
    assert label(past(tick=3700)) == (
        "5.00 s ago, tick 3,700: changes discard what follows   (rewind 50 s (61 of 64 MB))")


@pytest.mark.quick
def test_what_cannot_be_returned_to_is_darker_and_slow_frames_are_higher() -> None:
    times = np.full(SPAN, 2, np.float32)
    times[3000:3100] = 18
    sheet = rendered((360, 30), past()._replace(frame_ms=times), Pen())
    pixels = pygame.surfarray.array3d(sheet).astype(int).sum(axis=2)
    assert (pixels[150, 7:25] > pixels[20, 7:25]).all(), "ground within reach"
    heights = (pixels[:, 7:29] != pixels[150, 7]).sum(axis=1)
    assert heights[305] > 18 and heights[200] < 10


# --- Sliders: a place stands for a number and back, the ends for the ends, and near the usual number for  ------------

CONFIGS = [load_config(name, [f"behaviour={behaviour}"]) for name, behaviour in (
    ("20k", "crowd"), ("20k-flock", "flock"), ("predators", "hunt"), ("crates", "crates"), ("cloth", "flock"))]
SCALES = [SliderScale.of(number.low, number.high, value_of(config, number.path), number.is_whole)
          for config in CONFIGS for number in config.numbers]
scales = st.sampled_from(SCALES)


@given(scales, st.floats(0, 1))
@pytest.mark.quick
def test_a_place_stands_for_a_number_of_the_range(scale: SliderScale, position: float) -> None:
    value = scale.value_at(position)
    assert scale.low <= value <= scale.high and (not scale.is_whole or value == int(value))
    if value != scale.usual and not scale.is_whole and position > 0.06:
        assert scale.position(value) == pytest.approx(position, abs=0.01)


@given(scales, st.floats(0, 1), st.floats(0, 1))
@pytest.mark.quick
def test_farther_right_is_no_less(scale: SliderScale, one: float, other: float) -> None:
    left, right = sorted((one, other))
    assert scale.value_at(left) <= scale.value_at(right)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.quick
def test_ends_and_the_usual_value(scale: SliderScale) -> None:
    assert scale.value_at(0) == scale.low or scale.position(scale.usual) < NEAR
    assert scale.value_at(1) == scale.high or scale.position(scale.usual) > 1 - NEAR
    usual = scale.position(scale.usual)
    assert 0 <= usual <= 1 and scale.value_at(usual) == scale.usual


@given(st.integers(0, 60), st.integers(-5, 99), st.floats(50, 900))
@pytest.mark.quick
def test_what_is_in_view_is_there(total: int, first: int, room: float) -> None:
    shown = rows_in_view(total, first, room, [PanelSection("header", 80, lambda on, top: None, None)])
    assert 0 <= shown.start <= shown.stop <= total and (shown or not total)
