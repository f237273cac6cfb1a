"""What techniques buy here: the present value of one against another one (`Measurement`), or of each against its baseline.

All other techniques stay as they are. An ablation leaves a technique out if it is off already, if it has no work at present,
or if the crowd would take minutes without it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from statistics import median
from typing import NamedTuple

from crowd_demo.measure.comparison import Comparison
from crowd_demo.measure.experiment import Compile, Slice, TextTable, crowd_json, header, with_progress
from crowd_demo.measure.three_crowds import AS_SHOWN, CROWDS, Limits, ThreeCrowds, Versus
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES, hud_word, inactive, is_drawn
from crowd_demo.sim.snapshot import Snapshot

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
        """Compare a technique's present value with another one."""
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

    def comparisons(self) -> dict[str, Comparison]:
        """The technique's stage, if it ran in all crowds, the step and the frame; empty until the measurement is over."""
        found = self.found
        if not found:
            return {}
        stage = {BY_PATH[self.path].stage: found.stage} if found.stage else {}
        return {**stage, "step": found.step, "frame": found.frame}

    def table(self) -> TextTable:
        """A row for each comparison."""
        return TextTable(("ms", hud_word(self.value), hud_word(self.other), "buys", "95%"),
                         [(name, *found.cells()) for name, found in self.comparisons().items()])

    def notes(self) -> Sequence[str]:
        return [CROWDS[self.found.crowd], AS_SHOWN, *memory_note(self.path, self.value, self.other)] if self.found else []

    def record(self) -> dict[str, object]:
        """The present value against the other one, if it was measured to its end."""
        return {**self._head("measurement"), "technique": self.path, "value": self.value, "other": self.other,
                "complete": self.done, **(self.found.record() if self.found else {})}


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
