"""The times of frames: the report of a run as JSON (`--report`), and the last second as CSV with notes on its slowest
frame.

The report is over all frames but the first `warmup_frames`, of which the profile holds only a thousand. A value that is
unknown on this system is null. Times are milliseconds.

Format:

Comment lines (`#`) describe the slowest frame. The columns are number, tick, steps, milliseconds of the frame, of each
stage and outside all stages, counters, notes, the cause of a long frame, and `slowest` (1 or 0).
"""

from __future__ import annotations

import csv
import io
import json
import mmap
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, SupportsFloat

import numpy as np

from crowd_demo.compute.arrays import Floats
from crowd_demo.host.files import free_name, write_file
from crowd_demo.host.system import STDOUT
from crowd_demo.measure.experiment import machine, versions
from crowd_demo.profile import HISTORY, OTHER, FrameRecord, Profile
from crowd_demo.registry.stages import stages_of
from crowd_demo.version import __version__

if TYPE_CHECKING:
    from crowd_demo.config.model import Config
    from crowd_demo.sim.simulation import Simulation

MB = 1 << 20
COLLECT_EVERY = HISTORY // 2  # frames
SECONDS = 1.0
LEAST_FRAMES = 20  # where a second has fewer: there is no median frame of three
UNLIKE = 0.1  # a counter is listed that differs from its median by more than this part of it
AROUND = 64  # frames of which a running median is taken
LONG = 1.5  # times that: a longer frame is counted with its cause
CAUSES = {"reorder": "sort", "paths": "prices and fields", "garbage": "garbage collection", "meters": "meters",
          "hud": "HUD"}
WAKE_UP = "thread wake-up"  # of other stages with threads: their work hardly changes, so a thread began late


