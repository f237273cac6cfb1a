"""Which flow fields a step makes: those that its agents read, when they first read them; and nothing depends on it."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
import reference_flock
import reference_people
from crowds import CROWD, FORCES, F, open_world, put, refresh_rules, simulation
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_people import people_prices
from reference_terrain import reference_ways
from terrains import make_fields

from crowd_demo.compute.jit import device, run
from crowd_demo.sim.behaviours.wayfinding import MakeFlowFields
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.ground import slide

MANY = {**CROWD, "agents": 40, "crowd__destinations": 64, "crowd__choice_length": 0}  # with it all fields are read


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
    make_fields(early.flow_fields, early.terrain, layout=early.ways.new)  # type: ignore[union-attr]
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
        for goal in np.flatnonzero(fields.made).tolist() if tick % 15 == 5 else ():
            last = tick // 15 * 15
            prices = counts[last if tick - last >= goal * 15 // 10 else last - 15]
            targets = sim.ways.owner  # type: ignore[union-attr]
            sources = [(row, column) for row, column in np.argwhere(targets == goal).tolist()]
            assert np.array_equal(fields.fields.direction[goal], reference_ways(sim.terrain.blocked, sources, prices)[1])
    assert fields.made.any() and not np.array_equal(counts[15], counts[30])


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


# --- acting on what was seen: all behaviours against their oracle, and the walls that nobody enters ------------------

examples = settings(max_examples=20, deadline=None)


@device
def slide_once(ground: Any, x: Any, y: Any, dx: Any, dy: Any) -> Any:
    return slide(ground, x, y, dx, dy)


def walled(behaviour: str, agents: int, seed: int, **more: Any) -> Any:
    """A small world with walls strewn over it, and agents in any state."""
    sim = simulation("1k", behaviour=behaviour, agents=agents, seed=seed, **open_world(640, 640), **more)
    rng = np.random.default_rng(seed)
    for column, row in rng.integers(0, 10, (20, 2)):
        sim.set_walls((int(column), int(row), int(column) + 1, int(row) + 1), True)
    c: Any = sim.agents.columns
    n = sim.agents.count
    c.vx[:n], c.vy[:n] = rng.uniform(-150, 150, (2, n))
    c.avoidance_x[:n], c.avoidance_y[:n] = rng.uniform(-3, 3, (2, n))
    if behaviour == "crowd":
        c.state[:n], c.goal_visible[:n] = rng.integers(0, 5, n), rng.integers(0, 2, n)
        c.timer[:n] = rng.uniform(0, 3, n)
        near = c.x[:n] + rng.uniform(-99, 99, n), c.y[:n] + rng.uniform(-99, 99, n)
        c.goal_x[:n], c.goal_y[:n] = np.clip(near, 0, 640)
        places, outside = sim.terrain.destinations, rng.uniform(0, 1, n) < 0.7
        points = np.array([(place.x, place.y) for place in places])[rng.integers(0, len(places), n)]
        c.goal[:n] = [np.flatnonzero([(place.x, place.y) == tuple(point) for place in places])[0] for point in points]
        c.goal_x[:n], c.goal_y[:n] = np.where(outside, points.T, (c.goal_x[:n], c.goal_y[:n]))
        angle = rng.uniform(0, 7, n)
        c.heading_x[:n], c.heading_y[:n] = np.cos(angle), np.sin(angle)
    return sim


def places_of(sim: Any) -> Any:
    return next(stage.areas for stage in sim.stages if stage.name == "admit")


def routes_of(sim: Any) -> list[tuple[Any, Any]]:
    """For each destination the direction of the way from each tile, and the prices by which it goes."""
    d, crowding = places_of(sim).columns, sim.crowding
    count, columns, routes = len(d.first) - 1, sim.terrain.columns, []
    for goal in range(count):
        prices = crowding.state[1 if sim.tick % crowding.every >= goal * crowding.every // count else 0]
        tiles = [divmod(int(tile), columns) for tile in d.tiles[d.first[goal]:d.first[goal + 1]]]
        routes.append((reference_ways(sim.terrain.blocked, tiles, prices)[1], prices))
    return routes


def act(sim: Any) -> dict[str, Any]:
    """The stage *move* by its kernel, and *admit* before it; the agents before them, in id order."""
    refresh_rules(sim)
    for stage in sim.stages:
        if isinstance(stage, MakeFlowFields) and stage.wanted(sim):
            run(stage.launches(sim))
            stage.commit(sim)
    before = {name: column.copy() for name, column in sim.agents.by_id()._asdict().items()}
    for stage in sim.stages:
        if stage.name in ("admit", "move") and stage.wanted(sim):
            run(stage.launches(sim))
    return before


@pytest.mark.parametrize("behaviour", ["flock", "crowd", "crates"])
@pytest.mark.parametrize("simd", ["true", "false"])
@examples
@given(agents=st.integers(0, 70), seed=st.integers(0, 999), forces=FORCES)
def test_every_agent_moves_as_the_oracle_says(behaviour: str, simd: str, agents: int, seed: int, forces: Any) -> None:
    roost = seed % 2 * 0.5
    people = {"crowd__destinations": 1 + seed % 4, "crowd__room": seed % 3 * 4000,
              "crowd__area_per_person": 20_000 + seed * 20, "crowd__reconsider_s": seed % 2 * 0.03,
              "crowd__choice_length": seed % 5 * 60}
    sim = walled(behaviour, agents, seed, optimizations__simd=simd, flock__roost=roost, flock__roost_radius=150, **people)
    put(sim, forces)
    if behaviour == "crowd":
        sim.ways.settle()
        sim.crowding.state = np.random.default_rng(seed).integers(8, 40, sim.crowding.state.shape).astype(np.uint8)
    want = act(sim)
    rules = sim.behaviour.rules(sim)
    if behaviour == "flock":
        reference_flock.flock_move(want, rules, sim.ground, sim.forces.present)
    elif behaviour == "crates":
        reference.crate_move(want, rules, sim.ground, sim.forces.present)
    else:
        reference_people.crowd_move(want, rules, places_of(sim).columns, sim.ground, sim.terrain.walls,
                                    sim.forces.present, routes_of(sim))
    for name, column in sim.agents.by_id()._asdict().items():
        assert np.array_equal(column, want[name]), name


@examples
@given(seed=st.integers(0, 9999), dx=st.floats(-80, 80, width=32), dy=st.floats(-80, 80, width=32))
def test_slide_equals_the_oracle_and_never_enters_a_wall(seed: int, dx: float, dy: float) -> None:
    sim = walled("crowd", 12, seed % 50)
    ground = sim.ground
    for x, y in zip(sim.agents.columns.x[:12], sim.agents.columns.y[:12], strict=True):
        got = slide_once(ground, x, y, F(dx), F(dy))
        assert got == reference.slide(ground, x, y, F(dx), F(dy))
        assert not ground.solid[reference.tile_under(ground, F(got[0]), F(got[1]))]
