"""One technique measured properly: its present value against another one, and all other techniques stay as they are."""

from __future__ import annotations

from collections.abc import Iterator

from crowd_demo.measure.experiment import Compile, Progress, with_progress
from crowd_demo.measure.three_crowds import Limits, ThreeCrowds, Versus
from crowd_demo.registry.entries import Value
from crowd_demo.registry.techniques import BY_PATH, hud_word
from crowd_demo.sim.snapshot import Snapshot

LIMITS = Limits(seconds=8.0)


class Measurement:
    """An experiment. `found` is None until it is over."""

    def __init__(self, start: Snapshot, path: str, other: Value, compile_for: Compile, picture: bool = True,
                 limits: Limits = LIMITS) -> None:
        self.config, self.agents, self.tick, self.values = start.config, start.agents, start.tick, start.techniques
        self.path, self.value, self.other = path, start.techniques[path], other
        self.picture, self.limits = picture, limits
        self.found: Versus | None = None
        self._crowds: ThreeCrowds | None = ThreeCrowds(start, picture)
        self._compile_for = compile_for

    def run(self) -> Iterator[Progress]:
        """Raises ValueError if there is not enough memory, or if the other value would take minutes. To be called once."""
        assert self._crowds, "this has run already"
        crowds, self._crowds = self._crowds, None  # they go when this generator does
        others = {self.path: self.other}
        if why := crowds.too_slow(others):
            raise ValueError(f"{BY_PATH[self.path].label.strip()} {hud_word(self.other)}: {why}")
        yield from crowds.build()
        for values in ({}, others):
            for text in self._compile_for(crowds.options(values)):
                yield Progress(text, 0)
        text = f"{hud_word(self.value)} against {hud_word(self.other)}"
        self.found = yield from with_progress(crowds.against(others, self.limits), text)
