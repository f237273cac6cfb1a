"""The ground: its size, its areas, its destinations, where people start, and walls that change."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from crowds import simulation
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from reference_people import people_prices
from reference_terrain import Point, reference_areas, reference_distance_sq, reference_sees, reference_ways
from terrains import REAL_MAPS, all_fields, grids, layout_of, make_fields, terrain_of, town, way_costs

from crowd_demo.compute.jit import device, run
from crowd_demo.config.maps import FLOOR, GRASS, OPEN_TILE, WALL, WATER, MapData, read_map
from crowd_demo.sim.terrain.crowding import DEAREST, NEW, OLD, PLAIN, Crowding, Prices
from crowd_demo.sim.terrain.flow_fields import UNREACHABLE, FlowFields, heading
from crowd_demo.sim.terrain.ground import WallField, ground_of, in_sight, measure, surely_hidden
from crowd_demo.sim.terrain.tiles import TILE_STEPS, Terrain, Walls, tile_at


@pytest.mark.quick
@settings(deadline=None)  # the first example compiles
@given(st.integers(1, 300), st.integers(1, 300), st.floats(1, 65536), st.floats(1, 65536))
def test_a_map_fills_the_world_with_square_tiles_whose_borders_are_exact(columns: int, rows: int, width: float,
                                                                         height: float) -> None:
    data = MapData(np.zeros((rows, columns), np.uint8), np.zeros((rows, columns), np.int16), "")
    walls = Terrain(data, width, height).walls
    steps = float(walls.tile) * TILE_STEPS
    assert steps == int(steps) >= 1
    assert float(walls.width) == columns * float(walls.tile) and float(walls.height) == rows * float(walls.tile)
    if steps > 1:
        assert walls.width <= width and walls.height <= height
    assert min(width / columns, height / rows) - float(walls.tile) <= 1 / TILE_STEPS


@pytest.mark.quick
@settings(deadline=None, max_examples=30)
@given(st.floats(0.5, 65536, width=32), st.floats(0.5, 65536, width=32))
def test_an_open_world_has_just_the_size_asked_for(width: float, height: float) -> None:
    if max(width, height) > 200 * min(width, height):
        width = height
    terrain = Terrain(None, width, height)
    walls, tile = terrain.walls, float(terrain.walls.tile)
    assert (float(walls.width), float(walls.height)) == (width, height)
    assert (terrain.columns - 1) * tile < width <= terrain.columns * tile
    assert (terrain.rows - 1) * tile < height <= terrain.rows * tile
    assert tile <= 1.5 * OPEN_TILE and (tile >= OPEN_TILE / 2 or terrain.columns == terrain.rows == 1)
    assert tile * TILE_STEPS == int(tile * TILE_STEPS)
    assert not terrain.blocked.any()


@pytest.mark.quick
@settings(deadline=None)
@given(st.integers(1, 300), st.floats(1, 65536))
def test_the_last_point_of_the_world_is_on_the_last_tile(columns: int, width: float) -> None:
    terrain = terrain_of(np.zeros((1, columns), np.uint8), width / columns)
    last = np.nextafter(terrain.walls.width, np.float32(0))
    assert int(last * terrain.walls.inv_tile) == columns - 1
    assert tile_at(terrain.walls, last, np.float32(0)) == (columns - 1, 0)
    assert tile_at(terrain.walls, terrain.walls.width, np.float32(-5)) == (columns - 1, 0)


@settings(deadline=None)
@given(grids)
def test_areas_are_what_can_be_walked(blocked: np.ndarray) -> None:
    assert np.array_equal(terrain_of(blocked).labels, reference_areas(blocked))


@pytest.mark.quick
def test_diagonal_gaps_join_nothing() -> None:
    assert town(".@", "@.").labels.tolist() == [[0, -1], [-1, 1]]
    assert town("..@.", "@@@.", "....").labels.tolist() == [[1, 1, -1, 0], [-1, -1, -1, 0], [0, 0, 0, 0]]


@pytest.mark.quick
def test_walls_come_and_go_and_the_version_says_so() -> None:
    terrain = town("..G", "W@.")
    blocked, walls = terrain.blocked, terrain.walls
    terrain.set_walls((2, 0, 3, 1), True)
    assert (terrain.version, terrain.kinds.tolist()) == (1, [[FLOOR, FLOOR, WALL], [WATER, WALL, FLOOR]])
    terrain.set_walls((-5, 0, 99, 99), True)
    assert terrain.version == 2 and terrain.blocked.all() and (terrain.labels == -1).all()
    terrain.set_walls((0, 0, 3, 2), False)
    assert (terrain.version, terrain.kinds.tolist()) == (3, [[FLOOR, FLOOR, GRASS], [WATER, FLOOR, FLOOR]])
    assert terrain.blocked.tolist() == [[0, 0, 0], [1, 0, 0]]
    assert terrain.labels.tolist() == [[0, 0, 0], [-1, 0, 0]]
    assert terrain.blocked is blocked and walls.blocked is blocked


@pytest.mark.quick
@pytest.mark.parametrize("rectangle", [(0, 0, 0, 0), (2, 1, 1, 2), (-9, -9, -1, -1), (3, 0, 9, 9), (0, 0, 3, 1)])
def test_what_changes_nothing_is_no_new_version(rectangle: tuple[int, int, int, int]) -> None:
    terrain = town("@@@", "...")
    terrain.set_walls(rectangle, True)
    assert terrain.version == 0 and terrain.blocked.tolist() == [[1, 1, 1], [0, 0, 0]]


@pytest.mark.quick
def test_destinations_of_a_map_are_numbered_without_gaps() -> None:
    terrain = town("....", ".33.", ".33.", "...a", width=400, height=400)
    assert terrain.marks.tolist() == [[-1] * 4, [-1, 0, 0, -1], [-1, 0, 0, -1], [-1, -1, -1, 1]]
    assert terrain.destinations == ((150, 150, 100), (350, 350, 50))


def test_the_point_of_a_destination_is_on_one_of_its_tiles() -> None:
    ring = town("000", "0@0", "000", width=3, height=3).destinations[0]
    assert (ring.x, ring.y) == (1.5, 0.5)


@pytest.mark.quick
def test_where_nobody_can_stand_there_are_no_destinations_and_people_start_anywhere() -> None:
    terrain = terrain_of(np.ones((3, 4), np.uint8))
    assert terrain.destinations == ()
    x, y = terrain.random_walkable(np.arange(1000), 1)
    assert len({tile_at(terrain.walls, *point) for point in zip(x, y, strict=True)}) == 12


@settings(deadline=None)
@given(grids.filter(lambda blocked: not blocked.all()), st.integers(0, 2**40),
       st.lists(st.integers(0, 2**31 - 1), max_size=20), st.sampled_from([0.25, 1.0, 15.625, 900.0]))
def test_people_start_on_free_tiles_wherever_else_others_start(blocked: np.ndarray, seed: int, ids: list[int],
                                                               tile: float) -> None:
    terrain = terrain_of(blocked, tile)
    x, y = terrain.random_walkable(np.array(ids, np.int64), seed)
    assert x.dtype == y.dtype == np.float32 and len(x) == len(ids)
    for number, identity in enumerate(ids):
        column, row = tile_at(terrain.walls, x[number], y[number])
        assert terrain.labels[row, column] == 0
        assert (column * tile < x[number] < (column + 1) * tile) and (row * tile < y[number] < (row + 1) * tile)
        alone = terrain.random_walkable(np.array([identity]), seed)
        assert (alone[0][0], alone[1][0]) == (x[number], y[number])


# --- away from walls: exact distances, the right way, the right strength ---------------------------------------------

@settings(deadline=None)  # the first example compiles
@given(grids, st.integers(1, 12))
def test_distances_are_exact(blocked: np.ndarray, reach: int) -> None:
    down, distance_sq = np.empty(blocked.shape, np.int32), np.empty(blocked.shape, np.int32)
    measure(blocked, reach, down, distance_sq)
    assert np.array_equal(distance_sq, reference_distance_sq(blocked, reach))


@settings(deadline=None)
@given(grids, st.floats(1, 200))
def test_the_push_is_never_longer_than_one_and_never_nan(blocked: np.ndarray, margin: float) -> None:
    terrain = terrain_of(blocked)
    field = WallField(terrain, margin)
    assert field.rebuild(terrain) and not field.rebuild(terrain)
    length_sq = field.away_x.astype(float) ** 2 + field.away_y.astype(float) ** 2
    assert (length_sq <= 1.000001).all()  # the rounding of a unit vector in float32


@pytest.mark.quick
def test_without_walls_nothing_pushes_and_new_walls_do() -> None:
    terrain = Terrain(None, 640, 640)
    field = WallField(terrain, 200.0)
    away_x, away_y = field.away_x, field.away_y
    field.rebuild(terrain)
    assert not away_x.any() and not away_y.any()
    terrain.set_walls((5, 5, 6, 6), True)
    assert field.rebuild(terrain) and field.away_x is away_x
    assert away_x[5, 4] < 0 < away_x[5, 6] and away_y[4, 5] < 0 < away_y[6, 5]


# --- line of sight against exact fractions ---------------------------------------------------------------------------

F = np.float32


@device
def is_hidden(ground: Any, ax: Any, ay: Any, bx: Any, by: Any) -> Any:
    return surely_hidden(ground, ax, ay, bx, by)


def looks(walls: Walls, a: Point, b: Point) -> bool:
    """`goal_visible` between points in steps of 1/256 unit; it has to agree from both sides."""
    points = [F(value) / F(TILE_STEPS) for value in (*a, *b)]
    there, back = in_sight(walls, *points), in_sight(walls, *points[2:], *points[:2])
    assert there is back
    return bool(there)


@pytest.mark.parametrize("walls", range(16))
def test_all_points_of_four_small_tiles(walls: int) -> None:
    blocked = np.array([walls >> bit & 1 for bit in range(4)], np.uint8).reshape(2, 2)
    terrain = terrain_of(blocked, 2 / TILE_STEPS)
    points = list(itertools.product(range(4), range(4)))
    for a, b in itertools.product(points, points):
        assert looks(terrain.walls, a, b) is reference_sees(blocked, 2, a, b), (a, b)


@settings(deadline=None, max_examples=400)
@given(grids, st.integers(1, 6), st.data())
def test_sight_is_exact_where_lines_touch_corners_and_run_along_borders(blocked: np.ndarray, side: int,
                                                                        data: st.DataObject) -> None:
    rows, columns = blocked.shape
    points = st.tuples(st.integers(0, columns * side - 1), st.integers(0, rows * side - 1))
    a, b = data.draw(points), data.draw(points)
    assert looks(terrain_of(blocked, side / TILE_STEPS).walls, a, b) is reference_sees(blocked, side, a, b)


@settings(deadline=None, max_examples=400)
@given(grids, st.sampled_from([1 / 256, 0.25, 0.26, 1.0, 7.5, 16.0, 7000.0]), st.data())
def test_the_quick_look_is_sure_only_of_what_is_hidden(blocked: np.ndarray, tile: float, data: st.DataObject) -> None:
    terrain = terrain_of(blocked, tile)
    ground, walls = ground_of(terrain, 0.0, WallField(terrain, 1.0)), terrain.walls
    limits = float(ground.limit_x), float(ground.limit_y), float(walls.width), float(walls.height)
    x, y, to_x, to_y = (F(data.draw(st.floats(0, limit, width=32))) for limit in limits)
    assert not (is_hidden(ground, x, y, to_x, to_y) and in_sight(walls, x, y, to_x, to_y))


@pytest.mark.quick
def test_the_quick_look_finds_a_thick_wall() -> None:
    terrain = town("..@@..", width=60, height=10)
    ground = ground_of(terrain, 0.0, WallField(terrain, 1.0))
    assert is_hidden(ground, F(5), F(5), F(55), F(5))
    assert not is_hidden(ground, F(5), F(5), F(15), F(5))


@settings(deadline=None, max_examples=300)
@given(st.integers(1, 2**24 - 1), st.integers(1, 2**24 - 1), st.integers(1, 2**24 - 1), st.integers(1, 2**24 - 1),
       st.floats(0, 1), st.integers(-1, 1), st.integers(-1, 1))
@example(0, 0, 2**24 - 1, 2**24 - 1, 0.5, 0, 0)
@example(0, 0, 2**24 - 1, 2**24 - 1, 0.5, 1, 0)
@example(0, 2**24 - 1, 2**24 - 1, 0, 0.25, 0, 0)
def test_sight_is_exact_across_the_largest_world(ax: int, ay: int, bx: int, by: int, part: float, aside: int,
                                                 below: int) -> None:
    side = 2**24 // 128  # 65536 units in 128 tiles
    blocked = np.zeros((128, 128), np.uint8)
    column, row = int(ax + part * (bx - ax)) // side + aside, int(ay + part * (by - ay)) // side + below
    blocked[min(max(row, 0), 127), min(max(column, 0), 127)] = 1
    walls = terrain_of(blocked, side / TILE_STEPS).walls
    assert looks(walls, (ax, ay), (bx, by)) is reference_sees(blocked, side, (ax, ay), (bx, by))


@pytest.mark.quick
@pytest.mark.parametrize(("rows", "a", "b", "clear"), [
    (("...", "...", "..."), (0.5, 0.5), (2.5, 2.5), True),
    ((".@.", "@..", "..."), (0.5, 0.5), (2.5, 2.5), False),   # a diagonal gap, through the corner itself
    ((".@.", "...", "..."), (0.5, 0.5), (2.5, 2.5), False),   # the corner of one wall is too near as well
    (("..@", "...", "@.."), (0.5, 0.5), (2.5, 2.5), True),
    (("...", ".@.", "..."), (0.5, 0.5), (2.5, 0.5), True),
    (("...", ".@.", "..."), (0.5, 1.0), (2.5, 1.0), False),   # a border belongs to the tile below
    (("...", ".@.", "..."), (0.5, 2.0), (2.5, 2.0), True),
    (("...", ".@.", "..."), (1.0, 0.5), (1.0, 2.5), False),   # and to the tile on the right
    (("...", ".@.", "..."), (2.0, 0.5), (2.0, 2.5), True),
    (("...", ".@.", "..."), (1.5, 1.5), (0.5, 0.5), False),   # from within a wall
    (("...", ".@.", "..."), (0.5, 0.5), (0.5, 0.5), True),    # oneself
    ((".@.",), (1.5, 0.5), (1.5, 0.5), False),
    (("...",), (0.5, 0.5), (3.0, 0.5), False),                # the end is just outside
    (("...",), (0.5, 0.5), (0.5, -0.01), False),
    ((".W.",), (0.5, 0.5), (2.5, 0.5), False),                # who cannot walk there does not walk straight on
    ((".SG",), (0.5, 0.5), (2.5, 0.5), True),
])
def test_sight_is_what_the_eye_says(rows: tuple[str, ...], a: tuple[float, float], b: tuple[float, float],
                                    clear: bool) -> None:
    terrain = town(*rows, width=len(rows[0]), height=len(rows))
    assert in_sight(terrain.walls, F(a[0]), F(a[1]), F(b[0]), F(b[1])) is clear
    assert in_sight(terrain.walls, F(b[0]), F(b[1]), F(a[0]), F(a[1])) is clear


# --- Flow fields -----------------------------------------------------------------------------------------------------

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
    assert_ways_are_shortest(terrain, all_fields(terrain, workers=data.draw(st.integers(1, 4))))
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
