"""Files of trajectories: what is asked of a source, whether there is room for it, and a writer for each suffix.

Each writes rows frame by frame, so none keeps a run in memory.

Sources: PedPy, https://pedpy.readthedocs.io ("Loading from text trajectory files"); JuPedSim, https://www.jupedsim.org
("Trajectory output": SQLite).

Format:

| suffix | content | positions | walkable area |
|---|---|---|---|
| `.txt` | PedPy's text: `id frame x y z`; comments `# framerate:`, the unit, `# y:` | 6 decimals | `# geometry:` |
| `.sqlite` | JuPedSim's `trajectory_data`, `metadata`, `geometry`, `frame_data` | float64 | of each frame |
| `.parquet` | `id`, `frame`, `x`, `y`; metadata of the schema: `framerate`, `unit`, `y_axis` | float64 | in the metadata |
| `.csv` | `id,frame,x,y` | 6 decimals | none |

A `.sqlite` file has version 2 of JuPedSim's database; `ori_x` and `ori_y` are the direction of the velocity, 0 for
standing people. In `.txt` z is 0. Frames are counted from 0, with rows in the order of ids. The walkable area of `.txt`
and `.parquet` is that of the first frame.
"""

from __future__ import annotations

import math
import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crowd_demo.cli.arguments import collected, refuse
from crowd_demo.compute.arrays import Bools, Doubles, Ints, Longs
from crowd_demo.config.maps import Origin
from crowd_demo.extras.export.sources import (
    AT_ZERO,
    Frame,
    PersonNumbers,
    Source,
    frames,
    measured_ways,
    of_simulation,
    origin_of,
    positions,
)
from crowd_demo.host.files import replacing
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.tiles import Walls

# --- the walkable area as polygons: outlines of its tiles, in Well-Known Text (OGC 06-103r4) -------------------------

DIGITS = 9  # of corners of tiles: metres and world units have no more that mean anything
Corner = tuple[int, int]  # column and row of a corner of tiles
SIDES = (  # of a tile: to its neighbour (rows, columns), and the ends of the side (columns, rows), the tile on the left
    ((-1, 0), (0, 0), (1, 0)), ((0, 1), (1, 0), (1, 1)), ((1, 0), (1, 1), (0, 1)), ((0, -1), (0, 1), (0, 0)))


def outlines(tiles: Bools) -> list[Longs]:
    """Return the rings of one area of tiles, bool[H, W]: corners int64[k, 2] as (column, row), the last one not repeated.

    The first ring is the outer one; the others are holes, and run the other way round. O(sides). Rings are simple, also
    where tiles touch by their corners: there two holes, or a hole and the outer ring, share a point.
    """
    ends, rings = defaultdict[Corner, list[Corner]](list), list[Longs]()
    padded, (rows, columns) = np.pad(tiles, 1), tiles.shape
    for (down, right), begin, end in SIDES:  # those behind which there is no tile
        neighbour = padded[1 + down:1 + down + rows, 1 + right:1 + right + columns]
        for row, column in np.argwhere(tiles & ~neighbour).tolist():
            ends[column + begin[0], row + begin[1]].append((column + end[0], row + end[1]))
    while ends:
        ring = [next(iter(ends))]
        while len(ring) == 1 or ring[-1] != ring[0]:
            ring.append(_onward(ends, ring))
        corners = np.array(ring[:-1], np.int64)
        onward = np.roll(corners, -1, axis=0) - corners
        rings.append(corners[(onward != np.roll(onward, 1, axis=0)).any(axis=1)])  # without those where it goes straight on
    return sorted(rings, key=lambda ring: -doubled_area(ring))


def doubled_area(ring: Longs) -> int:
    """Twice the area in a ring, below 0 for a hole."""
    (x, y), (to_x, to_y) = ring.T, np.roll(ring, -1, axis=0).T
    return int((x * to_y - to_x * y).sum())


def _onward(ends: dict[Corner, list[Corner]], ring: list[Corner]) -> Corner:
    """Take the next side of a ring. Where tiles touch by a corner it turns to the right, across the corner, so that no ring
    meets itself: two tiles of one area are also joined elsewhere."""
    here = ring[-1]
    choices = ends[here]
    if len(choices) > 1 and len(ring) > 1:
        along = here[0] - ring[-2][0], here[1] - ring[-2][1]
        choices.sort(key=lambda there: along[0] * (there[1] - here[1]) - along[1] * (there[0] - here[0]), reverse=True)
    there = choices.pop()
    if not choices:
        del ends[here]
    return there


