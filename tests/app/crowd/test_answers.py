"""The answer of a scenario that has ended, in the window."""

from __future__ import annotations

from pathlib import Path

import pygame
import pytest
from driven import Driven
from hud_spy import Spy

from crowd_demo.render.hud.large_type import AnswerView, PastRun, draw_answer
from crowd_demo.sim.events import Event

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
    hall.press("r")
    hall.frames(3)
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
    pygame.font.init()
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
