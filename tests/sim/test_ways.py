"""After an edit areas and flow fields follow the walls as the rule says, whatever is saved, gone back to or switched on."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from crowds import simulation
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_people import claimed_tiles
from reference_terrain import ReferenceWays, reference_way_out, reference_ways
from terrains import grids, terrain_of

from crowd_demo.sim import ways
from crowd_demo.sim.behaviours.people_rules import WAITING
from crowd_demo.sim.edits import AddGoal, PaintWalls, SetExit, SetGoal
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.ways import Ways

RUNS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 8), st.integers(1, 9)), min_size=1, max_size=4).map(tuple)
EDITS = st.dictionaries(st.integers(0, 11), st.builds(PaintWalls, RUNS, st.booleans()), min_size=1, max_size=5)
Edits = dict[int, PaintWalls]


@pytest.fixture(params=[37, 200])
def slow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Few tiles a step, so that following takes many steps on a small map."""
    monkeypatch.setattr(ways, "TILES_A_STEP", request.param)
    yield request.param


def crowd(**more: Any) -> Simulation:
    return simulation(**{"agents": 80, "map": "null", "world__width": 576, "world__height": 448, "crowd__destinations": 3,
                         "crowd__detour_s": 0.1, **more})


def ways_of(sim: Simulation) -> Ways:
    assert sim.ways is not None
    return sim.ways


@pytest.mark.usefixtures("slow")
@settings(max_examples=15, deadline=None)
@given(EDITS, st.booleans())
def test_areas_and_fields_go_by_the_walls_of_the_rule(edits: Edits, room: bool) -> None:
    sim = crowd(crowd__detour=0, **({} if room else {"crowd__room": 0}))
    rule = ReferenceWays(sim.terrain.blocked, 3)
    radius_sq, plain = ways_of(sim)._reach_sq({}), np.full(sim.terrain.blocked.shape, 8, np.uint8)
    for tick in range(30):
        if tick in edits:
            sim.apply(edits[tick])
        rule.step(sim.terrain.blocked, ways.TILES_A_STEP)
        sim.step()
        assert ways_of(sim).waits == (rule.waits or not np.array_equal(rule.areas, sim.terrain.blocked))
        present, made = sim.terrain.blocked.copy(), sim.flow_fields
        owners: list[Any] = []
        for walls in (rule.areas, *rule.fields):
            sim.terrain.blocked[:] = walls
            owners.append(claimed_tiles(sim.terrain, radius_sq))
        sim.terrain.blocked[:] = present
        assert np.array_equal(ways_of(sim).owner, owners[0])
        for goal in np.flatnonzero(made.made).tolist():
            sources = [(row, column) for row, column in np.argwhere(owners[1 + goal] == goal).tolist()]
            assert np.array_equal(made.fields.direction[goal], reference_ways(rule.fields[goal], sources, plain)[1])
    assert not rule.waits


def test_a_small_map_follows_in_the_next_step_and_no_crowd_pays_that_nobody_edits() -> None:
    sim = crowd()
    assert ways_of(sim).steps == 1 and not sim.snapshot().parts
    sim.apply(PaintWalls(((2, 1, 7),), True))
    assert sim.snapshot().parts.keys() == {"ways"}
    layout = ways_of(sim).new
    sim.step()
    assert not ways_of(sim).waits and ways_of(sim).new is not layout and not sim.snapshot().parts
    layout = ways_of(sim).new
    sim.apply(PaintWalls(((2, 1, 2),), False))
    sim.apply(PaintWalls(((2, 1, 2),), True))
    assert not ways_of(sim).waits and not sim.snapshot().parts
    sim.step()
    assert ways_of(sim).new is layout


@settings(deadline=None)
@given(grids, st.sampled_from([None, 1, 2, 3]), st.sampled_from([50, 37.5]))
def test_people_step_out_to_the_nearest_free_tile_that_is_near(blocked: np.ndarray, near: int | None, tile: float) -> None:
    terrain = terrain_of(blocked, tile)
    rows, columns = np.nonzero(np.ones_like(blocked))
    x, y = ((along * terrain.walls.tile + 1).astype(np.float32) for along in (columns, rows))
    before, side = (x.copy(), y.copy()), float(terrain.walls.tile)
    stay = terrain.step_out(x, y, near)
    for number, (row, column) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        to = reference_way_out(blocked, row, column, near or 99)
        assert (number in stay) == (to is None)
        moved = to is not None and to != (row, column)
        assert (x[number], y[number]) == (((to[1] + 0.5) * side, (to[0] + 0.5) * side)  # type: ignore[index]
                                          if moved else (before[0][number], before[1][number]))


