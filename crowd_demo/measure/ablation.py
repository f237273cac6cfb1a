"""What techniques buy here: the present value of one against another one (`Measurement`), or of each against its baseline.

All other techniques stay as they are. An ablation leaves a technique out if it is off already, if it has no work at
present, or if the crowd would take minutes without it.

Two copies of the crowd have the present techniques, one copy has others, and the three take turns. All begin with one
state, and those that sort do so in their first step. Where a technique of *reorder* is compared, agents lie in memory
in the order of their ids before, as if they had never been sorted: a crowd that does not sort has the memory that it
would have after a long time. A frame is a step and, if there is a picture, a picture after it. Steps before the first
block do not count.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from statistics import median
from typing import Literal, NamedTuple

import numpy as np

from crowd_demo.config.memory import MB, agent_bytes, available_bytes
from crowd_demo.config.model import Optimizations, with_values
from crowd_demo.measure.comparison import (
    DRAW,
    Comparison,
    block_lengths,
    compare,
    compare_stage,
    interleave,
    whole_steps,
    without,
)
from crowd_demo.measure.experiment import Compile, Slice, TextTable, crowd_json, header, mapped, with_progress
from crowd_demo.measure.proof import CrowdVariant, Picture, all_pairs_s
from crowd_demo.measure.statistics import LEAST_BLOCKS, interval_json
from crowd_demo.registry.entries import EXACT, KINDS, MODEL, Technique, Value, load
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES, hud_word, inactive, is_drawn, kind_of, strongest
from crowd_demo.render.hud.card import CardRow
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot

PRESENT, AGAIN, OTHER = "present", "present again", "other"
WARM_UP = 10  # steps, if they are fast
WARM_UP_SHARE = 0.2  # of the seconds; slow crowds warm up for fewer steps
MAX_STEPS = 120
PATIENCE = 4  # slow crowds may take so many times the seconds, to have enough blocks for an interval
LONGEST_STEP_S = 10.0  # brute force that would take longer is not tried
REORDER = "reorder."  # how the paths of the techniques begin whose effect comes much later, in another order of memory
WHY, WHY_STEPS = "crowd_demo.extras.why:compared", 20
WHY_SLOWEST_MS = 250.0  # slower steps are not explained: it takes up to 80 of them
AS_SHOWN = "The second time is the first one times the factor, the median ratio of interleaved runs."
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
        """Copy the crowd from the snapshot `start`, whose configuration gives techniques, view and window size."""
        self.start = start
        self._picture = picture
        self.variants: dict[str, CrowdVariant] = {}

    @property
    def present(self) -> Simulation:
        return self.variants[PRESENT].sim

    def options(self, others: Values) -> Optimizations:
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
            self.variants[name] = CrowdVariant(sim, Picture(sim) if self._picture else None)

    def against(self, others: Values, limits: Limits) -> Generator[float, None, Versus]:
        """Compare with the others; yield how much is done, 0 to 1, after each slice."""
        # begin with the next tick at which every crowd that sorts every so many steps does so
        together = math.lcm(*(int(values["reorder.every"]) for values in (self.start.techniques, others)
                              if "reorder.every" in values))
        start = self.start._replace(tick=-(-self.start.tick // together) * together, drift=math.inf)  # a sort is due
        if any(path.startswith(REORDER) for path in others):
            start = unsorted(start)
        for name, variant in self.variants.items():
            variant.sim.restore(start._replace(techniques={**start.techniques, **others}) if name == OTHER else start)
            yield 0.0
        all_s = 0.0
        for variant in self.variants.values():
            variant.run(1)  # makes what is made once, such as flow fields
            yield 0.0
            all_s += sum(float(ms.sum()) for ms in variant.run(1).frame.times_ms.values()) * 1e-3
            yield 0.0
        timing = interleave(self.variants, limits.blocks(all_s), limits.warm_up(all_s))
        measured = yield from mapped(timing, lambda turn: turn.part)
        hashes = {name: variant.sim.state_hash() for name, variant in self.variants.items()}
        frames = {name: whole_steps(blocks) for name, blocks in measured.items()}
        steps = {name: [without(block, DRAW) for block in blocks] for name, blocks in frames.items()}
        stages = {name: [block.stages for block in blocks] for name, blocks in measured.items()}
        step, frame = (compare(blocks, hashes, PRESENT, AGAIN)[OTHER].step for blocks in (steps, frames))
        stage = compare_stage(BY_PATH[next(iter(others))].stage, *(stages[name] for name in (OTHER, PRESENT, AGAIN)))
        kind = strongest(kind_of(BY_PATH[path], options.get(path), options.get)
                         for path in others for options in (self.options({}), self.options(others)))
        crowd: Crowd = "DIFFERS" if kind is EXACT else "model" if kind is MODEL else "approximate"
        return Versus(sum(block.steps for block in frames[PRESENT]), step, frame,
                      "same" if len(set(hashes.values())) == 1 else crowd, stage)


def unsorted(start: Snapshot) -> Snapshot:
    """Return the same state, with agents in memory by id, as in a crowd that was never sorted."""
    return start._replace(columns=start.columns[:, np.argsort(start.columns[0], kind="stable")])


MEASUREMENT_LIMITS, ABLATION_LIMITS = Limits(seconds=8.0), Limits(seconds=4.0)
OFF_ALREADY, INACTIVE = "off already", "no work here"
MEMORY_NOTE = "off for memory techniques: agents as if they had never been sorted"  # all three crowds begin in that order
COLUMNS = ("technique", "off is", "step on", "step off", "step buys", "95%", "frame on", "frame off", "frame buys", "95%",
           "crowd")
HOW_TO_READ = ("On and off in ms; a frame is a step and its picture. buys: how many times as long it takes with the"
               " technique off, and its 95% confidence interval; below 1 it costs. " + AS_SHOWN)
NO_PART = "-", "-", "not part of a step", "-"  # what changes the picture alone


class _OfTechniques:
    """What both experiments share. They run once, and raise ValueError if there is not enough memory."""

    def __init__(self, start: Snapshot, compile_for: Compile, picture: bool, limits: Limits) -> None:
        self.config, self.agents, self.tick, self.values = start.config, start.agents, start.tick, start.techniques
        self.picture, self.limits = picture, limits
        self._compile_for = compile_for
        self._crowds: ThreeCrowds | None = ThreeCrowds(start, picture)

    def _taken_crowds(self) -> ThreeCrowds:
        """The crowds, which go when the generator that runs the experiment does."""
        assert self._crowds, "this has run already"
        crowds, self._crowds = self._crowds, None
        return crowds

    def _compared(self, crowds: ThreeCrowds, path: str, other: Value, label: str = "", done: float = 0.0,
                  share: float = 1.0) -> Generator[Slice, None, Versus]:
        others = {path: other}
        for text in self._compile_for(crowds.options(others)):
            yield Slice(f"{label}{text}", done)
        text = f"{label}{hud_word(self.values[path])} against {hud_word(other)}"
        return (yield from with_progress(crowds.against(others, self.limits), text, done, share))

    def _head(self, kind: str) -> dict[str, object]:
        return {**header(kind), **crowd_json(self.config, self.values), "agents": self.agents, "tick": self.tick,
                "picture": self.picture}


def memory_note(path: str, *values: Value) -> list[str]:
    """Without reordering a crowd keeps the order in which all three begin."""
    return [MEMORY_NOTE] * (path == "reorder.when" and "off" in values)


# --- one technique ---------------------------------------------------------------------------------------------------

class Measurement(_OfTechniques):
    """`found` is None until it is over."""

    def __init__(self, start: Snapshot, path: str, other: Value, compile_for: Compile, picture: bool = True,
                 limits: Limits = MEASUREMENT_LIMITS) -> None:
        super().__init__(start, compile_for, picture, limits)
        self.path, self.value, self.other = path, start.techniques[path], other
        self.found: Versus | None = None
        self.why: Sequence[CardRow] = ()  # of this stage: the present value first
        self.stage = "interaction" if path.startswith(REORDER) else BY_PATH[path].stage

    @property
    def done(self) -> bool:
        return self.found is not None

    def run(self) -> Iterator[Slice]:
        """Raises ValueError also if the other value would take minutes."""
        crowds = self._taken_crowds()
        if why := crowds.too_slow({self.path: self.other}):
            raise ValueError(f"{BY_PATH[self.path].label} {hud_word(self.other)}: {why}")
        yield from crowds.build()
        for text in self._compile_for(crowds.options({})):
            yield Slice(text, 0)
        self.found = yield from self._compared(crowds, self.path, self.other)
        slowest_ms = max(self.found.step.a.value, self.found.step.b.value)
        if not (is_drawn(BY_PATH[self.path]) or crowds.present.on_gpu or slowest_ms > WHY_SLOWEST_MS):
            sims = [crowds.variants[name].sim for name in (PRESENT, OTHER)]
            for rows in load(WHY)(sims, self.stage, min(self.found.steps, WHY_STEPS)):
                self.why = tuple(rows)
                yield Slice("finding out why", 1.0)

    def comparisons(self) -> dict[str, Comparison]:
        """The technique's stage, if it ran in all crowds, the step and the frame; empty until the measurement is over."""
        found = self.found
        if not found:
            return {}
        stage = {BY_PATH[self.path].stage: found.stage} if found.stage else {}
        return {**stage, "step": found.step, "frame": found.frame}

    def table(self) -> TextTable:
        return TextTable(("ms", hud_word(self.value), hud_word(self.other), "buys", "95%"),
                         [(name, *found.cells()) for name, found in self.comparisons().items()])

    def notes(self) -> Sequence[str]:
        return [CROWDS[self.found.crowd], AS_SHOWN, *memory_note(self.path, self.value, self.other), *[
            f"{self.stage}, {hud_word(self.value)} | {hud_word(self.other)}:"] * bool(self.why), *(
                f"{row.name}: {' | '.join(dict.fromkeys(row[1:3]))}" for row in self.why)] if self.found else []

    def record(self) -> dict[str, object]:
        """The present value against the other one, if it was measured to its end."""
        why = [{"name": row.name, "value": row.before, "other": row.after, "source": row.source} for row in self.why]
        return {**self._head("measurement"), "technique": self.path, "value": self.value, "other": self.other,
                "complete": self.done, **(self.found.record() if self.found else {}),
                "explained_stage": self.stage, "why": why}


