"""Read trajectories from other programs: where people were, frame by frame, in metres.

    .txt .csv   rows of id, frame, x and y between blanks, tabs, commas or semicolons. The first row or a comment may
                name the columns and their unit. Comments: `# framerate: 25`, `# y: down`, `# geometry: WKT` in that unit
    .sqlite     JuPedSim's database: the tables trajectory_data, metadata (fps) and geometry

Each mistake is a `MapError` of one line with its place. `Metres` may specify columns and unit; y grows upwards unless a
file says `y: down`, as this program's exports do. Limits: `MAX_BYTES`, `MAX_ROWS`, and `MAX_S` seconds for a database.
O(rows log(rows)), without kernels.
"""

from __future__ import annotations

import codecs
import io
import itertools
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Bools, Doubles, Longs
from crowd_demo.config.maps import IN_METRES, MAX_SIDE, MapData, MapError, Metres, bytes_of
from crowd_demo.config.memory import MB, read_bounded, shortage
from crowd_demo.extras.importing.geometry import FARTHEST, drawn, wkt_parts
from crowd_demo.registry.texts import printable, reason

MAX_BYTES = 1 << 29
MAX_ROWS = 10_000_000
ROW_BYTES = 150  # of memory, while a row is read
MAX_ROW = 100_000  # characters
MAX_COMMENT = 1000  # characters that are searched, except for a geometry
MAX_COMMENTS = 10_000
MAX_S = 30.0
MAX_TEXT = 8 << 20  # characters of a geometry; bytes of a text in a database
OPERATIONS = 10_000  # of a database between two checks of the clock
KEPT = 2  # files
LARGEST = 2**31 - 1  # of ids and frames
RUNNING = 15.0  # m/s: no person is faster
SAMPLE = 200_000  # rows
COLUMNS = "id", "frame", "x", "y"
ALIASES = {"persid": "id", "fr": "frame", "pos_x": "x", "pos_y": "y"}
UNITS = {"m": 1, "met": 1, "cm": 100, "cen": 100, "mm": 1000, "mil": 1000}  # per metre, by their first letters
UNIT_OPTION = "--unit m, cm or mm, or world.unit, specifies the unit"
COLUMNS_OPTION = "--columns frame,id,x,y, or playback.columns, specifies the order of columns"
IS_TABLE = "SELECT 1 FROM sqlite_master WHERE name = ? COLLATE NOCASE AND sql LIKE 'CREATE TABLE%'"
WELL_KNOWN_TEXT = re.compile(r"(POLYGON|COLLECTION)[\sZM]*(\([A-Z\s]*\(|EMPTY)", re.IGNORECASE)
TABLES = "trajectory_data", "metadata", "geometry"


class Paths(NamedTuple):
    """The paths of people, sorted by id, then by frame."""

    ids: Longs  # [people], ascending
    first: Longs  # [people + 1]: rows first[k] to first[k + 1] are those of person k
    frame: Longs  # [rows], from 0
    x: Doubles  # [rows], metres
    y: Doubles
    fps: float  # frames per second; 0: the file does not specify it
    geometry: str  # Well-Known Text in metres, or what else the file says of it; empty: nothing
    y_axis: str  # down, or empty: the file does not specify it
    notes: tuple[str, ...] = ()

    @property
    def last_frame(self) -> int:
        return int(self.frame.max())

    def speeds(self) -> Doubles:
        """Return the metres per frame from each row to the next row of the same person."""
        same = np.diff(self.frame) > 0
        same[self.first[1:-1] - 1] = False
        return np.hypot(np.diff(self.x), np.diff(self.y))[same] / np.diff(self.frame)[same]

    def doubts(self, fps: float) -> Iterator[str]:
        """Yield why the unit, or the order of the columns, looks wrong."""
        person, frame = np.repeat(self.ids, np.diff(self.first))[:SAMPLE], self.frame[:SAMPLE]
        at = self.x[:SAMPLE] + 1j * self.y[:SAMPLE]
        speeds = self.speeds() * fps
        speed = float(np.median(speeds[speeds > 0])) if speeds.any() else 0.0
        if 2 * _median_step(frame, person, at) < _median_step(person, frame, at):
            yield f"id and frame look swapped: {COLUMNS_OPTION}"
        elif speed > RUNNING:
            yield f"people move at {speed:,.0f} m/s, as if x and y were not in metres: {UNIT_OPTION}"


def _median_step(person: Longs, frame: Longs, at: NDArray[np.complex128]) -> float:
    """Return the median distance from a row of a person to the next one; NaN if there are none."""
    order = np.lexsort((frame, person))
    steps = np.abs(np.diff(at[order]))[np.diff(person[order]) == 0]
    return float(np.median(steps)) if steps.size else np.nan


_kept = dict[tuple[object, ...], Paths]()  # by file, size, time of its last change, unit and columns


