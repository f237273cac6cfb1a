"""The timeline: any tick of the past has the hash that it had, and a new action there drops the old future."""

from __future__ import annotations

import numpy as np
import pytest
from crowds import BIRTHS_AND_DEATHS, Settings, open_world, simulation

from crowd_demo.registry.techniques import TECHNIQUES
from crowd_demo.sim.actions import Action, Populate, SetWalls, Switch
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.timeline import Timeline

MB = 1 << 20
ROPES: Settings = {"links__pattern": "rope", "links__length": 7, "links__stiffness": 100}
SETTINGS: Settings = {"agents": 200, "time__step_hz": 20, **open_world(600, 500)}


def random_action(chance: np.random.Generator) -> Action:
    kind = chance.integers(3)
    if kind == 0:
        return Populate(int(chance.integers(100, 300)))
    if kind == 1:
        left, top = chance.integers(8, size=2).tolist()
        return SetWalls((left, top, left + 2, top + 2), bool(chance.integers(2)))
    technique = TECHNIQUES[chance.integers(len(TECHNIQUES))]
    if technique.path in ("neighbours", "neighbour_limit", "simd"):  # each of their choices takes long to compile
        return Switch("stagger.avoidance", int(chance.integers(1, 5)))
    return Switch(technique.path, technique.choices[chance.integers(len(technique.choices))])


def play(timeline: Timeline, ticks: int, chance: np.random.Generator) -> dict[int, str]:
    """Go on with random actions; return the hash of each tick, after its actions."""
    hashes = {}
    for _ in range(ticks):
        timeline.step()
        if chance.random() < 0.3:
            timeline.apply(random_action(chance))
        hashes[timeline.sim.tick] = timeline.sim.state_hash()
    return hashes


@pytest.mark.parametrize("kind", [{}, BIRTHS_AND_DEATHS, ROPES], ids=["plain", "births", "links"])
def test_every_tick_has_the_hash_that_it_had(kind: Settings) -> None:
    chance = np.random.default_rng(1)
    timeline = Timeline(simulation(**SETTINGS, **kind), 64 * MB)
    hashes = {0: timeline.sim.state_hash(), **play(timeline, 120, chance)}
    assert (timeline.oldest, timeline.newest) == (0, 120)
    for tick in [0, 120, 119, *chance.integers(121, size=40).tolist(), 120]:
        assert timeline.seek(tick) == tick == timeline.sim.tick
        assert timeline.sim.state_hash() == hashes[tick], tick
    assert timeline.newest == 120


def test_steps_in_the_past_follow_what_was_done_until_somebody_does_something_else() -> None:
    chance = np.random.default_rng(2)
    timeline = Timeline(simulation(**SETTINGS), 64 * MB)
    hashes = play(timeline, 60, chance)
    timeline.seek(20)
    for tick in range(21, 61):
        timeline.step()
        assert timeline.sim.state_hash() == hashes[tick]
    timeline.seek(30)
    timeline.apply(Populate(120))
    assert timeline.newest == 30
    with pytest.raises(ValueError, match="tick 31 is not between 0 and 30"):
        timeline.seek(31)
    hashes = {**hashes, 30: timeline.sim.state_hash(), **play(timeline, 40, chance)}
    for tick in (70, 3, 29, 30, 31, 55):
        timeline.seek(tick)
        assert timeline.sim.state_hash() == hashes[tick], tick


def test_a_timeline_of_a_run_is_the_run() -> None:
    timeline = Timeline(simulation(**SETTINGS), 64 * MB)
    play(timeline, 50, np.random.default_rng(4))
    for tick in (5, 40, 12, 50):
        timeline.seek(tick)
    alone: Simulation = simulation(**SETTINGS)
    for tick, action in [*timeline.sim.history, (50, None)]:
        alone.step(tick - alone.tick)
        if action:
            alone.apply(action)
    assert alone.state_hash() == timeline.sim.state_hash()



def test_the_memory_bound_holds_and_the_last_minute_is_kept_where_it_fits() -> None:
    sim = simulation(**SETTINGS)
    size = sim.snapshot().columns.nbytes
    timeline = Timeline(sim, 30 * size)
    ticks: list[int] = []
    for _ in range(2000):
        timeline.step()
        assert timeline.nbytes <= timeline.bound
        ticks.append(timeline.newest - timeline.oldest)
    assert min(ticks[1300:]) >= 60 * 20 * 0.9 and max(ticks) < 60 * 20 * 1.2
    assert timeline.every <= 5 * 20
    roomy = Timeline(sim, 64 * MB)
    for _ in range(200):
        roomy.step()
    assert roomy.every == 10


def test_a_crowd_that_grows_is_thinned_out_and_keeps_its_reach() -> None:
    sim = simulation(**SETTINGS)
    timeline = Timeline(sim, 40 * sim.snapshot().columns.nbytes)
    for _ in range(600):
        timeline.step()
    timeline.apply(Populate(400))
    for _ in range(400):
        timeline.step()
        assert timeline.nbytes <= timeline.bound
    assert timeline.oldest == 0


@pytest.mark.parametrize("bound", [0, 1000])
def test_without_memory_there_is_no_way_back(bound: int) -> None:
    timeline = Timeline(simulation(**SETTINGS), bound)
    timeline.step()
    timeline.step()
    assert timeline.oldest == timeline.newest == timeline.sim.tick == 2 and timeline.nbytes == 0
    assert timeline.seek(2) == 2
    with pytest.raises(ValueError, match="not between 2 and 2"):
        timeline.seek(1)


def test_one_keyframe_reaches_a_few_seconds() -> None:
    sim = simulation(**SETTINGS)
    timeline = Timeline(sim, int(sim.snapshot().nbytes * 1.5))
    reach = []
    for _ in range(300):
        timeline.step()
        reach.append(timeline.newest - timeline.oldest)
    assert max(reach) == 5 * 20 - 1


def test_seeking_can_be_stopped_between_steps() -> None:
    timeline = Timeline(simulation(**SETTINGS), 64 * MB)
    hashes = play(timeline, 30, np.random.default_rng(5))
    asked = iter([True, True, False])
    timeline.seek(0)
    assert timeline.seek(9, lambda: next(asked)) == 2
    assert timeline.sim.state_hash() == hashes[2] and timeline.newest == 30


def test_nobody_can_be_rewound_too() -> None:
    sim = simulation(agents=0)
    timeline = Timeline(sim, 1 << 20)
    for _ in range(200):
        timeline.step()
    assert timeline.seek(10) == 10 and sim.agents.count == 0
