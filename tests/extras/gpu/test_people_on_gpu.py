"""People on a graphics card, which the processor plays here: one hash with the processor's own (see test_step_on_gpu.py)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from crowds import BIRTHS_AND_DEATHS, CROWD, SOME_FORCES, Settings, put, simulation
from emulated_gpu import install_gpu

from crowd_demo.config.loader import load_config
from crowd_demo.extras.gpu.cuda import GraphicsProcessor
from crowd_demo.host.compiling.ahead import KernelFinder
from crowd_demo.sim.behaviours.people_rules import QUEUING
from crowd_demo.sim.edits import SetExit
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.tiles import GONE
from crowd_demo.sim.world import World

pytestmark = pytest.mark.quick

DENSE: Settings = {"name": "crush", "agents": 700, "world__width": 500, "world__height": 500,
                   "optimizations__overlap_passes": 3}
CITY: Settings = {"name": "20k", "agents": 500, "world__width": 900, "world__height": 900}  # walls, areas, ways around crowds
PEOPLE: dict[str, Settings] = {
    "one cell": {**CROWD, "optimizations__cell_size": 4096},
    "in the open": CROWD,
    "city": {**CITY, "crowd__detour_s": 0.2},
    "push": {**DENSE, "optimizations__avoidance": "push"},
    "anticipate": {**DENSE, "optimizations__avoidance": "anticipate", "optimizations__overlap_passes": 1},
    "slow down": {**DENSE, "optimizations__avoidance": "slow_down", "optimizations__stagger__sight": 1},
    "no contact": {**DENSE, "optimizations__overlap_passes": 0, "optimizations__stagger__paths": 1},
    "no areas": {**CITY, "crowd__room": 0, "crowd__detour": 0},
    "exits": {"name": "corridor", "crowd__arrive": "4 m"},
    "ways out": {"name": "crossing", "crowd__arrive": "12 m"},
    "queues": {"name": "queues", "agents": 300, "world__width": 500, "world__height": 500, "crowd__wait_s": 0.2},
    "sorted by drift": {**CITY, "optimizations__reorder__when": "drift", "optimizations__reorder__drift": 0.05},
    "limit, first": {**DENSE, "optimizations__neighbour_limit": "first"},
    "births and deaths": {**CITY, **BIRTHS_AND_DEATHS, "optimizations__removal": "deferred"},
    "nobody": {**CITY, "agents": 0},
}


@pytest.fixture(params=[3, 700])
def gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> GraphicsProcessor:
    """A GPU of few or of many threads."""
    return install_gpu(monkeypatch, request.param)


def pair(settings: Settings) -> tuple[Simulation, Simulation]:
    """A crowd on the processor and one on the GPU."""
    here, there = simulation(**settings), simulation(**settings)
    here.optimizations.device, there.optimizations.device = "cpu", "cuda"
    assert there.wants_gpu and not here.wants_gpu
    return here, there


@pytest.mark.parametrize("name", PEOPLE)
def test_people_are_the_same_on_the_gpu(name: str, gpu: GraphicsProcessor) -> None:
    here, there = pair(PEOPLE[name])
    for _ in range(6):
        for sim in (here, there):
            sim.play(10)
        assert here.state_hash() == there.state_hash()
    assert here.drift.counters() == there.drift.counters()
    assert here.states() == there.states()
    for counter in ("due", "neighbours_per_agent"):
        assert here.profile.counters[counter] == there.profile.counters[counter]


def column(sim: Simulation, name: str) -> Any:
    return getattr(sim.agents.by_id(), name)


def test_the_cases_reach_what_they_are_for() -> None:
    exits, out, queues = (simulation(**PEOPLE[name]) for name in ("exits", "ways out", "queues"))
    speeds = column(exits, "speed")
    for sim in (exits, out, queues):
        sim.play(60)
    assert (column(exits, "speed") != speeds).any()  # somebody has been replaced
    assert out.agents.count < 300
    assert (column(queues, "state") == QUEUING).any()


def test_the_device_can_be_switched_at_any_step(gpu: GraphicsProcessor) -> None:
    here, there = pair({**CITY, "crowd__detour_s": 0.1})
    for tick in range(60):
        there.optimizations.device = "cuda" if tick * tick % 7 > 2 else "cpu"
        here.step()
        there.step()
    assert here.state_hash() == there.state_hash()


def test_edits_reach_the_gpu(gpu: GraphicsProcessor) -> None:
    here, there = pair({**CITY, "crowd__wait_s": 0.3})
    for number in range(6):
        for sim in (here, there):
            sim.step(8)
            match number:
                case 0:
                    sim.set_walls((30, 30, 50, 34), wall=True)
                case 1:
                    put(sim, SOME_FORCES)
                case 2:
                    sim.set_goal(1, GONE)
                case 3:
                    SetExit(0, True).apply(sim)
                case 4:
                    sim.populate(430)
                    sim.numbers.set({"crowd.body": 7.0, "crowd.radius": 33.0})
        assert here.state_hash() == there.state_hash(), number


def test_columns_stay_on_the_gpu(gpu: GraphicsProcessor, monkeypatch: pytest.MonkeyPatch) -> None:
    _, there = pair({**CITY, "crowd__detour_s": 0.1, "crowd__exits": 1})
    there.step(2)
    moved, size = Counter[str](), there.agents.back.nbytes

    def counting(name: str, copy: Any) -> Any:
        def counted(source: Any, target: Any) -> None:
            moved[name] += source.nbytes == size
            copy(source, target)
        return counted

    for name in ("upload", "download"):
        monkeypatch.setattr(gpu, name, counting(name, getattr(gpu, name)))
    there.step(60)
    assert sum(there.states().values()) == there.agents.count
    assert moved == {"download": 0, "upload": 0}
    there.agents.columns.x[0] = 500
    there.step()
    assert moved == {"download": 1, "upload": 1}


def test_all_that_a_step_launches_is_compiled_ahead(gpu: GraphicsProcessor, monkeypatch: pytest.MonkeyPatch) -> None:
    _, there = pair({**PEOPLE["exits"], "crowd__detour_s": 0.2})
    there.step(3)
    replica = there.replica()
    replica.restore(there.state())
    ahead = {(launch.name, launch.signature()[1:]) for launch in replica.launches_to_compile()}
    launched: set[object] = set()
    for stage in there.stages:

        def noting(world: World, made: Any = stage.launches) -> Any:
            launches = made(world)
            launched.update((launch.name, launch.signature()[1:]) for launch in launches)
            return launches

        monkeypatch.setattr(stage, "launches", noting)
    there.play(40)
    assert launched and launched <= ahead


@pytest.mark.parametrize(("name", "on_gpu"), [("5k", False), ("20k", True)])
def test_auto_compiles_for_what_the_whole_crowd_will_run_on(gpu: GraphicsProcessor, name: str, on_gpu: bool) -> None:
    config = load_config(name)
    ahead = KernelFinder(config, render=False)
    ahead.missing(config.optimizations)
    assert ahead._sim.wants_gpu == on_gpu
