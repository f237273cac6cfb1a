"""What the tests of exports share: small runs, and the files of trajectories read back without this program's help."""

from __future__ import annotations

import csv
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np

from crowd_demo.config.loader import as_overrides
from crowd_demo.export.sources import Source, read_source
from crowd_demo.export.trajectories import Asked, asked_for, write

LEAVING = {"agents": 60, "crowd.exits": 2}  # of the scenario `station`
FLUX = {"agents": 60, "map": None, "world.width": 600, "world.height": 500, "life.births_per_s": 40, "life.deaths_per_s": 40}

Table = dict[tuple[int, int], tuple[float, float]]  # (id, frame) -> (x, y)


def source(name: str = "1k", seconds: float = 1.0, **settings: Any) -> Source:
    """Dots in keys are written as double underscores."""
    return read_source(name, seconds, as_overrides({key.replace("__", "."): value for key, value in settings.items()}))


def asked(of: Source, path: Path, fps: float | None = None, from_s: float = 0, to_s: float | None = None,
          metres: bool = True) -> Asked:
    return asked_for(of, path, fps, from_s, to_s, metres)


def written(of: Source, path: Path, **options: Any) -> Table:
    """Write a file, and read it."""
    write(asked(of, path, **options))
    return READERS[path.suffix](path)


def of_text(path: Path) -> Table:
    lines = [line.split() for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert {line[4] for line in lines} == {"0"}
    return {(int(line[0]), int(line[1])): (float(line[2]), float(line[3])) for line in lines}


def of_csv(path: Path) -> Table:
    with path.open(encoding="utf-8", newline="") as file:
        return {(int(row["id"]), int(row["frame"])): (float(row["x"]), float(row["y"])) for row in csv.DictReader(file)}


def of_sqlite(path: Path) -> Table:
    rows = queried(path, "SELECT id, frame, pos_x, pos_y FROM trajectory_data")
    return {(identity, frame): (x, y) for identity, frame, x, y in rows}


def of_parquet(path: Path) -> Table:
    from pyarrow.parquet import read_table

    columns = read_table(path).to_pydict()
    rows = zip(*(columns[name] for name in ("id", "frame", "x", "y")), strict=True)
    return {(identity, frame): (x, y) for identity, frame, x, y in rows}


def queried(path: Path, query: str) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(path)
    try:
        return database.execute(query).fetchall()
    finally:
        database.close()


READERS = {".txt": of_text, ".csv": of_csv, ".sqlite": of_sqlite, ".parquet": of_parquet}


def walked_through(of: Source, every: int) -> list[tuple[Any, Any]]:
    """(columns by id, generations by id) of every so many states, one step at a time."""
    found = []
    for step, (_, sim) in zip(range(of.steps + 1), of.states(), strict=False):
        if step % every == 0:
            columns = sim.agents.by_id()
            found.append((columns, np.array([sim.agents.handles.generations[each] for each in columns.id])))
    return found
