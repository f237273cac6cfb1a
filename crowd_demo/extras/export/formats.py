"""The writers of trajectories, one for each suffix. Each writes rows frame by frame, so none keeps a run in memory.

    .txt      PedPy's text: id, frame, x, y, z; the frame rate, the unit and the walkable area in comments
    .sqlite   JuPedSim's database, version 2: trajectory_data, metadata, geometry, frame_data
    .parquet  a table with the frame rate, the unit and the walkable area in the metadata of its schema
    .csv      a table, nothing else

Sources: PedPy, https://pedpy.readthedocs.io ("Loading from text trajectory files"); JuPedSim, https://www.jupedsim.org
("Trajectory output": SQLite).
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles, Longs

DECIMALS = 6  # of positions in texts
ROWS_AT_ONCE = 1 << 18  # of a Parquet file
MODULES, FFMPEG = {"PIL": "Pillow"}, "ffmpeg"  # modules whose packages have other names


class FrameRows(NamedTuple):
    """One frame: who is where, in the order of their numbers."""

    frame: int  # from 0
    person: Longs
    x: Doubles  # in units of the file
    y: Doubles
    direction_x: Doubles  # of the velocity, of length 1; 0 for who stands
    direction_y: Doubles
    area: str  # that is walkable, as Well-Known Text


class About(NamedTuple):
    """What a file says about all its rows."""

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


# --- texts -------------------------------------------------------------------------------------------------------------

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


# --- JuPedSim's database -----------------------------------------------------------------------------------------------

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


# --- Parquet -----------------------------------------------------------------------------------------------------------

def parquet(path: Path, about: About, frames: Iterator[FrameRows]) -> None:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    said = {"framerate": repr(about.fps), "unit": about.unit, "geometry": about.area, "y_axis": about.y_axis}
    schema = pyarrow.schema({"id": pyarrow.int64(), "frame": pyarrow.int64(), "x": pyarrow.float64(), "y": pyarrow.float64()},
                            metadata=said)
    waiting, count = [schema.empty_table()], 0
    with path.open("wb") as file, ParquetWriter(file, schema) as writer:
        for rows in frames:
            columns = rows.person, np.full(len(rows.person), rows.frame, np.int64), rows.x, rows.y
            waiting.append(pyarrow.table(list(columns), schema=schema))
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
