"""Measurements as JSON. `VERSION` grows whenever a field goes or changes its meaning; new fields leave it as it is."""

from __future__ import annotations

import math
from collections.abc import Mapping

from crowd_demo.config.model import Config
from crowd_demo.measure.ablation import Ablation, Row
from crowd_demo.measure.comparison import Comparison, Estimate, Result
from crowd_demo.measure.largest import LIMIT_MS, Answer, Largest
from crowd_demo.measure.machine import machine, versions
from crowd_demo.measure.measurement import Measurement
from crowd_demo.measure.statistics import Interval
from crowd_demo.measure.three_crowds import Pair, Versus
from crowd_demo.registry.entries import Value
from crowd_demo.registry.techniques import BY_PATH

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


def ablation_json(ablation: Ablation) -> dict[str, object]:
    """`complete` says whether every technique had its turn."""
    return {**header("ablation"), **crowd_json(ablation.config, ablation.values), "agents": ablation.agents,
            "tick": ablation.tick, "picture": ablation.picture, "complete": ablation.done,
            "rows": [_row_json(row) for row in ablation.rows], "left_out": ablation.left_out}


def measurement_json(measurement: Measurement) -> dict[str, object]:
    """The present value against the other one, if it was measured to its end."""
    found = measurement.found
    return {**header("measurement"), **crowd_json(measurement.config, measurement.values), "agents": measurement.agents,
            "tick": measurement.tick, "picture": measurement.picture, "technique": measurement.path,
            "value": measurement.value, "other": measurement.other, "complete": found is not None,
            **(_versus_json(found) if found else {})}


def largest_json(experiment: Largest) -> dict[str, object]:
    """`complete` says whether every rung was searched."""
    config = experiment.config
    techniques = {path: config.optimizations.get(path) for path in BY_PATH}
    return {**header("largest"), **crowd_json(config, techniques), "agents": config.agents, "limit_ms": LIMIT_MS,
            "complete": experiment.done, "rungs": [_answer_json(answer) for answer in experiment.answers]}


def crowd_json(config: Config, techniques: Mapping[str, Value]) -> dict[str, object]:
    """What crowd was measured."""
    return {"config": config.model_dump(mode="json", exclude={"optimizations", "keys"}), "optimizations": dict(techniques)}


def _row_json(row: Row) -> dict[str, object]:
    return {"technique": row.technique.path, "value": row.value, "other": row.off, **_versus_json(row.found)}


def _versus_json(found: Versus) -> dict[str, object]:
    return {"steps": found.steps, "crowd": found.crowd, "step": _pair_json(found.step), "frame": _pair_json(found.frame)}


def _pair_json(pair: Pair) -> dict[str, object]:
    """The ratio of `other` is the factor."""
    return {"ms": interval_json(pair.present), "other": estimate_json(pair.other)}


def _answer_json(answer: Answer) -> dict[str, object]:
    found = answer.measured
    times = {} if found is None else {"step_ms": interval_json(found.step), "draw_ms": interval_json(found.draw),
                                      "frame_ms": interval_json(found.frame)}
    return {"name": answer.rung.name, "optimizations": answer.rung.options.model_dump(mode="json"),
            "agents": found.agents if found else 0, "bound": answer.bound, **times}


def estimate_json(estimate: Estimate) -> dict[str, object]:
    return {"ms": interval_json(estimate.ms), "ratio": interval_json(estimate.ratio),
            "noise": interval_json(estimate.noise), "verdict": estimate.verdict}


def interval_json(interval: Interval) -> dict[str, float | None]:
    """`low` and `high` are null where there are too few blocks to tell, `value` where the base takes no time."""
    return {name: finite(number) for name, number in interval._asdict().items()}


def finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