# --- as text ---------------------------------------------------------------------------------------------------------

def well_known_text(areas: Sequence[Sequence[Doubles]]) -> str:
    """Return POLYGON or MULTIPOLYGON of areas with their rings, float64[n, 2], whose first point is repeated at the end."""
    closed = ((ring.tolist() + ring[:1].tolist() * bool((ring[0] != ring[-1]).any()) for ring in rings) for rings in areas)
    polygons = [", ".join(f"({', '.join(f'{x!r} {y!r}' for x, y in ring)})" for ring in rings) for rings in closed]
    if len(polygons) == 1:
        return f"POLYGON ({polygons[0]})"
    return f"MULTIPOLYGON ({', '.join(f'({each})' for each in polygons)})" if polygons else "MULTIPOLYGON EMPTY"


class WalkableArea:
    """The walkable area, frame by frame: the largest area of free tiles, and others that people have entered.

    Areas without people, such as flower beds between walls, are left out: readers of trajectories want one polygon.
    Measured people have the polygons of their file or map, until a wall is built.
    """

    def __init__(self, metres: bool) -> None:
        """The text counts in metres as the map does, or in world units."""
        self._metres = metres
        self._version, self._inhabited, self._text = -1, np.zeros(0, bool), ""

    def of(self, frame: Frame) -> str:
        """Return it as Well-Known Text, the same object while it does not change."""
        terrain, walls = frame.sim.terrain, frame.sim.terrain.walls
        is_same = terrain.version == self._version
        rows, columns = ((each * walls.inv_tile).astype(np.int64) for each in (frame.columns.y, frame.columns.x))
        inhabited = np.zeros(int(terrain.labels.max()) + 2, bool)  # the last one are blocked tiles, -1
        inhabited[0] = inhabited[terrain.labels[rows, columns]] = True
        inhabited[-1] = False
        if is_same:
            inhabited |= self._inhabited
        if not is_same or inhabited.sum() > self._inhabited.sum():
            self._version, self._inhabited = terrain.version, inhabited
            origin, metre = (origin_of(frame.sim), frame.sim.config.measure.metre) if self._metres else (AT_ZERO, 1.0)
            as_read = (self._metres and measured_ways(frame.sim) and terrain.walkable
                       and np.array_equal(terrain.kinds, terrain.first_kinds))
            self._text = well_known_text(terrain.walkable) if as_read and terrain.walkable else area_text(
                terrain.labels, np.flatnonzero(inhabited), walls, metre, origin)
        return self._text


def area_text(labels: Ints, chosen: Longs, walls: Walls, metre: float, origin: Origin = AT_ZERO) -> str:
    """Return some of the areas, int32[H, W] of their numbers, as text; cut at the edge of the world."""
    ends = float(walls.width), float(walls.height)

    def placed(ring: Longs) -> Doubles:
        x, y = (np.minimum(axis * float(walls.tile), end) / metre for axis, end in zip(ring.T, ends, strict=True))
        turned = slice(None, None, -1 if origin.up else 1)  # outlines are counterclockwise, whichever way y grows
        return np.stack(origin.metres(x, y), axis=1)[turned].round(DIGITS) + 0.0

    return well_known_text([[placed(ring) for ring in outlines(labels == number)] for number in chosen])


if TYPE_CHECKING:
    import pandas

DECIMALS = 6  # of positions in texts
ROWS_AT_ONCE = 1 << 18  # of a Parquet file
MODULES, FFMPEG = {"PIL": "Pillow"}, "ffmpeg"  # modules whose packages have other names
USUAL_FPS = 10.0  # frames a second, or fewer, unless it is asked for
NEARLY = 1e-6  # a whole number: rates are typed with six decimals
MB = 1e6
Stepped = Callable[[int], object]


class FrameRows(NamedTuple):
    frame: int  # from 0
    person: Longs
    x: Doubles  # in units of the file
    y: Doubles
    direction_x: Doubles  # of the velocity, of length 1; 0 for who stands
    direction_y: Doubles
    area: str  # that is walkable, as Well-Known Text


class About(NamedTuple):
    fps: float
    unit: str  # "m" or "units"
    y_axis: str  # up or down: which way y grows
    area: str  # of the first frame


