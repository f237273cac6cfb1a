"""A crowd with its present techniques against the same crowd with other ones.

Two copies have the present techniques, one copy has the others, and the three take turns. All begin with one state, and those
that sort do so in their first step. Where a technique of *reorder* is compared, agents lie in memory in the order of their
ids before, as if they had never been sorted: a crowd that does not sort has the memory that it would have after a long
time. A frame is a step and, if there is a picture, a picture after it. Steps before the first block do not count.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from crowd_demo.config.memory import MB, agent_bytes, available_bytes
from crowd_demo.config.optimizations import Optimizations, with_values
from crowd_demo.measure.comparison import (
    BlockTimes,
    Comparison,
    Finished,
    block_lengths,
    collect,
    compare,
    compare_stage,
    interleave,
    whole_steps,
    without,
)
from crowd_demo.measure.crowd_variant import DRAW, CrowdVariant, Picture, all_pairs_s
from crowd_demo.measure.experiment import Slice
from crowd_demo.measure.statistics import LEAST_BLOCKS, interval_json
from crowd_demo.registry.entries import EXACT, KINDS, MODEL, Value
from crowd_demo.registry.techniques import BY_PATH, hud_word, kind_of, strongest
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot

PRESENT, AGAIN, OTHER = "present", "present again", "other"
WARM_UP = 10  # steps, if they are fast
WARM_UP_SHARE = 0.2  # of the seconds; slow crowds warm up for fewer steps
MAX_STEPS = 120
PATIENCE = 4  # slow crowds may take so many times the seconds, to have enough blocks for an interval
LONGEST_STEP_S = 10.0  # brute force that would take longer is not tried
REORDER = "reorder."  # how the paths of the techniques begin whose effect comes much later, in another order of memory
AS_SHOWN = "The second time is the first times the factor, which is the median of the ratios turn by turn."
CROWDS = {"same": "same crowd", "DIFFERS": "THE CROWD DIFFERS",
          **{kind.name: f"not the same ({kind.name})" for kind in KINDS if kind is not EXACT}}

Crowd = Literal["same", "approximate", "model", "DIFFERS"]  # or how the techniques' kind is called
Values = Mapping[str, Value]  # by path


class Limits(NamedTuple):
    """How long to compare: about `seconds` for all three crowds together, or `steps` of each crowd."""

    seconds: float
    steps: int | None = None

    def warm_up(self, all_s: float) -> int:
        """Further steps without a block, where a step of all crowds takes `all_s` seconds."""
        return WARM_UP if self.steps else min(int(WARM_UP_SHARE * self.seconds / all_s), WARM_UP)

    def blocks(self, all_s: float) -> list[int]:
        """The lengths of the blocks."""
        fitting, patient = (int(times * self.seconds / all_s) for times in (1, PATIENCE))
        return block_lengths(self.steps or min(max(fitting, min(LEAST_BLOCKS, patient), 1), MAX_STEPS))


class Versus(NamedTuple):
    """The present techniques, A, against the others, B: step and whole frame, whether it is one crowd, and the own stage.

    `stage` is None if that stage did not run in all crowds.
    """

    steps: int  # of each crowd that were timed
    step: Comparison
    frame: Comparison
    crowd: Crowd
    stage: Comparison | None = None

    def line(self, value: Value, other: Value) -> str:
        """What a technique's value gives against another one, in one line."""
        step, frame = self.step.sentence(), self.frame.sentence()
        both = step if step == frame else f"step {step}, frame {frame}"
        return f"{hud_word(value)} against {hud_word(other)}: {both}, {CROWDS[self.crowd]}"

    def record(self) -> dict[str, object]:
        """The ratio of `other` is how many times as fast the present value is; its verdict is about the other value."""
        parts = {"step": self.step, "frame": self.frame, "stage": self.stage}
        return {"steps": self.steps, "crowd": self.crowd,
                **{name: found and {"ms": interval_json(found.a), "other": found.record()} for name, found in parts.items()}}


