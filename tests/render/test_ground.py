from types import SimpleNamespace

import numpy as np
import pytest
import reference_render as reference
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.render import tile_layer as grounds
from crowd_demo.render import tile_pictures as tiles
from crowd_demo.render.camera import Camera
from crowd_demo.render.figures.sprites import load_manifest
from crowd_demo.sprites.pixels import frame_of, plain_surface

ROWS, COLUMNS, TILE = 7, 9, 20.0
SIZE = 64, 48


@pytest.fixture(scope="session", params=["stone", "dusk"])
def tile_set(assets, request):
    return tiles.TileSet(assets, load_manifest(assets)["tiles"], request.param, ROWS)


class Map(SimpleNamespace):
    __eq__ = object.__eq__  # a terrain is equal to itself alone


def terrain(seed=0):
    rng = np.random.default_rng(seed)
    marks = np.where(rng.random((ROWS, COLUMNS)) < 0.1, 0, -1).astype(np.int16)
    kinds = rng.choice(5, (ROWS, COLUMNS), p=[0.5, 0.3, 0.1, 0.05, 0.05]).astype(np.uint8)
    return Map(kinds=kinds, marks=marks, version=0, walls=SimpleNamespace(tile=np.float32(TILE)))


MAP = terrain()


@st.composite
def cameras(draw):
    camera = Camera((COLUMNS * TILE, ROWS * TILE), SIZE)
    camera.look_at(draw(st.floats(0, 180)), draw(st.floats(0, 140)), draw(st.floats(0.05, 4)))
    return camera


def picture(ground, how, blitter, camera, rect=None, workers=2, map_=MAP):
    surface = plain_surface(SIZE)
    ground.prepare(how, map_, camera, rect or camera.view_rect())
    if blitter == "pygame":
        ground.draw_fblits(surface)
    else:
        ground.launch(workers, frame_of(surface)).run()
    ground.draw_surroundings(workers, frame_of(surface))
    return frame_of(surface).copy()


def paving_of(ground):
    """What its kernel is about to pave with."""
    _, _, paving, *_ = ground.launch(1, np.zeros((1, 1), np.uint32)).args
    return paving


@given(camera=cameras(), how=st.sampled_from(["off", "agents", "grid"]),
       blitter=st.sampled_from(["pygame", "compiled"]))
def test_every_way_paves_what_the_reference_paves(tile_set, camera, how, blitter):
    ground, frame = grounds.TileLayer(tile_set, marks=True), np.zeros(SIZE[::-1], np.uint32)
    paved = picture(ground, how, blitter, camera)
    left, top, _, _ = camera.view_rect()
    drawn = paving_of(ground)
    reference.ground(frame, drawn.number, drawn.pictures, TILE, left, top, camera.zoom, 0)
    reference.surroundings(frame, COLUMNS, ROWS, TILE, left, top, camera.zoom, grounds)
    assert np.array_equal(paved, frame), "and the top byte is 0, below every dot"
    for _ in range(2):
        assert np.array_equal(picture(ground, how, blitter, camera), frame), "also from the surroundings that are kept"


def test_the_surroundings_follow_a_new_border_while_the_view_stands_still(tile_set):
    """A wall up to the edge of the map, and another map with the same version."""
    camera, map_ = Camera((COLUMNS * TILE, ROWS * TILE), SIZE), terrain()
    camera.look_at(COLUMNS * TILE / 2, ROWS * TILE / 2, 0.2)
    ground = grounds.TileLayer(tile_set, marks=True)
    before = [picture(ground, "grid", "compiled", camera, map_=map_) for _ in range(3)][-1]
    map_.kinds[:, -1] = (map_.kinds[:, -1] + 1) % 5
    for changed in (map_, terrain(1)):
        changed.version = 1
        fresh = picture(grounds.TileLayer(tile_set, marks=True), "grid", "compiled", camera, map_=changed)
        for _ in range(3):
            assert np.array_equal(picture(ground, "grid", "compiled", camera, map_=changed), fresh)
        assert not np.array_equal(fresh, before)


def test_only_the_range_in_view_is_visited(tile_set):
    ground, camera = grounds.TileLayer(tile_set, marks=True), Camera((COLUMNS * TILE, ROWS * TILE), SIZE)
    camera.look_at(90, 70, 2.0)  # shows x from 74 to 106 and y from 58 to 82
    visited = {}
    for how in ("off", "agents", "grid"):
        picture(ground, how, "compiled", camera)
        visited[how] = ground.counters["tiles_visited"], ground.counters["tiles_drawn"]
    assert visited == {"off": (63, 63), "agents": (63, 9), "grid": (9, 9)}


