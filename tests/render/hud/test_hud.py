"""The HUD shows what it is told: by the texts that it writes, the targets that it registers, and pixels where it draws."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest
from crowds import PLACES, open_world, simulation
from hud_spy import KEYS, ContrastSpy, Spy, changed, colour_of_text, crowd, drawn, picture, pixels, texts
from numpy.typing import NDArray

from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen.notices import Notices, welcome
from crowd_demo.config.events import ScenarioEvent
from crowd_demo.config.keys import Keys
from crowd_demo.profile import Profile
from crowd_demo.registry.entries import Technique
from crowd_demo.registry.readouts import READOUTS
from crowd_demo.registry.stages import PARTS
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES, hud_word
from crowd_demo.registry.texts import digits_text
from crowd_demo.render.colours.base import Legend
from crowd_demo.render.hud.canvas import DARK, LIGHT, THEMES, WARM, Canvas, Pen, Target, scale_for
from crowd_demo.render.hud.hud import Hud
from crowd_demo.render.hud.panel_layout import ON_PANEL
from crowd_demo.render.hud.status import (
    Clock,
    Hovered,
    Inspection,
    LegendItem,
    PanelSettings,
    Past,
    Status,
    Tick,
    TourView,
    speed_text,
    time_text,
)
from crowd_demo.render.hud.text_panels import tip_of
from crowd_demo.render.hud.views import ListView, Row
from crowd_demo.sim.simulation import Simulation

pytestmark = pytest.mark.quick
BUNDLED = "freesansbold.ttf"


def label_in_panel(technique: Technique) -> str:
    return "  " * technique.detail + technique.label


def test_both_panels_are_drawn_and_the_middle_is_left_free() -> None:
    after = drawn(Hud(KEYS), crowd(walking=90, waiting=8, stuck=2))
    differs = (after != pixels(picture())).any(axis=2)
    assert differs[20:300, 30:300].mean() > 0.99 and differs[1020:1240, 30:220].mean() > 0.99 and not differs[340:940].any()


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda technique: technique.path)
def test_the_row_of_a_technique_shows_its_value(technique: Any) -> None:
    sim = crowd()
    for value in technique.choices:
        sim.optimizations.set(technique.path, value)
        found = texts(sim)
        found = found[found.index("search"):]
        assert any(text.split(",")[0] == hud_word(value) for text in found[found.index(label_in_panel(technique)) + 1:][:4])


def test_speeds_and_times_are_written_as_people_do() -> None:
    assert [speed_text(speed) for speed in (1 / 8, 0.3, 0.5, 1.0, 1.5, 64.0)] == ["x1/8", "x0.3", "x1/2", "x1", "x1.5", "x64"]
    assert [f"x{digits_text(speed)}" for speed in (0.467, 0.999, 4.06, 9.96, 41.7)] == ["x0.47", "x1.0", "x4.1", "x10", "x42"]
    assert [time_text(seconds) for seconds in (0.0, 59.99, 3 * 0.1, 61.2, 7325.9)] == [
        "0:00:00.0", "0:00:59.9", "0:00:00.3", "0:01:01.2", "2:02:05.9"]


def header(status: Status) -> NDArray[np.uint8]:
    return drawn(Hud(KEYS), crowd(), status)[:320, :122]


def test_a_speed_that_is_not_reached_is_told_in_a_warning_colour() -> None:
    for asked, real, text in ((16.0, 4.0, "real x4.0"), (1.0, 0.47, "real x0.47")):
        assert not any(text.startswith("real") for text in texts(crowd(), Status(speed=asked)))
        assert colour_of_text(crowd(), text, Status(speed=asked, clock=Clock(real_speed=real))) == WARM
    assert colour_of_text(crowd(), "paused", Status(paused=True)) == WARM


def test_a_number_of_the_header_moves_nothing_else() -> None:
    before = header(Status(clock=Clock(60.0, None, 59, 0.9)))
    others = {Clock(9.0, None, 59, 0.9): 40, Clock(960.0, None, 59, 0.9): 50, Clock(60.0, None, 123_456, 0.9): 95,
              Clock(60.0, None, 59, 3599.9): 75, Clock(60.0, 0.47, 59, 0.9): 75}
    for other, width in others.items():
        box = changed(before, header(Status(clock=other)))
        assert 0 < box.width < width and box.height < 18


def test_panels_are_rendered_eight_times_a_second_and_not_in_the_same_frame() -> None:
    sim, hud = crowd(), Hud(KEYS)
    drawn(hud, sim)
    panels = hud.panels
    renewed = []
    for frame in range(1, 101):
        drawn(hud, sim, now_s=frame / 100)
        renewed.append(sum(new is not old for new, old in zip(hud.panels, panels, strict=True)))
        panels = hud.panels
    assert max(renewed) == 1 and 14 <= sum(renewed) <= 18


def test_in_slow_frames_the_panels_are_renewed_in_turn() -> None:
    sim, hud = crowd(), Hud(KEYS)
    drawn(hud, sim)
    renewed = []
    for frame in range(1, 7):
        panels = hud.panels
        drawn(hud, sim, now_s=frame / 3)
        renewed.append([new is not old for new, old in zip(hud.panels, panels, strict=True)])
    assert renewed == [[False, True], [True, False]] * 3


@pytest.mark.parametrize("size", [(640, 360), (400, 300), (200, 120), (64, 48), (16, 16)])
@pytest.mark.parametrize("face", [None, BUNDLED])
def test_any_size_of_the_window_will_do(size: tuple[int, int], face: str | None) -> None:
    pen, surface = Pen(face), picture(size)
    hud = Hud(KEYS, pen=pen)
    hud.draw(surface, crowd(walking=1, waiting=2, stuck=3), Status(), 0.0)
    hud.draw_notices(surface, ["saved crowd-0001.png", "compiling see lanes"])
    assert changed(pixels(picture(size)), pixels(surface)).width > 0


def test_how_values_are_written() -> None:
    assert [hud_word(value) for value in (True, False, "off", 3, 2.5, 26.0)] == ["on", "off", "off", "3", "2.5", "26"]


def test_nothing_was_measured_yet() -> None:
    sim = crowd()
    sim.profile = Profile()
    assert drawn(Hud(KEYS), sim).any()


# --- sizes, themes, folding, the mouse -------------------------------------------------------------------------------

def test_everything_grows_with_the_window_and_with_the_users_wish() -> None:
    widths = []
    for size, factor in (((800, 600), 1.0), ((1280, 720), 1.0), ((2560, 1440), 1.0), ((2560, 1440), 1.5)):
        hud = Hud(KEYS)
        drawn(hud, crowd(), Status(panels=PanelSettings(scale=factor)), size=size)
        widths.append(hud.panels[0].surface.get_width())
        assert hud.scale == pytest.approx(scale_for(size, factor))
    assert widths == sorted(set(widths))


def test_nothing_is_cut_at_800_by_600() -> None:
    hud, sim = Hud(KEYS), crowd(walking=90, waiting=8, stuck=2)
    sim.profile.counters.update(sorts=3, drift=8.0, steps_since_sort=17, imbalance=1.25)
    found = texts(sim, size=(800, 600))
    assert not any("…" in text for text in found)
    assert set(map(label_in_panel, TECHNIQUES)) <= set(found)
    drawn(hud, sim, size=(800, 600))
    left, right = (panel.surface.get_size() for panel in hud.panels)
    assert left[0] + right[0] < 790 and max(left[1], right[1]) < 590
    assert set(PARTS) <= hud.sections().keys()


def test_a_theme_colours_everything() -> None:
    dark, light = drawn(Hud(KEYS), crowd()), drawn(Hud(KEYS), crowd(), Status(panels=PanelSettings(theme="light")))
    assert dark[30:300, 30:400].mean() < 80 and light[30:300, 30:400].mean() > 200
    assert DARK.keys() == LIGHT.keys()


def test_the_mouse_finds_techniques_numbers_and_facts() -> None:
    hud, sim = Hud(KEYS), crowd()
    drawn(hud, sim)
    found = {hud.target_at(x, y) for x in range(0, 1280, 3) for y in range(0, 720, 3)}
    assert {Target("technique", technique.path) for technique in TECHNIQUES} <= found
    assert {Target("number", technique.path) for technique in TECHNIQUES if technique.numbers} <= found
    assert Target("number", "agents") in found
    assert {Target("fact", "candidates"), Target("stage", "interaction"), Target("graph", "graph"), ON_PANEL, None} <= found
    assert hud.target_at(640, 360) is None


@pytest.mark.parametrize("limit", ["none", "first"])
def test_every_number_stage_and_technique_has_a_tooltip(limit: str) -> None:
    sim, sorted_too = (crowd(walking=90, waiting=8, stuck=2, queuing=1) for _ in range(2))
    sim.optimizations.neighbours, sim.optimizations.neighbour_limit = "field", limit
    for each in (sim, sorted_too):
        each.life.active = True
        each.profile.counters.update(sorts=3, drift=8.0, steps_since_sort=17, imbalance=1.25)
    places = simulation(agents=10, **open_world(500, 400), **PLACES).config
    scenario = Simulation(places.model_copy(update={"events": (ScenarioEvent.model_validate({"tick": 5}),)}))
    shown = set()
    for now_s, each in enumerate((sim, sorted_too, scenario)):
        hud = Hud(KEYS)
        drawn(hud, each, now_s=now_s, size=(1280, 6000))
        shown |= {placed.target for panel in hud.panels for placed in panel.targets} | {Target("timeline")}
    kinds = {"fact", "stage", "technique", "number", "graph", "timeline"}
    tips = {target: tip_of(target, sim, Status()) for target in shown if target.kind in kinds}
    assert all(tip and all(text for text, _ in tip.paragraphs) for tip in tips.values()), tips
    told = {target.name or target.kind for target in tips}
    never = {"field error", "at worst"} if limit == "first" else {"mean direction to"}
    assert READOUTS.keys() - told == never


# --- what can be read, and what is not hidden -------------------------------------------------------------------------

@pytest.mark.parametrize("theme", THEMES)
def test_every_text_can_be_read_over_any_picture(theme: str) -> None:
    sim, spy, panels = crowd(walking=90, waiting=8, stuck=2, queuing=0), ContrastSpy(), PanelSettings(theme=theme)
    sim.behaviour.techniques = frozenset()  # many rows are inactive
    legend, item = Legend("speed", ((0, 0, 0), (9, 9, 9)), ("slow", "fast")), LegendItem("cells", "of the grid")
    past = Past(0, 60, 30, 60, 60.0, 1, 2, np.zeros(60, np.float32))
    for touched in ("cull", "stagger.sight", "neighbours"):
        status = Status(
            panels=panels, paused=True, touched=touched, pending={"depth": "full"}, clock=Clock(60.0, 0.4, 9, 0.1), past=past,
            legend=legend, legend_items=(item,), hovered=Hovered(Target("technique", "avoidance"), (600, 300)),
            inspection=Inspection("agent 7", (("speed", "1 m/s"),)),
            tour=TourView("flock", 1, 3, "Birds.", "Why?", doing="waits"),
            ticks=(Tick(40, "cull off"),))
        hud, surface = Hud(KEYS, pen=spy), picture()
        hud.draw(surface, sim, status, 0.0)
        hud.draw_notices(surface, ["saved"])
        hud.draw(surface, sim, status._replace(panels=panels._replace(hud="compact")), 1.0)
        for selected in range(3):
            rows = [Row("a", "detail", "about"), Row("b", "wrong", usable=False), Row("c", "wrong too", usable=False)]
            hud.draw(surface, sim, status._replace(view=ListView("Files", rows, selected, "Esc closes")), 2.0 + selected)
    poor = {what: round(found, 2) for what, found in spy.contrasts.items() if found < (3.0 if what[2] >= 24 else 4.5)}
    assert len(spy.contrasts) > 150 and {"inactive", "faint", "warm"} <= {colour for _, colour, _ in spy.contrasts}
    assert not poor


@pytest.mark.parametrize("width", [800, 1000, 1280, 2560])
@pytest.mark.parametrize("height", [400, 600, 2000])
def test_the_first_notice_never_wraps(width: int, height: int) -> None:
    notices = Notices()
    welcome(notices, Keymap(Keys(), {}))
    text, = notices.present()
    assert "F1" in text
    for scale in (0.5, 1.0, 3.0):
        hud, surface = Hud(KEYS, pen=(spy := Spy())), picture((width, height))
        hud.draw(surface, crowd(), Status(panels=PanelSettings(scale=scale)), 0.0)
        spy.written.clear()
        hud.draw_notices(surface, [text])
        assert spy.texts == [text] and surface.get_rect().contains(spy.written[0].box)


@pytest.mark.parametrize("size", [(1280, 720), (800, 600)])
def test_a_long_notice_is_wrapped_between_the_panels(size: tuple[int, int]) -> None:
    hud, surface = Hud(KEYS, pen=(spy := Spy())), picture(size)
    hud.draw(surface, crowd(walking=90, waiting=8), Status(), 0.0)
    before = pixels(surface)
    spy.written.clear()
    notice = "Queued: " + ", ".join(["Home"] * 24) + " (applied after the current step)"
    hud.draw_notices(surface, [notice])
    left, right = (panel.surface.get_width() for panel in hud.panels)
    lines, drawn_in = spy.texts, changed(before, pixels(surface))
    assert " ".join(lines) == notice and len(lines) > 1
    assert left < drawn_in.left and drawn_in.right < size[0] - right


def test_the_panel_of_the_inspector_is_not_over_what_is_inspected() -> None:
    def free(x: int, y: int) -> bool:
        status = Status(inspection=Inspection("agent 7", (("slot", "7 of 200"),) * 12))
        drawn(hud, crowd(), status)
        return hud.target_at(x, y) is None

    hud = Hud(KEYS)
    assert all(free(x, y) for y in range(60, 700, 80) for x in range(370, 930, 80))


def test_what_is_told_of_an_agent_is_never_cut() -> None:
    fact = "destination 5, not in sight"
    assert fact in " ".join(texts(crowd(), Status(inspection=Inspection("agent 7", (("goal", fact),)))))
    found = texts(crowd(), Status(inspection=Inspection("agent 7", (("goal", " or ".join([fact] * 3)),))))
    assert " or ".join([fact] * 3) in " ".join(found)


def test_compact_shows_the_rate_and_what_was_touched() -> None:
    found = texts(crowd(), Status(panels=PanelSettings(hud="compact"), touched="depth"))
    assert {"FPS shown", "depth order", "bands"} <= set(found) and "candidates" not in found
    assert texts(crowd(), Status(panels=PanelSettings(hud="off"))) == []
    inspection = Inspection("agent 7", (("slot", "7 of 200"),))
    assert "agent 7" in texts(crowd(), Status(panels=PanelSettings(hud="off"), inspection=inspection))


def test_a_tooltip_says_what_a_technique_is_and_what_it_gave() -> None:
    where = Hovered(Target("technique", "simd"), (1270, 710))
    found = " ".join(texts(crowd(), Status(hovered=where, measured={"simd": "3.1x, same crowd"})))
    assert "against the same candidate" in found and "3.1x, same crowd" in found
    assert BY_PATH["simd"].watch.split()[0] in found and "key: off and back on (Shift: the next value)" in found
    where = Hovered(Target("technique", "neighbours"), (1270, 710))
    assert "key: the next value (Shift: the previous one)" in " ".join(texts(crowd(), Status(hovered=where)))
    where = Hovered(Target("technique", "simd"), (1270, 710))
    assert not (drawn(Hud(KEYS), crowd(), Status(hovered=where))[1279] != pixels(picture())[1279]).any()


# --- text ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("face", [None, BUNDLED])
def test_numbers_of_equal_length_are_equally_wide(face: str | None) -> None:
    pen = Pen(face)
    surface = picture()
    widths = {pen.left(surface, number, 0, 20) for number in ("111.11", "888.88", "404.04")}
    assert widths == {pen.width("000.00")}


@pytest.mark.parametrize("bold", [False, True])
def test_every_character_of_the_program_has_a_glyph(bold: bool) -> None:
    """Those of scenarios and tours too; what Roboto lacks, such as arrows, is drawn."""
    assert [Path(face).name for face in Pen().faces] == ["Roboto-Regular.ttf", "Roboto-Medium.ttf"]
    font, root = Pen().font(26, bold), Path(__file__).parents[3]
    files = [path for folder in ("crowd_demo", "configs", "tours") for path in (root / folder).rglob("*.*")
             if path.suffix in (".py", ".yaml")]
    characters = {char for path in files for char in path.read_text("utf-8") if char.isprintable()}

    def glyph(character: str) -> bytes:
        return pygame.image.tobytes(font.render(character, True, "white"), "RGBA")

    assert len(characters) > 100 and glyph("▶") == glyph("\uffff")
    assert not [character for character in characters if glyph(character) == glyph("\uffff")]


def test_without_the_fonts_package_text_is_still_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "font_roboto", None)
    assert Pen().faces == (BUNDLED, BUNDLED) and Pen().left(picture(), "1 agent", 0, 20, bold=True) > 20


@pytest.mark.parametrize("text", ["a\0b", "a\udcffb", "\u202e", "\x1b[1m", "\u0301", "\ufe0f", ""])
def test_any_text_can_be_written(text: str) -> None:
    """Fonts refuse some characters, which files' names and comments may have."""
    assert Pen().width(text) <= Pen().left(picture(), text, 0, 20)


