"""Steps on a graphics card, which the processor plays here: one hash with the processor's own, whatever is switched.

That the GPU itself computes the same bits is shown by `benchmarks/gpu.py`, on a real one.
"""

from collections import Counter
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from crowds import BIRTHS_AND_DEATHS, CRATES, CROWD, FLOCK, HUNT, NEAREST, PLACES, ROPE, SOME_FORCES, Settings, put, simulation
from emulated_gpu import install_gpu

from crowd_demo.config.loader import load_config
from crowd_demo.extras.gpu import cuda
from crowd_demo.extras.gpu.cuda import GraphicsProcessor
from crowd_demo.host.compiling.ahead import KernelFinder
from crowd_demo.registry.techniques import inactive
from crowd_demo.sim.actions import Place
from crowd_demo.sim.behaviours.people_rules import QUEUING
from crowd_demo.sim.edits import SetExit
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.tiles import GONE
from crowd_demo.sim.world import World

pytestmark = pytest.mark.quick

FLOCKS: dict[str, Settings] = {
    "flock": FLOCK,
    "all due": {**FLOCK, "optimizations__stagger__avoidance": 1},
    "by id": {**FLOCK, "optimizations__stagger__by": "id", "optimizations__stagger__avoidance": 4},
    "by tile": {**FLOCK, "optimizations__stagger__by": "tile", "optimizations__cell_size": 33},
    "sorted every step": {**FLOCK, "optimizations__reorder__every": 1},
    "sorted by drift": {**FLOCK, "optimizations__reorder__when": "drift", "optimizations__reorder__drift": 0.05},
    "never sorted": {**FLOCK, "optimizations__reorder__when": "off", "optimizations__neighbours": "kd_tree"},
    "by offset": {**FLOCK, "flock__separate_by": "offset"},
    "all around": {**FLOCK, "flock__blind": 0},
    "nearest": NEAREST,
    "limit, nearest": {**FLOCK, "optimizations__neighbour_limit": "nearest", "flock__limit_kept": 4},
    "limit, first": {**FLOCK, "optimizations__neighbour_limit": "first", "flock__limit_kept": 3, "flock__limit_scanned": 9},
    "births and deaths": {**FLOCK, **BIRTHS_AND_DEATHS, "optimizations__removal": "deferred"},
    "counted": {**FLOCK, **PLACES},
    "one cell": {**FLOCK, "optimizations__cell_size": 4096},
    "a world of one cell": {**FLOCK, "agents": 60, "world__width": 20, "world__height": 20},
    "nobody": {**FLOCK, "agents": 0},
    "one": {**FLOCK, "agents": 1},
}


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
    "held up": {**DENSE, "crowd__pass_by": 1, "crowd__shoulders": 0.35, "crowd__reconsider_s": 0.2,
                "crowd__choice_length": 100, "crowd__stuck_s": 0.1, "crowd__detour_s": 0.2},
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


@pytest.mark.parametrize(("gpu", "settings"), list(zip(cycle((3, 700)), (*FLOCKS.values(), *PEOPLE.values()))),
                         ids=[*FLOCKS, *PEOPLE], indirect=["gpu"])
def test_the_crowd_is_the_same_on_the_gpu(gpu: GraphicsProcessor, settings: Settings) -> None:
    here, there = pair(settings)
    if settings in FLOCKS.values() and here.agents.count > 1:
        for sim in (here, there):
            put(sim, SOME_FORCES)
    for _ in range(6):
        for sim in (here, there):
            sim.play(10)
        assert here.state_hash() == there.state_hash()
    assert here.drift.counters() == there.drift.counters()
    assert here.states() == there.states()
    for counter in ("due", "neighbours_per_agent"):
        assert here.profile.counters[counter] == there.profile.counters[counter]


@pytest.mark.parametrize("settings", [FLOCK, {**CITY, "crowd__detour_s": 0.1}])
def test_the_device_can_be_switched_at_any_step(settings: Settings, gpu: GraphicsProcessor) -> None:
    here, there = pair(settings)
    for tick in range(60):
        there.optimizations.device = "cuda" if tick * tick % 7 > 2 else "cpu"
        here.step()
        there.step()
    assert here.state_hash() == there.state_hash()


