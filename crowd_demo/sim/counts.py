"""How many crossed each line of `measure.lines`, and how the number of agents fell, from the beginning of a run.

Counted in every step, from where each agent stood before it to where it stands after it, so that neither snapshots nor a
replay change a count. A line of `measure.doors` counts the people who leave at its destination instead: some leave before
they reach the line, and others are pushed across it several times. Only a configuration with events counts these lines.
`measure.line` is counted in any, in both directions; the action `place_line` puts it elsewhere. O(agents) for each line.
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Doubles, Floats, Longs
from crowd_demo.config.model import Config
from crowd_demo.sim.fundamental_diagram import Line, steps_across
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.store.state import PartState
from crowd_demo.sim.world import World

MAX_SAMPLES = 600  # seconds
TENTHS = 9  # of the first number of agents: when so many had left


class Counts:
    """A part of the state.

    passed     int64[lines]: crossings so far, either way, or people who have left by the door; in the configured order
    tenths     int64[9]: the tick at which a tenth, two tenths, ... of the first number of agents had left; -1: not yet
    samples    int64[k, lines + 1]: `passed` and the number of agents after each of the last k seconds; nobody writes to it
    line       the line that is counted in both directions; none if its ends are the same
    both       int64[2]: crossings of that line to its left and to its right, as seen along it, since it was placed
    both_samples  int64[k, 2]: `both` after each of the last k seconds; nobody writes to it
    """

    name = "counts"

    def __init__(self, config: Config) -> None:
        self.first, self._config = config.agents, config
        self._lines = {name: Line(*ends) for name, ends in config.measure.lines.items()}
        self._doors = [config.measure.doors.get(name) for name in self._lines]
        self._every = max(round(config.time.step_hz), 1)  # steps from one sample to the next
        self._x, self._y = np.zeros(0, np.float32), np.zeros(0, np.float32)  # by id, before the step
        self._forget()

    def _forget(self) -> None:
        self.passed, self.tenths = np.zeros(len(self._lines), np.int64), np.full(TENTHS, -1, np.int64)
        self.samples: Longs = np.zeros((0, len(self._lines) + 1), np.int64)
        self.place(Line(*self._config.measure.line))

    def place(self, line: Line) -> None:
        self.line, self.both = line, np.zeros(2, np.int64)
        self.both_samples: Longs = np.zeros((0, 2), np.int64)

    @property
    def has_line(self) -> bool:
        return self.line[:2] != self.line[2:]

    def of_line(self, name: str) -> int:
        return int(self.passed[list(self._lines).index(name)])

    def remember(self, world: World) -> None:
        """Note where everybody stands. Call before a step moves anybody; between the calls ids do not change."""
        columns, count, limit = world.agents.view, world.agents.count, world.agents.handles.limit
        if len(self._x) < limit:
            self._x, self._y = np.zeros(limit, np.float32), np.zeros(limit, np.float32)
        ids = columns.id[:count]
        self._x[ids], self._y[ids] = columns.x[:count], columns.y[:count]

    def count(self, world: World) -> None:
        columns, count = world.agents.view, world.agents.count
        ids, x, y = columns.id[:count], columns.x[:count], columns.y[:count]
        before_x, before_y = self._x[ids], self._y[ids]
        for number, (line, door) in enumerate(zip(self._lines.values(), self._doors, strict=True)):
            self.passed[number] += sum(across(before_x, before_y, x, y, line)) if door is None else world.leaving[door]
        world.leaving[:] = 0
        gone = (self.first - count) * (TENTHS + 1) // self.first if self.first else 0
        reached = self.tenths[:max(gone, 0)]
        reached[reached < 0] = world.tick + 1
        if self.has_line:
            self.both += across(before_x, before_y, x, y, self.line)
        if (world.tick + 1) % self._every == 0:
            self.samples = np.vstack((self.samples, (*self.passed, count)))[-MAX_SAMPLES:]
            self.both_samples = np.vstack((self.both_samples, self.both))[-MAX_SAMPLES:]

    def flows(self, seconds: int, of_placed: bool = False) -> Doubles:
        """float64[k, lines]: crossings a second at each of the last k samples, the mean of so many seconds before it.

        Or float64[k, 2]: the same of the line that was placed, to its left and to its right.
        """
        passed = self.both_samples if of_placed else self.samples[:, :-1]
        before = np.vstack((np.zeros((seconds, passed.shape[1]), np.int64), passed))
        first = seconds if len(passed) == MAX_SAMPLES else 0  # samples before those that are kept are not known
        return (before[first + seconds:] - before[first:-seconds]) / seconds

    # --- a part of the state -----------------------------------------------------------------------------------------

    def state(self) -> PartState:
        counted, line = {}, {}
        if self.passed.any() or (self.tenths >= 0).any() or (self._config.events and len(self.samples)):
            counted = {"passed": self.passed.copy(), "tenths": self.tenths.copy(), "samples": self.samples}
        if self.has_line or self.line != self._config.measure.line:
            line = {"line": np.array(self.line, np.float64).view(np.int64), "both": self.both.copy(),
                    "both_samples": self.both_samples}
        return PartState({}, {**counted, **line})

    def restore(self, state: PartState) -> None:
        self._forget()
        if "passed" in state.arrays:
            self.passed[:], self.tenths[:] = state.arrays["passed"], state.arrays["tenths"]
            self.samples = state.arrays["samples"].astype(np.int64)
        if "line" in state.arrays:
            self.place(Line(*state.arrays["line"].astype(np.int64).view(np.float64).tolist()))
            self.both[:], self.both_samples = state.arrays["both"], state.arrays["both_samples"].astype(np.int64)

    def check(self, state: PartState) -> None:
        samples, both = (min(len(state.arrays.get(name, ())), MAX_SAMPLES) for name in ("samples", "both_samples"))
        counted = {"passed": (len(self._lines),), "tenths": (TENTHS,), "samples": (samples, len(self._lines) + 1)}
        line = {"line": (4,), "both": (2,), "both_samples": (both, 2)}
        found = {name: array.shape for name, array in state.arrays.items()}
        if state.values or found not in ({}, counted, line, {**counted, **line}) or any(
                array.dtype != np.int64 for array in state.arrays.values()):
            raise ValueError("not those of these lines")


def across(x: Floats, y: Floats, to_x: Floats, to_y: Floats, line: Line) -> tuple[int, int]:
    """Return how many steps meet a line and do not end on it, to its left and to its right as seen along it.

    In float64, so that their order does not matter.
    """
    near = ((np.maximum(x, to_x) >= min(line.x, line.to_x)) & (np.minimum(x, to_x) <= max(line.x, line.to_x))
            & (np.maximum(y, to_y) >= min(line.y, line.to_y)) & (np.minimum(y, to_y) <= max(line.y, line.to_y)))
    x0, y0, x1, y1 = (side[near].astype(np.float64) for side in (x, y, to_x, to_y))
    crossed = steps_across(x0, y0, x1, y1, line)
    is_right = (line.to_x - line.x) * (y1 - line.y) > (line.to_y - line.y) * (x1 - line.x)  # y points down
    return int((crossed & ~is_right).sum()), int((crossed & is_right).sum())


class Remember(Stage):
    """Note where everybody stands before the step moves anybody."""

    name = "count"

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def wanted(self, world: World) -> bool:
        return bool(world.config.events) or self._counts.has_line

    def commit(self, world: World) -> None:
        self._counts.remember(world)


class CountCrossings(Remember):
    def commit(self, world: World) -> None:
        self._counts.count(world)
