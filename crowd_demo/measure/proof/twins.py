"""Twins: two copies of a crowd take the same steps, one with the old values of techniques and one with the new ones.

After each step the two are compared bit by bit. What is told grows more slowly, because it has a hash, which takes longer than
a step: after 1, 2, 3, ... 8, 10, 12, 15, ... steps.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from crowd_demo.measure.proof.apart import Apart, apart, hash_of
from crowd_demo.measure.proof.finding import Finding, Values, set_values, short, touch
from crowd_demo.sim.simulation import Simulation


class Twins:
    """`steps` have been made by both and compared. Exact techniques end at the first difference."""

    def __init__(self, sim: Simulation, old: Values, new: Values, exact: bool) -> None:
        self.finding = Finding("running", "two copies of the crowd are being made")
        self.steps = 0
        self._sim, self._values, self._exact = sim, (old, new), exact

    def parts(self) -> Iterator[None]:
        """Copy the present crowd, and make steps for as long as somebody asks for the next part."""
        old, new = yield from self._copies()
        tell_at = 1
        while True:
            for twin in (old, new):
                yield from twin.step_in_parts()
            self.steps += 1
            found = yield from apart(old, new)
            differs = self._exact and found.differing > 0
            if differs or self.steps >= tell_at:
                self.finding = yield from self._told(old, new, found)
                tell_at = self.steps + max(self.steps // 4, 1)
            if differs:
                return

    def _copies(self) -> Generator[None, None, list[Simulation]]:
        twins = []
        for _ in self._values:
            twins.append(self._sim.twin())
            yield from touch(twins[-1].agents.front)
            yield from touch(twins[-1].agents.back)
        state = self._sim.state()  # of this moment, so no part ends before both have it
        for twin, values in zip(twins, self._values, strict=True):
            twin.restore(state)
            set_values(twin.optimizations, values)
        yield
        return twins

    def _told(self, old: Simulation, new: Simulation, found: Apart) -> Generator[None, None, Finding]:
        if found.differing and not self._exact:
            return Finding("apart", f"after {steps(self.steps)} {found.differing:.1%} of the agents differ, "
                                    f"by {found.mean:.3g} units on average, {found.largest:.3g} at most")
        before = yield from hash_of(old)
        if not found.differing:
            return Finding("same", f"same crowd: {short(before)} after {steps(self.steps)}")
        after = yield from hash_of(new)
        return Finding("differs", f"THE CROWDS DIFFER at step {self.steps}: {short(before)} and {short(after)}")


def steps(count: int) -> str:
    return f"{count:,} step" + "s" * (count != 1)