def read_paths(path: Path, metres: Metres = IN_METRES) -> Paths:
    """Return the paths in a file; those read last are kept. Raises MapError."""
    try:
        found = path.stat()
        key = path.resolve(), found.st_size, found.st_mtime_ns, metres.unit, metres.columns
        if found.st_size > MAX_BYTES:
            raise MapError(f"{path}: too large (over {MAX_BYTES // MB} MB)")
        if key not in _kept:
            while len(_kept) >= KEPT:
                _kept.pop(next(iter(_kept)))
            _kept[key] = (_database if path.suffix.lower() == ".sqlite" else _text)(path, metres)
        return _kept[key]
    except OSError as error:
        raise MapError(f"{path}: cannot be read ({reason(error)})") from None


def map_of_paths(path: Path, metres: Metres) -> MapData:
    """The walkable area of a file as a map that holds all its positions; without one, an open place. Raises MapError."""
    paths = read_paths(path, metres)
    y_axis = metres.y_axis if metres.y_axis != "auto" else paths.y_axis
    corners = np.array([(paths.x.min(), paths.y.min()), (paths.x.max(), paths.y.max())])
    if (span := float(np.ptp(corners, axis=0).max())) > MAX_SIDE * metres.side:
        raise MapError(f"{path}: people are up to {span:,.0f} m apart, over {MAX_SIDE} tiles of {metres.side:.4g} m:"
                       f" {UNIT_OPTION}, and world.tile the size of tiles")
    geometry, where, notes = _walkable(paths.geometry, path)
    found = drawn(list(wkt_parts(geometry, where)), path, metres._replace(y_axis=y_axis), corners)
    return found._replace(notes=(*found.notes, *paths.notes, *notes))


def _walkable(geometry: str, path: Path) -> tuple[str, str, tuple[str, ...]]:
    """(Well-Known Text, what begins a message about it, notes) of the geometry that a file specifies.

    It may be the name of a file, which is read only if it is in the same folder.
    """
    if not geometry or WELL_KNOWN_TEXT.search(geometry[:MAX_COMMENT]):
        return geometry, f"{path}: geometry", ()
    beside = path.parent / geometry
    if (re.fullmatch(r"[\w .()-]{1,60}\.wkt", geometry, re.IGNORECASE) and beside.is_file()
            and beside.resolve().parent == path.parent.resolve()):
        return bytes_of(beside).decode("utf-8-sig", "replace"), str(beside), ()
    return "", "", (f"its geometry, {geometry[:60]!r}, is neither Well-Known Text nor a .wkt file beside it:"
                    " people are in an open place; --geometry specifies another",)


def _sorted(rows: Doubles, where: Callable[[int], str], path: Path, per_metre: int, fps: float, geometry: str,
            y_axis: str, notes: tuple[str, ...] = ()) -> Paths:
    """Check rows of id, frame, x and y, whose places `where` returns, convert them to metres, and sort them."""
    if not len(rows):
        raise MapError(f"{path}: there are no rows")
    rows[:, 2:] /= per_metre
    whole = (rows[:, :2] == np.trunc(rows[:, :2])) & (np.abs(rows[:, :2]) <= LARGEST)
    near = np.abs(rows[:, 2:]) <= FARTHEST
    _refuse(~(whole[:, 0] & whole[:, 1]), rows, where, f"id and frame must be whole numbers, at most {LARGEST:,}")
    _refuse(~(near[:, 0] & near[:, 1]), rows, where, f"x and y must be metres, no farther than {FARTHEST:g}")
    order = np.lexsort((rows[:, 1], rows[:, 0]))
    identity, frame = rows[order, 0].astype(np.int64), rows[order, 1].astype(np.int64)
    twice = np.zeros(len(rows), np.bool_)
    twice[order[1:]] = (identity[1:] == identity[:-1]) & (frame[1:] == frame[:-1])
    _refuse(twice, rows, where, "that id has a row of that frame already")
    ids, first = np.unique(identity, return_index=True)
    if per_metre > 1 and WELL_KNOWN_TEXT.search(geometry[:MAX_COMMENT]):
        coordinate = r"(?<=[\s(,])[-+]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?\d++)?+(?=[\s,)])"
        geometry = re.sub(coordinate, lambda found: repr(float(found[0]) / per_metre), geometry)
    return Paths(ids, np.append(first, len(rows)), frame - frame.min(), rows[order, 2], rows[order, 3], fps, geometry,
                 y_axis, notes)


def _refuse(wrong: Bools, rows: Doubles, where: Callable[[int], str], what: str) -> None:
    if wrong.any():
        row = int(wrong.argmax())
        identity, frame, x, y = rows[row].tolist()
        raise MapError(f"{where(row)}: {what} (id {identity:.12g}, frame {frame:.12g}, x {x:g}, y {y:g})")