@pytest.mark.quick
def test_walls_show_their_front_to_the_south_and_shade_what_lies_south_and_east():
    kinds = np.zeros((4, 4), np.uint8)
    kinds[1:3, 1] = tiles.WALL
    numbers = tiles.tile_numbers(kinds, np.full((4, 4), -1, np.int16)) // tiles.VARIANTS
    kind, shade = np.divmod(numbers, tiles.SHADES)
    assert np.array_equal(kind, kinds)
    assert shade.tolist() == [[0, 0, 0, 0], [0, 0, tiles.WEST, 0], [0, 1, tiles.WEST | tiles.CORNER, 0],
                              [0, tiles.NORTH, tiles.CORNER, 0]]


@pytest.mark.quick
def test_shadows_go_on_from_tile_to_tile_and_end_where_walls_do():
    kinds = np.zeros((5, 5), np.uint8)
    kinds[1:3, 1:3] = tiles.WALL
    numbers = tiles.tile_numbers(kinds, np.full((5, 5), -1, np.int16)) // tiles.VARIANTS % tiles.SHADES
    side = 64
    light = np.ones((5 * side, 5 * side))
    for row, column in np.argwhere(kinds == 0):
        light[row * side:row * side + side, column * side:column * side + side] = tiles._light(int(numbers[row, column]), side)
    light[side:3 * side, side:3 * side] = np.nan  # the walls
    for steps in (np.abs(np.diff(light, axis=0)), np.abs(np.diff(light, axis=1))):
        assert np.nanmax(steps) < 0.12, "no edge but at the walls, where it is 0.4"
    assert light[3 * side + 2, 2 * side] < 0.7 and light[3 * side + 2, 3 * side + 2] < 0.9, "below the wall, and at its corner"


@pytest.mark.quick
def test_destinations_are_marked_unless_they_are_walled_up():
    kinds = np.array([[0, tiles.WALL, tiles.WALL]], np.uint8)
    kind = tiles.tile_numbers(kinds, np.zeros((1, 3), np.int16)) // tiles.VARIANTS // tiles.SHADES
    assert kind.tolist() == [[tiles.MARK, tiles.WALL, tiles.WALL]]


@pytest.mark.quick
def test_a_wall_tile_that_no_other_touches_is_a_tree_without_a_front_that_shades_the_ground():
    kinds = np.zeros((5, 6), np.uint8)
    kinds[[0, 2, 3, 4], [0, 3, 4, 1]] = tiles.WALL  # one in a corner, two that touch by a corner, one at the edge
    numbers = tiles.tile_numbers(kinds, np.full((5, 6), -1, np.int16)) // tiles.VARIANTS
    kind, shade = np.divmod(numbers, tiles.SHADES)
    assert np.argwhere(kind == tiles.TREE).tolist() == [[0, 0], [4, 1]]
    assert np.argwhere(kind == tiles.WALL).tolist() == [[2, 3], [3, 4]]
    assert shade[[0, 4], [0, 1]].tolist() == [0, 0]
    assert shade[1, 0] & tiles.NORTH and shade[0, 1] & shade[4, 2] & tiles.WEST


@pytest.mark.parametrize("how", ["grid", "off"])
def test_a_frozen_view_shows_no_ground_beyond_it(tile_set, how):
    ground, camera = grounds.TileLayer(tile_set, marks=True), Camera((COLUMNS * TILE, ROWS * TILE), SIZE)
    middle = Camera((COLUMNS * TILE, ROWS * TILE), SIZE)
    middle.look_at(COLUMNS * TILE / 2, ROWS * TILE / 2, 8.0)
    for frozen, goes_on in ((camera.view_rect(), True), (middle.view_rect(), how == "off")):
        assert (picture(ground, how, "compiled", camera, frozen)[0, 0] != grounds.OUTSIDE) == goes_on


@pytest.mark.parametrize("how", ["off", "agents", "grid"])
def test_large_pictures_are_made_when_their_tiles_are_first_drawn(assets, how):
    tile_set, map_ = tiles.TileSet(assets, load_manifest(assets)["tiles"], "stone", ROWS), terrain()
    ground, camera = grounds.TileLayer(tile_set, marks=True), Camera((COLUMNS * TILE, ROWS * TILE), SIZE)
    used, seen = set(tile_set.numbers(map_.kinds, map_.marks).ravel().tolist()), set()
    for x, y in ((30, 30), (45, 30), (150, 110)):
        camera.look_at(x, y, 2.0)  # tiles of 40 pixels, of which one or two are on the screen, or three
        ground.prepare(how, map_, camera, camera.view_rect())
        left, top, right, bottom = camera.view_rect()
        drawn = paving_of(ground)
        seen |= {int(drawn.number[row, column]) for row in range(ROWS) for column in range(COLUMNS)
                 if column * TILE < right and (column + 1) * TILE > left and row * TILE < bottom and (row + 1) * TILE > top}
        made = {number for number in used if drawn.pictures[number].any()}
        assert made == (used if how == "off" else seen)
        for number, picture in tile_set.pictures(made, 40):
            red, green, blue = picture.round().astype(np.uint32).transpose(2, 0, 1)
            assert np.array_equal(drawn.pictures[number], red << 16 | green << 8 | blue)
    assert how == "off" or len(seen) < len(used)


