"""A map of rooms with doors of one tile flows: nobody waits for a goal behind a wall."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from crowds import simulation

from crowd_demo.sim.behaviours.people_columns import STUCK

TILES, ROOM = 64, 9


def rooms(path: Path) -> Path:
    """Write a map of rooms, each with a door to each of those beside it, somewhere in the wall between them."""
    rng, tiles = np.random.default_rng(5), np.full((TILES, TILES), ".")
    tiles[::ROOM], tiles[:, ::ROOM] = "T", "T"
    tiles[-1], tiles[:, -1] = "T", "T"
    for wall in range(ROOM, TILES - 1, ROOM):
        for room in range(0, TILES - 1, ROOM):
            across, down = rng.integers(room + 2, room + ROOM - 1, 2)
            tiles[wall, across] = tiles[down, wall] = "."
    path.write_text(f"type octile\nheight {TILES}\nwidth {TILES}\nmap\n" + "\n".join(map("".join, tiles)) + "\n", "utf-8")
    return path


def test_people_flow_through_rooms_and_doors(tmp_path: Path) -> None:
    sim = simulation(agents=500, map=rooms(tmp_path / "rooms.map"), world__width=2560, world__height=2560, crowd__radius=40)
    came = np.zeros(500, bool)
    for _ in range(24):
        sim.step(100)
        c: Any = sim.agents.by_id()
        came |= (c.timer > 0) & (c.state == 1)
    assert np.mean(c.state == STUCK) <= 0.03 and came.mean() > 0.3
