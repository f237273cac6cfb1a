"""The record of a frame: milliseconds of each named stage, work counters, and notes of what happened in it.

HUD, graph and `--report` all read this; nothing else keeps times. The times of a stage that runs several times in a
frame (catch-up steps) are added; a stage that does not run counts as zero in that frame. What is read of it is no copy:
it holds until the next frame, or the next step, ends.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

HISTORY = 1024
RECENT_S, RECENT_LEAST = 1.0, 4  # what a reading that is to stand still is averaged over: seconds, and frames at least
OTHER = "other"  # the name of what a frame spends in no stage


class FrameRecord(NamedTuple):
    """What is kept of a frame beside its times. Keeping it costs about a microsecond."""

    tick: int
    steps: int  # made in this frame
    end_s: float  # of `time.perf_counter`
    counters: Mapping[str, float]  # as they were at its end
    notes: tuple[str, ...]  # what happened in it


class Ring:
    """The last `HISTORY` numbers or arrays, zeros before the first. Each is kept twice: any run lies in one piece."""

    def __init__(self, kind: type[np.generic] = np.float32, shape: tuple[int, ...] = ()) -> None:
        self.count = 0
        self._twice = np.zeros((*shape, 2 * HISTORY), kind)

    def put(self, value: ArrayLike) -> None:
        at = self.count % HISTORY
        self._twice[..., at] = self._twice[..., at + HISTORY] = value
        self.count += 1

    def last(self, count: int) -> NDArray[Any]:
        """The last so many along the last axis, oldest first: no copy."""
        end = HISTORY + (self.count - 1) % HISTORY + 1
        return self._twice[..., end - count:end]


class StageRing(Ring):
    """A ring with a row of milliseconds for each stage, in the order in which they first ran."""

    def __init__(self) -> None:
        super().__init__(shape=(0,))
        self.rows: dict[str, int] = {}
        self._sorted = np.empty((0, HISTORY), np.float32)

    def put_stages(self, ms: Mapping[str, float]) -> None:
        """Put in the times of all stages; a stage that is not named took none."""
        if new := ms.keys() - self.rows.keys():
            names = (name for name in ms if name in new)
            self.rows |= {name: number for number, name in enumerate(names, len(self.rows))}
            self._twice = np.concatenate((self._twice, np.zeros((len(new), 2 * HISTORY), np.float32)))
            self._sorted = np.empty((len(self.rows), HISTORY), np.float32)
        self.put([ms.get(name, 0.0) for name in self.rows])

    def ascending(self, count: int) -> NDArray[np.float32]:
        """The last so many of each row, in ascending order; the next call overwrites them."""
        times = self._sorted[:, :count]
        times[:] = self.last(count)
        times.sort(axis=1)
        return times


def percentiles(times: NDArray[np.floating], *shares: float) -> tuple[float, ...]:
    """Linearly interpolated percentiles; 0 without times. NumPy takes three times as long, and makes arrays."""
    ordered = sorted(times.tolist()) or [0.0]
    found = []
    for share in shares:
        below, part = divmod(share / 100 * (len(ordered) - 1), 1)
        low, high = ordered[int(below)], ordered[min(int(below) + 1, len(ordered) - 1)]
        found.append(low + (high - low) * part)
    return tuple(found)


class Timing:
    """A context whose time is that of a stage. There are twenty in a frame, and a generator would take four times as long."""

    def __init__(self, profile: Profile, name: str) -> None:
        self._profile, self._name = profile, name

    def __enter__(self) -> None:
        self._start_ns = self._profile.started(self._name)

    def __exit__(self, *error: object) -> None:
        self._profile.ran(self._name, self._start_ns, time.perf_counter_ns())


class Profile:
    """Rings of the last `HISTORY` frames, one for each stage, float32 milliseconds; and this frame's counters."""

    def __init__(self) -> None:
        self.frames = 0
        self.counters: dict[str, float] = {}
        self._frame_ms = Ring()
        self._stage_ms = StageRing()
        self._frame = defaultdict[str, float](float)  # milliseconds of the present frame, by stage
        self._frame_start = time.perf_counter()
        self._records: deque[FrameRecord] = deque(maxlen=HISTORY - 1)
        self._notes: list[str] = []
        self._steps_before = 0  # this frame
        self.steps = 0
        self._step = defaultdict[str, float](float)  # milliseconds of the step under way, by stage
        self._step_stage_ms = StageRing()

    def fresh(self) -> Profile:
        return Profile()

    def stage(self, name: str) -> Timing:
        """Time what runs in this context as a stage of that name."""
        return Timing(self, name)

    def started(self, name: str) -> int:
        """A stage starts: return the time, for `ran`. A context would take twice as long."""
        return time.perf_counter_ns()

    def ran(self, name: str, start_ns: int, end_ns: int) -> None:
        """A stage ran from then to then."""
        self.add(name, (end_ns - start_ns) / 1e6)

    def add(self, name: str, ms: float) -> None:
        self._frame[name] += ms
        self._step[name] += ms

    def begin_frame(self) -> None:
        self._frame_start = time.perf_counter()

    def note(self, text: str) -> None:
        """Note something that happens in the present frame and may make it slow."""
        self._notes.append(text)

    def drop_frame(self) -> None:
        self._frame.clear()

    def end_frame(self, ms: float | None = None, tick: int = 0) -> None:
        """End the present frame: record its whole time, as measured or as given, and start the next one at zero."""
        now = time.perf_counter()
        self._frame_ms.put((now - self._frame_start) * 1e3 if ms is None else ms)
        self._stage_ms.put_stages(self._frame)
        self._frame.clear()
        self._records.append(FrameRecord(tick, self.steps_in_frame, now, self.counters.copy(), tuple(self._notes)))
        self._steps_before = self.steps
        self._notes.clear()
        self.frames += 1

    # --- steps, whether somebody closes frames or not ----------------------------------------------------------------

    def begin_step(self) -> None:
        self._step.clear()

    def end_step(self) -> None:
        self._step_stage_ms.put_stages(self._step)
        self.steps += 1

    @property
    def steps_in_frame(self) -> int:
        return self.steps - self._steps_before

    def step_ms(self, last: int = HISTORY) -> dict[str, float]:
        """Milliseconds that each stage costs a step, over at most `last` steps.

        The median of the steps in which a stage ran, times the share of steps in which it ran: so a sort every 60 steps
        counts for a 60th, and the first step, in which kernels are compiled, does not count for more than it is.
        """
        size = min(last, self.steps, HISTORY)
        times = self._step_stage_ms.ascending(size)
        ran = np.array([np.count_nonzero(row) for row in times], int)  # which are the last ones of a row
        middle = np.clip(size - ran + np.array(((ran - 1) // 2, ran // 2)), 0, size - 1)
        medians = times[np.arange(len(ran)), middle].mean(axis=0) if size else ran
        return dict(zip(self._step_stage_ms.rows, (medians.astype(float) * ran / max(size, 1)).tolist(), strict=True))

    def steps_ms(self, last: int = HISTORY) -> dict[str, NDArray[np.float32]]:
        """Milliseconds of each stage in each of at most `last` steps, oldest first."""
        times = self._step_stage_ms.last(min(last, self.steps, HISTORY))
        return dict(zip(self._step_stage_ms.rows, times, strict=True))

    # --- frames ------------------------------------------------------------------------------------------------------

    @property
    def stages(self) -> tuple[str, ...]:
        """Names in the order in which they first ran, which is the order of the frame."""
        return tuple({**self._stage_ms.rows, **self._frame})

    def frame_ms(self, last: int = HISTORY) -> NDArray[np.float32]:
        """Milliseconds of whole frames, oldest first, at most `last` of them."""
        return self._recent(self._frame_ms, last)

    def stage_ms(self, name: str, last: int = HISTORY) -> NDArray[np.float32]:
        row = self._stage_ms.rows.get(name)
        return np.zeros_like(self.frame_ms(last)) if row is None else self._recent(self._stage_ms, last)[row]

    def mean_ms(self, last: int) -> dict[str, float]:
        """Mean milliseconds per frame of each stage and of `OTHER`, over at most `last` frames."""
        frames = self.frame_ms(last)
        means = self._recent(self._stage_ms, last).sum(axis=1) / max(len(frames), 1)
        other = frames.sum() / max(len(frames), 1) - means.sum()
        return dict(zip((*self._stage_ms.rows, OTHER), (*means.tolist(), float(other)), strict=True))

    def other_ms(self, last: int = HISTORY) -> NDArray[np.float32]:
        """Milliseconds of frames that lie in no stage, as `frame_ms` has them."""
        return self.frame_ms(last) - self._recent(self._stage_ms, last).sum(axis=0)

    def records(self, last: int = HISTORY) -> list[FrameRecord]:
        """What else is known of the frames of `frame_ms`."""
        return list(self._records)[-last:]

    def last_run_ms(self, name: str) -> float:
        """Milliseconds of a stage in the latest frame in which it ran; 0 if it has not run recently."""
        times = self.stage_ms(name)
        return float(times[np.flatnonzero(times)[-1:]].sum())

    # --- the last second, over which the panels average ----------------------------------------------------------------

    def recent_frames(self) -> int:
        """How many frames the last second has had."""
        return len(_of_last_second(list(self._records)))

    def recent_stepped(self) -> list[FrameRecord]:
        """The records of the frames with steps, of the second up to the latest of them: a pause changes nothing."""
        return _of_last_second([record for record in self._records if record.steps])

    def _recent(self, ring: Ring, last: int) -> NDArray[np.float32]:
        return ring.last(min(last, self.frames, HISTORY - 1))


def _of_last_second(records: list[FrameRecord]) -> list[FrameRecord]:
    """Those that ended less than a second before the last one, four at least if there are so many."""
    since_s = records[-1].end_s - RECENT_S if records else 0.0
    return records[min(bisect_right(records, since_s, key=attrgetter("end_s")), max(len(records) - RECENT_LEAST, 0)):]
