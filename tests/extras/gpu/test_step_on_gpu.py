"""Steps on a graphics card, which the processor plays here: one hash with the processor's own, whatever is switched.

That the GPU itself computes the same bits is shown by `benchmarks/gpu.py`, on a real one.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from crowds import BIRTHS_AND_DEATHS, CRATES, FLOCK, HUNT, NEAREST, PLACES, ROPE, SOME_FORCES, Settings, put, simulation
from emulated_gpu import install_gpu

from crowd_demo.extras.gpu import cuda
from crowd_demo.extras.gpu.cuda import GraphicsProcessor
from crowd_demo.registry.techniques import inactive
from crowd_demo.sim.actions import Place
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.stage import Stage
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


@pytest.mark.parametrize("name", FLOCKS)
def test_the_crowd_is_the_same_on_the_gpu(name: str, gpu: GraphicsProcessor) -> None:
    here, there = pair(FLOCKS[name])
    if here.agents.count > 1:
        for sim in (here, there):
            put(sim, SOME_FORCES)
    for _ in range(8):
        here.step(5)
        there.step(5)
        assert here.state_hash() == there.state_hash()
    for counter in ("due", "neighbours_per_agent"):
        assert here.profile.counters[counter] == there.profile.counters[counter]


def test_the_device_can_be_switched_at_any_step(gpu: GraphicsProcessor) -> None:
    here, there = pair(FLOCK)
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


class Calm(Stage):
    """A stage of a plugin, which knows nothing of a GPU."""

    name = "calm"

    def commit(self, world: World) -> None:
        world.agents.columns.avoidance_x[:world.agents.count] /= 2


def test_a_stage_that_runs_here_may_write_between_two_on_the_gpu(gpu: GraphicsProcessor) -> None:
    here, there = pair(FLOCK)
    for sim in (here, there):
        at = next(number for number, stage in enumerate(sim.stages) if stage.name == "interaction") + 1
        assert isinstance(sim.stages, list | tuple)
        with_calm = (*sim.stages[:at], Calm(), *sim.stages[at:])
        sim._stages, sim._gpu_stages = (with_calm, ()) if sim is here else (sim._stages, with_calm)
        sim.step(20)
    assert here.state_hash() == there.state_hash()


def test_columns_travel_only_when_somebody_asks_or_writes(gpu: GraphicsProcessor, monkeypatch: pytest.MonkeyPatch) -> None:
    _, there = pair(FLOCK)
    there.step(2)
    moved, size = Counter[str](), there.agents.back.nbytes

    def counting(name: str, copy: Any) -> Any:
        def counted(source: Any, target: Any) -> None:
            moved[name] += source.nbytes == size
            copy(source, target)
        return counted

    for name in ("upload", "download"):
        monkeypatch.setattr(gpu, name, counting(name, getattr(gpu, name)))
    there.step(5)
    assert moved == {"download": 0, "upload": 0}
    there.state_hash()
    there.step(5)
    assert moved == {"download": 1, "upload": 0}
    there.agents.columns.x[0] = 5
    there.step(5)
    assert moved == {"download": 2, "upload": 1}


def test_memory_is_in_the_order_of_cells_and_ids(gpu: GraphicsProcessor) -> None:
    _, there = pair({**FLOCK, "optimizations__reorder__every": 1, "flock__speed_max": 0.001, "flock__speed_min": 0})
    there.step(3)
    floor, view, count = there.grid.floor, there.agents.view, there.agents.count
    column, row = ((axis[:count] * floor.inv_cell).astype(int) for axis in (view.x, view.y))
    cell = np.minimum(row, floor.rows - 1) * floor.columns + np.minimum(column, floor.columns - 1)
    assert (np.lexsort((view.id[:count], cell)) == np.arange(count)).all()


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
