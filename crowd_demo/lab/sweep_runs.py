"""What a sweep measures: crowds that differ in the value of one technique, and a second copy of the one with the default.

They take turns of a few steps, in random order, after some steps to warm up; `crowd_demo.measure` says how times are compared.
For techniques of the picture (culling, depth, blitter) pictures are drawn into memory. Counters are means over the steps;
locality is that of memory after the last step, whose state is that of `crowd-demo --headless --frames` with 10 frames more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from crowd_demo.app.compiling.loading import Progress, load
from crowd_demo.config.model import Config
from crowd_demo.measure.arm import Block
from crowd_demo.measure.comparison import Result, compare
from crowd_demo.measure.crowd import CrowdArm, Picture
from crowd_demo.measure.pairs import all_pairs_s
from crowd_demo.measure.schedule import block_lengths, collect, interleave
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.kinds import Kind, kind_of
from crowd_demo.registry.techniques import yaml_word
from crowd_demo.sim.inactive import inactive
from crowd_demo.sim.metrics.locality import locality

WARM_UP = 10  # steps
PICTURE = ("cull", "depth", "blitter")  # techniques of the picture
REPEAT = "default again"
SLOW_S = 10.0  # brute force that takes longer is announced


class Contender(NamedTuple):
    """A value, and the crowd that has it."""

    value: Value
    arm: CrowdArm


class Swept(NamedTuple):
    """What was measured with a value."""

    value: Value
    kind: Kind
    result: Result
    measures: dict[str, float]  # counters and locality
    picture_hash: str  # empty where none was drawn

    @property
    def state_hash(self) -> str:
        return self.result.state_hash


def contenders(config: Config, technique: Technique, values: Iterable[Value]) -> dict[str, Contender]:
    """One for each value, the default first, and once more last, with their kernels compiled.

    Raises ValueError for a value that is not legal.
    """
    made = {str(value): _contender(config, technique, value) for value in dict.fromkeys((technique.default, *values))}
    return {**made, REPEAT: _contender(config, technique, technique.default)}


def measure(contenders: Mapping[str, Contender], steps: int) -> dict[str, list[Block]]:
    """Make `steps` steps with each, after `WARM_UP` others."""
    arms = {name: each.arm for name, each in contenders.items()}
    return collect(arms, interleave(arms, block_lengths(steps), WARM_UP))


def expectations(technique: Technique, contenders: Mapping[str, Contender], steps: int) -> Iterator[str]:
    """Lines to print before the sweep starts."""
    if all(technique.path in inactive(each.arm.sim) for each in contenders.values()):
        yield f"{technique.path} is inactive here: another technique or the behaviour leaves it no work"
    for name, (value, arm) in contenders.items():
        seconds = all_pairs_s(arm.sim.agents.count, arm.sim.optimizations.get) * (steps + WARM_UP)
        if seconds > SLOW_S and name != REPEAT:
            yield f"{technique.path}={yaml_word(value)}: all pairs are tested, which may take {seconds:,.0f} s"


def results(technique: Technique, contenders: Mapping[str, Contender], measured: Mapping[str, list[Block]]) -> list[Swept]:
    """What was measured with each value, the default first."""
    hashes = {name: each.arm.state_hash() for name, each in contenders.items()}
    comparison = compare(measured, hashes, base=next(iter(contenders)), repeat=REPEAT)
    return [_swept(technique, each, comparison.results[name]) for name, each in contenders.items() if name != REPEAT]


def _contender(config: Config, technique: Technique, value: Value) -> Contender:
    options = config.optimizations.model_copy(deep=True)
    options.set(technique.path, value)
    loaded = load(config.model_copy(update={"optimizations": options}), technique.path in PICTURE, Progress())
    return Contender(value, CrowdArm(loaded.sim, Picture(loaded.scene) if loaded.scene else None))


def _swept(technique: Technique, contender: Contender, result: Result) -> Swept:
    value, arm = contender
    picture = arm.picture.hash() if arm.picture else ""
    near, misses, _ = locality(arm.sim)
    measures = {**result.counters, "near_reads": near, "l1_misses": misses}
    return Swept(value, kind_of(technique, value, arm.sim.optimizations.get), result, measures, picture)