def _rate(texts: Iterable[str]) -> float:
    """Return the frame rate below 10,000 in texts; 0 if there is none, or two that differ."""
    number = r"(?:frame[ _-]?rate|fps)\b[\s:=(]*(?:fps)?[\s:=()]*(\d{1,4}(?:[.,]\d*)?)(?!\s*\d|[\w.,;:/]*\d)"
    found = {float(rate[1].replace(",", ".")) for text in texts if (rate := re.match(number, text, re.IGNORECASE))}
    return found.pop() if len(found) == 1 else 0.0


# --- texts -------------------------------------------------------------------------------------------------------------

def _text(path: Path, metres: Metres) -> Paths:
    """The rows of a text in UTF-8 or UTF-16, and what its comments specify; other characters become U+FFFD."""
    data = read_bounded(path, MAX_BYTES)
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    text = io.TextIOWrapper(io.BytesIO(data), encoding, "replace").read()
    if text.count("\n") > MAX_ROWS:
        raise MapError(f"{path}: too many rows (over {MAX_ROWS:,})")
    if short := shortage(text.count("\n") * ROW_BYTES):
        raise MapError(f"{path}: {short}")
    lines = text.split("\n")
    if "sep=" in lines[0][:5]:  # for Excel
        lines[0] = ""
    begins = [line.lstrip()[:1] for line in lines]
    kept = [number for number, begin in enumerate(begins) if begin not in ("", "#")]
    comments = [lines[number].strip("# \t") for number, begin in enumerate(begins) if begin == "#"][:MAX_COMMENTS]
    areas = [found[1] for comment in comments if (found := re.match(r"(?i)geometry\s*[:=]\s*(.*)", comment))]
    searched = [" ".join(comment[:MAX_COMMENT].split()) for comment in comments if comment[:8].lower() != "geometry"]

    def where(row: int) -> str:
        return f"{path}:{kept[row] + 1}"

    if wrong := [row for row, number in enumerate(kept)
                 if len(lines[number]) > MAX_ROW or lines[number].count('"') % 2]:
        raise MapError(f"{where(wrong[0])}: a row must have at most {MAX_ROW:,} characters, and an even number of"
                       " quotes")
    first = lines[kept[0]] if kept else ""
    header = [] if not first or re.search(r'(^|[\s,;"])[-+]?\.?\d', first) else [first]
    marks = ";,\t" if path.suffix.lower() == ".csv" else ";,"  # tabs are blanks in a .txt
    separator = _separator(first, marks)
    named = {text: _names(text, marks) for text in header + searched}
    headings = [text for text, names in named.items()
                if {"x", "y"} <= {*names} <= {*COLUMNS, "z"} or {*COLUMNS} <= {*names}]
    ordered = [named[text] for text in headings if {*COLUMNS} <= {*named[text]} and named[text][0] in COLUMNS]
    given = [metres.columns.lower().replace(" ", "").split(",")] if metres.columns else []
    names = [*given, *(named[text] for text in header), *ordered, [*COLUMNS]][0]
    if missing := [name for name in COLUMNS if names.count(name) != 1]:
        raise MapError(f"{where(0) if header else path}: the columns must be named {', '.join(COLUMNS)}, each once, not"
                       f" so {missing[0]}: {COLUMNS_OPTION}")
    del kept[:len(header)]
    plain = [lines[number] if separator == "," else lines[number].replace(",", ".") for number in kept]
    rows = _numbers(plain, separator, tuple(map(names.index, COLUMNS)), where) if plain else np.zeros((0, 4))
    per_metre = UNITS[metres.unit] if metres.unit != "auto" else _per_metre(headings, searched, path)
    y_axis = "down" * any(re.match(r"(?i)y ?[:=] ?down\b", text) for text in searched)
    return _sorted(rows, where, path, per_metre, _rate(searched), "".join(areas[:1])[:MAX_TEXT].strip(" \t\"'<>"), y_axis)


def _numbers(lines: list[str], separator: str | None, columns: tuple[int, ...], where: Callable[[int], str],
             first: int = 0) -> Doubles:
    """Return float64[rows, 4]. Raises MapError for the first line without numbers in these columns.

    Lines that cannot be read together are read in halves, which finds the first mistake in O(lines).
    """
    with suppress(ValueError, OverflowError):
        found = np.loadtxt(lines, delimiter=separator, usecols=columns, ndmin=2, quotechar='"')
        if len(found) == len(lines):
            return found
    if len(lines) == 1:
        raise MapError(f"{where(first)}: must be numbers: {', '.join(COLUMNS)}, not {lines[0][:60].strip()!r}")
    half = len(lines) // 2
    return np.concatenate([_numbers(lines[:half], separator, columns, where, first),
                           _numbers(lines[half:], separator, columns, where, first + half)])


