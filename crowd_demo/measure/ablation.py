"""What each technique buys here: each one off in turn, against the present ones.

Off is its baseline. What is off already, or has no work at present, is left out; so is what would take minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crowd_demo.measure.experiment import Compile, Progress, told
from crowd_demo.measure.text import shown
from crowd_demo.measure.three_crowds import Limits, ThreeCrowds, Versus
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import TECHNIQUES
from crowd_demo.sim.inactive import inactive
from crowd_demo.sim.snapshot import Snapshot

LIMITS = Limits(seconds=4.0)
OFF_ALREADY, INACTIVE = "off already", "no work here"


class Row(NamedTuple):
    """A technique, and what was found with its present value against its baseline."""

    technique: Technique
    value: Value
    off: Value
    found: Versus


class Ablation:
    """An experiment. `rows` are the techniques measured so far, those that buy most of a frame first."""

    def __init__(self, start: Snapshot, compile_for: Compile, picture: bool = True, limits: Limits = LIMITS,
                 techniques: Sequence[Technique] = TECHNIQUES) -> None:
        self.config, self.agents, self.tick, self.values = start.config, start.agents, start.tick, start.techniques
        self.picture, self.limits = picture, limits
        self.left_out: dict[str, str] = {}  # why, by path
        self.done = False
        self._crowds: ThreeCrowds | None = ThreeCrowds(start, picture)
        self._techniques = techniques
        self._compile_for = compile_for
        self._found: list[Row] = []

    @property
    def rows(self) -> list[Row]:
        return sorted(self._found, key=lambda row: -row.found.frame.factor.value)

    def run(self) -> Iterator[Progress]:
        """Raises ValueError if there is not enough memory. To be called once."""
        assert self._crowds, "this has run already"
        crowds, self._crowds = self._crowds, None  # they go when this generator does
        yield from crowds.build()
        wanted = list(self._wanted(crowds))
        for number, technique in enumerate(wanted):
            yield from self._measure(crowds, technique, number, len(wanted))
        self.done = True

    def _wanted(self, crowds: ThreeCrowds) -> Iterator[Technique]:
        idle = inactive(crowds.present)
        for technique in self._techniques:
            off = technique.baseline
            why = (OFF_ALREADY if self.values[technique.path] == off else INACTIVE if technique.path in idle
                   else crowds.too_slow({technique.path: off}))
            if why:
                self.left_out[technique.path] = why
            else:
                yield technique

    def _measure(self, crowds: ThreeCrowds, technique: Technique, number: int, of: int) -> Iterator[Progress]:
        path, value, off = technique.path, self.values[technique.path], technique.baseline
        for text in self._compile_for(crowds.options({path: off})):
            yield Progress(f"{path}: {text}", number / of)
        slices = crowds.against({path: off}, self.limits)
        found = yield from told(slices, f"{path}: {shown(value)} against {shown(off)}", number / of, 1 / of)
        self._found.append(Row(technique, value, off, found))
