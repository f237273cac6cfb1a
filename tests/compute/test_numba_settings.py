"""Settings with which Numba does not start are one line; TBB's library is loaded unless another layer is asked for."""

import ctypes
import os
import subprocess
import sys
from importlib.metadata import PackagePath
from pathlib import Path

import pytest

from crowd_demo.compute import workers

COMMAND = [sys.executable, "-m", "crowd_demo", "--config", "1k", "--headless", "--frames", "1"]


@pytest.mark.parametrize(("name", "value", "why"), [
    ("THREADING_LAYER", "thread", "The threading layer requested 'thread' is unknown to Numba."),
    ("NUM_THREADS", "0", "Number of threads specified must be > 0."),
    ("NUM_THREADS", "100000", "NUMBA_NUM_THREADS must be at most 1024, not 100000"),
    ("DISABLE_JIT", "1", "kernels have to be compiled: NUMBA_DISABLE_JIT must be 0"),
    ("OPT", "9", "Environment variable 'NUMBA_OPT' is defined but its associated value '9' could not be parsed."),
    ("CPU_FEATURES", "avx2", "NUMBA_CPU_FEATURES must be like +avx2,-fma, not 'avx2'")])
def test_a_setting_with_which_numba_does_not_start_is_one_line(name: str, value: str, why: str) -> None:
    environment = {key: text for key, text in os.environ.items() if not key.startswith("NUMBA_")}
    done = subprocess.run(COMMAND, env={**environment, f"NUMBA_{name}": value}, capture_output=True, encoding="utf-8")
    said = f"crowd-demo: Numba does not start with NUMBA_{name}={value}: {why}\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


@pytest.mark.quick
@pytest.mark.parametrize(("layer", "loaded"), [
    (None, True), ("tbb", True), ("safe", True), ("omp", False), ("workqueue", False)])
def test_tbb_is_loaded_unless_another_layer_is_asked_for(
        layer: str | None, loaded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(workers, "files", lambda _: [Library("lib/LICENSE"), Library(f"lib/{workers.LIBRARIES[0]}")])
    monkeypatch.setattr(ctypes, "CDLL", lambda path, mode: seen.append(path))
    monkeypatch.delenv("NUMBA_THREADING_LAYER", raising=False)
    if layer:
        monkeypatch.setenv("NUMBA_THREADING_LAYER", layer)
    workers.load_tbb()
    assert seen == [f"lib/{workers.LIBRARIES[0]}"] * loaded


class Library(PackagePath):
    """A file of an installed distribution."""

    def locate(self) -> Path:
        return Path(self)