def _separator(line: str, marks: str) -> str | None:
    """Return which of the marks separates the columns of a line; None: blanks, also if numbers have decimal commas."""
    decimal = "," if re.search(r"\d\s+[-+.\d]", line) else ""
    return next((mark for mark in marks if mark in line and mark != decimal), None)


def _names(line: str, marks: str) -> list[str]:
    plain = re.sub(r"[\[(][^\[\]()]*[\])]|/ ?\w+|\bin \w+|_[cm]?m\b", "", line.lower())
    return [ALIASES.get(name, name) for name in (cell.strip(' \t"') for cell in plain.split(_separator(plain, marks)))]


def _per_metre(headings: list[str], comments: list[str], path: Path) -> int:
    """Return how many units of the first names of columns with a unit are a metre. Raises MapError if it is unclear.

    Without such names the unit is a metre, unless a comment mentions another one.
    """
    unit = (r"\b[xy] ?[/\[] ?(?:in )?(m\b|[a-z]{2,})|(?:[/\[(]|(?<=[xyz])_|\bin\b|\bunits?\b\W*) ?(?:in )?"
            r"([cmdk]?m|px|pixels?|ft|feet|inch(?:es)?|(?:milli|centi)?met(?:er|re)s?)\b(?![/^*.])")

    def units(text: str) -> set[str]:
        return {of_xy or other for of_xy, other in re.findall(unit, " ".join(text.split()), re.IGNORECASE)}

    found = next(filter(None, map(units, headings)), None) or {"m"}.union(*map(units, comments))
    known = {UNITS.get(word[:3].lower(), 0) for word in found}
    if len(known) > 1 or 0 in known:
        said = ", ".join(word[:20] for word in sorted(found)[:3])
        raise MapError(f"{path}: the unit of x and y is unclear ({said}): {UNIT_OPTION}")
    return known.pop()


# --- JuPedSim's database -----------------------------------------------------------------------------------------------

def _database(path: Path, metres: Metres) -> Paths:
    for suffix in ("-wal", "-journal"):
        beside = Path(f"{path.resolve()}{suffix}")
        if beside.exists() and read_bounded(beside, 0).strip(b"\0"):
            raise MapError(f"{path}{suffix}: has changes that are not in {path.name} yet: end the program that writes"
                           " them, or open the file once with sqlite3")
    until = time.monotonic() + MAX_S
    try:
        read_bounded(path, 16)  # a regular file
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            database.set_progress_handler(lambda: time.monotonic() > until, OPERATIONS)
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_TEXT)
            for table in TABLES:
                if not database.execute(IS_TABLE, (table,)).fetchone() or any(
                        hidden for *_, hidden in database.execute(f"PRAGMA table_xinfo({table})")):
                    raise sqlite3.DatabaseError(f"{table} must exist, as a table without computed columns")
            # Views and functions of a file can take any time, and any memory: nothing within a view is permitted.
            database.set_authorizer(lambda action, _1, _2, _3, view: sqlite3.SQLITE_DENY if (
                view or action not in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)) else sqlite3.SQLITE_OK)
            return _queried(database, path, UNITS.get(metres.unit, 1))
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if time.monotonic() > until:
            raise MapError(f"{path}: takes longer than {MAX_S:g} s to read") from None
        raise MapError(f"{path}: not JuPedSim's database ({printable(str(error))[:200]})") from None


def _queried(database: sqlite3.Connection, path: Path, per_metre: int) -> Paths:
    def where(row: int) -> str:
        return f"{path}: trajectory_data, row {row + 1}"

    rows = database.execute("SELECT id, frame, pos_x, pos_y FROM trajectory_data NOT INDEXED LIMIT ?", (MAX_ROWS + 1,))
    count = itertools.count()
    try:
        found = np.fromiter((row for row, _ in zip(rows, count, strict=False)), [(name, np.float64) for name in COLUMNS])
    except (TypeError, ValueError):
        raise MapError(f"{where(next(count) - 1)}: must be numbers: {', '.join(COLUMNS)}") from None
    if len(found) > MAX_ROWS:
        raise MapError(f"{path}: too many rows (over {MAX_ROWS:,})")
    fps, y_axis = ([str(value) for value, in database.execute(
        "SELECT value FROM metadata NOT INDEXED WHERE key = ? LIMIT 2", (key,))] for key in ("fps", "y_axis"))
    areas = [str(wkt) for wkt, in database.execute("SELECT wkt FROM geometry NOT INDEXED LIMIT 2") if wkt]
    notes = ("the walkable area changes in the course of the file; the first one is shown",) * (len(areas) > 1)
    return _sorted(found.view(np.float64).reshape(-1, 4), where, path, per_metre,
                   _rate(f"fps {value}"[:MAX_COMMENT] for value in fps), "".join(areas[:1]),
                   "down" * (y_axis == ["down"]), notes)
