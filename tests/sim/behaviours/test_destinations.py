"""Destinations: whose tiles are whose, how many have room, who queues and who is let in."""

from typing import Any

import numpy as np
import pytest
import reference_people
from crowds import F, events, follow_walls, open_world, refresh_rules, simulation
from hypothesis import given, settings
from hypothesis import strategies as st
from terrains import layout_of, terrain_of

from crowd_demo.compute.jit import run
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.sim.actions import as_data, from_data
from crowd_demo.sim.behaviours.destinations import ExchangePeople
from crowd_demo.sim.behaviours.people_rules import QUEUING, WAITING, WALKING
from crowd_demo.sim.behaviours.wayfinding import WaysOut
from crowd_demo.sim.events import Send
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.ways import areas_of


def places_of(sim: Simulation) -> Any:
    return next(stage for stage in sim.stages if stage.name == "admit").areas  # type: ignore[attr-defined]


def admit(sim: Simulation) -> Any:
    """Run the stage; return the destinations with what it has decided."""
    refresh_rules(sim)
    run(next(stage for stage in sim.stages if stage.name == "admit").launches(sim))
    return places_of(sim).columns


def held(sim: Simulation) -> list[int]:
    """How many have a place at each destination."""
    c: Any = sim.agents.by_id()
    d = places_of(sim).columns
    inside = (c.state == WAITING) | (c.goal_x != d.x[c.goal]) | (c.goal_y != d.y[c.goal])
    return np.bincount(c.goal[inside & (c.state != QUEUING)], minlength=len(d.capacity)).tolist()


def small(**more: Any) -> Simulation:
    """People with few places to go to."""
    return simulation(agents=150, **open_world(800, 600), crowd__destinations=3, crowd__area_per_person=8000,
                      crowd__wait_s=4, **more)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 9999), count=st.integers(1, 5), radius=st.integers(0, 400))
def test_areas_are_those_of_the_oracle(seed: int, count: int, radius: int) -> None:
    rng = np.random.default_rng(seed)
    terrain = terrain_of(rng.uniform(0, 1, (rng.integers(2, 9), rng.integers(2, 9))) < 0.25, tile=50, count=count, seed=seed)
    terrain.set_walls((1, 1, 2, 4), True)  # after they were drawn, perhaps on one
    terrain.marks[0] = terrain.marks[1]  # wide ones
    radius_sq = np.full(max(len(terrain.destinations), 1), F(radius) * F(radius))
    targets, owner = layout_of(terrain, radius_sq).targets, reference_people.claimed_tiles(terrain, radius_sq)
    areas = areas_of(targets, len(terrain.destinations))
    assert np.array_equal(targets, owner)
    for goal in range(len(terrain.destinations)):
        own = areas.tiles[areas.first[goal]:areas.first[goal + 1]]
        assert np.array_equal(own, np.flatnonzero(owner.reshape(-1) == goal))


def test_no_more_places_are_held_than_there_are_and_people_queue_and_leave() -> None:
    sim = small()
    places, came, queued = places_of(sim).columns, np.zeros(150, bool), 0
    sim.step(1)  # all are born waiting, wherever they are
    for _ in range(2400):
        sim.step()
        c: Any = sim.agents.by_id()
        assert all(np.array(held(sim)) <= places.capacity)
        came, queued = came | (c.state == WAITING), max(queued, int((c.state == QUEUING).sum()))
    assert queued > 20 and came.mean() > 0.4


@pytest.mark.quick
def test_the_nearest_in_the_queue_is_let_in_first_and_of_equals_the_lowest_id() -> None:
    sim = small()
    sim.step(1)
    c: Any = sim.agents.columns
    d, n = places_of(sim).columns, sim.agents.count
    c.state[:n], c.goal[:n] = WALKING, 1
    c.goal_x[:n], c.goal_y[:n] = d.x[1], d.y[1]
    taken = int(d.capacity[1]) - 1
    c.state[:taken], c.timer[:taken] = WAITING, 9
    c.state[taken:taken + 6], c.x[taken:taken + 6], c.y[taken:taken + 6] = QUEUING, d.x[1], d.y[1] + F(40)
    c.y[taken:taken + 2] += F(10)
    near = sorted(c.id[taken + 2:taken + 6].tolist())
    assert admit(sim).opens[1] == near[0]
    c.y[np.flatnonzero(c.id[:n] == near[-1])[0]] -= F(3)
    assert admit(sim).opens[1] == near[-1]
    c.state[0] = WALKING
    c.goal_x[0] = d.x[1]
    for free, opens in ((2, near[-1]), (taken + 1, -2)):
        c.state[:max(taken + 1 - free, 0)] = WAITING
        c.state[max(taken + 1 - free, 0):taken] = WALKING
        assert admit(sim).opens[1] == opens
    c.state[:taken + 1] = WAITING
    assert admit(sim).opens[1] == -1


def test_without_room_to_be_had_people_go_on_as_before() -> None:
    """Walled up while they queue: they leave the queue instead of standing there for ever."""
    sim = small()
    sim.step(1500)
    assert (sim.agents.by_id().state == QUEUING).any()  # type: ignore[attr-defined]
    sim.paint_walls(sim.terrain.runs_of(places_of(sim).ways.owner >= 0), True)
    sim.step(2)
    left: Any = sim.agents.by_id()
    assert not places_of(sim).columns.capacity.any() and len(left.id) > 100 and not (left.state == QUEUING).any()


# --- exits: people leave there and others come in --------------------------------------------------------------------

def leaving(**more: Any) -> Simulation:
    return simulation(**{"agents": 200, **open_world(900, 700), "crowd__destinations": 4, "crowd__exits": 2,
                         "crowd__wait_s": 2, **more})


