"""After an edit areas and flow fields follow the walls as the rule says, whatever is saved, gone back to or switched on."""

from __future__ import annotations

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
from crowd_demo.sim.actions import as_data, from_data
from crowd_demo.sim.edits import PaintWalls
from crowd_demo.sim.save_format import SaveError, check, decode, encoded
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.state_part import PartState
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
    assert sim.world.ways is not None
    return sim.world.ways


def on(sim: Simulation, edits: Edits, last: int) -> list[str]:
    hashes = []
    while sim.tick < last:
        if sim.tick in edits:
            sim.apply(from_data(as_data(edits[sim.tick])))
        sim.step()
        hashes.append(sim.state_hash())
    return hashes


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
        present, made = sim.terrain.blocked.copy(), sim.world.flow_fields
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


@pytest.mark.usefixtures("slow")
@settings(max_examples=8, deadline=None)
@given(EDITS, st.integers(0, 20), st.integers(0, 20), st.sampled_from([0, 6]))
def test_saves_and_the_past_go_on_alike_while_ways_follow(edits: Edits, kept: int, later: int, detour: int) -> None:
    sim = crowd(crowd__detour=detour)
    hashes, snapshots = [], []
    for tick in range(30):
        snapshots.append(sim.snapshot())
        hashes += on(sim, edits, tick + 1)
    saved = decode(b"".join(encoded(snapshots[kept], "test")))
    check(saved, crowd(crowd__detour=detour))
    for at, snapshot in ((kept, snapshots[kept]), (later, snapshots[later]), (kept, saved)):
        sim.restore(snapshot)
        assert on(sim, edits, 30) == hashes[at:]
    assert on(Simulation.from_snapshot(saved), edits, 30) == hashes[kept:]
    replica = sim.replica()
    replica.restore(snapshots[29])
    assert replica.snapshot().parts.keys() == snapshots[29].parts.keys() and on(replica, edits, 30) == hashes[29:]


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("switches", [{"threads": 1}, {"threads": 2}, {"neighbours": "linked", "simd": "false"},
                                      {"reorder__when": "off", "threads": 2}], ids=str)
def test_an_edited_crowd_has_one_hash(switches: dict[str, Any]) -> None:
    edits = {2: PaintWalls(((2, 1, 7), (3, 6, 7)), True), 5: PaintWalls(((2, 3, 4), (5, 0, 6)), True),
             14: PaintWalls(((2, 0, 9),), False), 21: PaintWalls(((0, 2, 4), (1, 2, 4)), True)}
    sim, other = crowd(), crowd(**{f"optimizations__{path}": value for path, value in switches.items()})
    assert on(other, edits, 40) == on(sim, edits, 40) and sim.agents.count == 80


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


@pytest.mark.quick
@pytest.mark.parametrize("wrong", [
    {"values": {}}, {"values": {"age": 1}}, {"values": {"age": -1}}, {"values": {"age": 99}}, {"values": {"age": True}},
    {"values": {"age": 0, "more": 1}}, {"arrays": {}}, {"arrays": {"old": np.zeros(7, np.uint8)}},
    {"arrays": {"old": np.zeros(8, np.int32)}}], ids=str)
def test_a_save_whose_ways_cannot_be_is_refused(slow: int, wrong: dict[str, Any]) -> None:
    sim = crowd()
    sim.apply(PaintWalls(((2, 1, 7),), True))
    snapshot = sim.snapshot()
    check(snapshot, sim)
    with pytest.raises(SaveError, match="ways: not those of this map"):
        check(snapshot._replace(parts={"ways": PartState(**{**snapshot.parts["ways"]._asdict(), **wrong})}), sim)


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
