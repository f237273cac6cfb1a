"""One technique measured properly: its present value against another one, with everything else as it is."""

from __future__ import annotations

from collections.abc import Iterator

from crowd_demo.measure.experiment import Compile, Progress, told
from crowd_demo.measure.text import shown
from crowd_demo.measure.trial import Limits, Trial, Versus
from crowd_demo.registry.entries import Value
from crowd_demo.sim.snapshot import Snapshot

LIMITS = Limits(seconds=8.0)


class Measurement:
    """An experiment. `found` is None until it is over."""

    def __init__(self, start: Snapshot, path: str, other: Value, compile_for: Compile, picture: bool = True,
                 limits: Limits = LIMITS) -> None:
        self.start, self.path, self.other, self.limits = start, path, other, limits
        self.value = start.techniques[path]
        self.found: Versus | None = None
        self._trial = Trial(start, picture)
        self._compile_for = compile_for

    def run(self) -> Iterator[Progress]:
        """Raises ValueError if there is not enough memory, or if the other value would take minutes."""
        if why := self._trial.too_slow({self.path: self.other}):
            raise ValueError(f"{self.path} {shown(self.other)}: {why}")
        for _ in self._trial.build():
            yield Progress(f"building three crowds of {self.start.agents:,} agents", 0)
        for text in self._compile_for(self._trial.options({self.path: self.other})):
            yield Progress(text, 0)
        slices = self._trial.against({self.path: self.other}, self.limits)
        self.found = yield from told(slices, f"{self.path}: {shown(self.value)} against {shown(self.other)}")
