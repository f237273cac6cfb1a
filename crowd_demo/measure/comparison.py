"""What the blocks of several arms say: the times of each, and its ratio to those of one of them, the base.

The base is measured twice: its repeat shows by how much an arm differs from itself on this machine at this time. What lies
within that is no difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles, Floats
from crowd_demo.measure.arm import Block
from crowd_demo.measure.counters import counters_of
from crowd_demo.measure.statistics import (
    LEAST_BLOCKS,
    UNKNOWN,
    Cost,
    Interval,
    Verdict,
    cost_of,
    median_interval,
    ratio_interval,
    verdict,
)

Costs = Mapping[str, Cost]  # by stage


class Estimate(NamedTuple):
    """A time, its ratio to the base's, that of the base's repeat, and what follows."""

    ms: Interval
    ratio: Interval
    noise: Interval
    verdict: Verdict


class Result(NamedTuple):
    """What was measured of an arm."""

    step: Estimate  # the whole step: the sum of its stages
    stages: dict[str, Estimate]  # in the order of the step; those that ran
    counters: dict[str, float]
    state_hash: str

    @property
    def stages_ms(self) -> dict[str, float]:
        return {stage: estimate.ms.value for stage, estimate in self.stages.items()}


class Comparison(NamedTuple):
    """The results of all arms; `base` and `repeat` name two of them."""

    base: str
    repeat: str
    blocks: int
    results: dict[str, Result]

    @property
    def noise(self) -> Interval:
        """The ratio of the repeat to the base."""
        return self.results[self.repeat].step.ratio

    def differing(self) -> list[str]:
        """The arms whose state is not that of the base."""
        wanted = self.results[self.base].state_hash
        return [name for name, result in self.results.items() if result.state_hash != wanted]


def compare(measured: Mapping[str, Sequence[Block]], hashes: Mapping[str, str], base: str, repeat: str) -> Comparison:
    """Compare arms by their blocks, the same number of each. Raises ValueError if there are none.

    `hashes` are the states of the arms after their last block, which must be the same for all.
    """
    blocks = len(measured[base])
    if not blocks:
        raise ValueError("no block was measured with every arm")
    costs = {name: costs_of(of_arm) for name, of_arm in measured.items()}
    return Comparison(base, repeat, blocks, {
        name: Result(_step(costs[name], costs[base], costs[repeat]), _stages(costs[name], costs[base], costs[repeat]),
                     counters_of([step for block in of_arm for step in block.counters]), hashes[name])
        for name, of_arm in measured.items()})


def costs_of(blocks: Sequence[Block]) -> Costs:
    """What each stage costs a step; only stages that ran."""
    names = dict.fromkeys(name for block in blocks for name in block.times_ms)
    costs = {name: cost_of([_times(block, name) for block in blocks]) for name in names}
    return {name: cost for name, cost in costs.items() if cost.ran.any()}


def compare_part(part: str, measured: Mapping[str, Sequence[Block]], base: str, repeat: str) -> dict[str, Estimate]:
    """Compare one of the `parts_ms` of the blocks by itself; arms in which it never ran are left out."""
    costs = {name: costs_of([Block(block.steps, {part: block.parts_ms[part]} if part in block.parts_ms else {})
                             for block in of_arm]) for name, of_arm in measured.items()}
    compared = {name: _stages(of_arm, costs[base], costs[repeat]) for name, of_arm in costs.items()}
    return {name: stages[part] for name, stages in compared.items() if part in stages}


def _times(block: Block, stage: str) -> Floats:
    return block.times_ms[stage] if stage in block.times_ms else np.zeros(block.steps, np.float32)


def _step(costs: Costs, base: Costs, repeat: Costs) -> Estimate:
    parts = np.array([cost.ms for cost in costs.values()])
    wholes = (np.sum([cost.ms for cost in each.values()], axis=0) for each in (costs, base, repeat))
    return _estimate(median_interval(parts), *wholes)


def _stages(costs: Costs, base: Costs, repeat: Costs) -> dict[str, Estimate]:
    return {name: _stage(cost, *(each.get(name, _never(cost)) for each in (base, repeat))) for name, cost in costs.items()}


def _stage(cost: Cost, base: Cost, repeat: Cost) -> Estimate:
    """Only blocks in which it ran are compared; in the others its cost is an average."""
    both = cost.ran & base.ran & repeat.ran
    ms = median_interval(cost.ms)
    if cost.ran.sum() < LEAST_BLOCKS:
        ms = Interval(ms.value, UNKNOWN.low, UNKNOWN.high)
    return _estimate(ms, *(each.ms[both] for each in (cost, base, repeat)))


def _never(cost: Cost) -> Cost:
    """A stage that ran in none of as many blocks."""
    return Cost(np.zeros_like(cost.ms), np.zeros_like(cost.ran))


def _estimate(ms: Interval, whole: Doubles, base: Doubles, repeat: Doubles) -> Estimate:
    ratio, noise = ratio_interval(whole, base), ratio_interval(repeat, base)
    return Estimate(ms, ratio, noise, verdict(ratio, noise))