class Format(NamedTuple):
    """A kind of file. `write` gets its path, what it is about, and one frame or picture after another.

    It raises OSError or sqlite3.Error.
    """

    write: Callable[..., None]  # path, what the format needs, frames
    nbytes: float  # of a row of trajectories, or of a pixel of a picture, about
    how_exact: str
    keeps_areas: bool = False  # of every frame, not only of the first
    module: str = ""  # that it needs, or the program
    most_fps: float = 1000.0

    @property
    def missing(self) -> str:
        """What to install before it can be written, or an empty text."""
        if self.module == FFMPEG:
            return "" if shutil.which(FFMPEG) else "ffmpeg was not found: install it (https://ffmpeg.org), or write a .webp"
        is_absent = self.module and find_spec(self.module) is None
        package = MODULES.get(self.module, self.module)
        return f'{package} is not installed: pip install "crowd-demo[export]"' if is_absent else ""


# --- texts -----------------------------------------------------------------------------------------------------------

def pedpy_text(path: Path, about: About, frames: Iterator[FrameRows]) -> None:
    """`# framerate: 10.0` and the unit are what PedPy reads of the comments; which way y grows `crowd-demo play` does."""
    head = (f"# framerate: {about.fps!r}\n# geometry: {about.area}\n# y: {about.y_axis}\n"
            f"# id frame x/{about.unit} y/{about.unit} z/{about.unit}\n")
    lines(path, about, frames, head, f"%d %d %.{DECIMALS}f %.{DECIMALS}f 0\n")


def lines(path: Path, about: About, frames: Iterator[FrameRows], head: str = "id,frame,x,y\n",
          line: str = f"%d,%d,%.{DECIMALS}f,%.{DECIMALS}f\n") -> None:
    """Write a head, and a line for each row: a table (.csv), if nothing else is given."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(head)
        for rows in frames:
            x, y = (np.round(axis, DECIMALS) + 0.0 for axis in (rows.x, rows.y))  # + 0.0 turns -0 into 0
            people = zip(rows.person.tolist(), x.tolist(), y.tolist(), strict=True)
            file.writelines(line % (person, rows.frame, at_x, at_y) for person, at_x, at_y in people)


# --- JuPedSim's database ---------------------------------------------------------------------------------------------

TABLES = """
CREATE TABLE trajectory_data (frame INTEGER NOT NULL, id INTEGER NOT NULL, pos_x REAL NOT NULL, pos_y REAL NOT NULL,
                              ori_x REAL NOT NULL, ori_y REAL NOT NULL);
