"""Sending people: to the nearest destination, all or some; and ways out, where they leave for good."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_people
from crowds import events, open_world, refresh_rules, simulation
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_demo.sim.actions import as_data, from_data
from crowd_demo.sim.behaviours.people_rules import QUEUING, WAITING, WALKING
from crowd_demo.sim.behaviours.wayfinding import WaysOut
from crowd_demo.sim.events import Send
from crowd_demo.sim.simulation import Simulation

pytestmark = pytest.mark.quick
OPEN = {"agents": 120, **open_world(900, 700), "crowd__destinations": 4, "crowd__room": 60, "crowd__wait_s": 2}


def columns_of(sim: Simulation) -> dict[str, Any]:
    return dict(zip(sim.agents.names, (column.copy() for column in sim.agents.by_id()), strict=True))


def ways_out(sim: Simulation) -> WaysOut:
    return next(stage for stage in sim.stages if isinstance(stage, WaysOut))


def stirred(seed: int, **more: Any) -> Simulation:
    """A crowd between walls, in all states."""
    sim, rng = simulation(**{**OPEN, "seed": seed, **more}), np.random.default_rng(seed)
    for column, row in rng.integers(0, 14, (40, 2)):
        sim.set_walls((int(column), int(row), int(column) + 1, int(row) + 1), True)
    c, count = sim.agents.columns, sim.agents.count
    state, timer, goal = c.state, c.timer, c.goal  # type: ignore[attr-defined]
    state[:count], timer[:count] = rng.integers(0, 4, count), rng.integers(0, 2, count)
    goal[:count] = rng.integers(0, 4, count)
    return sim


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 9999), to=st.lists(st.integers(0, 3), min_size=1, max_size=4), leave=st.booleans(),
       settled=st.booleans(), within=st.none() | st.tuples(st.integers(0, 400), st.integers(0, 300), st.integers(401, 900),
                                                           st.integers(301, 700)))
def test_who_goes_where_is_what_the_oracle_says(seed: int, to: list[int], leave: bool, settled: bool, within: Any) -> None:
    sim, followed = stirred(seed), stirred(seed)
    for each in (followed, sim)[:1 + settled]:
        each.ways.settle()  # type: ignore[union-attr]
    want = columns_of(sim)
    places = ways_out(followed).areas.refreshed()
    reference_people.people_sent(want, to, within, places, sim.terrain)
    sim.apply(Send(tuple(to), leave, within))
    for name, column in columns_of(sim).items():
        assert np.array_equal(column, want[name]), name
    assert ways_out(sim).areas.ways_out == (set(to) if leave else set())


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 9999), out=st.sets(st.integers(0, 3)), removal=st.sampled_from(["swap_back", "shift", "deferred"]))
def test_who_leaves_is_whom_the_oracle_says(seed: int, out: set[int], removal: str) -> None:
    sim = stirred(seed, optimizations__removal=removal)
    want = columns_of(sim)
    stays = ~reference_people.people_who_leave(want, out)
    stage = ways_out(sim)
    stage.areas.ways_out = frozenset(out)
    assert stage.wanted(sim) == bool(out)
    stage.commit(sim)
    for name, column in columns_of(sim).items():
        assert np.array_equal(column, want[name][stays]), name
    arrived = reference_people.people_who_leave(want, {0, 1, 2, 3})  # at a single one there may be nobody
    assert 0 < arrived.sum() < len(arrived)


def test_a_way_out_has_a_place_for_everybody_unless_it_is_walled_in() -> None:
    sim = simulation(**OPEN)
    stage = ways_out(sim)
    before = stage.areas.refreshed().capacity.copy()
    sim.apply(Send((2,), True))
    assert stage.areas.refreshed().capacity.tolist() == [*before[:2], 2**30, before[3]]
    sim.set_walls((0, 0, 99, 99), True)
    sim.ways.settle()  # type: ignore[union-attr]
    assert stage.areas.refreshed().capacity.tolist() == [0, 0, 0, 0]


def evacuation(**more: Any) -> Simulation:
    return events({"at": 0.5, "do": {"send": {"to": [0, 1], "leave": True}}, "clock": True},
                    {"at": 1, "do": {"walls": {"rectangle": [300, 0, 340, 500]}, "send": {"to": [2], "inside": "left"}}},
                    {"at": 2, "do": {"send": {"to": [1, 2, 3], "leave": True}}},
                    {"when": "left < 2 %", "end": True}, **{**OPEN, "measure__areas__left": "[0, 0, 450, 700]", **more})


def test_everybody_leaves_and_nobody_waits_for_a_place() -> None:
    sim = evacuation()
    queued = 0
    while sim.events.end_tick is None and sim.tick < 3600:
        sim.play(10)
        queued = max(queued, sim.states()["queuing"])
    assert sim.events.end_tick and sim.agents.count < 0.02 * 120 and queued < 60
    assert sim.events.answer_s(sim.dt) == (sim.events.end_tick - 30) / 60
    assert sim.agents.handles.removed == 120 - sim.agents.count


def test_what_cannot_be_sent_is_refused() -> None:
    assert from_data(as_data(Send((1, 2), True, (0, 0, 9, 9)))) == Send((1, 2), True, (0, 0, 9, 9))
    with pytest.raises(ValueError, match="there is no destination 4: there are 4, counted from 0"):
        simulation(**OPEN).apply(Send((1, 4)))
    with pytest.raises(ValueError, match="only people can be sent"):
        simulation("20k-flock", agents=10).apply(Send((0,)))
    with pytest.raises(ValueError, match=r"people cannot be sent where crowd\.room is 0"):
        simulation(**{**OPEN, "crowd__room": 0}).apply(Send((0,)))


def test_who_comes_near_a_way_out_is_let_in_at_once() -> None:
    sim = simulation(**{**OPEN, "agents": 300, "crowd__area_per_person": 9000})
    sim.apply(Send((0,), True))
    refresh_rules(sim)
    sim.step(4)
    states = sim.agents.columns.state[:300]  # type: ignore[attr-defined]
    assert (states == QUEUING).sum() == 0 and (states == WALKING).sum() + (states == WAITING).sum() == sim.agents.count
