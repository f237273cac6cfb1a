"""The program: its parts, actions, numbers, configurations and end."""

import gc
import json
import re
import subprocess
import sys
from collections import Counter
from inspect import signature
from operator import attrgetter
from pathlib import Path

import pygame
import pytest
from driven import Driven, without_progress

from crowd_demo.app import RunOptions, main
from crowd_demo.app.controls import agents_of
from crowd_demo.app.dialog import Question
from crowd_demo.compute.jit import is_compiled
from crowd_demo.config import memory
from crowd_demo.config.keys import ACTIONS
from crowd_demo.config.loader import load_config
from crowd_demo.config.resources import list_configs
from crowd_demo.host.system import STDOUT
from crowd_demo.registry.actions import PROGRAM
from crowd_demo.registry.built_in import OVERLAYS
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES, no_effect
from crowd_demo.sim.actions import Switch
from crowd_demo.sim.metrics.readings import launches_to_compile
from crowd_demo.sim.simulation import Simulation


def test_the_key_of_a_technique_turns_it_off_and_on_or_goes_through_its_choices(driven: Driven) -> None:
    get = driven.program.sim.optimizations.get
    for technique in TECHNIQUES:
        value, choices = get(technique.path), technique.choices
        following = choices[(choices.index(value) + 1) % len(choices)]
        driven.settled(technique.key)
        has_off = technique.path in ("simd", "overlap_passes", "reorder.when", "cull", "depth")
        assert get(technique.path) == (choices[0] if has_off else following)
        driven.settled(technique.key, mod=0 if has_off else pygame.KMOD_LSHIFT)
        assert get(technique.path) == value


def test_the_list_of_choices_says_what_the_key_does(driven: Driven) -> None:
    for path, said in ("reorder.when", "Key 3: off and back on (Shift: the next value)"), (
            "blitter", "Key 9: the next value (Shift: the previous one)"):
        driven.program.menus.open_choices(BY_PATH[path])
        assert all(row.about.endswith(said) for row in driven.view().rows)


def test_pause_and_single_steps(driven: Driven) -> None:
    driven.press(".")
    assert driven.program.crowd.paused and driven.program.sim.tick == 1
    driven.keys("space", "space")
    tick = driven.program.sim.tick
    driven.frames(3)
    assert driven.program.sim.tick == tick
    driven.press(".")
    assert driven.program.sim.tick == tick + 1
    driven.press("space")
    assert driven.program.sim.tick == tick + 2


def test_restart_gives_the_same_crowd_again(driven: Driven) -> None:
    driven.frames(4)
    first = driven.program.sim.state_hash()
    driven.press("8")  # exact techniques stay as they are and change nothing
    driven.settle()
    ((tick, action),) = driven.program.sim.history
    assert 4 <= tick <= driven.program.sim.tick and isinstance(action, Switch) and action.path == "depth"
    driven.press("r")
    driven.frames(4 - driven.program.sim.tick)
    assert driven.program.sim.state_hash() == first
    assert driven.program.sim.optimizations.get("depth") != driven.config.optimizations.get("depth")
    assert driven.program.crowd.scene and driven.program.crowd.scene.sim is driven.program.sim


def test_more_and_fewer_agents_by_keys_one_and_none(driven: Driven) -> None:
    for key, count in (("=", 250), ("-", 200)):
        driven.press(key)
        assert driven.program.sim.agents.count == count
    for count in (1, 0, 3):
        driven.program.controls.populate(count)
        driven.frames(2)
        assert driven.program.sim.agents.count == count


