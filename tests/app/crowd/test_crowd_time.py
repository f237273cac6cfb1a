"""The crowd's time: any tick of the past has the hash that it had, and a new action there drops the old future."""

from __future__ import annotations

import numpy as np
import pytest
from crowds import BIRTHS_AND_DEATHS, Settings, open_world, simulation

from crowd_demo.app.crowd import Crowd
from crowd_demo.app.screen import Notices
from crowd_demo.registry.techniques import TECHNIQUES
from crowd_demo.sim.actions import Action, Populate, SetWalls, Switch
from crowd_demo.sim.simulation import Simulation

ROOMY_MB = 64.0
ROPES: Settings = {"links__pattern": "rope", "links__length": 7, "links__stiffness": 100}
SETTINGS: Settings = {"agents": 200, "time__step_hz": 20, **open_world(600, 500)}


def crowd_of(sim: Simulation, rewind_mb: float = ROOMY_MB) -> Crowd:
    return Crowd(sim.config, sim, None, rewind_mb, Notices())


def go(crowd: Crowd, tick: int) -> int:
    """Go to a tick; return the tick reached."""
    crowd.sought = tick
    crowd.carry_out_changes(lambda: True)
    assert crowd.sought is None
    return crowd.sim.tick


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


def play(crowd: Crowd, ticks: int, chance: np.random.Generator) -> dict[int, str]:
    """Go on with random actions; return the hash of each tick, after its actions."""
    hashes = {}
    for _ in range(ticks):
        crowd.step()
        if chance.random() < 0.3:
            crowd.carry_out(random_action(chance))
        hashes[crowd.sim.tick] = crowd.sim.state_hash()
    return hashes


@pytest.mark.parametrize("kind", [{}, BIRTHS_AND_DEATHS, ROPES], ids=["plain", "births", "links"])
def test_every_tick_has_the_hash_that_it_had(kind: Settings) -> None:
    """And the crowd is what it is without going back."""
    chance = np.random.default_rng(1)
    crowd = crowd_of(simulation(**SETTINGS, **kind))
    hashes = {0: crowd.sim.state_hash(), **play(crowd, 120, chance)}
    assert (crowd.timeline.oldest, crowd.timeline.newest) == (0, 120)
    for tick in [0, 120, 119, *chance.integers(121, size=40).tolist(), 120]:
        assert go(crowd, tick) == tick == crowd.sim.tick
        assert crowd.sim.state_hash() == hashes[tick], tick
    assert crowd.timeline.newest == 120
    alone: Simulation = simulation(**SETTINGS, **kind)
    for tick, action in [*crowd.sim.history, (120, None)]:
        alone.step(tick - alone.tick)
        if action:
            alone.apply(action)
    assert alone.state_hash() == crowd.sim.state_hash()


def reaches(crowd: Crowd, steps: int) -> list[int]:
    """Make steps; return how many ticks back one can go after each of them, within the memory bound."""
    found, timeline = [], crowd.timeline
    for _ in range(steps):
        crowd.step()
        assert timeline.keyframes.nbytes <= timeline.keyframes.bound
        found.append(timeline.newest - timeline.oldest)
    return found


def test_the_last_minute_is_kept_where_it_fits() -> None:
    sim = simulation(**SETTINGS)
    crowd = crowd_of(sim, 30 * sim.snapshot().columns.nbytes / 1e6)
    ticks = reaches(crowd, 2000)
    assert min(ticks[1300:]) >= 60 * 20 * 0.9 and max(ticks) < 60 * 20 * 1.2
    assert crowd.timeline.keyframes.every <= 5 * 20
    roomy = crowd_of(sim)
    assert reaches(roomy, 200) and roomy.timeline.keyframes.every == 10
    one = crowd_of(sim, sim.snapshot().nbytes * 1.5 / 1e6)
    assert max(reaches(one, 300)) == 5 * 20 - 1, "a single keyframe reaches a few seconds"


@pytest.mark.parametrize("bound", [0, 1000])
def test_without_memory_there_is_no_way_back_but_for_nobody(bound: int) -> None:
    crowd = crowd_of(simulation(**SETTINGS), bound / 1e6)
    assert reaches(crowd, 2) == [0, 0] and crowd.timeline.keyframes.nbytes == 0
    assert go(crowd, 2) == 2
    assert go(crowd, 1) == 2
    nobody = crowd_of(simulation(agents=0), 1.0)
    assert reaches(nobody, 200) and go(nobody, 10) == 10


def test_seeking_can_be_stopped_between_steps() -> None:
    crowd = crowd_of(simulation(**SETTINGS))
    hashes = play(crowd, 30, np.random.default_rng(5))
    asked = iter([True, True, False])
    go(crowd, 0)
    crowd.sought = 9
    crowd.carry_out_changes(lambda: next(asked))
    assert crowd.sim.tick == 2
    assert crowd.sim.state_hash() == hashes[2] and crowd.timeline.newest == 30