class Frames(NamedTuple):
    """Times of the same frames, oldest first."""

    first: int  # number of the first one
    frame_ms: Floats
    stage_ms: Mapping[str, Floats]  # in the order of the frame, with `OTHER` as the last

    @classmethod
    def last(cls, profile: Profile, count: int) -> Frames:
        stages = {stage: profile.stage_ms(stage, count).copy() for stage in profile.stages}
        return cls(profile.frames - count, profile.frame_ms(count).copy(), {**stages, OTHER: profile.other_ms(count)})

    @property
    def slowest(self) -> int:
        return int(np.argmax(self.frame_ms))

    def causes(self) -> list[str]:
        """The cause of each long frame, "" for the others: the stage that took longest beyond its running median."""
        times = np.array([self.frame_ms, *self.stage_ms.values()])
        if not self.frame_ms.size:
            return []
        padded = np.pad(times, ((0, 0), (AROUND // 2, AROUND // 2)), mode="symmetric")
        usual = np.median(np.lib.stride_tricks.sliding_window_view(padded, AROUND + 1, axis=1), axis=2)
        threaded = {*stages_of("step", self.stage_ms), *stages_of("draw", self.stage_ms)}
        causes = [CAUSES.get(stage, WAKE_UP if stage in threaded else stage) for stage in self.stage_ms]
        worst = np.array(causes)[(times - usual)[1:].argmax(axis=0)]
        return np.where(self.frame_ms > LONG * usual[0], worst, "").tolist()

    def long_frames(self) -> dict[str, int]:
        return dict(Counter(filter(None, self.causes())).most_common())


class Recorder:
    """Copies what `profile` has measured; frames before the recorder was made do not count."""

    def __init__(self, profile: Profile) -> None:
        self._profile, self._taken = profile, profile.frames
        self._parts = [Frames(profile.frames, np.zeros(0, np.float32), {})]

    def collect(self) -> None:
        """Copy the frames since the last call. Call between frames, at least every `COLLECT_EVERY` frames."""
        if new := self._profile.frames - self._taken:
            self._parts.append(Frames.last(self._profile, new))
            self._taken += new

    def frames(self) -> Frames:
        """All that were copied; a stage that ran later took no time before."""
        names = [*dict.fromkeys(name for part in self._parts for name in part.stage_ms if name != OTHER), OTHER]
        stages = {name: np.concatenate([part.stage_ms.get(name, np.zeros_like(part.frame_ms)) for part in self._parts])
                  for name in names}
        return Frames(self._parts[0].first, np.concatenate([part.frame_ms for part in self._parts]), stages)


# --- the report ------------------------------------------------------------------------------------------------------

def report(config: Config, sim: Simulation, recorder: Recorder, startup_s: dict[str, float],
           interrupted: bool = False) -> dict[str, object]:
    """Return the report as plain JSON data. `interrupted`: a signal ended the run."""
    from crowd_demo.compute.jit import threading_layer

    times = recorder.frames()
    return {
        "interrupted": interrupted,  # whether a signal ended the run
        "agents": sim.agents.count,  # at the end
        "frames": times.first + len(times.frame_ms),  # all of them
        "warmup_frames": times.first,  # the first frames, which the times leave out
        "steps": sim.tick,  # since the start
        "seed": config.seed,  # of the configuration
        "config": config.model_dump(mode="json", exclude={"optimizations"}),  # the whole configuration
        "optimizations": sim.optimizations.model_dump(mode="json"),  # the techniques at the end
        "state_hash": sim.state_hash(),  # of the last step
        "frame_ms": summary(times.frame_ms),  # `median`, `p95`, `p99` and `max` of whole frames
        "long_frames": times.long_frames(),  # frames above 1.5 times the running median, counted by cause
        "phases_ms": {stage: median(ms) for stage, ms in times.stage_ms.items() if stage != OTHER},  # medians by stage
        "stages": stages(times),  # `median_ms`, `mean_ms`, `share`; the means add up to the mean frame
        "counters": dict(sim.profile.counters),  # of the last step and frame
        "states": sim.states(),  # number of agents in each state
        "rss_mb": memory_mb(),  # resident memory, `current` and `peak`
        "startup_s": {part: round(s, 3) for part, s in startup_s.items()},  # `import`, `compile`, `first_frame`
        "versions": versions(),  # of the program, Python and the libraries
        "threads": {"layer": threading_layer(), "workers": sim.workers},  # `layer` (tbb, omp, workqueue), `workers`
        "machine": machine(),  # `cpu`, `cores`, `os`, and `simd`: the widest registers
    }


def write_report(content: Mapping[str, object], path: Path) -> None:
    """Write it to the file (files.py says how) or to standard output. Raises OSError."""
    text = json.dumps(content, indent=2, allow_nan=False) + "\n"
    if path == STDOUT:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_file(path, text.encode())


def stages(frames: Frames) -> dict[str, dict[str, float | None]]:
    """What a frame is made of: means that add up to the mean frame, and shares that add up to 1."""
    whole = frames.frame_ms.sum(dtype=np.float64)
    return {stage: {"median_ms": median(ms), "mean_ms": rounded(ms.mean(dtype=np.float64)) if ms.size else None,
                    "share": rounded(ms.sum(dtype=np.float64) / whole) if whole else None}
            for stage, ms in frames.stage_ms.items()}


def median(times_ms: Floats) -> float | None:
    return rounded(np.median(times_ms)) if times_ms.size else None


def summary(times_ms: Floats) -> dict[str, float | None]:
    if not times_ms.size:
        return dict.fromkeys(("median", "p95", "p99", "max"))
    p95, p99 = np.percentile(times_ms, (95, 99))
    return {"median": median(times_ms), "p95": rounded(p95), "p99": rounded(p99), "max": rounded(times_ms.max())}


def rounded(value: SupportsFloat) -> float:
    return round(float(value), 4)


def memory_mb() -> dict[str, float | None]:
    """Resident memory of this process: now, and the most so far."""
    current = peak = None
    with suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text("utf-8").split()[1])
        current = round(pages * mmap.PAGESIZE / MB, 1)
    if sys.platform != "win32":
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MB, 1)
    return {"current": current, "peak": peak}


# --- the last second, and what was different in its slowest frame ----------------------------------------------------

def last_second(profile: Profile) -> tuple[Frames, list[FrameRecord]]:
    """The frames that ended within the last second, or the last `LEAST_FRAMES` that are kept. There must be one."""
    records = profile.records()
    recent = sum(record.end_s > records[-1].end_s - SECONDS for record in records)
    count = min(max(recent, LEAST_FRAMES), len(records))
    return Frames.last(profile, count), records[-count:]


def save_last_second(profile: Profile, folder: Path) -> str:
    """Write the file under a free name; return a notice. Raises OSError, and ValueError before the first frame."""
    if not profile.frames:
        raise ValueError("there was no frame yet")
    (frames, records), path = last_second(profile), free_name(folder, ".csv")
    write_file(path, to_csv(frames, records).encode())
    stage, excess_ms, _ = stages_by_excess(frames)[0]
    slowest_ms = float(frames.frame_ms[frames.slowest])
    return (f"saved {path.absolute()}: the slowest of {len(records)} frames took {slowest_ms:.1f} ms"
            f" ({stage} {excess_ms:+.1f})")


def to_csv(frames: Frames, records: list[FrameRecord]) -> str:
    counters = list(dict.fromkeys(name for record in records for name in record.counters))
    text = io.StringIO()
    text.writelines(f"# {line}\n" for line in about_slowest(frames, records))
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["frame", "tick", "steps", "frame_ms", *(f"{stage}_ms" for stage in frames.stage_ms), *counters, "notes",
                   "cause", "slowest"])
    for index, (record, cause) in enumerate(zip(records, frames.causes(), strict=True)):
        times = (frames.frame_ms[index], *(ms[index] for ms in frames.stage_ms.values()))
        rows.writerow([frames.first + index, record.tick, record.steps, *map(str, times),
                       *(record.counters.get(name, "") for name in counters), "; ".join(record.notes),
                       cause, int(index == frames.slowest)])
    return text.getvalue()


