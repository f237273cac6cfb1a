"""Counters over many steps: means, because with staggering a single step shows only some of the agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from crowd_demo.compute.arrays import Doubles

A_DUE_AGENT = ("candidates_per_agent", "neighbours_per_agent", "found_mean")  # counters whose mean is one over agents


def counters_of(log: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """One number a counter: sorts so far, the largest of what counts a maximum, the mean of all others."""
    if not log:
        return {}
    return {name: _over_steps(name, np.array([step.get(name, 0) for step in log], np.float64), log) for name in log[-1]}


def _over_steps(name: str, numbers: Doubles, log: Sequence[Mapping[str, float]]) -> float:
    if name == "sorts" or name.endswith("_max"):
        return float(numbers.max())
    due = np.array([step["due"] if name in A_DUE_AGENT else 1 for step in log])
    return float((numbers * due).sum() / max(due.sum(), 1))