CREATE TABLE metadata (key TEXT NOT NULL UNIQUE PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE geometry (hash INTEGER NOT NULL, wkt TEXT NOT NULL);
CREATE TABLE frame_data (frame INTEGER NOT NULL, geometry_hash INTEGER NOT NULL);
"""
INDEX = "CREATE INDEX frame_id_idx ON trajectory_data (frame, id)"
UNSAFE = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"  # a file that is not finished is removed
VERSION = 2  # of the layout
BOUNDS = "SELECT min(pos_x), max(pos_x), min(pos_y), max(pos_y) FROM trajectory_data"


def jupedsim_database(path: Path, about: About, frames: Iterator[FrameRows]) -> None:
    areas = dict[str, int]()  # those written so far, with their numbers
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executescript(UNSAFE + TABLES)
        database.execute("BEGIN")
        for rows in frames:
            if rows.area not in areas:
                areas[rows.area] = len(areas)
                database.execute("INSERT INTO geometry VALUES (?, ?)", (areas[rows.area], rows.area))
            database.execute("INSERT INTO frame_data VALUES (?, ?)", (rows.frame, areas[rows.area]))
            columns = rows.person, rows.x, rows.y, rows.direction_x, rows.direction_y
            database.executemany(f"INSERT INTO trajectory_data VALUES ({rows.frame}, ?, ?, ?, ?, ?)",
                                 zip(*(column.tolist() for column in columns), strict=True))
        said = {"version": VERSION, "fps": about.fps, "y_axis": about.y_axis}
        bounds = zip(("xmin", "xmax", "ymin", "ymax"), database.execute(BOUNDS).fetchone(), strict=True)
        said |= {name: bound for name, bound in bounds if bound is not None}
        database.executemany("INSERT INTO metadata VALUES (?, ?)", [(name, str(value)) for name, value in said.items()])
        database.execute(INDEX)
        database.execute("COMMIT")


# --- Parquet ---------------------------------------------------------------------------------------------------------

def parquet(path: Path, about: About, frames: Iterator[FrameRows]) -> None:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    said = {"framerate": repr(about.fps), "unit": about.unit, "geometry": about.area, "y_axis": about.y_axis}
    schema = pyarrow.schema({"id": pyarrow.int64(), "frame": pyarrow.int64(), "x": pyarrow.float64(), "y": pyarrow.float64()},
                            metadata=said)
    waiting, count = [schema.empty_table()], 0
    with path.open("wb") as file, ParquetWriter(file, schema) as writer:
        for rows in frames:
            frame = np.full(len(rows.person), rows.frame, np.int64)
            waiting.append(pyarrow.table([rows.person, frame, rows.x, rows.y], schema=schema))
            count += len(rows.person)
            if count >= ROWS_AT_ONCE:
                writer.write_table(pyarrow.concat_tables(waiting))
                waiting, count = waiting[:1], 0
        writer.write_table(pyarrow.concat_tables(waiting))


IN_TEXT = f"positions are rounded to {DECIMALS} decimals"
IN_FULL = "positions are the crowd's own float32, or the file's that is played, as float64"
FORMATS = {
    ".txt": Format(pedpy_text, 40, IN_TEXT),
    ".sqlite": Format(jupedsim_database, 75, IN_FULL, keeps_areas=True),
    ".parquet": Format(parquet, 24, IN_FULL, module="pyarrow"),
    ".csv": Format(lines, 34, IN_TEXT),
}


# --- from a source to a file -----------------------------------------------------------------------------------------

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
        return f"{self.fps:.6g} per second, from {self.first / step_hz:g} s to {last / step_hz:g} s"


def steps_between(fps: float | None, step_hz: float, usual_fps: float = USUAL_FPS) -> int:
    """Return how many steps lie between two frames. Raises ValueError for a rate that does not divide the steps."""
    if fps is None:
        return math.ceil(step_hz / usual_fps - NEARLY)
    every, fewer = round(step_hz / fps), math.ceil(step_hz / fps)
    if every >= 1 and abs(every * fps - step_hz) <= NEARLY * step_hz:
        return every
    others = [step_hz / each for each in (fewer, fewer - 1) if each]
    raise ValueError(f"--fps: {fps:g} does not divide the {step_hz:g} steps per second; "
                     f"{' and '.join(f'{each:.7g}' for each in others)} {'do' if len(others) > 1 else 'does'}")


def asked_for(source: Source, path: Path, fps: float | None, from_s: float, to_s: float | None, metres: bool,
              usual_fps: float = USUAL_FPS) -> Asked:
    """Return what these options ask for; raises ValueError with a line for each mistake."""
    step_hz, lines = source.config.time.step_hz, list[str]()
    every = collected(lines, lambda: steps_between(fps, step_hz, usual_fps)) or 1
    first, last = round(from_s * step_hz), source.steps if to_s is None else round(to_s * step_hz)
    if first > source.steps:
        lines.append(f"--from: the run ends after {source.steps / step_hz:g} s, before {from_s:g} s")
    elif last > source.steps:
        lines.append(f"--to: the run ends after {source.steps / step_hz:g} s, before {to_s:g} s")
    elif last < first:
        lines.append(f"--to: {to_s:g} s is before --from, {from_s:g} s")
    refuse(lines)
    return Asked(source, path, every, first, last, metres)


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


# --- as a table, for a notebook --------------------------------------------------------------------------------------

COLUMNS = np.dtype([("id", np.int64), ("frame", np.int64), ("x", np.float64), ("y", np.float64)])


class TrajectoryTable(np.recarray[tuple[int], np.dtype[np.void]]):
    """A record for each person in each frame, in the order of frames and then of ids: id, frame, x and y."""

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a DataFrame. Raises ImportError where pandas is not installed."""
        from pandas import DataFrame

        return DataFrame({name: np.ascontiguousarray(self[name]) for name in COLUMNS.names or ()})


def table_of(sim: Simulation, every: int, steps: int, metres: bool) -> TrajectoryTable:
    numbers, run = PersonNumbers(), frames(of_simulation(sim, steps), every)
    seen = [rows_of(frame, number, numbers, metres) for number, frame in enumerate(run)]
    table = np.empty(sum(len(rows.person) for rows in seen), COLUMNS)
    table["id"], table["x"], table["y"] = (np.concatenate(column) for column in zip(
        *((rows.person, rows.x, rows.y) for rows in seen), strict=True))
    table["frame"] = np.repeat(np.arange(len(seen)), [len(rows.person) for rows in seen])
    return table.view(TrajectoryTable)