def test_more_agents_than_there_is_memory_for_are_refused(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    before = driven.program.sim
    monkeypatch.setattr(memory, "available_bytes", lambda: 1)
    driven.keys("=", "r")
    assert driven.program.sim is before and before.agents.count == driven.program.crowd.agents_asked == 200
    assert driven.program.notices.present()[-2:] == [
        "250 agents: needs about 0 MB of memory, and 0 MB are free",
        "cannot start again: 200 agents: needs about 0 MB of memory, and 0 MB are free"]
    driven.press("-")
    assert before.agents.count == 150
    driven.press("\\")
    assert driven.program.split.second is None
    assert driven.program.notices.present()[-1].startswith("side by side: 150 agents: needs about")


@pytest.mark.parametrize(("text", "count"), [
    ("40000", 40_000), ("40,000", 40_000), ("40 000", 40_000), ("40k", 40_000), ("1.5M", 1_500_000), ("0", 0), ("007", 7),
    *dict.fromkeys(["", "k", "4O", "-5", "40.000", "1.5", "1e4", "50m", "9" * 20]).items()])
def test_a_number_of_agents_is_read_as_people_type_it_and_all_else_is_told_in_one_line(text: str, count: int | None) -> None:
    if count is not None:
        assert agents_of(text) == count
        return
    with pytest.raises(ValueError, match=r"^('.*' is not a valid number of agents: .*|[\d,]+ agents are too many: .*)$"):
        agents_of(text)


def test_the_number_of_agents_can_be_typed(driven: Driven) -> None:
    driven.press("a", pygame.KMOD_CTRL)
    driven.keys(*"22x", "return")
    view = driven.view()
    assert (view.title, view.typed, view.rows) == ("Agents, now 200", "22x", [])
    assert view.is_wrong and "'22x' is not a valid number of agents" in view.hint and driven.program.sim.agents.count == 200
    driven.keys("backspace", "0", "[5]", "return")
    assert driven.program.sim.agents.count == 2205 and not driven.program.dialogs.top
    driven.press("a", pygame.KMOD_CTRL)
    driven.keys("1", "escape")
    assert driven.program.sim.agents.count == 2205 and not driven.program.dialogs.top and driven.program.running


@pytest.mark.parametrize("path", ["neighbours", "neighbour_limit"])
def test_the_meters_of_every_choice_are_compiled_with_it(driven: Driven, path: str) -> None:
    for _ in BY_PATH[path].choices:
        driven.settled(BY_PATH[path].key)
        assert list(launches_to_compile(driven.program.sim))
        assert all(is_compiled(launch) for launch in launches_to_compile(driven.program.sim))


def test_speed(driven: Driven) -> None:
    for keys, speed in (("/", 2), ("," * 20, 1 / 8), ("/" * 20, 64)):
        driven.keys(*keys)
        assert driven.program.crowd.speed == speed


def test_the_hud_is_told_what_the_speed_really_is(driven: Driven) -> None:
    program = driven.program
    program.crowd.unpaced, program.crowd.paused = False, True
    driven.frames()
    program.crowd.paused = False
    program.crowd.rate.clear()
    for now_s, steps in ((0.0, 0), (1.0, 28)):
        program.crowd.rate.add(now_s, steps)
    found = driven.status()
    assert (found.steps_per_s, found.real_speed) == (28.0, 28 / 60)
    assert (found.tick, found.time_s) == (program.sim.tick, program.sim.tick / 60)
    driven.press("/")  # the next second is one of another speed
    assert driven.status().real_speed is None
    program.crowd.unpaced = True
    program.crowd.rate.clear()
    for now_s, steps in ((0.0, 0), (1.0, 28)):
        program.crowd.rate.add(now_s, steps)
    assert driven.status().real_speed is None


def test_after_every_action_the_program_goes_on(driven: Driven) -> None:
    program = driven.program
    for action in PROGRAM:
        program.act(action)
        while dialog := program.dialogs.top:
            dialog.closed = True
        driven.frames()
        assert program.running, action
    program.crowd.paused, tick = False, program.sim.tick
    driven.until(lambda: program.sim.tick > tick)


@pytest.mark.parametrize(("actions", "shift"), [
    (OVERLAYS, False), (["inspect"], False), (["inspect"], True), (["depth", "cull", "freeze", "hud", "fit"], False)])
def test_neither_what_is_shown_nor_exact_techniques_change_the_crowd(driven: Driven, actions: list[str], shift: bool) -> None:
    for action in actions:
        driven.program.act(action, shift)
        driven.settle()
    driven.frames(12)
    sim, alone = driven.program.sim, Simulation(load_config("1k", ["agents=200", "map=null"]))
    alone.step(sim.tick)
    assert sim.state_hash() == alone.state_hash()


def test_restarts_and_switches_leave_nothing_behind(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    """After many of them there are as many objects of each of our types as after a few; what undo keeps is limited."""
    monkeypatch.setattr("crowd_demo.app.crowd.MAX_ENTRIES", 3)
    few, many = (objects_after(driven, presses) for presses in (5, 20))
    assert many == few


def objects_after(driven: Driven, presses: int) -> dict[str, int]:
    """How many objects of each of our types there are after so many more restarts and changes of the depth sort.

    Records of times past are left out: there are as many as frames.
    """
    for _ in range(presses):
        driven.keys("r", "8")
    driven.settle()
    gc.collect()
    types = Counter(type(each) for each in gc.get_objects() if not isinstance(each, tuple))
    return {kind.__qualname__: count for kind, count in types.items() if str(kind.__module__).startswith("crowd_demo.")}


def test_a_run_without_a_report_keeps_no_times_of_its_frames(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowd_demo.app.loop.COLLECT_EVERY", 5)
    driven.frames(40)
    assert not driven.loop.recorder.frames().frame_ms.size


# --- An action is one entry of the registry: all lists of actions derive from it -------------------------------------

ONE_MORE = """
from crowd_demo.registry import actions
wave = ("controls.populate", 7)
actions.PROGRAM["wave"] = actions.ActionEntry(("f13",), "all agents wave", wave, heading="Time", changes=True)
from driven import Driven
from crowd_demo.cli import main
from crowd_demo.config.model import Config
main(["--list-keys"])
print(Config.model_json_schema()["$defs"]["Keys"]["properties"]["wave"])
driven = Driven()
driven.press("f1")
print([(row.group, row.text, row.detail) for row in driven.status().view.rows if "wave" in row.text])
driven.press("escape")
driven.program.menus.open_main()
driven.keys(*"wave")
print([(row.group, row.text, row.detail) for row in driven.status().view.rows if "wave" in row.text])
driven.keys("escape", "escape", "f13")
print(driven.program.sim.agents.count)
"""


def test_every_action_calls_a_method_that_takes_its_arguments(driven: Driven) -> None:
    for name, action in ACTIONS.items():
        for method, *arguments in filter(None, (action.do, action.shifted)):
            assert signature(attrgetter(str(method))(driven.program)).bind(*arguments), name


def test_one_entry_adds_an_action_to_keys_lists_schema_help_and_menu() -> None:
    done = subprocess.run([sys.executable, "-c", ONE_MORE], cwd=Path(__file__).parents[1], capture_output=True,
                          encoding="utf-8", check=True)
    assert "  f13           wave               all agents wave\n" in done.stdout
    schema, in_help, in_menu, agents = done.stdout.splitlines()[-4:]
    assert "'default': ['f13'], 'description': 'all agents wave'" in schema
    assert in_help == in_menu == "[('Time', 'all agents wave', 'F13')]" and agents == "7"


# --- Every shipped configuration runs as its user would run it -------------------------------------------------------

@pytest.mark.parametrize("name", list(list_configs()))
def test_a_few_frames_of_each_configuration(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    config = load_config(f"{name}.yaml")
    assert main.run(config, RunOptions(headless=True, frames=3, report=STDOUT)) == 0
    told = capsys.readouterr()
    report = json.loads(told.out)
    assert without_progress(told.err) == "" and report["frames"] == 3 and len(report["state_hash"]) == 32
    assert report["counters"]["visible"] > 0
    assert config.life.births_per_s or report["agents"] == config.agents


# --- Esc closes what is open, then asks once; what answers, and what never asks --------------------------------------

def is_asking(driven: Driven) -> bool:
    """Is there a question to which Esc says yes?"""
    return isinstance(driven.program.dialogs.top, Question)


@pytest.mark.parametrize("answer", ["escape", "return", "enter"])
def test_esc_closes_what_is_open_then_asks_and_esc_or_enter_leave(driven: Driven, answer: str) -> None:
    driven.keys("f1", "escape")
    assert not driven.program.dialogs.top
    driven.keys("f6", "escape")
    assert not driven.program.inspector.active and not driven.program.dialogs.top
    driven.press("escape")
    assert is_asking(driven) and driven.program.running
    driven.press(answer)
    assert not driven.program.running


def test_another_key_goes_on_and_does_nothing_else(driven: Driven) -> None:
    driven.keys("escape", "left shift")
    assert is_asking(driven)
    driven.press("space")
    assert driven.program.running and not is_asking(driven) and not driven.program.crowd.paused
    driven.press("escape")
    assert is_asking(driven)


@pytest.mark.parametrize(("row", "leaves"), [("0", True), ("1", False), ("", False)])
def test_a_click_on_an_answer_gives_it_and_one_elsewhere_goes_on(driven: Driven, row: str, leaves: bool) -> None:
    driven.press("escape")
    driven.drag(driven.find("row", row) if row else driven.find())
    assert not is_asking(driven) and driven.program.running is not leaves


def test_a_run_of_a_number_of_frames_never_asks() -> None:
    driven = Driven(frames=100)
    driven.press("escape")
    assert not driven.program.running


# --- Keys that lower and raise the number of the technique touched last ----------------------------------------------

@pytest.mark.parametrize(("key", "path", "lower", "higher"), [
    ("e", "reorder.every", 280, 320), ("v", "reorder.drift", 0.95, 1.1), ("4", "stagger.avoidance", 3, 5),
    ("l", "leaf_size", 60, 70),
])
def test_numbers_go_down_and_up_from_the_choice_that_was_touched_last(
        driven: Driven, key: str, path: str, lower: float, higher: float) -> None:
    driven.press(key)
    driven.settled("[")
    assert driven.program.sim.optimizations.get(path) == lower
    driven.settled("]", "]")
    assert driven.program.sim.optimizations.get(path) == higher
    assert driven.status().touched == path
    assert any(f": {higher}" in notice for notice in driven.status().notices)


def test_numbers_end_where_their_range_does_and_words_have_none(driven: Driven) -> None:
    driven.program.sim.optimizations.stagger.avoidance = 16
    driven.press("]")
    assert driven.status().notices == ["stagger avoidance: 16, the most"]
    assert not driven.program.sim.history
    driven.settled("7")
    driven.press("[")
    assert driven.status().notices[-1] == "culling has no number to change"
    assert [action for _, action in driven.program.sim.history] == [Switch("cull", "off")]
    driven.program.techniques.touched = "leaf_size"
    driven.press("]")
    assert driven.status().notices[-1] == "leaf size: 34. No effect now: needs neighbours kd_tree or aabb_tree."


@pytest.mark.parametrize(("key", "why"), [
    ("l", "needs neighbours kd_tree or aabb_tree"), ("v", "needs reorder drift"), ("x", "no agent is born or dies here"),
    ("z", "install it with pip|there is no NVIDIA GPU|this behaviour has no kernels|old")])
def test_the_key_of_a_technique_without_effect_says_why_and_begins_no_card(driven: Driven, key: str, why: str) -> None:
    driven.program.cards.on = True
    driven.settled(key)
    driven.frames(3)
    assert re.search(rf": .+\. No effect now: ({why})", driven.status().notices[-1])
    assert driven.program.sim.history and driven.program.cards.trial is None
    assert re.search(why, no_effect(driven.program.techniques.touched, driven.program.sim.situation))
