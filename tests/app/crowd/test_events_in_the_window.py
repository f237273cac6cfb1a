"""Events in the window: happen before new steps alone, are recorded, are marked on the timeline, and end with an answer."""

import json
from pathlib import Path

import pygame
import pytest
from driven import Driven
from hud_spy import Spy

from crowd_demo.app.crowd import Crowd
from crowd_demo.app.screen import Notices
from crowd_demo.cli import main
from crowd_demo.config.loader import load_config
from crowd_demo.extras.ensemble.plan import carry_out, make_plan
from crowd_demo.host.recording.format import read_recording
from crowd_demo.host.recording.recording import Player, Recording
from crowd_demo.render.hud.card import AnswerView, PastRun, draw_answer
from crowd_demo.render.hud.navigation import column_of
from crowd_demo.render.hud.status import Mark
from crowd_demo.sim.actions import Populate
from crowd_demo.sim.events import Event
from crowd_demo.sim.simulation import Simulation

YAML = """\
agents: 60
behaviour: crowd
world: {width: 500, height: 400}
measure: {lines: {down: [250, 0, 250, 400]}}
time: {step_hz: 20}
events:
  - {tick: 5, do: {agents: 100}, say: forty more come}
  - {when: agents > 70, do: {walls: {rectangle: [100, 90, 300, 170]}}}
  - {when: time > 1 s, say: that was all, end: true}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.yaml"
    path.write_text(YAML, "utf-8")
    return path


def crowd_of(path: Path) -> Crowd:
    sim = Simulation(load_config(path))
    return Crowd(sim.config, sim, None, 64.0, Notices())


def steps(crowd: Crowd, count: int) -> list[str]:
    """Make steps; return the hash after each."""
    hashes = []
    for _ in range(count):
        crowd.step()
        hashes.append(crowd.sim.state_hash())
    return hashes


def test_the_past_is_the_past_and_a_new_future_has_events_of_its_own(scenario: Path) -> None:
    crowd = crowd_of(scenario)
    hashes = [crowd.sim.state_hash(), *steps(crowd, 40)]
    happened = [(5, Event(0)), (10, Event(1)), (30, Event(2))]
    assert crowd.sim.history == happened
    for tick in (3, 39, 17):
        crowd.sought = tick
        crowd.carry_out_changes(lambda: True)
        assert crowd.sim.state_hash() == hashes[tick] and [mark.at for mark in crowd.past().marks] == [5, 10, 30]
    assert steps(crowd, 23)[-1] == hashes[40] and crowd.sim.history == happened
    crowd.sought = 3
    crowd.carry_out_changes(lambda: True)
    crowd.carry_out(Populate(30))
    assert not crowd.past().marks and not crowd.sim.events.happened
    steps(crowd, 30)
    assert crowd.sim.history == [(3, Populate(30)), *happened]
    assert list(crowd.past().marks) == [Mark(5, "forty more come"), Mark(10, "walls"), Mark(30, "that was all")]


def test_a_recording_replays_without_looking_at_conditions(scenario: Path, tmp_path: Path,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = crowd_of(scenario)
    crowd.recording = recording = Recording(tmp_path / "run.replay", crowd.sim)
    last = steps(crowd, 50)[-1]
    recording.end(crowd.sim)
    recording.wait()
    player = Player(read_recording(recording.path))
    monkeypatch.setattr("crowd_demo.sim.events.measured", None)
    again = Crowd(player.part.config, player.start(Simulation(player.part.config)), None, 64.0, Notices())
    again.player = player
    assert steps(again, 51)[-1] == last and player.done and again.paused
    assert not player.parted and player.compared and again.sim.history == crowd.sim.history
    assert [mark.at for mark in again.past().marks] == [5, 10, 30]


def test_a_restart_begins_anew_and_the_end_stops_who_wants_to_be_stopped(scenario: Path) -> None:
    crowd = crowd_of(scenario)
    steps(crowd, 12)
    crowd.go_on_with(crowd.at_its_start(60), 12)
    assert not crowd.sim.events.happened and not crowd.past().marks and crowd.past().newest == 0
    crowd.stops_at_end = True
    steps(crowd, 60)
    assert crowd.sim.tick == 30 and crowd.sim.events.end_tick == 30


def test_the_window_says_what_happens_and_a_mark_on_the_timeline_says_it_again(scenario: Path) -> None:
    driven = Driven("window.width=1280", "window.height=720", "window.hud=full", "agents=60", config=str(scenario))
    driven.program.crowd.unpaced, driven.program.crowd.stops_at_end = True, False
    driven.frames(8)
    assert "forty more come" in driven.status().notices and driven.program.sim.agents.count == 100
    driven.frames(30)
    status = driven.status()
    assert status.past and [mark.at for mark in status.past.marks] == [5, 10, 30]
    hud = driven.program.hud
    bar = hud._timeline
    assert bar
    x = bar.left + column_of(status.past, 5, bar.width)
    driven.move((x, bar.centery))
    found = hud.target_at(x, bar.centery)
    assert found and (found.kind, found.name) == ("timeline", "0:00:00.2  forty more come")
    beside = hud.target_at(bar.left + 40, bar.centery)
    assert beside and (beside.kind, beside.name) == ("timeline", "")


def test_a_run_without_a_window_ends_with_its_answer(scenario: Path, tmp_path: Path,
                                                     capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    assert main(["--config", str(scenario), "--headless", "--no-render", "--report", str(report)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["answered after 1.5 s: that was all", "remaining: 100 of 60"] and lines[2].startswith("passed: down ")
    content = json.loads(report.read_text("utf-8"))
    assert content["steps"] == 30
    assert content["outcome"]["answer_s"] == 1.5 and content["outcome"]["agents"] == 100


def test_a_run_of_an_ensemble_ends_with_its_answer(scenario: Path) -> None:
    plan = make_plan(str(scenario), steps=200, every=7, measures=["answer", "population"])
    row = carry_out(plan.job(plan.runs[0]))
    assert (row.error, row.steps, row.values["answer"]) == ("", 30, 1.5)
    early = make_plan(str(scenario), steps=20, every=7, measures=["answer"])
    assert carry_out(early.job(early.runs[0])).values == {"answer": None}


def test_a_key_and_a_click_let_happen_what_is_left_to_a_hand(scenario: Path) -> None:
    by_hand = "  - {hand: close it, do: {walls: {rectangle: [200, 0, 240, 400]}}}\n  - {hand: ten more, do: {agents: 120}}\n"
    scenario.write_text(YAML.replace("events:\n", f"events:\n{by_hand}"), "utf-8")
    driven = Driven("window.width=1280", "window.height=720", "window.hud=full", "agents=60", config=str(scenario))
    sim, hud = driven.program.sim, driven.program.hud
    driven.program.crowd.unpaced = True
    driven.frames(4)
    driven.press("l", pygame.KMOD_LCTRL, frames=4)
    assert [action for _, action in sim.history if action in (Event(0), Event(1))] == [Event(0)]
    assert sim.terrain.blocked.any()
    panel, region = next((panel, region) for panel in hud._placed for region in panel.targets
                         if tuple(region.target) == ("action", "happen"))
    at = panel.at[0] + region.rect.centerx, panel.at[1] + region.rect.centery
    driven.drag(at, frames=4)
    assert sim.events.by_hand is None and sim.agents.count >= 100
    driven.press("l", pygame.KMOD_LCTRL)
    assert "No manual events left" in driven.status().notices
    kept = sim.state_hash()
    driven.program.controls.seek(0)
    driven.frames(2)
    assert sim.tick == 0 and sim.events.by_hand == 0 and sim.state_hash() != kept


# --- The answer of a scenario that has ended, in the window ----------------------------------------------------------

HALL = """\
agents: 40
behaviour: crowd
world: {width: 832, height: 520}
map: hall
time: {step_hz: 20}
measure: {lines: {door: [481, 0, 481, 520]}, doors: {door: 0}}
events:
  - {hand: open the door, do: {walls: {rectangle: [468, 208, 494, 312], build: false}}, say: the door is open}
  - {when: time > 1 s, say: that was all, end: true}
