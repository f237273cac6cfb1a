"""Experiments in the window, by keys: the crowd stands still, Esc asks before it stops, tables can be saved."""

import json
import time
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pygame
import pytest
from driven import Driven
from versus import versus

from crowd_demo.app.dialog import other_value
from crowd_demo.config.model import CameraSettings
from crowd_demo.measure.ablation import AS_SHOWN, Limits, ThreeCrowds, Versus
from crowd_demo.registry.entries import Value
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.hud.views import ListView


@pytest.fixture
def driven(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Driven:
    """Its comparisons take no time, and always find a factor of 3.1."""
    def against(self: ThreeCrowds, others: Mapping[str, Value], limits: Limits) -> Generator[float, None, Versus]:
        yield 0.5
        return versus(3.1)

    monkeypatch.setattr(ThreeCrowds, "against", against)
    monkeypatch.chdir(tmp_path)
    return Driven()


def finish(driven: Driven) -> None:
    while driven.program.experiments.dialog:
        driven.frames()


def texts(found: ListView) -> list[list[str]]:
    return [[row.text, *row.cells] for row in found.rows]


@pytest.fixture
def let_go(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Comparisons have no end until there is something in it."""
    let_go: list[bool] = []

    def against(self: ThreeCrowds, others: Mapping[str, Value], limits: Limits) -> Generator[float, None, Versus]:
        while not let_go:
            time.sleep(0.01)
            yield 0.5
        return versus(3.1)

    monkeypatch.setattr(ThreeCrowds, "against", against)
    return let_go


def test_the_title_of_m_has_on_and_off_as_all_panels(driven: Driven) -> None:
    driven.settled("2")
    driven.press("m")
    finish(driven)
    assert driven.view().title == "SIMD lanes: on against off"


def test_m_measures_the_technique_touched_last_against_its_value_before(driven: Driven) -> None:
    driven.press("3")  # reorder: every -> off
    driven.press("3", pygame.KMOD_LSHIFT)  # off -> drift
    driven.settle()
    driven.program.techniques.previous["reorder.when"] = "every"
    driven.press("m")
    finish(driven)
    line = "drift against every: 3.1x faster (95%: 2.9-3.3), same crowd"
    assert driven.program.measured == {"reorder.when": line}
    assert driven.program.notices.present() == []
    found = driven.view()
    assert found.title == "reorder: drift against every" and found.columns == ("ms", "drift", "every", "buys", "95%")
    assert found.notes[:3] == ["same crowd", AS_SHOWN, "interaction, drift | every:"] and found.notes[3].startswith("time: ")
    assert texts(found) == [["step", "2.00", "6.20", "3.1x", "2.9-3.3"], ["frame", "4.00", "12.4", "3.1x", "2.9-3.3"]]
    assert found.progress is None
    driven.press("escape")
    assert driven.program.dialogs.top is None and driven.program.running
    assert driven.program.notices.present() == [f"reorder, {line}"]
    driven.settled("3")
    driven.press("m")
    finish(driven)
    assert driven.view().title == "reorder: drift against off" and driven.program.techniques.value("reorder.when") == "off"
    assert driven.program.measured["reorder.when"].startswith("drift against off: 3.1x faster"), "what it buys"
    driven.press("s")
    record = json.loads(Path("crowd-0001.json").read_text("utf-8"))
    assert (record["kind"], record["technique"], record["value"]) == ("measurement", "reorder.when", "drift")
    assert driven.program.notices.present()[-1] == "saved crowd-0001.json"


def test_the_crowd_stands_still_while_an_experiment_runs(driven: Driven, let_go: list[bool]) -> None:
    driven.frames(3)
    driven.press("n")
    tick, frames = driven.program.sim.tick, driven.program.sim.profile.frames
    driven.frames(2)
    assert driven.program.experiments.dialog
    assert (driven.program.sim.tick, driven.program.sim.profile.frames) == (tick, frames)
    assert "The crowd on the screen stands still" in " ".join(driven.view().notes)
    let_go.append(True)
    finish(driven)
    driven.frames(2)
    assert driven.program.sim.tick == tick + 2 and driven.program.sim.profile.frames == frames + 2


def test_n_shows_what_each_technique_buys_and_keeps_it_for_the_tooltips(driven: Driven) -> None:
    driven.program.experiments._config_name = "1k"
    driven.press("n")
    finish(driven)
    found = driven.view()
    assert any(note.startswith("in a terminal: crowd-demo ablate --config 1k --set agents=200") for note in found.notes)
    labels = {row[0].split(":")[0] for row in texts(found)}
    assert {"neighbours", "SIMD lanes", "threads", "culling", "blitter"} <= labels
    assert labels == {BY_PATH[path].label.strip() for path in driven.program.measured}
    assert driven.program.measured["neighbours"] == "sorted against none: 3.1x faster (95%: 2.9-3.3), same crowd"
    assert any(note.startswith("off already: ") for note in found.notes) and "JSON" in found.hint


def test_escape_or_the_same_key_asks_before_it_stops(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    def against(self: ThreeCrowds, others: Mapping[str, Value], limits: Limits) -> Generator[float, None, Versus]:
        yield 0.5
        while "simd" in others:  # the second technique takes for ever
            time.sleep(0.01)
            yield 0.5
        return versus(3.1)

    monkeypatch.setattr(ThreeCrowds, "against", against)
    driven.press("n")
    while not driven.view().rows:
        driven.frames()
    driven.frames(2)
    driven.press("4")  # means nothing meanwhile
    assert driven.program.experiments.dialog and driven.view().progress == pytest.approx(1.5 / 13, abs=0.01)
    for again in "escape", "n", "m":
        driven.press(again)
        assert driven.view().title == "Stop measuring?" and driven.view().progress == pytest.approx(1.5 / 13, abs=0.01)
        assert driven.view().selected == 0, "Enter stops it, whatever was selected before"
        driven.keys("down", "escape")
        assert driven.view().title == "Gain of each technique here" and driven.program.experiments.dialog
    driven.keys("n", "return", frames=2)
    assert not driven.program.experiments.dialog and driven.program.sim.optimizations.stagger.avoidance == 3
    assert [row[0] for row in texts(driven.view())] == ["neighbours: sorted"]
    assert driven.view().notes[0] == "stopped before the end"
    assert driven.program.measured.keys() == {"neighbours"}
    driven.press("escape")
    assert driven.program.dialogs.top is None and driven.program.running


def test_p_searches_the_largest_crowd_and_the_ladder(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowd_demo.measure.largest.most_agents", lambda config: (4, "the test"))
    monkeypatch.setattr("crowd_demo.measure.largest.FIRST", 4)
    driven.press("p")
    finish(driven)
    rows = texts(driven.view())
    assert rows[0][0] == "everything off" and rows[-1][0] == "+ threads: auto"
    assert "+: not more, because of the test" in driven.view().notes


def test_what_is_measured_is_what_the_screen_shows(driven: Driven) -> None:
    """Number of agents, techniques and view; a view of the whole world stays one."""
    driven.settled("=", "1")
    driven.press("home")
    experiments: Any = driven.program.experiments
    start = experiments._start()
    assert start.agents == start.config.agents == driven.program.sim.agents.count > 200
    assert start.techniques["neighbours"] == start.config.optimizations.neighbours != "sorted"
    assert start.config.camera == CameraSettings(center=None, zoom=None)
    driven.program.camera.zoom_at(100, 100, 2)
    camera = experiments._start().config.camera
    assert camera.zoom == driven.program.camera.zoom and camera.center == (driven.program.camera.x, driven.program.camera.y)


def test_nothing_is_measured_beside_the_compiler_or_without_memory(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    driven.program.techniques.switcher.request("depth", "full")
    monkeypatch.setattr(driven.program.techniques.switcher, "ready", lambda options: [])
    driven.press("n")
    assert not driven.program.experiments.dialog and driven.program.dialogs.top is None
    assert "still being compiled" in " ".join(driven.program.notices.present())
    driven.program.techniques.switcher.requests.clear()
    monkeypatch.setattr("crowd_demo.measure.ablation.available_bytes", lambda: 1)
    driven.press("n")
    finish(driven)
    driven.frames()
    assert driven.program.dialogs.top is None
    assert driven.program.notices.present() == ["three crowds of 200 need about 0 MB, and 0 MB are free"]


@pytest.mark.quick
@pytest.mark.parametrize(("path", "value", "before", "wanted"), [
    ("reorder.when", "every", "drift", "drift"), ("reorder.when", "every", None, "off"),
    ("reorder.when", "off", None, "every"),
    ("neighbour_limit", "none", None, None), ("threads", "auto", None, 1), ("reorder.when", "every", "every", "off")])
def test_the_other_value_is_the_one_before_or_the_baseline_or_the_default(path: str, value: Value, before: Value | None,
                                                                          wanted: Value | None) -> None:
    assert other_value(BY_PATH[path], value, before) == wanted
