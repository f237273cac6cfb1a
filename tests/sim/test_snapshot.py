"""Snapshots: whoever goes on from one, in place or anew, has the same hashes, whatever is switched on."""

import copy
from typing import Any

import numpy as np
import pytest
from crowds import BIRTHS_AND_DEATHS, ROPE, Settings, simulation

from crowd_demo.sim.actions import Action, Populate, SetWalls, Switch, as_data, from_data
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import differences

SCRIPT: dict[int, Action] = {4: SetWalls((1, 1, 4, 3), True), 9: Populate(230), 13: SetWalls((2, 1, 3, 4), False),
                             15: Switch("stagger.avoidance", 2), 18: Populate(170), 22: SetWalls((0, 4, 6, 5), True)}
LAST = 26
KINDS: dict[str, Settings] = {"plain": {}, "births": BIRTHS_AND_DEATHS,
                              "links": {"links__pattern": "rope", "links__length": 7}}


def on(sim: Simulation, last: int) -> list[str]:
    """Go on to a tick with the script's actions, and return the hash of each tick."""
    hashes = []
    while sim.tick < last:
        if sim.tick in SCRIPT:
            sim.apply(SCRIPT[sim.tick])
        sim.step()
        hashes.append(sim.state_hash())
    return hashes


@pytest.mark.parametrize("kind", KINDS)
def test_a_snapshot_goes_on_alike_in_place_and_anew(crowd: Settings, kind: str) -> None:
    sim = simulation(**{**crowd, "agents": 200, **KINDS[kind]})
    on(sim, 11)
    snapshot = sim.snapshot()
    assert snapshot.state_hash() == sim.state_hash()
    wanted = on(sim, LAST)
    for _ in range(2):  # a snapshot is not used up
        sim.restore(snapshot)
        assert sim.state_hash() == snapshot.state_hash() and sim.history == list(snapshot.history)
        assert on(sim, LAST) == wanted
    assert on(Simulation.from_snapshot(snapshot), LAST) == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_back_and_forth_over_everything(kind: str) -> None:
    """Snapshots of every tick, restored in any order: walls up and down, deaths, cut links, switches."""
    sim = simulation(**{**ROPE, "agents": 200, **KINDS[kind]})
    snapshots, hashes = [sim.snapshot()], [sim.state_hash()]
    for tick in range(LAST):
        hashes += on(sim, tick + 1)
        snapshots.append(sim.snapshot())
    for tick in np.random.default_rng(3).integers(LAST, size=30).tolist():
        sim.restore(snapshots[tick])
        assert [sim.state_hash(), *on(sim, tick + 1)] == hashes[tick:tick + 2], tick


@pytest.mark.quick
def test_nobody_writes_into_a_snapshot() -> None:
    sim = simulation(agents=200, **BIRTHS_AND_DEATHS)
    on(sim, 11)
    snapshot = sim.snapshot()
    before = copy.deepcopy(snapshot)
    on(sim, LAST)
    sim.restore(snapshot)
    on(sim, LAST)
    assert all(np.array_equal(*pair) for pair in zip(before.parts, snapshot.parts, strict=True))
    assert before.techniques == snapshot.techniques and before.history == snapshot.history


@pytest.mark.quick
def test_the_population_and_gaps_are_restored() -> None:
    sim = simulation(agents=200, **BIRTHS_AND_DEATHS, steps=1100)
    sim.agents.remove(np.arange(5), "deferred")
    assert sim.agents.handles.gaps
    snapshot, population = sim.snapshot(), sim.population
    assert snapshot.agents == sim.agents.count == population[-1] - 5
    sim.step(50)
    sim.restore(snapshot)
    assert np.array_equal(sim.population, population) and len(population) == 1024


@pytest.mark.quick
def test_a_snapshot_of_another_crowd_is_refused_by_its_keys() -> None:
    sim = simulation(agents=50)
    others: list[tuple[Settings, str]] = [({"seed": 2}, "seed"), (
        {"crowd__radius": 20, "time__step_hz": 30}, "crowd.radius, time.step_hz")]
    for settings, said in others:
        other = simulation(agents=50, **settings)
        with pytest.raises(ValueError, match=f"another crowd: {said} differ"):
            sim.restore(other.snapshot())
    looks: Any = {"window__width": 400, "time__speed": 2, "camera__zoom": 2, "optimizations__simd": "false"}
    sim.restore(simulation(agents=50, **looks).snapshot())
    assert not differences(sim.config, simulation(agents=50, **looks).config)


@pytest.mark.quick
def test_actions_are_plain_data_and_back() -> None:
    for action in SCRIPT.values():
        assert from_data(as_data(action)) == action


@pytest.mark.quick
@pytest.mark.parametrize(("data", "said"), [
    (5, "must have a name"), ({"count": 5}, "must have a name"), ({"name": "populat"}, "did you mean populate"),
    ({"name": "populate", "count": -1}, "populate: count"), ({"name": "populate", "count": 10**9}, "populate: count"),
    ({"name": "populate"}, "populate: count"), ({"name": "populate", "count": 5, "x": 1}, "populate: unknown field 'x'"),
    *(({"name": "tune", **data}, "action tune: ") for data in (
        {"path": "flock.align"}, {"path": "flock.align", "value": "3"}, {"path": 3, "value": 3},
        {"path": "x" * 101, "value": 3})),
    *(({"name": "set_numbers", "values": values}, "action set_numbers: ") for values in ([["flock.align"]], 5)),
    ({"name": "set_walls", "rectangle": [1, 2, 3], "wall": True}, "set_walls: rectangle"),
    ({"name": "set_walls", "rectangle": [1, 2, 3, 10**30], "wall": True}, "set_walls: rectangle"),
])
def test_data_that_are_no_action_are_one_line(data: object, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        from_data(data)
    assert "\n" not in str(caught.value)


@pytest.mark.quick
def test_an_impossible_action_is_not_remembered() -> None:
    sim = simulation(agents=5)
    with pytest.raises(ValueError, match="threads"):
        sim.apply(Switch("threads", 0))
    assert sim.history == []