def test_text_that_is_too_long_is_cut_with_an_ellipsis() -> None:
    on = Canvas((1, 1), Pen(), 1.3, None)
    assert on.fitted("short", 500) == "short"
    cut = on.fitted("a text that is too long for its place", 100)
    assert cut.endswith("…") and on.width(cut) <= 100 and len(cut) > 5


def test_a_long_line_is_wrapped() -> None:
    on = Canvas((1, 1), Pen(), 1.0, None)
    assert on.wrapped("short", 500) == ["short"] and on.wrapped("", 500) == []
    text = "a text that is a little too long for its place"
    lines = on.wrapped(text, 200)
    assert " ".join(lines) == text and len(lines) == 2 and all(on.width(line) <= 200 for line in lines)
    assert on.wrapped(text, 100, most=2)[1].endswith("…") and len(on.wrapped(text, 100, most=2)) == 2
    assert on.wrapped("unbreakable", 20)[0].endswith("…")


def test_a_key_looks_the_same_however_it_is_spelt() -> None:
    limits = []
    for name in ("r", "R"), ("f11", "F11"), ("space", "SPACE"):
        for spelling in name:
            canvas = Canvas((80, 20), Pen(), 1.0)
            assert canvas.key(spelling, 2, 10) == 2 + canvas.key_width(spelling)
            limits.append(pixels(canvas.surface).tobytes())
    assert limits[::2] == limits[1::2] and len(set(limits)) == 3


# --- graph -----------------------------------------------------------------------------------------------------------