@pytest.mark.parametrize("rebuild", [2, 3, 4])
@pytest.mark.parametrize("away", [1, 2, 5])
def test_a_box_tree_that_missed_steps_is_built_again(away: int, rebuild: int, gpu: GraphicsProcessor) -> None:
    """Its next tree is built a part in each step; steps on the GPU build none of it."""
    here, there = pair({**FLOCK, "optimizations__neighbours": "aabb_tree", "optimizations__reorder__when": "off",
                        "optimizations__rebuild": rebuild})
    for tick in range(40):
        there.optimizations.device = "cpu" if tick % (2 * away + 1) > away else "cuda"
        here.step()
        there.step()
        if not there.wants_gpu:
            assert (np.sort(there.structure.order[:there.agents.count]) == np.arange(there.agents.count)).all()
    assert here.state_hash() == there.state_hash()


def test_a_run_on_the_gpu_replays_on_the_processor(gpu: GraphicsProcessor) -> None:
    here, there = pair({**FLOCK, **BIRTHS_AND_DEATHS})
    there.step(17)
    state, somebody = there.snapshot(), int(there.agents.view.id[3])
    here.restore(state._replace(techniques={**state.techniques, "device": "cpu"}))
    assert not here.wants_gpu
    for sim in (here, there):
        Place(somebody, 77.0, 99.0).apply(sim)
        sim.step(17)
    assert here.state_hash() == there.state_hash()


@pytest.mark.parametrize("settings", [FLOCK, {**CITY, "crowd__detour_s": 0.1, "crowd__exits": 1}])
def test_columns_travel_only_when_somebody_asks_or_writes(
        settings: Settings, gpu: GraphicsProcessor, monkeypatch: pytest.MonkeyPatch) -> None:
    _, there = pair(settings)
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
    assert sum(there.states().values()) in (0, there.agents.count)
    assert moved == {"download": 0, "upload": 0}
    there.state_hash()
    there.step(5)
    assert moved == {"download": 1, "upload": 0}
    there.agents.columns.x[0] = 5
    there.step(5)
    assert moved == {"download": 2, "upload": 1}


@pytest.mark.parametrize(("settings", "why"), [
    (CRATES, "no kernels"), (HUNT, "no kernels"), (ROPE, "no kernels"),
    ({**FLOCK, "optimizations__neighbours": "field"}, "no field")])
def test_other_crowds_stay_on_the_processor(settings: Settings, why: str, gpu: GraphicsProcessor) -> None:
    sim = simulation(**settings)
    sim.optimizations.device = "cuda"
    assert not sim.wants_gpu and sim.needs_processor == why
    assert "device" in inactive(sim.situation)
    sim.step(3)


def test_auto_takes_the_gpu_for_large_crowds(gpu: GraphicsProcessor) -> None:
    small, large = simulation(**FLOCK), simulation(**{**FLOCK, "agents": 60_000, "world__width": 6000, "world__height": 4000})
    assert small.optimizations.device == "auto" and not small.wants_gpu and large.wants_gpu


def test_what_the_gpu_makes_no_use_of_is_inactive(gpu: GraphicsProcessor) -> None:
    _, there = pair(FLOCK)
    idle = inactive(there.situation)
    assert {"simd", "curve", "leaf_size", "rebuild"} <= idle
    assert not idle & {"device", "cell_size", "reorder.when", "stagger.avoidance", "neighbour_limit"}


def test_without_a_gpu_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """On this machine there may be one; nothing is asked of the driver while the package is missing."""
    monkeypatch.setattr(cuda, "find_spec", lambda name: None)
    cuda.missing.cache_clear()
    sim = simulation(**FLOCK)
    sim.optimizations.device = "cuda"
    try:
        assert sim.needs_processor == "not installed" and not sim.wants_gpu
        sim.step()
    finally:
        cuda.missing.cache_clear()


# --- people ------------------------------------------------------------------------------------------------------------

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