"""


@pytest.fixture
def hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driven:
    monkeypatch.chdir(tmp_path)
    Path("hall.yaml").write_text(HALL, "utf-8")
    driven = Driven("agents=40", "map=hall", "window.width=1280", "window.height=720", config="hall")
    driven.program.config_name = "hall"
    return driven


def answer(driven: Driven) -> AnswerView:
    found = driven.status().answer
    assert found
    return found


def test_the_answer_stands_until_esc_and_the_next_run_shows_it_beside_its_own(hall: Driven) -> None:
    hall.until(lambda: hall.status().answer)
    first = answer(hall)
    assert (first.said, first.agents, first.before, first.run.about) == ("that was all", 40, None, "hall")
    assert first.run.answer_s == pytest.approx(1.0, abs=0.6) and first.run.doors.keys() == {"door"}
    hall.press("q")
    assert answer(hall), "keys still work"
    hall.press("escape")
    assert not hall.status().answer and not hall.program.dialogs.top, "Esc closes it alone"
    hall.press("r", frames=4)
    assert not hall.status().answer
    hall.program.crowd.apply(Event(0))
    hall.until(lambda: hall.status().answer)
    second = answer(hall)
    assert second.before == first.run and second.run.about == "the door is open"
    hall.frames(2)
    hall.drag(hall.find("answer"))
    assert not hall.status().answer
    hall.open("hall.yaml")
    hall.until(lambda: hall.status().answer)
    assert answer(hall).before == second.run, "kept while the window is open"


@pytest.mark.parametrize("key", ["r", "e"])
def test_a_key_that_it_names_closes_it(hall: Driven, key: str) -> None:
    hall.until(lambda: hall.status().answer)
    hall.press(key, pygame.KMOD_CTRL * (key == "e"))
    assert not hall.status().answer


@pytest.mark.quick
@pytest.mark.parametrize(("other_s", "said"), [(160.7, "24.0 s sooner than the run before"),
                                               (130.0, "6.7 s later than the run before"),
                                               (136.72, "as long as the run before")])
def test_it_says_how_the_runs_differ_and_what_went_through_each_door(other_s: float, said: str) -> None:
    tenths = tuple(12.0 * number for number in range(1, 10))
    run = PastRun("three doors", 136.7, {"main": 1012, "left": 466, "right": 522}, tenths)
    before = PastRun("the right door is blocked", other_s, {"main": 1204, "left": 796, "right": 0}, (None,) * 9)
    keys = [("restart", "r", "again"), ("happen", "ctrl+l", "then block it"), ("quit", "escape", "close")]
    canvas = draw_answer(AnswerView("99.5% are out", 2000, run, before, keys), spy := Spy(), 1.15)
    assert {"136.7 s", f"{other_s:.1f} s", said, "1,012", "796", "slowest tenth: 28.7 s", "2,000 people"} <= set(spy.texts)
    assert {"Ctrl+L", "Esc"} <= set(spy.texts), "as they are printed on the keys"
    assert all(canvas.surface.get_rect().contains(each.box) for each in spy.written)
    assert [(placed.target.name) for placed in canvas.targets][1:] == ["restart", "happen", "quit"]
    assert run.inside[0] == (0.0, 1.0) and run.inside[-1] == (136.7, 0.0) and not before.inside
