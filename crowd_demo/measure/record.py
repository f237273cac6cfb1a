"""Measurements as JSON. `VERSION` grows whenever a field goes or changes its meaning; new fields leave it as it is."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from crowd_demo import __version__
from crowd_demo.config.model import Config
from crowd_demo.measure.comparison import Estimate, VariantResult
from crowd_demo.measure.statistics import Interval
from crowd_demo.registry.entries import Value

VERSION = 1
LIBRARIES = ("numpy", "numba", "llvmlite", "pygame-ce", "pydantic")
REGISTERS = ("avx512f", "avx2", "avx", "sse2", "neon")  # widest first


# --- what every record begins with -----------------------------------------------------------------------------------

def header(kind: str) -> dict[str, object]:
    """What every record begins with; `kind` says which fields follow."""
    return {"version": VERSION, "kind": kind, "versions": versions(), "machine": machine()}


def versions() -> dict[str, str]:
    """Of the program, Python and the libraries."""
    return {"crowd-demo": __version__, "python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


def machine() -> dict[str, object]:
    """The processor, and the widest of its vector registers."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    return {"cpu": _processor(), "cores": os.cpu_count(), "os": platform.platform(),
            "simd": next((name for name in REGISTERS if features.get(name)), None)}


def _processor() -> str:
    lines = list[str]()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return model or platform.processor()


def crowd_json(config: Config, techniques: Mapping[str, Value]) -> dict[str, object]:
    """What crowd was measured."""
    return {"config": config.model_dump(mode="json", exclude={"optimizations", "keys"}), "optimizations": dict(techniques)}


# --- comparisons -----------------------------------------------------------------------------------------------------

def result_json(result: VariantResult) -> dict[str, object]:
    return {"step_ms": finite(result.step.ms.value), "stages_ms": result.stages_ms, "step": estimate_json(result.step),
            "stages": {stage: estimate_json(estimate) for stage, estimate in result.stages.items()},
            "counters": result.counters, "state_hash": result.state_hash}


def estimate_json(estimate: Estimate) -> dict[str, object]:
    return {"ms": interval_json(estimate.ms), "ratio": interval_json(estimate.ratio),
            "noise": interval_json(estimate.noise), "verdict": estimate.verdict}


def interval_json(interval: Interval) -> dict[str, float | None]:
    """`low` and `high` are null where there are too few blocks to tell, `value` where the base takes no time."""
    return {name: finite(number) for name, number in interval._asdict().items()}


def finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
