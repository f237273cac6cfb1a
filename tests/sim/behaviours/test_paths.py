"""Which flow fields a step makes: those that its agents read, when they first read them; and nothing depends on it."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crowds import CROWD, follow_walls, simulation
from reference_people import people_prices
from reference_terrain import reference_ways
from terrains import make_fields

from crowd_demo.sim.behaviours.people_rules import STUCK
from crowd_demo.sim.behaviours.wayfinding import MakeFlowFields
from crowd_demo.sim.simulation import Simulation

MANY = {**CROWD, "agents": 40, "crowd__destinations": 64}


def make_all(sim: Simulation) -> None:
    """Make all fields as they are before anybody was counted."""
    make_fields(sim.flow_fields, sim.terrain, layout=sim.ways.new)  # type: ignore[union-attr]


def readers(sim: Simulation) -> tuple[set[int], set[int]]:
    """The destinations whose fields the next step reads at least, and at most: before *sight*, who might find its goal."""
    columns: Any = sim.agents.by_id()
    phase = columns.id + sim.tick
    blind = (phase % sim.optimizations.stagger.paths == 0) & (columns.goal_visible == 0)
    looks = phase % sim.optimizations.stagger.sight == 0
    return set(columns.goal[blind & ~looks].tolist()), set(columns.goal[blind].tolist())


@pytest.mark.parametrize("threads", [1, 2, 64])
def test_a_step_makes_the_fields_that_are_read_and_no_others(threads: int) -> None:
    sim = simulation(**MANY, optimizations__threads=threads, optimizations__stagger__sight=16)
    made: set[int] = set()
    for _ in range(12):
        least, most = readers(sim)
        before = made - set(np.flatnonzero(sim.crowding.outdated(sim.tick)).tolist())
        sim.step()
        made = set(np.flatnonzero(sim.flow_fields.made).tolist())
        assert before | least <= made <= before | most
    assert 1 < len(made) < 64


def test_it_does_not_matter_when_fields_are_made() -> None:
    sim = simulation(**CROWD)
    early, again = copy.deepcopy(sim), copy.deepcopy(sim)
    make_all(early)
    for _ in range(40):
        again.flow_fields.made[:] = 0
        for each in (sim, early, again):
            each.step()
    assert sim.flow_fields.made.any()
    assert sim.state_hash() == early.state_hash() == again.state_hash()


def test_fields_go_by_the_prices_of_their_turn() -> None:
    """Each field that is there, after each step, against the prices that the page names for it."""
    sim = simulation("1k", map="plaza", agents=1500, crowd__detour_s=0.25)
    counts: dict[int, Any] = {-15: np.full(sim.terrain.blocked.shape, 8, np.uint8)}
    for tick in range(40):
        columns: Any = sim.agents.by_id()
        if tick % 15 == 0:  # where people stand before the step
            counts[tick] = people_prices(columns.x, columns.y, sim.terrain.walls, sim.config.crowd.detour)
        sim.step()
        fields = sim.flow_fields
        for goal in np.flatnonzero(fields.made).tolist() if tick % 7 == 0 else ():
            last = tick // 15 * 15
            prices = counts[last if tick - last >= goal * 15 // 10 else last - 15]
            targets = sim.ways.owner  # type: ignore[union-attr]
            sources = [(row, column) for row, column in np.argwhere(targets == goal).tolist()]
            assert np.array_equal(fields.fields.direction[goal], reference_ways(sim.terrain.blocked, sources, prices)[1])
    assert fields.made.any() and not np.array_equal(counts[15], counts[30])


def test_people_take_the_way_that_is_not_crowded(tmp_path: Path) -> None:
    """A wall with two doors: the crowd stands in the nearer one."""
    wall, door = "....T....", "........."
    rows = [wall, wall, "....T...0", wall, door, wall, wall, door, wall]
    (tmp_path / "doors.map").write_text("\n".join(["type octile", "height 9", "width 9", "map", *rows, ""]), "utf-8")
    turns = {}
    for detour in (0, 1):
        sim = simulation(agents=50, map=tmp_path / "doors.map", world__width=360, world__height=360, crowd__detour=detour)
        columns: Any = sim.agents.columns
        columns.x[:], columns.y[:] = 180, 180  # the upper door is from 160 to 200
        columns.x[0], columns.y[0] = 140, 220  # this one stands beside it, a bit below
        sim.step()
        moved: Any = sim.agents.by_id()
        turns[detour] = np.sign(moved.heading_y[0])
    assert turns == {0: -1, 1: 1}


def test_when_all_fields_are_made_nobody_is_asked_any_more() -> None:
    sim = simulation(**CROWD)
    make = next(stage for stage in sim.stages if isinstance(stage, MakeFlowFields))
    assert make.wanted(sim)
    make_all(sim)
    assert not make.wanted(sim)
    sim.set_walls((1, 1, 3, 2), True)
    follow_walls(sim)
    assert make.wanted(sim)


# --- a map of rooms with doors of one tile ---------------------------------------------------------------------------

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
