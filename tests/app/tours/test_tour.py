"""A tour is played in a program by keys: what it sets, measures and shows."""

from gc import collect
from pathlib import Path
from typing import Any
from weakref import ref

import pytest
from driven import Driven

from crowd_demo.app.live_numbers import TO_COME

SMALL = "agents: 150\nbehaviour: flock\nworld: {width: 600, height: 400}\n"
TOUR = """
config: small
steps:
  - say: A step takes {step_ms} ms, the picture {draw_ms} ms.
    wait: 8
  - say: Everybody tests {candidates} of {agents}, {faster} and {factor}x.
    do: {set: {neighbours: none, simd: false}, agents: 120, speed: 2}
    mark: brute
    wait: 8
    ask: Why {candidates}?
    answer: Because nobody knows better. {brute.candidates}.
  - say: Paused and frozen.
    do: {pause: true, freeze: true, camera: {center: [100, 100], zoom: 3}}
  - say: Another crowd of {agents}, not {brute.agents}.
    do: {scenario: other, set: {simd: false, reorder.when: off}, restart: true}
    wait: 8
  - say: The end.
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a tour and its configurations."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(SMALL, "utf-8")
    (tmp_path / "other.yaml").write_text(SMALL.replace("150", "90"), "utf-8")
    (tmp_path / "tours").mkdir()
    (tmp_path / "tours" / "mine.yaml").write_text("# My own tour.\n" + TOUR, "utf-8")
    return tmp_path


@pytest.fixture
def touring(driven: Driven) -> Driven:
    """A program at the first page of the tour, with its numbers."""
    driven.press("f3")
    dialog: Any = driven.program.dialogs.top
    rows = dialog.view().rows
    assert (rows[-1].text, rows[-1].detail) == ("mine (your own)", "My own tour.")
    driven.keys("end", "return")
    driven.until_told()
    return driven


def options(driven: Driven) -> Any:
    return driven.program.sim.optimizations


def test_a_step_is_shown_at_once_its_numbers_once_measured_and_back_takes_back_what_it_has_set(touring: Driven) -> None:
    program, first = touring.program, touring.tour()
    assert program.config_name == "small" and program.sim.agents.count == 150
    assert (first.title, first.step, first.steps) == ("mine", 1, 5)
    assert first.text.startswith("A step takes ") and TO_COME not in first.text
    touring.press("return")
    assert touring.tour().text == "Everybody tests … of …, … and …x." and touring.tour().doing
    told = touring.until_told()
    assert told.text.startswith("Everybody tests 120 of 120, ") and told.question == "Why 120?"
    assert (options(touring).neighbours, options(touring).simd, program.crowd.speed) == ("none", False, 2)
    touring.press("right")
    answer = touring.tour()
    assert (answer.step, answer.is_answer, answer.question) == (2, True, "Why 120?")
    assert answer.text == "Because nobody knows better. 120."
    touring.press("left")
    assert touring.tour().text == told.text
    touring.settled("backspace")
    assert touring.tour().text == first.text and program.sim.agents.count == 150
    assert (options(touring).neighbours, options(touring).simd, program.crowd.speed) == ("sorted", True, 1)


def test_pause_frozen_view_and_camera_which_shows_more_in_a_larger_window(touring: Driven) -> None:
    program, camera = touring.program, touring.program.camera
    before = camera.view_rect()
    for _ in range(3):
        touring.turn_page("right")
    assert program.crowd.paused and program.overlays.frozen == before and (camera.x, camera.zoom) == (100, 1.5)
    seen, usual = camera.view_rect(), camera.size
    for size, zoom in (((1280, 720), 3), ((2560, 1440), 6), ((2560, 720), 3)):
        program.resize(size)
        assert (camera.x, camera.y, camera.zoom) == (100, 100, zoom)
        now = camera.view_rect()
        assert now.left <= seen.left and now.right >= seen.right and (now.top, now.bottom) == (seen.top, seen.bottom)
    camera.pan(9, 9)
    program.resize((2560, 720))
    assert camera.x > 100, "while the size stays, the view is the user's"
    program.resize(usual)
    touring.press("left")
    assert not program.crowd.paused and program.overlays.frozen is None and camera.view_rect() == before
    assert program.crowd.speed == 2, "what earlier steps have set stays"


def test_it_opens_another_scenario_and_goes_back_to_the_first(touring: Driven) -> None:
    for _ in range(4):
        view = touring.turn_page("right")
    assert view.text == "Another crowd of 90, not 120."
    assert touring.program.config_name == "other" and not touring.program.crowd.paused and touring.program.crowd.speed == 1
    assert options(touring).reorder.when == "off" and not options(touring).simd
    assert touring.program.sim.history == [], "it was started again after the switches"
    touring.turn_page("left")
    assert touring.program.config_name == "small" and options(touring).neighbours == "none"
    assert touring.program.crowd.paused and touring.program.overlays.frozen and touring.program.crowd.speed == 2
    assert touring.program.sim.agents.count == 120
    for _ in range(3):
        touring.press("right")
        touring.until_told() if touring.status().tour else None
    assert touring.status().tour is None and touring.program.running, "after the last page it is over"


@pytest.mark.parametrize("leave", ["escape", "f3"])
def test_a_tour_can_be_left_and_everything_stays_as_it_is(touring: Driven, leave: str) -> None:
    touring.turn_page("right")
    touring.press(leave)
    assert touring.status().tour is None and options(touring).neighbours == "none"
    assert touring.program.running and touring.program.dialogs.top is None
    assert "the tour is over" in touring.status().notices
    left = ref(touring.program.sim)
    touring.open("other")
    collect()
    assert left() is None, "it keeps no crowd that is left"


def test_another_scenario_of_the_users_ends_it(touring: Driven) -> None:
    touring.open("other")
    assert touring.status().tour is None


def test_a_configuration_that_cannot_be_opened_any_more_ends_it(touring: Driven, folder: Path) -> None:
    (folder / "other.yaml").write_text("agents: no\n", "utf-8")
    for _ in range(4):
        touring.until_told()
        touring.press("right")
    touring.until(lambda: touring.status().tour is None)
    assert any("other.yaml:1: agents" in notice for notice in touring.status().notices)
    assert touring.program.config_name == "small"


def test_a_page_waits_for_its_numbers_however_often_enter_is_pressed_and_going_back_takes_it_back(touring: Driven) -> None:
    touring.keys("right", "right", "return", "return")
    view = touring.tour()
    assert view.step == 2 and not view.is_answer and view.doing.endswith("then on")
    touring.until(lambda: touring.tour().is_answer)
    assert touring.tour().text.endswith(" 120."), "a later page has the numbers of the one that was left early"
    for key, step in (("left", 2), ("left", 1)):
        touring.press(key)
        assert touring.tour().step == step
    touring.frames(20)
    assert touring.tour().step == 1


def test_parts_of_the_panel_are_buttons(touring: Driven) -> None:
    touring.turn_page("right")
    for name, step in (("back", 1), ("next", 2)):
        touring.frames()
        touring.drag(touring.find("tour", name))
        assert touring.tour().step == step
    touring.frames()
    touring.drag(touring.find("tour", "leave"))
    assert touring.status().tour is None
