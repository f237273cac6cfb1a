"""From a source to a file of trajectories: what is asked for, whether there is room for it, and what was written."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crowd_demo.extras.export.formats import FORMATS, About, FrameRows
from crowd_demo.extras.export.outline import WalkableArea
from crowd_demo.extras.export.sources import Frame, PersonNumbers, Source, frames, origin_of, positions
from crowd_demo.host.files import replacing

USUAL_FPS = 10.0  # frames a second, or fewer, unless it is asked for
NEARLY = 1e-6  # a whole number: rates are typed with six decimals
MB = 1e6
Stepped = Callable[[int], object]


class Asked(NamedTuple):
    """What to write of a source. Steps are those of the source, from 0."""

    source: Source
    path: Path
    every: int  # steps between two frames
    first: int  # step of the first frame
    last: int  # no frame is later
    metres: bool  # or else world units

    @property
    def fps(self) -> float:
        return self.source.config.time.step_hz / self.every

    @property
    def frames(self) -> int:
        return (self.last - self.first) // self.every + 1

    @property
    def times(self) -> str:
        """The frame rate, and from when to when frames are."""
        step_hz, last = self.source.config.time.step_hz, self.first + (self.frames - 1) * self.every
        return f"{self.fps:.6g} a second, from {self.first / step_hz:g} s to {last / step_hz:g} s"


def steps_between(fps: float | None, step_hz: float, usual_fps: float = USUAL_FPS) -> int:
    """Return how many steps lie between two frames. Raises ValueError for a rate that does not divide the steps."""
    if fps is None:
        return math.ceil(step_hz / usual_fps - NEARLY)
    every = round(step_hz / fps)
    if every >= 1 and abs(every * fps - step_hz) <= NEARLY * step_hz:
        return every
    fewer = math.ceil(step_hz / fps)
    others = [step_hz / each for each in (fewer, fewer - 1) if each]
    raise ValueError(f"--fps: {fps:g} does not divide the {step_hz:g} steps a second; "
                     f"{' and '.join(f'{each:.7g}' for each in others)} {'do' if len(others) > 1 else 'does'}")


def asked_for(source: Source, path: Path, fps: float | None, from_s: float, to_s: float | None, metres: bool,
              usual_fps: float = USUAL_FPS) -> Asked:
    """Return what these options ask for; raises ValueError with a line for each mistake."""
    step_hz, lines, every = source.config.time.step_hz, list[str](), 1
    try:
        every = steps_between(fps, step_hz, usual_fps)
    except ValueError as error:
        lines.append(str(error))
    first = round(from_s * step_hz)
    last = source.steps if to_s is None else round(to_s * step_hz)
    if first > source.steps:
        lines.append(f"--from: the run ends after {source.steps / step_hz:g} s, before {from_s:g} s")
    elif last > source.steps:
        lines.append(f"--to: the run ends after {source.steps / step_hz:g} s, before {to_s:g} s")
    elif last < first:
        lines.append(f"--to: {to_s:g} s is before --from, {from_s:g} s")
    if lines:
        raise ValueError("\n".join(lines))
    return Asked(source, path, every, first, last, metres)


def no_room(asked: Asked) -> str:
    """What is wrong if the file will not fit on its disk, about, or an empty text."""
    return lacking(asked.path, asked.frames * asked.source.agents * FORMATS[asked.path.suffix.lower()].nbytes)


def lacking(path: Path, nbytes: float) -> str:
    """The line about a file of so many bytes if its disk has less room, or an empty text."""
    folder = path.absolute().parent
    free = shutil.disk_usage(folder).free
    return "" if nbytes <= free else (
        f"{path}: needs about {nbytes / MB:,.0f} MB, and {free / MB:,.0f} MB are free in {folder}")


def write(asked: Asked, stepped: Stepped = lambda step: None) -> list[str]:
    """Make the run and write the file, completely or not at all; return lines about it. `stepped` is as for `frames`.

    Raises OSError or sqlite3.Error where it cannot be written, ValueError where a recording cannot be replayed.
    """
    numbers, area, areas, count = PersonNumbers(), WalkableArea(asked.metres), set[str](), 0
    seen = frames(asked.source, asked.every, asked.first, asked.last, stepped)

    def rows(first: Frame) -> Iterator[FrameRows]:
        nonlocal count
        for number, frame in enumerate(chain([first], seen)):
            yield (made := rows_of(frame, number, numbers, asked.metres, area.of(frame)))
            count += len(made.person)
            areas.add(made.area)

    form, unit = FORMATS[asked.path.suffix.lower()], ("m", "metres") if asked.metres else ("units", "world units")
    with replacing(asked.path) as unfinished:
        first = next(seen)
        y_axis = "up" if asked.metres and origin_of(first.sim).up else "down"
        form.write(unfinished, About(asked.fps, unit[0], y_axis, area.of(first)), rows(first))
    lines = [f"{asked.path}: {numbers.count:,} people in {asked.frames:,} frames, {asked.times}",
             f"{count:,} rows, {size_text(asked.path.stat().st_size)}; in {unit[1]}, {form.how_exact}"]
    if len(areas) > 1 and not form.keeps_areas:
        lines.append("the walkable area changed: the file has at most that of the first frame; .sqlite has all")
    return lines


def rows_of(frame: Frame, number: int, numbers: PersonNumbers, metres: bool, area: str = "") -> FrameRows:
    """Return the rows of a frame, in the order of people's numbers; in metres as the map counts, or in world units."""
    people, (x, y) = numbers.of(frame), positions(frame, metres)
    order = np.argsort(people, kind="stable")
    vx, vy = frame.columns.vx.astype(np.float64), frame.columns.vy.astype(np.float64)
    if metres and origin_of(frame.sim).up:
        vy = 0.0 - vy
    speed = np.hypot(vx, vy)
    speed[speed == 0] = 1
    return FrameRows(number, people[order], x[order], y[order], (vx / speed)[order], (vy / speed)[order], area)


def size_text(nbytes: int) -> str:
    return f"{nbytes / MB:,.1f} MB" if nbytes >= MB / 10 else f"{nbytes:,} bytes"
