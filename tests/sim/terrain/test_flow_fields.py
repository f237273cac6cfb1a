"""Flow fields against Dijkstra with a heap; and whoever follows them arrives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from crowds import simulation
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from reference_people import people_prices
from reference_terrain import reference_ways
from terrains import REAL_MAPS, all_fields, grids, layout_of, make_fields, terrain_of, town, way_costs

from crowd_demo.compute.jit import device, run
from crowd_demo.config.maps import FLOOR, WALL, MapData, read_map
from crowd_demo.sim.terrain.crowding import DEAREST, NEW, OLD, PLAIN, Crowding, Prices
from crowd_demo.sim.terrain.flow_fields import UNREACHABLE, FlowFields, heading
from crowd_demo.sim.terrain.tiles import Terrain

F = np.float32


def assert_ways_are_shortest(terrain: Terrain, fields: FlowFields, prices: Prices | None = None) -> None:
    for goal in range(len(terrain.destinations)):
        sources = [(row, column) for row, column in np.argwhere(terrain.marks == goal).tolist()]
        price = prices.tiles[prices.chosen[goal]] if prices else None
        distance, direction = reference_ways(terrain.blocked, sources, price)
        assert np.array_equal(way_costs(fields.fields.direction[goal], price), distance)
        assert np.array_equal(fields.fields.direction[goal], direction)


@device
def heading_at(fields: Any, walls: Any, goal: int, x: F, y: F) -> Any:
    return heading(fields, walls, goal, x, y)


@settings(deadline=None, max_examples=200)
@given(grids, st.data())
def test_ways_are_the_shortest_and_their_first_steps_the_lowest(blocked: np.ndarray, data: st.DataObject) -> None:
    marks = np.full(blocked.shape, -1, np.int16)
    places = st.tuples(st.integers(0, blocked.shape[0] - 1), st.integers(0, blocked.shape[1] - 1))
    for goal, place in enumerate(data.draw(st.lists(places, min_size=1, max_size=3))):
        marks[place[0]:place[0] + data.draw(st.integers(1, 3)), place[1]] = goal  # also on walls, or over one another
    terrain = Terrain(MapData(np.where(blocked, WALL, FLOOR).astype(np.uint8), marks, ""), 100, 100)
    fields = all_fields(terrain, workers=data.draw(st.integers(1, 4)))
    assert_ways_are_shortest(terrain, fields)
    tiles = data.draw(hnp.arrays(np.uint8, (2, *blocked.shape), elements=st.integers(PLAIN, DEAREST)))
    chosen = data.draw(hnp.arrays(np.uint8, len(terrain.destinations), elements=st.integers(0, 1)))
    prices = Prices(tiles, chosen)
    assert_ways_are_shortest(terrain, all_fields(terrain, data.draw(st.integers(1, 4)), prices), prices)


@pytest.mark.skipif(not REAL_MAPS.is_dir(), reason="the maps of the MovingAI benchmark are not beside the repository")
@pytest.mark.parametrize("name", ["arena", "random-64-64-20", *(
    pytest.param(name, marks=pytest.mark.slow) for name in ("Paris_1_256", "den312d", "lak303d", "maze-128-128-10"))])
def test_ways_are_the_shortest_on_real_maps(name: str) -> None:
    terrain = Terrain(read_map(REAL_MAPS / f"{name}.map"), 4000, 4000, count=2)
    fields = all_fields(terrain, workers=2)
    assert_ways_are_shortest(terrain, fields)
    tiles = np.random.default_rng(5).integers(PLAIN, DEAREST, (2, *terrain.blocked.shape), np.uint8, endpoint=True)
    prices = Prices(tiles, np.array([1, 0], np.uint8))
    assert_ways_are_shortest(terrain, all_fields(terrain, 2, prices), prices)
    assert np.array_equal(fields.fields.direction[0] != UNREACHABLE, terrain.labels == 0)


@pytest.mark.quick
def test_the_heading_points_to_the_middle_of_the_next_tile_or_to_the_goal() -> None:
    terrain = town("0...", "...@", width=40, height=20)
    fields = all_fields(terrain)

    def way(x: float, y: float) -> tuple[float, float]:
        right, down = heading_at(fields.fields, terrain.walls, 0, F(x), F(y))
        return float(right), float(down)

    assert way(35, 5) == (-1, 0)
    assert way(11, 19) == (float(F(-6) / np.sqrt(F(232))), float(F(-14) / np.sqrt(F(232))))  # to (5, 5), diagonally
    assert way(2, 1) == (float(F(0.6)), float(F(0.8)))  # arrived: the goal's own point is (5, 5)
    assert way(5, 5) == (0, 0)
    assert way(35, 15) == (0, 0)  # in a wall there is no way


@pytest.mark.quick
def test_ways_that_are_rounded_off_lead_to_where_the_next_tile_is_left() -> None:
    terrain = town("....", "@@..", "0...", width=40, height=30)
    fields = make_fields(FlowFields(terrain, rounds=True), terrain)

    def leads_to(x: float, y: float, to_x: float, to_y: float) -> bool:
        right, down = heading_at(fields.fields, terrain.walls, 0, F(x), F(y))
        across, away = F(to_x - x), F(to_y - y)
        length = np.sqrt(across * across + away * away)
        return (right, down) == (across / length, away / length)

    assert way_costs(fields.fields.direction[0]).tolist() == [[30, 25, 20, 22], [-1, -1, 15, 17], [0, 5, 10, 15]]
    assert leads_to(3, 4, 20, 5)  # the middle of its right side
    assert leads_to(12, 3, 25, 10)  # of its lower side
    assert leads_to(37, 2, 30, 20)  # its lower left corner
    assert leads_to(31, 12, 20, 25)
    assert leads_to(12, 24, 5, 25)  # the next one belongs to the destination: its middle
    assert leads_to(3, 22, 5, 25)


@pytest.mark.quick
@settings(deadline=None, max_examples=20)
@given(st.lists(st.lists(st.integers(0, 5), max_size=3), max_size=4), st.integers(1, 4))
def test_only_what_is_asked_for_is_made_and_only_once(asked: list[list[int]], workers: int) -> None:
    terrain = Terrain(None, 400, 300, count=6)
    expected = all_fields(terrain).fields.direction
    fields = FlowFields(terrain, workers)
    fields.fields.direction[:] = 77
    made: set[int] = set()
    for goals in asked:
        if goals:
            fields.fields.direction[list(made)] = 78  # what is there already is not touched
            make_fields(fields, terrain, *goals)
            assert (fields.fields.direction[list(made)] == 78).all()
            made |= set(goals)
            fields.fields.direction[list(made)] = expected[list(made)]
        assert np.flatnonzero(fields.made).tolist() == sorted(made) and not fields.asked.any()
        for goal in range(6):
            assert np.array_equal(fields.fields.direction[goal], expected[goal] if goal in made else
                                  np.full_like(expected[goal], 77))


@settings(deadline=None, max_examples=100)
@given(grids, st.integers(1, 3), st.lists(st.integers(1, 30), max_size=12), st.sampled_from(["nothing", "prices", "walls"]),
       st.integers(0, 99))
def test_a_field_that_is_made_ahead_is_the_one_that_is_made_at_once(blocked: np.ndarray, workers: int, slices: list[int],
                                                                    changes: str, seed: int) -> None:
    terrain, chance = terrain_of(blocked, count=3), np.random.default_rng(seed)
    assume(len(terrain.destinations) == 3)
    layout, tiles = layout_of(terrain), chance.integers(PLAIN, DEAREST, (2, *blocked.shape)).astype(np.uint8)
    before, after = (Prices(tiles, np.array(chosen, np.uint8)) for chosen in ([NEW, OLD, OLD], [NEW, NEW, OLD]))
    fields = make_fields(FlowFields(terrain, workers, rounds=True), terrain, prices=before, layout=layout)
    for most in slices:
        run(fields.make_ahead(1, (layout.targets, layout.steps), before, most))
    if changes == "prices":
        after = after._replace(tiles=np.flip(tiles, 1).copy())
    elif changes == "walls":
        layout = layout_of(terrain)
    expected = make_fields(FlowFields(terrain), terrain, prices=after).fields.direction
    for goals in ((1,), (0, 1, 2), (1,)):  # also again, as after going back
        fields.made[list(goals)] = 0
        fields.fields.direction[list(goals)] = 77
        make_fields(fields, terrain, *goals, prices=after, layout=layout)
        assert np.array_equal(fields.fields.direction[list(goals)], expected[list(goals)])


def test_a_field_is_complete_before_its_turn() -> None:
    sim = simulation("20k", agents=500)
    sim.step()
    for goal in range(1, len(sim.flow_fields.made)):
        sim.step(int(sim.crowding._turns[goal]) - sim.tick)
        assert sim.flow_fields._ahead == goal and sim.flow_fields._scratch.ahead[0] == 0
        sim.step()


# --- prices of tiles -------------------------------------------------------------------------------------------------

Array = NDArray[Any]


def count(crowding: Crowding, terrain: Terrain, tick: int, x: Array, y: Array) -> Array:
    """Make a step; return the new prices."""
    run(crowding.launches(tick, x, y, len(x), terrain.walls))
    crowding.keep()
    return crowding.prices(tick).tiles[NEW]


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from([1.0, 16.0, 40.0, 90.25]), st.integers(0, 400),
       st.sampled_from([0.01, 0.5, 1.0, 100.0]), st.integers(0, 99))
def test_prices_are_those_of_the_page(columns: int, rows: int, tile: float, agents: int, detour: float, seed: int) -> None:
    terrain = terrain_of(np.zeros((rows, columns), np.uint8), tile, count=3)
    crowding, chance = Crowding(terrain, detour), np.random.default_rng(seed)
    for _ in range(2):  # counts begin at 0 again
        x, y = ((side * 0.999 * chance.random(agents) ** 3).astype(np.float32) for side in (columns * tile, rows * tile))
        expected = people_prices(x, y, terrain.walls, detour)
        assert np.array_equal(count(crowding, terrain, 0, x, y), expected)
    assert expected.min() >= PLAIN


@pytest.mark.quick
def test_no_way_through_the_largest_map_costs_more_than_an_integer_holds() -> None:
    terrain = terrain_of(np.zeros((2048, 2048), np.uint8), 8.0, count=1)
    prices = count(Crowding(terrain, 100.0), terrain, 0, np.zeros(50, np.float32), np.zeros(50, np.float32))
    assert prices[0, 0] == 73 and 73 * 7 * 2048**2 < 2**31 <= 74 * 7 * 2048**2 and prices[0, 1] == PLAIN


@pytest.mark.quick
def test_on_large_maps_people_look_less_often() -> None:
    terrain = terrain_of(np.zeros((300, 400), np.uint8), count=12)
    assert Crowding(terrain, 1.0, every=60).every == math.ceil(12 * 300 * 400 / 8192) == 176
    assert Crowding(terrain, 1.0, every=500).every == 500
    assert Crowding(terrain, 1.0, every=0).every == 176 and Crowding(town("0."), 1.0, every=0).every == 1
