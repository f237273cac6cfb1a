"""The HUD shows what it is told: by the texts that it writes, the targets that it registers, and pixels where it draws."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest
from crowds import PLACES, events, open_world
from hud_spy import (
    KEYS,
    TALL,
    UNFOLDED,
    ContrastSpy,
    Spy,
    colour_of_text,
    crowd,
    drawn,
    picture,
    pixels,
    texts,
    written,
)

from crowd_demo.registry.stages import PARTS, READOUTS
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES, hud_word, partly_inactive
from crowd_demo.registry.texts import digits_text
from crowd_demo.render.colours.base import Legend
from crowd_demo.render.hud.canvas import DARK, LIGHT, ON_PANEL, THEMES, WARM, Canvas, Pen, Target
from crowd_demo.render.hud.hud import Hud
from crowd_demo.render.hud.status import (
    Hovered,
    Inspection,
    LegendItem,
    Mark,
    PanelSettings,
    Past,
    Status,
    TourView,
    speed_text,
    time_text,
)
from crowd_demo.render.hud.text_panels import tip_of
from crowd_demo.render.hud.views import ListView, Row

pytestmark = pytest.mark.quick
BUNDLED = "freesansbold.ttf"


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda technique: technique.path)
def test_the_row_of_a_technique_shows_its_value(technique: Any) -> None:
    sim = crowd()
    for value in technique.choices:
        sim.optimizations.set(technique.path, value)
        found = texts(sim)
        shown = hud_word(value), partly_inactive(sim.situation).get(technique.path)
        assert found[found.index("search"):][found[found.index("search"):].index(technique.label.strip()) + 1] in shown


def test_speeds_and_times_are_written_as_people_do() -> None:
    assert [speed_text(speed) for speed in (1 / 8, 0.3, 0.5, 1.0, 1.5, 64.0)] == ["x1/8", "x0.3", "x1/2", "x1", "x1.5", "x64"]
    assert [f"x{digits_text(speed)}" for speed in (0.467, 0.999, 4.06, 9.96, 41.7)] == ["x0.47", "x1.0", "x4.1", "x10", "x42"]
    assert [time_text(seconds) for seconds in (0.0, 59.99, 3 * 0.1, 61.2, 7325.9)] == [
        "0:00:00.0", "0:00:59.9", "0:00:00.3", "0:01:01.2", "2:02:05.9"]


def test_a_speed_that_is_not_reached_is_told_in_a_warning_colour() -> None:
    compact = PanelSettings(hud="compact")
    assert "x1" not in texts(crowd(), Status(panels=compact))
    for asked, real, text in ((16.0, 4.0, "x16, real x4.0"), (1.0, 0.47, "x1, real x0.47")):
        assert not any("real" in text for text in texts(crowd(), Status(speed=asked, panels=compact)))
        status = Status(speed=asked, real_speed=real, panels=compact)
        assert colour_of_text(crowd(), text, status) == WARM
    assert colour_of_text(crowd(), "paused", Status(paused=True, panels=compact)) == WARM


def test_the_left_panel_is_rendered_eight_times_per_second_and_the_right_one_after_a_change() -> None:
    sim, hud = crowd(), Hud(KEYS)
    drawn(hud, sim)
    renewed = np.zeros(2, int)
    for frame in range(1, 101):
        panels = hud.panels
        drawn(hud, sim, now_s=frame / 100)
        renewed += [new is not old for new, old in zip(hud.panels, panels, strict=True)]
    assert 7 <= renewed[0] <= 9 and not renewed[1]


@pytest.mark.parametrize("mode", ["full", "compact"])
def test_the_right_panel_shows_each_change_at_once(mode: str) -> None:
    sim, hud, status = crowd(), Hud(KEYS), Status(panels=PanelSettings(hud=mode))
    changes = (lambda: sim.optimizations.set("simd", False), lambda: sim.optimizations.set("neighbours", "kd_tree"),
               lambda: setattr(sim.life, "active", True), lambda: None)
    for change in changes:
        change()
        status = status._replace(pending={} if status.pending else {"depth": "full"})
        assert (drawn(hud, sim, status) == drawn(Hud(KEYS), sim, status)).all()


# --- sizes, themes, folding, the mouse -------------------------------------------------------------------------------


def test_nothing_is_cut_at_800_by_600() -> None:
    hud, sim = Hud(KEYS), crowd(walking=90, waiting=8, stuck=2)
    sim.profile.counters.update(sorts=3, drift=8.0, steps_since_sort=17, imbalance=1.25)
    for mode in ("compact", "full", "right"):
        drawn(hud, sim, Status(panels=PanelSettings(hud=mode)), size=(800, 600))
        assert max(panel.surface.get_height() for panel in hud.panels) < 540
    found = texts(sim, Status(panels=PanelSettings(hud="right")), (800, 600))
    assert not any("…" in text for text in found)
    assert {technique.label.strip() for technique in TECHNIQUES if technique.key.isdigit()} <= set(found)
    assert set(PARTS) <= hud.sections().keys()


def test_a_theme_colours_everything() -> None:
    dark, light = drawn(Hud(KEYS), crowd()), drawn(Hud(KEYS), crowd(), Status(panels=PanelSettings(theme="light")))
    assert dark[30:300, 30:400].mean() < 80 and light[30:300, 30:400].mean() > 200
    assert DARK.keys() == LIGHT.keys()


def test_the_mouse_finds_techniques_numbers_and_facts() -> None:
    hud, sim = Hud(KEYS), crowd()
    drawn(hud, sim, Status(panels=UNFOLDED), size=TALL)
    found = {hud.target_at(x, y) for x in range(0, 2400, 5) for y in range(0, 2000, 5)}
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
    scenario = events({"tick": 5}, agents=10, **open_world(500, 400), **PLACES)
    shown = set()
    for now_s, each in enumerate((sim, sorted_too, scenario)):
        hud = Hud(KEYS)
        drawn(hud, each, Status(panels=UNFOLDED), now_s, TALL)
        shown |= {placed.target for panel in hud.panels for placed in panel.targets} | {Target("timeline")}
    kinds = {"fact", "stage", "technique", "number", "graph", "timeline", "fold"}
    tips = {target: tip_of(target, sim, Status()) for target in shown if target.kind in kinds}
    assert all(tip and all(text for text, *_ in tip) for tip in tips.values()), tips
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
            panels=panels, paused=True, touched=touched, pending={"depth": "full"}, steps_per_s=60.0, real_speed=0.4, tick=9,
            time_s=0.1, past=past,
            legend=legend, legend_items=(item,), hovered=Hovered(Target("technique", "avoidance"), (600, 300)),
            inspection=Inspection("agent 7", (("speed", "1 m/s"),)),
            tour=TourView("flock", 1, 3, "Birds.", "Why?", doing="waits"),
            ticks=(Mark(40, "cull off"),))
        hud, surface = Hud(KEYS, pen=spy), picture()
        hud.draw(surface, sim, status, 0.0)
        hud.draw(surface, sim, status._replace(panels=panels._replace(hud="compact"), notices=["saved"]), 1.0)
        for selected in range(3):
            rows = [Row("a", "detail", "about"), Row("b", "wrong", usable=False), Row("c", "wrong too", usable=False)]
            hud.draw(surface, sim, status._replace(view=ListView("Files", rows, selected, "Esc closes")), 2.0 + selected)
    poor = {what: round(found, 2) for what, found in spy.contrasts.items() if found < (3.0 if what[2] >= 24 else 4.5)}
    assert len(spy.contrasts) > 130 and {"inactive", "faint", "warm"} <= {colour for _, colour, _ in spy.contrasts}
    assert not poor


@pytest.mark.parametrize("size", [(1280, 720), (800, 600)])
def test_a_long_message_is_wrapped_below_the_panels(size: tuple[int, int]) -> None:
    hud, surface = Hud(KEYS, pen=(spy := Spy())), picture(size)
    notice = "Queued: " + ", ".join(["Home"] * 24) + " (applied after the current step)"
    hud.draw(surface, crowd(walking=90, waiting=8), Status(notices=[notice]), 0.0)
    assert notice in " ".join(spy.texts) and (notice not in spy.texts or size[0] > 800)
    assert hud._message and hud._message.area.collidelist([placed.area for placed in hud._placed]) < 0


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


def test_compact_shows_a_line_and_the_nine_keys() -> None:
    sim, status = crowd(), Status(panels=PanelSettings(hud="compact"), touched="depth", pending={"neighbours": "kd_tree"})
    for behaviour, word in (("flock", "birds"), ("crowd", "people"), ("crates", "agents")):
        sim.config = sim.config.model_copy(update={"behaviour": behaviour})
        assert " ".join(["100", word, "213 FPS 3.20 ms"]) in " ".join(texts(sim, status))
    sim.optimizations.simd, sim.optimizations.curve = False, "hilbert"
    found = written(sim, status)
    nine = [technique.label for technique in TECHNIQUES if technique.key.isdigit()]
    assert [text for text in found.texts if text in nine] == nine and len(nine) == 9
    assert not {"candidates", "along a curve", "search"} & set(found.texts)
    colours = {each.text: each.colour for each in found.written}
    assert (colours["off"], colours["kd_tree"], colours["bands"]) == ("dim", "dim", "accent")
    assert texts(crowd(), Status(panels=PanelSettings(hud="off"))) == []
    inspection = Inspection("agent 7", (("slot", "7 of 200"),))
    assert "agent 7" in texts(crowd(), Status(panels=PanelSettings(hud="off"), inspection=inspection))


def test_a_tooltip_says_what_a_technique_is_and_what_it_gave() -> None:
    where = Hovered(Target("technique", "simd"), (1270, 710))
    found = " ".join(texts(crowd(), Status(hovered=where, measured={"simd": "3.1x, same crowd"})))
    assert "against the same candidate" in found and "3.1x, same crowd" in found
    assert BY_PATH["simd"].watch.split()[0] in found and "key, or a click: off and back on (Shift: the next value)" in found
    where = Hovered(Target("technique", "neighbours"), (1270, 710))
    assert "key, or a click: the next value (Shift: the previous one)" in " ".join(texts(crowd(), Status(hovered=where)))
    where = Hovered(Target("technique", "simd"), (1270, 710))
    assert not (drawn(Hud(KEYS), crowd(), Status(hovered=where))[1279] != pixels(picture())[1279]).any()


# --- text ------------------------------------------------------------------------------------------------------------


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


# --- graph -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["full", "compact"])
def test_panels_leave_while_a_list_is_open_in_the_middle(mode: str) -> None:
    for at, alone in ((None, True), ((500, 300), False)):
        status = Status(view=ListView("Menu", [Row("pause")], at=at), panels=PanelSettings(hud=mode))
        left = drawn(Hud(KEYS), crowd(walking=90), status)[:300]
        assert (len(np.unique(left.reshape(-1, 3), axis=0)) == 1) is alone, "the dimmed picture and nothing else"
