"""The last second, frame by frame, as CSV, and what was different in its slowest frame.

The file begins with comment lines (`#`) about the slowest frame. Then a row a frame: its number, tick, steps, milliseconds
of the whole, of each stage and of what lies in none, the counters at its end, notes, and 1 under `slowest` for that one.
Times are the profile's float32 numbers, written so that they read as the same.
"""

from __future__ import annotations

import csv
import gc
import io
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crowd_demo import __version__
from crowd_demo.app.output.files import free_name, write_file
from crowd_demo.compute.arrays import Floats
from crowd_demo.profile import OTHER, FrameRecord, Profile

SECONDS = 1.0
LEAST_FRAMES = 20  # where a second has fewer: there is no median frame of three
UNLIKE = 0.1  # a counter is told that differs from its median by more than this part of it
SORT_STAGE = "reorder"
LEAST_COLLECTION_MS = 0.1  # shorter garbage collections are not noted: there are several a second


class Frames(NamedTuple):
    """Times and records of the same frames, oldest first."""

    first: int  # number of the first one
    frame_ms: Floats
    stage_ms: Mapping[str, Floats]  # with `OTHER` as the last
    records: list[FrameRecord]

    @property
    def slowest(self) -> int:
        """Index of the slowest frame."""
        return int(np.argmax(self.frame_ms))


def last_second(profile: Profile) -> Frames:
    """The frames that ended within the last second, or the last `LEAST_FRAMES`, as far as they are kept. There must be one."""
    records = profile.records()
    recent = sum(record.end_s > records[-1].end_s - SECONDS for record in records)
    count = min(max(recent, LEAST_FRAMES), len(records))
    stages = {stage: profile.stage_ms(stage, count).copy() for stage in profile.stages}
    stages[OTHER] = profile.other_ms(count)
    return Frames(profile.frames - count, profile.frame_ms(count).copy(), stages, records[-count:])


def save_last_second(profile: Profile, folder: Path) -> str:
    """Write the file under a free name; return a line that says so. Raises OSError, and ValueError before the first frame."""
    if not profile.frames:
        raise ValueError("there was no frame yet")
    frames, path = last_second(profile), free_name(folder, ".csv")
    write_file(path, to_csv(frames).encode())
    stage, excess_ms, _ = stages_by_excess(frames)[0]
    slowest_ms = float(frames.frame_ms[frames.slowest])
    return f"saved {path}: the slowest of {len(frames.records)} frames took {slowest_ms:.1f} ms ({stage} {excess_ms:+.1f})"


def to_csv(frames: Frames) -> str:
    """The whole file."""
    counters = list(dict.fromkeys(name for record in frames.records for name in record.counters))
    text = io.StringIO()
    text.writelines(f"# {line}\n" for line in summary(frames))
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["frame", "tick", "steps", "frame_ms", *(f"{stage}_ms" for stage in frames.stage_ms), *counters, "notes",
                   "slowest"])
    for index, record in enumerate(frames.records):
        times = (frames.frame_ms[index], *(ms[index] for ms in frames.stage_ms.values()))
        rows.writerow([frames.first + index, record.tick, record.steps, *map(str, times),
                       *(record.counters.get(name, "") for name in counters), "; ".join(record.notes),
                       int(index == frames.slowest)])
    return text.getvalue()


# --- what was different ----------------------------------------------------------------------------------------------

def summary(frames: Frames) -> list[str]:
    """Lines about the slowest frame, compared with the median of each number."""
    at, record = frames.slowest, frames.records[frames.slowest]
    stages = (f"{stage} {excess_ms:+.2f} ({ms:.2f})" for stage, excess_ms, ms in stages_by_excess(frames)
              if round(excess_ms, 2) > 0)
    return [
        f"crowd-demo {__version__}: the last {len(frames.records)} frames",
        f"slowest: frame {frames.first + at}, tick {record.tick}, {frames.frame_ms[at]:.2f} ms, {record.steps} steps; median: "
        f"{np.median(frames.frame_ms):.2f} ms, {np.median([other.steps for other in frames.records]):g} steps",
        f"ms more than in the median frame (ms in this one): {', '.join(stages) or 'none'}",
        f"happened in it: {'; '.join(happened(frames)) or 'nothing that is noted'}",
        f"counters unlike their median: {', '.join(unlike(frames)) or 'none'}",
    ]


def stages_by_excess(frames: Frames) -> list[tuple[str, float, float]]:
    """(stage, milliseconds more than its median, milliseconds) in the slowest frame, the greatest excess first."""
    found = [(stage, float(ms[frames.slowest] - np.median(ms)), float(ms[frames.slowest]))
             for stage, ms in frames.stage_ms.items()]
    return sorted(found, key=lambda item: -item[1])


def happened(frames: Frames) -> list[str]:
    """What was noted in the slowest frame, and whether agents were sorted in it."""
    sorts = frames.stage_ms.get(SORT_STAGE)
    return ["a sort"] * bool(sorts is not None and sorts[frames.slowest]) + list(frames.records[frames.slowest].notes)


def unlike(frames: Frames) -> Iterator[str]:
    """The counters of the slowest frame that differ from their median over the frames that have them."""
    for name, value in frames.records[frames.slowest].counters.items():
        usual = float(np.median([record.counters[name] for record in frames.records if name in record.counters]))
        if abs(value - usual) > UNLIKE * abs(usual):
            yield f"{name} {value:,.6g} ({usual:,.6g})"


# --- what is noted ---------------------------------------------------------------------------------------------------

@contextmanager
def noting_collections(note: Callable[[str], None]) -> Iterator[None]:
    """Note Python's garbage collections while this lasts."""
    began_s = 0.0

    def collected(phase: str, info: Mapping[str, int]) -> None:
        nonlocal began_s
        if phase == "start":
            began_s = time.perf_counter()
        else:
            ms = (time.perf_counter() - began_s) * 1e3
            if ms >= LEAST_COLLECTION_MS:
                note(f"garbage collection of generation {info['generation']}: {ms:.2f} ms")

    gc.callbacks.append(collected)
    try:
        yield
    finally:
        gc.callbacks.remove(collected)