@pytest.mark.quick
def test_at_night_every_tile_is_dark(assets):
    by_day, by_night = (tiles.TileSet(assets, load_manifest(assets)["tiles"], ground) for ground in ("stone", "night"))
    numbers = range(0, tiles.ON_GROUND, tiles.VARIANTS)
    for (_, night), (_, day) in zip(by_night.pictures(numbers, 16), by_day.pictures(numbers, 16), strict=True):
        assert np.allclose(night, day * np.array(tiles.NIGHT), atol=1e-3)


# --- fields: lamps, paths, lakes and woods -----------------------------------------------------------------------------

def paved(tile_set, kinds, side=16):
    """The picture of a map in which nothing is a destination: float[H * side, W * side, 3]."""
    numbers = tile_set.numbers(kinds, np.full(kinds.shape, -1, np.int16))
    pictures = dict(tile_set.pictures(np.unique(numbers).tolist(), side))
    return np.concatenate([np.concatenate([pictures[number] for number in row], axis=1) for row in numbers.tolist()])


def lit(assets, kinds):
    """How much lighter than without lamps the pixels of a town at night are."""
    tile_set = tiles.TileSet(assets, load_manifest(assets)["tiles"], "night")
    plain = tiles.tile_numbers(kinds, np.full(kinds.shape, -1, np.int16)) // 4 * 4
    pictures = dict(tile_set.pictures(np.unique(plain).tolist(), 16))
    dark = np.concatenate([np.concatenate([pictures[number] for number in row], axis=1) for row in plain.tolist()])
    return (paved(tile_set, kinds) - dark).sum(axis=2)


@pytest.mark.quick
def test_lamps_hang_at_equal_distances_along_walls_beside_paved_ways_and_in_trees_there():
    walls = np.zeros((6, 30), bool)
    walls[2, 1:29], walls[4, :2] = True, True
    trees = np.zeros_like(walls)
    trees[5, [10, 29]] = True
    paving = np.zeros_like(walls)
    paving[3, :20] = True
    found = tiles.lamps(walls, trees, paving)
    assert np.flatnonzero(found[2]).tolist() == [4, 10, 16], "the part of 19 tiles from 1 to 19; two tiles are too few"
    assert np.argwhere(found[3:]).tolist() == [[2, 10]], "the other tree is far from what is paved"


@pytest.mark.quick
def test_lamplight_is_brightest_at_lamps_fades_without_steps_and_leaves_tops_of_walls_dark(assets):
    kinds = np.full((12, 16), tiles.FLOOR, np.uint8)
    kinds[4:6, 6:9] = tiles.WALL  # a lamp above, and one below
    manifest = load_manifest(assets)["tiles"]
    numbers = tiles.TileSet(assets, manifest, "night").numbers(kinds, np.full(kinds.shape, -1, np.int16))
    assert len(np.unique(numbers)) > 30
    light = tiles.lamp_light(tiles.lamps(kinds == tiles.WALL, kinds > 9, kinds == tiles.FLOOR))
    found = tiles.Looks(256, 4)
    numbered = found.numbers(np.zeros(kinds.shape, np.int16), (light,))
    levels = [[found.levels([number], 0).spread(16)[0] for number in row] for row in numbered.tolist()]
    field = np.concatenate([np.concatenate(row, axis=1) for row in levels])
    assert np.abs(np.diff(field, axis=0)).max() < 0.05 and np.abs(np.diff(field, axis=1)).max() < 0.05
    assert field[4 * 16 + 8, 7 * 16 + 8] > 0.95 and field[0, 0] == 0 == field[-1, -1]
    more = lit(assets, kinds)
    assert more[7 * 16, 7 * 16 + 8] > 20, "the ground"
    assert abs(more[4 * 16:5 * 16, 6 * 16:7 * 16]).max() < 1, "and not the wall's top"


@pytest.mark.quick
def test_walls_in_a_meadow_are_woods_whose_trees_shade_no_other_tile(assets):
    kinds = np.full((5, 5), tiles.GRASS, np.uint8)
    kinds[2, 2] = tiles.WALL
    none = np.full(kinds.shape, -1, np.int16)
    assert (tiles.tile_numbers(kinds, none) // tiles.VARIANTS % tiles.SHADES).any()
    assert not (tiles.tile_numbers(kinds, none, trees_shade=False) // tiles.VARIANTS % tiles.SHADES).any()
    tile_set = tiles.TileSet(assets, load_manifest(assets)["tiles"], "meadow")
    number = int(tile_set.numbers(kinds, none)[2, 2])
    assert np.array_equal(dict(tile_set.pictures([number], 64))[number], tile_set._part("tree", number % tiles.VARIANTS))
    by_stones = tiles.TileSet(assets, load_manifest(assets)["tiles"], "stone")
    assert not np.array_equal(tile_set._part("tree", 0), by_stones._part("tree", 0))