class ThreeCrowds:
    """The three crowds. Ask for slices in the thread that calls kernels, where nobody else may call any meanwhile."""

    def __init__(self, start: Snapshot, picture: bool) -> None:
        """`start` has the present techniques, and the configuration with the view and the window of the pictures."""
        self.start = start
        self._picture = picture
        self._variants: dict[str, CrowdVariant] = {}

    @property
    def present(self) -> Simulation:
        """The crowd with the present techniques, once it is built."""
        return self._variants[PRESENT].sim

    def options(self, others: Values) -> Optimizations:
        """The present techniques but for the others."""
        return with_values(self.start.config.optimizations, {**self.start.techniques, **others})

    def too_slow(self, others: Values) -> str:
        """Why these are not tried, or an empty text."""
        seconds = all_pairs_s(self.start.agents, self.options(others).get)
        return f"a step of all pairs would take about {seconds:,.0f} s" if seconds > LONGEST_STEP_S else ""

    def build(self) -> Iterator[Slice]:
        """Make the crowds, one a slice. Raises ValueError if there is not enough memory for them."""
        needed, free = 3 * self.start.agents * agent_bytes(self.start.config), available_bytes()
        if free is not None and needed > free:
            raise ValueError(f"three crowds of {self.start.agents:,} need about {needed // MB:,} MB,"
                             f" and {free // MB:,} MB are free")
        for name in (PRESENT, AGAIN, OTHER):
            yield Slice(f"building three crowds of {self.start.agents:,} agents", 0)
            sim = Simulation.from_snapshot(self.start)
            self._variants[name] = CrowdVariant(sim, Picture(sim) if self._picture else None)

    def against(self, others: Values, limits: Limits) -> Generator[float, None, Versus]:
        """Compare with the others; yield how much is done, 0 to 1, after each slice."""
        start = self.start._replace(tick=self._first_tick(others), drift=math.inf)  # a sort is due as soon as one may be
        if any(path.startswith(REORDER) for path in others):
            start = unsorted(start)
        for name, variant in self._variants.items():
            variant.sim.restore(start._replace(techniques={**start.techniques, **others}) if name == OTHER else start)
            yield 0.0
        all_s = 0.0
        for variant in self._variants.values():
            variant.run(1)  # makes what is made once, such as flow fields
            yield 0.0
            all_s += sum(float(ms.sum()) for ms in variant.run(1).frame.times_ms.values()) * 1e-3
            yield 0.0
        lengths = limits.blocks(all_s)
        turns: list[Finished[BlockTimes]] = []
        for turn in interleave(self._variants, lengths, limits.warm_up(all_s)):
            turns.append(turn)
            yield len(turns) / ((len(lengths) + 1) * len(self._variants))
        return self._found(others, collect(self._variants, turns))

    def _first_tick(self, others: Values) -> int:
        """The next tick at which every crowd that sorts every so many steps does so."""
        together = math.lcm(*(int(values["reorder.every"]) for values in (self.start.techniques, others)
                              if "reorder.every" in values))
        return -(-self.start.tick // together) * together

    def _found(self, others: Values, measured: Mapping[str, Sequence[BlockTimes]]) -> Versus:
        hashes = {name: variant.sim.state_hash() for name, variant in self._variants.items()}
        frames = {name: whole_steps(blocks) for name, blocks in measured.items()}
        steps = {name: [without(block, DRAW) for block in blocks] for name, blocks in frames.items()}
        stages = {name: [block.stages for block in blocks] for name, blocks in measured.items()}
        step, frame = (compare(blocks, hashes, PRESENT, AGAIN)[OTHER].step for blocks in (steps, frames))
        of_stage = compare_stage(BY_PATH[next(iter(others))].stage, stages, PRESENT, AGAIN)
        stage = of_stage[OTHER] if {PRESENT, OTHER} <= of_stage.keys() else None
        return Versus(sum(block.steps for block in frames[PRESENT]), step, frame,
                      self._crowd(others, len(set(hashes.values())) == 1), stage)

    def _crowd(self, others: Values, one_hash: bool) -> Crowd:
        if one_hash:
            return "same"
        before, after = self.options({}), self.options(others)
        kind = strongest(kind_of(BY_PATH[path], options.get(path), options.get)
                         for path in others for options in (before, after))
        return "DIFFERS" if kind is EXACT else "model" if kind is MODEL else "approximate"


def unsorted(start: Snapshot) -> Snapshot:
    """Return the same state, with agents in memory by id, as in a crowd that was never sorted."""
    return start._replace(columns=start.columns[:, np.argsort(start.columns[0], kind="stable")])