@pytest.mark.quick
def test_who_is_walled_in_is_out_and_comes_back() -> None:
    sim = crowd(world__width=2400, world__height=2400)  # 38 x 38 tiles
    at: Any = sim.agents.columns
    at.x[:20], at.y[:20] = 1200 + np.arange(20), 1200
    before = sim.agents.rows_by_id().copy()
    walls = PaintWalls(tuple((row, 0, 38) for row in range(1, 38)), True)
    back = walls.inverse(sim)
    sim.apply(walls)
    out = 80 - sim.agents.count
    assert 20 <= out < 80 and (at.y[:sim.agents.count] < sim.terrain.walls.tile).all()
    for action in back:
        sim.apply(action)
    assert sim.agents.count == 80 and not sim.terrain.blocked.any()
    came = {tuple(row) for row in sim.agents.rows_by_id()[1:].T.tolist()}
    assert len(came & {tuple(row) for row in before[1:].T.tolist()}) >= out


# --- goals ------------------------------------------------------------------------------------------------------------

def tile_at(sim: Simulation, row: int, column: int) -> int:
    return row * sim.terrain.columns + column


def test_areas_of_goals_are_those_of_the_oracle_and_people_go_there() -> None:
    sim = crowd(agents=150)
    first = sim.terrain.destinations
    sim.step(5)
    for action in (SetGoal(3, tile_at(sim, 6, 8)), SetGoal(0, tile_at(sim, 0, 0)), SetGoal(1, -1)):
        sim.apply(action)
    columns: Any = sim.agents.columns
    assert not ((columns.goal[:150] == 1) & (columns.state[:150] != WAITING)).any()
    sim.step()
    places = sim.terrain.destinations
    assert places[2] == first[2] and places[3][:2] == (544, 416) and places[0][:2] == (32, 32) and len(places) == 4
    radius_sq = ways_of(sim)._reach_sq(sim.terrain.goals)
    assert radius_sq[1] == 0 and np.array_equal(ways_of(sim).owner, claimed_tiles(sim.terrain, radius_sq))
    sim.step(900)
    going: Any = sim.agents.by_id()
    assert set(going.goal.tolist()) == {0, 2, 3}
    sim.apply(SetGoal(1, -2))
    sim.apply(SetGoal(3, -2))
    assert sim.terrain.destinations[1] == first[1] and sim.terrain.goals == {0: 0, 3: -1}


@pytest.mark.quick
def test_an_exit_is_where_people_leave_and_come_in_and_no_longer_one() -> None:
    sim = crowd(agents=40, crowd__wait_s=1)
    sim.step()
    columns: Any = sim.agents.columns
    for is_exit in (True, False):
        sim.apply(SetExit(1, is_exit))
        assert sim.snapshot().parts.keys() == ({"ways"} if is_exit else set())
        columns.state[:40], columns.timer[:40], columns.goal[:40] = WAITING, 5, 1
        speed = columns.speed[:40].copy()
        sim.step()
        assert ((columns.speed[:40] != speed).all(), (columns.state[:40] != WAITING).all()) == (is_exit, is_exit)


@pytest.mark.quick
@pytest.mark.parametrize(("action", "said"), [
    (SetGoal(9, 3), "no destination 9"), (SetGoal(0, 63), "wall, or another"), (SetGoal(0, 9), "wall, or another"),
    (SetExit(3, True), "no destination")], ids=str)
def test_what_cannot_be_a_goal_is_refused_and_changes_nothing(action: Any, said: str) -> None:
    sim = crowd()
    sim.apply(PaintWalls(((1, 0, 2),), True))
    with pytest.raises(ValueError, match=said):
        sim.apply(action)
    assert len(sim.history) == 1 and not sim.terrain.goals


@pytest.mark.quick
def test_there_are_at_most_64_and_only_where_there_are_areas() -> None:
    sim = crowd(world__width=1024)
    while len(sim.terrain.destinations) < 64:
        sim.apply(SetGoal(len(sim.terrain.destinations), int(np.flatnonzero(sim.terrain.marks < 0)[0])))
    sim.step()
    free = np.argwhere(sim.terrain.marks < 0)[0] * 64 + 1
    add = AddGoal(float(free[1]), float(free[0]))
    with pytest.raises(ValueError, match="no destination 64, of at most 64"):
        sim.apply(add)
    sim.apply(SetGoal(17, -1))
    assert add.inverse(sim) == (SetGoal(17, -1),)
    sim.apply(add)
    assert sim.terrain.goals[17] == sim.terrain.tile_number(add.x, add.y)
    with pytest.raises(ValueError, match="outside of the map"):
        sim.apply(AddGoal(-5, 3))
    for config in ({"crowd__room": 0}, {"behaviour": "flock"}):
        with pytest.raises(ValueError, match="no destinations with areas"):
            crowd(**config).apply(SetGoal(0, 5))
