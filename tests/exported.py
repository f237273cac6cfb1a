"""What the tests of exports share: small runs, and the files of trajectories read back without this program's help."""

import base64
import csv
import gzip
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pygame

from crowd_demo.config.loader import as_overrides
from crowd_demo.config.resources import assets_folder
from crowd_demo.extras.export.page import planned, write_page
from crowd_demo.extras.export.sources import Source, read_source
from crowd_demo.extras.export.trajectories import Asked, asked_for, write
from crowd_demo.render.camera import Camera
from crowd_demo.render.scene import Scene
from crowd_demo.sprites.pixels import plain_surface

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


# --- pages: slow and obvious -------------------------------------------------------------------------------------------

TYPES = {"Int8Array": "i1", "Uint8Array": "u1", "Uint16Array": "<u2", "Int32Array": "<i4", "Uint32Array": "<u4"}
Place = tuple[float, float, int]  # x, y and state


def page_of(of: Source, path: Path, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Write a page and read it: its record, and its blocks."""
    write_page(planned(asked(of, path, **options), may_change_fps=False), "crowd-demo export ...")
    return read_page(path)


def read_page(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    text = path.read_text("utf-8")
    found = re.search(r'<script type="application/json" id="about">(.*?)</script>', text)
    assert found
    blocks = re.findall(r'<script type="text/plain" id="(\w+)" data-type="(\w+)">(.*?)</script>', text)
    return json.loads(found[1]), {name: np.frombuffer(gzip.decompress(base64.b64decode(data)), TYPES[kind])
                                  for name, kind, data in blocks}


def places(about: dict[str, Any], blocks: dict[str, Any]) -> dict[tuple[int, int], Place]:
    """Where everybody is, by (id, frame), in world units."""
    found = dict[tuple[int, int], Place]()
    change = row = 0
    for k, length in enumerate(blocks["length"].tolist()):
        x, y, vx, vy = int(blocks["x"][k]), int(blocks["y"][k]), 0, 0
        for j in range(length):
            if j > 0:
                vx, vy = vx + int(blocks["changeX"][change]), vy + int(blocks["changeY"][change])
                x, y, change = x + vx, y + vy, change + 1
            state = int(blocks["state"][row]) if "state" in blocks else 0
            key = int(blocks["ids"][blocks["member"][k]]), int(blocks["first"][k]) + j
            assert key not in found and 0 <= x <= 65_535 and 0 <= y <= 65_535
            found[key], row = (x * about["step"], y * about["step"], state), row + 1
    assert change == len(blocks["changeX"]) == len(blocks["changeY"])
    return found


def as_drawn_here(size: tuple[int, int], at: tuple[float, float], zoom: float, colours: str = "looks",
                  **settings: Any) -> pygame.Surface:
    """Configuration `1k` after a second, by this program's renderer."""
    of = source(**settings)
    sim = next(state for _, state in of.states())
    for _ in range(60):
        sim.step()
    scene = Scene(sim, of.config, assets_folder())
    scene.show_colours(colours)
    camera = Camera((float(sim.terrain.walls.width), float(sim.terrain.walls.height)), size)
    camera.look_at(*at, zoom)
    surface = plain_surface(size)
    sim.prepare_picture()
    scene.draw(surface, camera)
    return surface