def about_slowest(frames: Frames, records: list[FrameRecord]) -> list[str]:
    at, record = frames.slowest, records[frames.slowest]
    stages = (f"{stage} {excess_ms:+.2f} ({ms:.2f})" for stage, excess_ms, ms in stages_by_excess(frames)
              if round(excess_ms, 2) > 0)
    return [
        f"crowd-demo {__version__}: the last {len(records)} frames",
        f"slowest: frame {frames.first + at}, tick {record.tick}, {frames.frame_ms[at]:.2f} ms, {record.steps} steps; median: "
        f"{np.median(frames.frame_ms):.2f} ms, {np.median([other.steps for other in records]):g} steps",
        f"ms more than in the median frame (ms in this one): {', '.join(stages) or 'none'}",
        f"cause: {frames.causes()[at] or 'none'}; happened in it: {'; '.join(record.notes) or 'nothing that is noted'}",
        f"frames above {LONG} times the running median, by cause: "
        f"{', '.join(f'{cause} {count}' for cause, count in frames.long_frames().items()) or 'none'}",
        f"counters unlike their median: {', '.join(unlike(record, records)) or 'none'}",
    ]


def stages_by_excess(frames: Frames) -> list[tuple[str, float, float]]:
    """(stage, milliseconds more than its median, milliseconds) in the slowest frame, the greatest excess first."""
    found = [(stage, float(ms[frames.slowest] - np.median(ms)), float(ms[frames.slowest]))
             for stage, ms in frames.stage_ms.items()]
    return sorted(found, key=lambda item: -item[1])


def unlike(slowest: FrameRecord, records: list[FrameRecord]) -> Iterator[str]:
    """The counters of the slowest frame that differ from their median over the frames that have them."""
    for name, value in slowest.counters.items():
        usual = float(np.median([record.counters[name] for record in records if name in record.counters]))
        if abs(value - usual) > UNLIKE * abs(usual):
            yield f"{name} {value:,.6g} ({usual:,.6g})"
