"""Read trajectories of others: who was where when, in metres; every mistake is a `MapError` of one line that says where.

    .txt      PedPy's text: id, frame, x, y (and z), between blanks; the comments `# framerate: 25`, x/cm, `# geometry: WKT`
    .csv      a head with id, frame, x and y; commas or semicolons
    .sqlite   JuPedSim's database: trajectory_data, metadata (fps), geometry

The frame rate is the file's, or the one that is given. y grows upwards, unless a file says `y: down`, as this program's do.
Reading ends at `MOST_BYTES`, `MOST_ROWS` and, of a database, after `MOST_S` seconds. O(rows log(rows)), without kernels.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_demo.config.maps import MapData, MapError, Metres
from crowd_demo.config.memory import MB, shortage
from crowd_demo.config.reading import read_bounded
from crowd_demo.extras.importing.geometry import FARTHEST, wkt_parts
from crowd_demo.extras.importing.polygons import drawn
from crowd_demo.registry.texts import printable

MOST_BYTES = 1 << 29
MOST_ROWS = 10_000_000
ROW_BYTES = 150  # of memory, while a row is read
MOST_S = 30.0
MAX_TEXT = 8 << 20  # bytes of a text in a database
OPERATIONS = 10_000  # of a database between two looks at the clock
KEPT = 2  # files
LARGEST = 2**31 - 1  # of ids and frames
FASTEST = 1000.0  # frames a second
COLUMNS = "id", "frame", "x", "y"
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001}
Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Paths(NamedTuple):
    """The paths of people, sorted by id, then by frame."""

    ids: Longs  # [people], ascending
    first: Longs  # [people + 1]: rows first[k] to first[k + 1] are those of person k
    frame: Longs  # [rows], from 0
    x: Doubles  # [rows], metres
    y: Doubles
    fps: float  # frames a second; 0: the file does not say
    geometry: str  # Well-Known Text; empty: the file has none
    y_axis: str  # down, or empty: the file does not say
    notes: tuple[str, ...] = ()

    @property
    def last_frame(self) -> int:
        return int(self.frame.max())


_kept = dict[tuple[Path, int, int], Paths]()  # by file, size and time of its last change


class _Table(NamedTuple):
    """What a file holds, as it stands there; `where` says where a row stands."""

    rows: Doubles  # [rows, 4]: id, frame, x, y
    where: Callable[[int], str]
    fps: float = 0.0
    geometry: str = ""
    y_axis: str = ""
    notes: tuple[str, ...] = ()


def read_paths(path: Path) -> Paths:
    """Return the paths in a file; the last ones that were read are kept. Raises MapError."""
    try:
        found = path.stat()
    except OSError as error:
        raise MapError(f"{path}: cannot be read ({error.strerror})") from None
    key = path.resolve(), found.st_size, found.st_mtime_ns
    if key not in _kept:
        while len(_kept) >= KEPT:
            _kept.pop(next(iter(_kept)))
        _kept[key] = _read(path, found.st_size)
    return _kept[key]


def map_of_paths(path: Path, metres: Metres) -> MapData:
    """The walkable area of a file as a map that holds all its positions; without one, an open place. Raises MapError."""
    paths = read_paths(path)
    y_axis = metres.y_axis if metres.y_axis != "auto" else paths.y_axis
    corners = np.array([(paths.x.min(), paths.y.min()), (paths.x.max(), paths.y.max())])
    found = drawn(list(wkt_parts(paths.geometry, f"{path}: geometry")), path, metres._replace(y_axis=y_axis), corners)
    return found._replace(notes=(*found.notes, *paths.notes))


def _read(path: Path, size: int) -> Paths:
    if size > MOST_BYTES:
        raise MapError(f"{path}: too large (over {MOST_BYTES // MB} MB)")
    if path.suffix.lower() == ".sqlite":
        return _sorted(_database(path), path)
    try:
        data = read_bounded(path, MOST_BYTES)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise MapError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise MapError(f"{path}: not trajectories (no text)") from None
    return _sorted(_text(text, path), path)


def _sorted(table: _Table, path: Path) -> Paths:
    """Check all rows, and sort them."""
    rows = table.rows
    if not len(rows):
        raise MapError(f"{path}: there are no rows")
    whole = (rows[:, :2] == np.trunc(rows[:, :2])) & (np.abs(rows[:, :2]) <= LARGEST)
    near = np.abs(rows[:, 2:]) <= FARTHEST
    _refuse(~(whole[:, 0] & whole[:, 1]), rows, table, f"id and frame must be whole numbers, at most {LARGEST:,}")
    _refuse(~(near[:, 0] & near[:, 1]), rows, table, f"x and y must be metres, no farther than {FARTHEST:g}")
    order = np.lexsort((rows[:, 1], rows[:, 0]))
    identity, frame = rows[order, 0].astype(np.int64), rows[order, 1].astype(np.int64)
    twice = np.zeros(len(rows), np.bool_)
    twice[order[1:]] = (identity[1:] == identity[:-1]) & (frame[1:] == frame[:-1])
    _refuse(twice, rows, table, "that id has a row of that frame already")
    ids, first = np.unique(identity, return_index=True)
    fps = table.fps
    if not 0 <= fps <= FASTEST:
        raise MapError(f"{path}: {fps:g} frames a second cannot be (at most {FASTEST:g})")
    return Paths(ids, np.append(first, len(rows)), frame - frame.min(), rows[order, 2], rows[order, 3], fps, table.geometry,
                 table.y_axis, table.notes)


def _refuse(wrong: Bools, rows: Doubles, table: _Table, what: str) -> None:
    if wrong.any():
        row = int(wrong.argmax())
        identity, frame, x, y = rows[row].tolist()
        raise MapError(f"{table.where(row)}: {what} (id {identity:.12g}, frame {frame:.12g}, x {x:g}, y {y:g})")


# --- texts -------------------------------------------------------------------------------------------------------------

_RATE = re.compile(r"#\s*framerate\s*:?\s*([0-9.]+)", re.IGNORECASE)
_AREA = re.compile(r"#\s*geometry\s*:\s*([A-Za-z].*)", re.IGNORECASE)
_DOWN = re.compile(r"#\s*y\s*:\s*down\b", re.IGNORECASE)
_UNIT = re.compile(r"#.*\bx\s*[/(\[]\s*(?:in\s+)?([A-Za-z]+)", re.IGNORECASE)


def _text(text: str, path: Path) -> _Table:
    """The rows of a text, and what its comments say."""
    lines = text.split("\n")
    if len(lines) > MOST_ROWS:
        raise MapError(f"{path}: too many rows (over {MOST_ROWS:,})")
    if short := shortage(len(lines) * ROW_BYTES):
        raise MapError(f"{path}: {short}")
    comments = "\n".join(line for line in lines[:1000] if line.startswith("#"))
    kept = [number for number, line in enumerate(lines) if (stripped := line.strip()) and stripped[0] != "#"]
    separator: str | None = None
    columns: tuple[int, ...] = 0, 1, 2, 3
    if path.suffix.lower() == ".csv":
        separator, columns = _head([lines[number] for number in kept[:1]], f"{path}:{kept[0] + 1 if kept else 1}")
        del kept[:1]
    unit = found[1].lower() if (found := _UNIT.search(comments)) else "m"
    if unit not in UNITS:
        raise MapError(f"{path}: x and y are in {unit[:20]!r}, not in one of {', '.join(UNITS)}")
    rows = _numbers([lines[number] for number in kept], separator, columns, lambda row: f"{path}:{kept[row] + 1}")
    rows[:, 2:] *= UNITS[unit]
    rate, area, down = (pattern.search(comments) for pattern in (_RATE, _AREA, _DOWN))
    try:
        fps = float(rate[1]) if rate else 0.0
    except ValueError:
        raise MapError(f"{path}: {rate and rate[0][:60]!r} is no frame rate") from None
    return _Table(rows, lambda row: f"{path}:{kept[row] + 1}", fps, area[1] if area else "", "down" if down else "")


def _head(first: list[str], where: str) -> tuple[str, tuple[int, ...]]:
    """(separator, the columns of id, frame, x and y) of the first line of a table."""
    separator = ";" if first and ";" in first[0] else ","
    names = [name.strip(' \r\t"').lower() for line in first for name in line.split(separator)]
    if missing := [name for name in COLUMNS if names.count(name) != 1]:
        raise MapError(f"{where}: the first line must name each of {', '.join(COLUMNS)} once, not so {missing[0]}")
    return separator, tuple(map(names.index, COLUMNS))


def _numbers(lines: list[str], separator: str | None, columns: tuple[int, ...],
             where: Callable[[int], str]) -> Doubles:
    """Return float64[rows, 4]. Raises MapError for the first line that is not so many numbers."""
    def read(first: int, end: int) -> Doubles:
        quote = '"' if separator else None
        return np.loadtxt(lines[first:end], delimiter=separator, usecols=columns, ndmin=2, quotechar=quote)

    if not lines:  # of which NumPy warns
        return np.zeros((0, 4))
    try:
        return read(0, len(lines))
    except (ValueError, OverflowError):
        first, step = 0, len(lines)
        while step > 1:  # find the first part that cannot be read, then the first part of that
            step = -(-step // 64)
            while _reads(read, first, first + step):
                first += step
    raise MapError(f"{where(first)}: must be numbers: {', '.join(COLUMNS)}, not {lines[first][:60].strip()!r}")


def _reads(read: Callable[[int, int], object], first: int, end: int) -> bool:
    try:
        read(first, end)
    except (ValueError, OverflowError):
        return False
    return True


# --- JuPedSim's database -----------------------------------------------------------------------------------------------

_ROWS = "SELECT id, frame, pos_x, pos_y FROM trajectory_data LIMIT ?"
_DTYPE = np.dtype([(name, np.float64) for name in COLUMNS])


def _database(path: Path) -> _Table:
    """The rows of a database, which is only read."""
    until = time.monotonic() + MOST_S
    try:
        read_bounded(path, 16)  # a regular file
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            database.set_progress_handler(lambda: time.monotonic() > until, OPERATIONS)
            database.execute("PRAGMA trusted_schema = OFF")
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_TEXT)
            return _queried(database, path)
    except OSError as error:
        raise MapError(f"{path}: cannot be read ({error.strerror})") from None
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if time.monotonic() > until:
            raise MapError(f"{path}: takes longer than {MOST_S:g} s to read") from None
        raise MapError(f"{path}: not JuPedSim's database ({printable(str(error))[:200]})") from None


def _is_numbers(row: tuple[object, ...]) -> bool:
    """Can NumPy make numbers of these values of a row?"""
    try:
        np.fromiter([row], _DTYPE)
    except (TypeError, ValueError):
        return False
    return True


def _queried(database: sqlite3.Connection, path: Path) -> _Table:
    def where(row: int) -> str:
        return f"{path}: trajectory_data, row {row + 1}"

    try:
        found = np.fromiter(database.execute(_ROWS, (MOST_ROWS + 1,)), _DTYPE)
    except (TypeError, ValueError):
        wrong = next(number for number, row in enumerate(database.execute(_ROWS, (MOST_ROWS + 1,))) if not _is_numbers(row))
        raise MapError(f"{where(wrong)}: must be numbers: {', '.join(COLUMNS)}") from None
    if len(found) > MOST_ROWS:
        raise MapError(f"{path}: too many rows (over {MOST_ROWS:,})")
    said = dict(database.execute("SELECT key, value FROM metadata WHERE typeof(key) = 'text' LIMIT 1000").fetchall())
    try:
        fps = float(said.get("fps") or 0)
    except (TypeError, ValueError):
        raise MapError(f"{path}: metadata, fps: must be a number, not {str(said.get('fps'))[:40]!r}") from None
    areas = [str(wkt) for (wkt,) in database.execute("SELECT DISTINCT wkt FROM geometry ORDER BY rowid LIMIT 2")]
    notes = ("the walkable area changes in the course of the file; the first one is shown",) * (len(areas) > 1)
    return _Table(found.view(np.float64).reshape(-1, 4), where, fps, areas[0] if areas else "",
                  "down" if said.get("y_axis") == "down" else "", notes)
