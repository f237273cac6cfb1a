"""Measurements as JSON. `VERSION` grows whenever a field goes or changes its meaning; new fields leave it as it is."""

from __future__ import annotations

import math

from crowd_demo.measure.comparison import Comparison, Estimate, Result
from crowd_demo.measure.machine import machine, versions
from crowd_demo.measure.statistics import Interval

VERSION = 1


def header(kind: str) -> dict[str, object]:
    """What every record begins with; `kind` says which fields follow."""
    return {"version": VERSION, "kind": kind, "versions": versions(), "machine": machine()}


def comparison_json(comparison: Comparison) -> dict[str, object]:
    """All arms; `differing` are those whose state is not that of the base."""
    base, repeat, blocks, results = comparison
    return {"base": base, "repeat": repeat, "blocks": blocks, "differing": comparison.differing(),
            "arms": {name: result_json(result) for name, result in results.items()}}


def result_json(result: Result) -> dict[str, object]:
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