# --- each technique --------------------------------------------------------------------------------------------------

class TechniqueRow(NamedTuple):
    """A technique, and what was found with its present value against its baseline."""

    technique: Technique
    value: Value
    off: Value
    found: Versus

    def cells(self) -> tuple[str, ...]:
        step = NO_PART if is_drawn(self.technique) else self.found.step.cells()
        return (f"{self.technique.label}: {hud_word(self.value)}", hud_word(self.off), *step, *self.found.frame.cells(),
                self.found.crowd)


class Ablation(_OfTechniques):
    """Each technique switched off in turn. `rows` are those measured so far, those that buy most of a frame first."""

    def __init__(self, start: Snapshot, compile_for: Compile, picture: bool = True, limits: Limits = ABLATION_LIMITS,
                 techniques: Sequence[Technique] = TECHNIQUES) -> None:
        super().__init__(start, compile_for, picture, limits)
        self.left_out: dict[str, str] = {}  # the reason, by path
        self.done = False
        self._techniques = techniques
        self._found: list[TechniqueRow] = []

    @property
    def rows(self) -> list[TechniqueRow]:
        return sorted(self._found, key=lambda row: -row.found.frame.ratio.value)

    def run(self) -> Iterator[Slice]:
        crowds = self._taken_crowds()
        yield from crowds.build()
        chosen = list(self._chosen(crowds))
        for number, technique in enumerate(chosen):
            share = 1 / len(chosen)
            found = yield from self._compared(crowds, technique.path, technique.baseline, f"{technique.label}: ",
                                              number * share, share)
            self._found.append(TechniqueRow(technique, self.values[technique.path], technique.baseline, found))
        self.done = True

    def _chosen(self, crowds: ThreeCrowds) -> Iterator[Technique]:
        idle = inactive(crowds.present.situation)
        for technique in self._techniques:
            path, off = technique.path, technique.baseline
            why = OFF_ALREADY if self.values[path] == off else INACTIVE if path in idle else crowds.too_slow({path: off})
            if why:
                self.left_out[path] = why
            else:
                yield technique

    def table(self) -> TextTable:
        return TextTable(COLUMNS, [row.cells() for row in self.rows])

    def notes(self) -> Sequence[str]:
        memory = [note for row in self.rows for note in memory_note(row.technique.path, row.off)]
        together: dict[str, list[str]] = {}  # what was left out, by reason
        for path, why in self.left_out.items():
            together.setdefault(why, []).append(BY_PATH[path].label)
        reasons = sorted(together, key=lambda why: (why == INACTIVE, why == OFF_ALREADY))
        return ["\n".join([HOW_TO_READ, *memory, self.noise()]),
                "\n".join(f"{why}: {', '.join(together[why])}" for why in reasons)]

    def noise(self) -> str:
        """How far frames of two copies with the present techniques differ, in a usual comparison."""
        known = [row.found.frame.noise for row in self.rows if row.found.frame.noise.known]
        if not known:
            return "too few frames for an interval"
        low, high = median(interval.low for interval in known), median(interval.high for interval in known)
        return f"noise: a second copy of the present crowd took {low:.2f}-{high:.2f} times as long"

    def record(self) -> dict[str, object]:
        """`complete` says whether every technique had its turn."""
        rows = [{"technique": row.technique.path, "value": row.value, "other": row.off, **row.found.record()}
                for row in self.rows]
        return {**self._head("ablation"), "complete": self.done, "rows": rows, "left_out": self.left_out}
