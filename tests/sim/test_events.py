"""Events and shipped scenarios."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from crowds import CROWD, FLOCK, events, open_world, simulation

from crowd_demo.config.loader import load_config
from crowd_demo.sim.events import Event, measured
from crowd_demo.sim.fundamental_diagram import Line, steps_across
from crowd_demo.sim.simulation import Simulation

LINES = {"measure__lines__down": "[250, 0, 250, 400]", "measure__lines__slope": "[100, 100, 300, 250]",
         "measure__areas__middle": "[100, 80, 360, 300]"}
WALLS = {"rectangle": [100, 90, 300, 170]}


def scenario(*happens: dict[str, Any], **more: Any) -> Simulation:
    """Sixty people, or as the settings say, with events."""
    return events(*happens, **{"agents": 60, **open_world(500, 400), **LINES, **more})


@pytest.mark.quick
def test_each_event_happens_once_at_its_tick() -> None:
    sim = scenario({"at": 0.5, "do": {"agents": 80}}, {"tick": 7, "say": "hello"}, {"tick": 7, "do": {"walls": WALLS}})
    assert sim.play(29) == 29 and sim.agents.count == 60
    assert sim.play(31) == 31 and sim.agents.count == 80
    assert sim.history == [(7, Event(1)), (7, Event(2)), (30, Event(0))]
    middles = [(np.arange(count) + 0.5) * float(sim.terrain.walls.tile) for count in sim.terrain.blocked.shape]
    expected = ((middles[0] >= 90) & (middles[0] <= 170))[:, None] & ((middles[1] >= 100) & (middles[1] <= 300))
    assert expected.any() and np.array_equal(sim.terrain.blocked, expected)


@pytest.mark.parametrize("when", [
    "time >= 0.5 s", "passed down >= 2", "passed slope > 1", "inside middle < 60 %", "waiting >= 1", "agents >= 60"])
@pytest.mark.quick
def test_a_condition_is_looked_at_every_ten_steps(when: str) -> None:
    sim, other = scenario({"when": when, "do": {"agents": 480}}, agents=400), scenario({"tick": 9_999}, agents=400)
    condition = sim.config.events[0].condition
    assert condition
    happened = None
    for _ in range(60):
        if happened is None and other.tick % 10 == 0 and condition.holds(measured(condition, other)):
            happened = other.tick
        sim.play(), other.play()
    assert happened is not None and sim.history == [(happened, Event(0))]


@pytest.mark.quick
def test_an_event_makes_no_condition_hold_at_its_own_tick_however_a_run_is_cut() -> None:
    """Also in a simulation that was restored between the two looks at that tick."""
    events = {"tick": 10, "do": {"agents": 80}}, {"when": "agents > 70", "do": {"agents": 90}}
    whole, cut, restored = (scenario(*events) for _ in range(3))
    whole.play(30)
    cut.play(10)
    restored.restore(cut.snapshot())
    for sim in (cut, restored):
        sim.play(20)
    assert whole.history == cut.history == restored.history == [(10, Event(0)), (20, Event(1))]


@pytest.mark.quick
def test_an_event_adds_a_goal_or_says_why_not() -> None:
    sim = scenario({"tick": 2, "do": {"goal": {"at": [40, 40]}}}, {"tick": 3, "do": {"goal": {"at": [-9, 0]}, "agents": 70}})
    count = len(sim.terrain.destinations)
    sim.play(5)
    assert sim.terrain.goals == {count: 0} and sim.agents.count == 70
    assert sim.events.impossible == ["a goal: it is outside of the map"]


@pytest.mark.quick
def test_left_compares_with_the_number_at_the_start() -> None:
    sim = scenario({"tick": 3, "do": {"take_out": {"at": [250, 200], "radius": 4000}}},
                   {"when": "left < 1 %", "end": True, "say": "all are out"}, {"tick": 99, "do": {"agents": 5}})
    assert sim.play(500) == 10 and sim.events.end_tick == 10 and sim.agents.count == 0
    assert sim.play(500) == 0
    assert sim.counts.tenths.tolist() == [4] * 9


@pytest.mark.quick
def test_what_is_impossible_is_left_out_and_said() -> None:
    sim = scenario({"tick": 1, "do": {"walls": {"rectangle": [0, 0, 500, 400]}}},
                   {"tick": 2, "do": {"bring_in": {"at": [50, 50], "count": 5, "radius": 20}, "agents": 70}}, agents=0)
    sim.play(3)
    assert sim.events.impossible == ["no room: all tiles there are blocked"]
    assert sim.events.happened == {0: 1, 1: 2} and sim.agents.count == 70


@pytest.mark.quick
def test_numbers_are_set() -> None:
    sim = scenario({"tick": 2, "do": {"set": {"crowd.radius": 20, "crowd.arrive": 30}}})
    sim.play(3)
    assert dict(sim.numbers.values) == {"crowd.radius": 20, "crowd.arrive": 30}


def eventful(**settings: Any) -> Simulation:
    return scenario({"when": "passed down > 4", "do": {"walls": WALLS}}, {"tick": 13, "do": {"agents": 640}},
                    {"when": "inside middle > 100", "do": {"take_out": {"at": [250, 200], "radius": 60}}},
                    {"when": "time > 0.4 s", "do": {"bring_in": {"at": [60, 60], "count": 30, "radius": 50}}}, **settings)


@pytest.mark.parametrize("crowd", [CROWD, FLOCK], ids=["people", "birds"])
@pytest.mark.quick
def test_one_hash_under_exact_techniques(crowd: dict[str, Any]) -> None:
    """Also one count, and events at the same ticks."""
    found = set()
    for simd, neighbours, threads in product((True, False), ("buckets", "z_grid"), (1, 3)):
        sim = eventful(**crowd, optimizations__simd=simd, optimizations__neighbours=neighbours, optimizations__threads=threads)
        sim.play(60)
        found.add((sim.state_hash(), tuple(sim.history), tuple(sim.counts.passed.tolist())))
    assert len(found) == 1 and len(found.pop()[1]) == 4


@pytest.mark.quick
def test_a_run_without_events_has_no_stage_for_them_and_no_state() -> None:
    sim = simulation(agents=50, **open_world(500, 400), **LINES)
    sim.play(3)
    assert not sim.snapshot().parts and "count" not in {stage.name for stage in sim.stages if stage.wanted(sim)}


@pytest.mark.quick
def test_counting_does_not_change_the_crowd_and_equals_a_count_of_all_steps() -> None:
    """Steps from where everybody stood after the reordering of ids, one by one."""
    sim, plain = scenario({"tick": 999}, **CROWD), simulation(**{**CROWD, **LINES})
    expected = np.zeros(2, np.int64)
    for _ in range(40):
        before = plain.agents.by_id()
        x, y = before.x.astype(float), before.y.astype(float)
        sim.step(), plain.step()
        after = plain.agents.by_id()
        expected += [int(steps_across(x, y, after.x.astype(float), after.y.astype(float), Line(*ends)).sum())
                     for ends in plain.config.measure.lines.values()]
    assert sim.state_hash() == plain.state_hash()
    assert sim.counts.passed.tolist() == expected.tolist() and expected.all()


# --- The questions of the shipped scenarios are answered -------------------------------------------------------------

SHIPPED = {"doorway": (60, 60), "evacuation": (250, 160), "evacuation-two-doors": (250, 190), "concert": (200, 190),
           "corridor": (500, 200), "crossing": (40, 160)}


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.slow) if name in ("corridor", "evacuation", "concert") else name for name in SHIPPED])
def test_the_question_of_each_scenario_is_answered(name: str) -> None:
    """With few people, so that it takes a second or two."""
    agents, seconds = SHIPPED[name]
    sim = Simulation(load_config(name, [f"agents={agents}"]))
    sim.play(60 * seconds)
    assert sim.events.end_tick is not None and not sim.events.impossible
    passed = dict(zip(sim.config.measure.lines, sim.counts.passed.tolist(), strict=True))
    assert [door for door, count in passed.items() if not count] == ["right"] * (name == "evacuation-two-doors")
    assert not sim.config.measure.doors or sum(passed.values()) == gone_from(sim)


def gone_from(sim: Simulation) -> int:
    """How many have left a scenario: they and the newcomers have had ids one after the other."""
    came = sum(event.do.bring_in.count for event in sim.config.events if event.do.bring_in)
    return sim.config.agents + came - sim.agents.count


@pytest.mark.parametrize("name", ["doorway", "evacuation"])
def test_doors_count_people_who_have_left_whenever_one_looks(name: str) -> None:
    """Also after going back, in a save, and however fast; the seconds are those in which most leave."""
    agents, seconds = SHIPPED[name]
    sim = Simulation(load_config(name, {"agents": agents}))
    sim.play(20 * seconds)
    kept, counted = sim.snapshot(), list[int]()
    for crowd in (sim, Simulation.from_snapshot(kept)):
        for steps in (1, 2, 1, 60, 7, 300):
            crowd.play(steps)
            assert int(crowd.counts.passed.sum()) == gone_from(crowd)
        counted.append(gone_from(crowd))
        crowd.restore(kept)
        assert int(crowd.counts.passed.sum()) == gone_from(crowd) < counted[0]
    assert counted[0] == counted[1] < agents


def test_a_blocked_door_turns_people_back_and_opens_again() -> None:
    sim = Simulation(load_config("evacuation", ["agents=300"]))
    sim.play(60 * 22)
    right = int(sim.counts.of_line("right"))
    for wanted in ("block the right door", "open the right door again"):
        number = sim.events.by_hand
        assert number is not None and sim.config.events[number].hand == wanted
        sim.events.happen(number, sim)
        goal = sim.agents.columns.goal[:sim.agents.count]  # type: ignore[attr-defined]
        assert set(goal) == ({0, 1} if wanted.startswith("block") else {0, 1, 2})
        sim.play(60 * 6)
    sim.play(60 * 30)
    assert sim.events.by_hand is None and not sim.events.impossible
    assert sim.counts.of_line("right") > right