def arrived() -> Simulation:
    """A crowd in which all have just arrived, half of them at an exit."""
    sim = leaving()
    sim.step(1)
    c: Any = sim.agents.columns
    c.state[:200], c.timer[:200], c.goal[:200] = WAITING, 1, np.arange(200) % 4
    return sim


def stage_of(sim: Simulation) -> Any:
    return next(stage for stage in sim.stages if isinstance(stage, ExchangePeople))


def columns_of(sim: Simulation) -> dict[str, Any]:
    return dict(zip(sim.agents.names, (column.copy() for column in sim.agents.by_id()), strict=True))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 9999), agents=st.integers(0, 60), exits=st.integers(1, 5), destinations=st.integers(1, 5))
def test_who_comes_in_is_whom_the_oracle_says(seed: int, agents: int, exits: int, destinations: int) -> None:
    sim = leaving(agents=agents, seed=seed, crowd__exits=exits, crowd__destinations=destinations,
                crowd__speed_draws=1 + seed % 5)
    rng = np.random.default_rng(seed)
    c: Any = sim.agents.columns
    for column, row in rng.integers(0, 14, (25, 2)):
        sim.set_walls((int(column), int(row), int(column) + 1, int(row) + 1), True)
    c.state[:agents], c.timer[:agents] = rng.integers(0, 4, agents), rng.integers(0, 2, agents)
    for values in (c.vx, c.vy, c.avoidance_x, c.avoidance_y, c.heading_x, c.heading_y):
        values[:agents] = rng.uniform(-3, 3, agents)
    sim.tick = int(rng.integers(1, 99))
    if seed % 3:  # else walls stand in areas, as in the steps after an edit
        follow_walls(sim)
    refresh_rules(sim)
    want, stage = columns_of(sim), stage_of(sim)
    run(stage.launches(sim))
    places = stage.areas.columns
    reference_people.people_exchanged(want, stage.rules(sim), places, sim.ground, sim.terrain.walls)
    for name, column in columns_of(sim).items():
        assert np.array_equal(column, want[name]), name


@pytest.mark.quick
def test_without_exits_or_without_their_areas_nobody_leaves() -> None:
    assert not stage_of(leaving(crowd__exits=0)).wanted(leaving())
    sim = leaving()
    sim.step(1)
    c: Any = sim.agents.columns
    c.state[:200], c.timer[:200], c.goal[:200] = WAITING, 1, 0
    sim.paint_walls(sim.terrain.runs_of(stage_of(sim).areas.ways.owner >= 0), True)
    follow_walls(sim)
    refresh_rules(sim)
    kept = columns_of(sim)
    assert len(kept["id"]) > 100
    run(stage_of(sim).launches(sim))
    assert all(np.array_equal(column, kept[name]) for name, column in columns_of(sim).items())


@pytest.mark.quick
@pytest.mark.parametrize("other", ["room", "wait_s"])
def test_exits_need_areas_and_a_pause(other: str) -> None:
    with pytest.raises(ConfigError, match=f"exits need a {other} above 0"):
        load_config("1k", ["crowd.exits=1", f"crowd.{other}=0"])


# --- sending people: to the nearest destination, all or some; and ways out, where they leave for good ----------------

OPEN = {"agents": 120, **open_world(900, 700), "crowd__destinations": 4, "crowd__room": 60, "crowd__wait_s": 2}


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


@pytest.mark.quick
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 9999), to=st.lists(st.integers(0, 3), min_size=1, max_size=4), leave=st.booleans(),
       settled=st.booleans(), within=st.none() | st.tuples(st.integers(0, 400), st.integers(0, 300), st.integers(401, 900),
                                                           st.integers(301, 700)))
def test_who_goes_where_is_what_the_oracle_says(seed: int, to: list[int], leave: bool, settled: bool, within: Any) -> None:
    sim, followed = stirred(seed), stirred(seed)
    for each in (followed, sim)[:1 + settled]:
        each.ways.settle()  # type: ignore[union-attr]
    want = columns_of(sim)
    reference_people.people_sent(want, to, within, ways_out(followed).areas.refreshed(), sim.terrain)
    sim.apply(Send(tuple(to), leave, within))
    for name, column in columns_of(sim).items():
        assert np.array_equal(column, want[name]), name
    assert ways_out(sim).areas.ways_out == (set(to) if leave else set())


@pytest.mark.quick
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


@pytest.mark.quick
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


@pytest.mark.quick
def test_everybody_leaves_and_nobody_waits_for_a_place() -> None:
    sim = evacuation()
    queued = 0
    while sim.events.end_tick is None and sim.tick < 3600:
        sim.play(10)
        queued = max(queued, sim.states()["queuing"])
    assert sim.events.end_tick and sim.agents.count < 0.02 * 120 and queued < 60
    assert sim.events.answer_s(sim.dt) == (sim.events.end_tick - 30) / 60
    assert sim.agents.handles.removed == 120 - sim.agents.count


@pytest.mark.quick
def test_what_cannot_be_sent_is_refused() -> None:
    assert from_data(as_data(Send((1, 2), True, (0, 0, 9, 9)))) == Send((1, 2), True, (0, 0, 9, 9))
    with pytest.raises(ValueError, match="there is no destination 4: there are 4, counted from 0"):
        simulation(**OPEN).apply(Send((1, 4)))
    with pytest.raises(ValueError, match="only people can be sent"):
        simulation("20k-flock", agents=10).apply(Send((0,)))
    with pytest.raises(ValueError, match=r"people cannot be sent where crowd\.room is 0"):
        simulation(**{**OPEN, "crowd__room": 0}).apply(Send((0,)))
