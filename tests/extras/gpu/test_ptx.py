"""Kernels as PTX: each operation is rounded by itself, and arguments are laid out as the GPU's entry reads them."""

import re
from typing import Any

import numba
import numpy as np
import pytest
from crowds import FLOCK, NEAREST, simulation
from emulated_gpu import install_gpu

from crowd_demo.compute import jit, llvm
from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.compute.jit import Launch, kernel
from crowd_demo.compute.simd import root, to_float
from crowd_demo.extras.gpu.cuda import GpuArray, pack
from crowd_demo.measure.proof import Picture
from crowd_demo.render import scene

pytestmark = [pytest.mark.quick, pytest.mark.skipif(llvm.TYPED or not hasattr(jit.compiler, "body_of"),
                                                    reason="needs a newer Numba, and its private names")]
CONTRACTED = r"\bfma\S*|\S*\.ftz\S*|\S*\.approx\S*|\b(?:mul|add|sub|div|sqrt)\.f(?:32|64)"


@kernel
def contract(worker: int, workers: int, x: Floats, y: Floats, number: np.float32, ids: Ints) -> None:
    for k in range(worker, x.shape[0], workers):
        x[k] = x[k] * y[k] + number / x[k] - root(y[k]) + to_float(ids[k])


def ptx_of(launch: Launch) -> str:
    from crowd_demo.extras.gpu import cuda

    assert isinstance(launch.kernel, jit.Kernel)
    return cuda.ptx_of(launch.kernel.share, tuple(numba.typeof(each) for each in launch.args[1:]))


def is_rounded(text: str) -> bool:
    return not re.search(CONTRACTED, text) and ".extern" not in text and ".visible .entry entry(" in text


def test_products_and_sums_stay_apart() -> None:
    floats = np.zeros(4, np.float32)
    text = ptx_of(Launch(contract, (4, floats, floats, np.float32(1), np.zeros(4, np.int32))))
    assert is_rounded(text)
    assert {"mul.rn.f32", "div.rn.f32", "add.rn.f32", "sub.rn.f32"} <= set(re.findall(r"\w+\.rn\.f32", text))


@pytest.mark.parametrize("settings", [
    pytest.param(FLOCK, id="flock", marks=pytest.mark.slow), pytest.param(NEAREST, id="nearest"),
    pytest.param({"name": "station"}, id="people", marks=pytest.mark.slow),
    pytest.param({"name": "1k", "optimizations__avoidance": "push"}, id="push", marks=pytest.mark.slow),
    pytest.param({"name": "1k", "optimizations__avoidance": "anticipate"}, id="anticipate")])
def test_no_kernel_of_a_step_is_contracted(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    install_gpu(monkeypatch, 37)
    sim = simulation(**settings)
    sim.optimizations.device = "cuda"
    kernels = {(launch.name, launch.signature()): launch for launch in sim.launches_to_compile()
               if "extras.gpu" in launch.kernel.__module__ or launch.name == "open_destinations"}
    assert {"count_cells", "place_agents", "move_each", "gather_rows"} <= {launch.name for launch in kernels.values()}
    for launch in kernels.values():
        assert is_rounded(ptx_of(launch)), launch.name


def test_nor_is_one_of_light(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CROWD_DEMO_REAL_GPU", raising=False)  # the launches that are collected run on the processor
    gpu = install_gpu(monkeypatch, 37)
    monkeypatch.setattr(scene, "WORTH_A_GPU", 1)
    launched = list[Launch]()
    monkeypatch.setattr(gpu, "launch", lambda *args: launched.append(Launch(args[0], args[1:])) or launched[-1])
    sim = simulation(**{**FLOCK, "agents": 40, "world__width": 8000, "world__height": 6000, "scene__colours": "heading"})
    sim.optimizations.device = "cuda"
    sim.step()
    del launched[:]
    Picture(sim, size=(32, 24)).draw()
    assert {"add_light_each", "expose_each", "number_agents"} <= {launch.name for launch in launched}
    for launch in launched:
        assert is_rounded(ptx_of(launch)), launch.name


def test_a_record_has_a_slot_for_each_leaf_of_the_entry() -> None:
    from crowd_demo.compute import numba_private

    matrix = GpuArray(None, 4096, (3, 5), np.dtype(np.float32))  # type: ignore[arg-type]
    args = (7, np.float32(0.5), np.int32(-3), True, (matrix, 2.5), GpuArray(None, 64, (9,), np.dtype(np.int64)))  # type: ignore[arg-type]
    pieces, kinds = list[bytes](), list[object]()
    pack(args, pieces, kinds)
    record = b"".join(pieces)
    assert len(record) == 8 * len(numba_private.leaves_of([numba.typeof(each) for each in args]))
    assert np.frombuffer(record, np.int64)[[0, 2, 3]].tolist() == [7, -3, 1]
    assert np.frombuffer(record, np.float32)[2] == 0.5 and np.frombuffer(record, np.float64)[4 + 9] == 2.5
    assert np.frombuffer(record, np.int64)[4:13].tolist() == [0, 0, 15, 4, 4096, 3, 5, 20, 4]
