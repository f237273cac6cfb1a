import math
from itertools import combinations, pairwise

import numpy as np
import pygame
import pytest
from covering import covering_rows
from crowds import CROWDS, open_world, simulation
from eyes import EYES, distance, lab_of

from crowd_demo.compute.jit import device, run
from crowd_demo.config.resources import assets_folder
from crowd_demo.config.section import UNITS_A_METRE
from crowd_demo.registry.built_in import COLOURS
from crowd_demo.registry.entries import load
from crowd_demo.render.camera import Camera
from crowd_demo.render.colours import modes, squares
from crowd_demo.render.colours.base import ON_DARK, ON_LIGHT, ramp, scales_of
from crowd_demo.render.figures.sprites import load_manifest, load_surface
from crowd_demo.render.scene import Scene
from crowd_demo.sim.behaviours.people_rules import QUEUING, WAITING
from crowd_demo.sim.fundamental_diagram import SQUARE
from crowd_demo.sprites.pixels import frame_of, plain_surface

MODES = [name for name, entry in COLOURS.items() if entry.code]
SIZE = 220, 140
SWITCHES = covering_rows({"cull": ("off", "agents", "grid"), "depth": ("full", "bands"), "blitter": ("compiled", "pygame")})


@pytest.fixture(scope="module", params=list(CROWDS))
def sim(request):
    """A small crowd that has walked for a while."""
    found = simulation(**{**CROWDS[request.param], **open_world(600, 400)}, steps=40)
    found.prepare_picture()
    return found


def numbers(sim, name, workers=2):
    """The number of the colour of each slot."""
    slots, found = np.arange(sim.agents.count, dtype=np.int32), np.full(sim.agents.count, 255, np.uint8)
    mode = load(COLOURS[name].code)()
    sim.options.threads = workers
    for launch in mode.launches(sim, slots, found):
        launch.run()
    return mode, found


@pytest.mark.parametrize("name", MODES)
def test_every_agent_has_a_colour_whoever_computes_it_and_the_legend_explains_them(sim, name):
    mode, one = numbers(sim, name, 1)
    assert np.array_equal(one, numbers(sim, name, 3)[1]) or name == "worker"
    colours, legend = mode.colours(sim), mode.legend(sim)
    assert one.max() < len(colours) <= 256
    assert legend.title and all(legend.texts) and (len(legend.texts) == 2 if legend.is_ramp else True)
    if not legend.is_ramp and name != "heading":
        assert {colours[number] for number in one.tolist()} <= set(legend.colours)


def kind_of(sim):
    return {"crowd": "people", "hunt": "hunters"}.get(sim.config.behaviour, "others")


def expected_of(sim, name):
    """The number of each slot's colour, the obvious way; None where a test of its own says it."""
    c, count = sim.agents.columns, sim.agents.count
    match name:
        case "state":
            column = {"people": "state", "hunters": "kind"}.get(kind_of(sim))
            return getattr(c, column)[:count] if column else np.zeros(count)
        case "patience":
            if kind_of(sim) != "people":
                return np.zeros(count)
            share = c.timer[:count] / sim.config.crowd.stuck_s
            return np.where(np.isin(c.state[:count], (WAITING, QUEUING)), 0, np.minimum(share * 256, 255)).astype(int)
        case "memory":
            return [slot * 256 // count for slot in range(count)]
        case "age":
            return [sim.tick - 1 - (at // 16 - at % 16 - 1) for at in c.next_update[:count].tolist()]
        case "due":
            return [at // 16 - sim.tick for at in c.next_update[:count].tolist()]
        case "cell":
            cell = sim.grid.cell
            return [(math.floor(x / cell) + math.floor(y / cell)) % 2
                    for x, y in zip(c.x[:count].tolist(), c.y[:count].tolist(), strict=True)]
        case "worker":
            registers, shares = -(-count // 16), modes.movers(sim)
            return [next(w for w in range(shares) if slot // 16 < registers * (w + 1) // shares) for slot in range(count)]
    return None


@pytest.mark.parametrize("name", ["state", "memory", "age", "due", "cell", "worker"])
def test_colours_tell_what_they_should(sim, name):
    _, found = numbers(sim, name)
    assert found.tolist() == list(expected_of(sim, name))


def test_ages_and_turns_lie_within_the_period(sim):
    period = sim.optimizations.stagger.avoidance
    ages, turns = numbers(sim, "age")[1].astype(int), numbers(sim, "due")[1].astype(int)
    assert set(ages.tolist()) <= set(range(period)) and set(turns.tolist()) <= set(range(period))
    assert len(set(ages.tolist())) > 1


@device
def shade_of(vx, vy):
    return modes.shade_of(vx, vy)


def test_headings_go_round_the_wheel():
    turns = [shade_of(np.float32(x), np.float32(y)) for x, y in ((0, -1), (1, 0), (0, 1), (-1, 0), (0, 0))]
    assert turns == [0, 32, 64, 96, 32]
    colours = modes.around(ON_DARK.wheel)
    assert [colours[turn] for turn in turns[:4]] == list(ON_DARK.wheel) and len(colours) == modes.TURN


def test_speeds_rise_along_the_ramp(sim):
    speed = np.hypot(sim.agents.columns.vx, sim.agents.columns.vy)[:sim.agents.count]
    found = numbers(sim, "speed")[1]
    assert np.abs(found - np.minimum(speed / modes.fastest(sim) * 256, 255)).max() <= 1
    assert found.max() > found.min() or sim.config.behaviour == "playback"  # who has no file stands


def test_density_counts_the_agents_of_nine_squares(sim):
    _, found = numbers(sim, "density")
    side, c, count = squares.side_of(sim), sim.agents.columns, sim.agents.count
    inv_side = np.float32(1 / side)
    places = np.stack([(place[:count] * inv_side).astype(int) for place in (c.x, c.y)], axis=1)
    walls = sim.terrain.walls
    limits = [math.ceil(float(length) / side) - 1 for length in (walls.width, walls.height)]
    places = np.minimum(places, limits)
    around = [int((np.abs(places - place).max(axis=1) <= 1).sum()) for place in places]
    people = sim.config.behaviour == "crowd"
    shades = squares.levels_of_service(side) if people else squares.ramp_shades(squares.mean_of(sim))
    assert found.tolist() == [int(shades[min(number, len(shades) - 1)]) for number in around]


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("name", ["density", "flow"])
def test_sums_of_squares_are_the_same_whatever_part_of_the_crowd_is_drawn(sim, name, workers):
    """One mode draws part after part, so counts of the part before may not show."""
    mode, all_of_it = numbers(sim, name)
    sim.options.threads, c = workers, sim.agents.columns
    order, count = np.lexsort((c.y[:sim.agents.count], c.x[:sim.agents.count])).astype(np.int32), sim.agents.count
    for part in (order[:1], order[-1:], order[count // 3:count // 3 + count // 5], order[:0], order[::7].copy(), order):
        found = np.full(len(part), 255, np.uint8)
        run(mode.launches(sim, part, found))
        assert np.array_equal(found, all_of_it[part])


@pytest.mark.quick
def test_levels_of_service_begin_where_fruin_says():
    area = 9 * (SQUARE / UNITS_A_METRE) ** 2
    shades = squares.levels_of_service(SQUARE)
    for number, per_metre in enumerate((0.1, 0.35, 0.6, 0.9, 1.5, 3.0)):
        assert shades[round(per_metre * area)] == number
    assert squares.DensityColours.NAMES[1:] == ("B 0.31", "C 0.43", "D 0.72", "E 1.1", "F 2.2")
    assert len(squares.DensityColours.NAMES) == len(ON_DARK.levels) == len(squares.SERVICE) + 1


@pytest.mark.parametrize("around", [3, 30])
def test_people_in_a_square_of_the_ground_have_the_level_that_their_density_has(around):
    """So many people around somebody, in 96 x 96 units, which are 13.6 square metres; and somebody alone."""
    sim = simulation(**{**CROWDS["crowd"], **open_world(600, 400), "agents": around + 1})
    c, side = sim.agents.columns, np.arange(around)
    c.x[:around], c.y[:around] = 201 + side % 3 * 40, (145 if around == 3 else 105) + side // 3 * 8  # in nine squares
    c.x[around], c.y[around] = 500, 300
    run(sim.reindexing())
    sim.prepare_picture()
    middle = np.flatnonzero((abs(c.x[:around + 1] - 240) < 20) & (abs(c.y[:around + 1] - 144) < 16))
    found, per_metre = numbers(sim, "density")[1], around / (96 / 26) ** 2
    level = sum(per_metre >= least for least in (0.308, 0.431, 0.718, 1.076, 2.174))
    assert len(middle) and (found[middle] == level).all() and found[around] == 0
    assert level == (0 if around == 3 else 5)


@pytest.mark.quick
@pytest.mark.parametrize("colours", [ON_DARK.rising, ON_DARK.rainbow, ON_DARK.levels])
def test_every_colour_of_a_scale_is_seen_on_sky_and_at_night(colours):
    for ground in ((46, 58, 106), (38, 39, 49)):
        assert np.abs(np.array(ramp(tuple(colours))) - np.array(ground)).max(axis=1).min() > 90


@pytest.mark.quick
def test_a_scale_goes_by_the_ground():
    by_ground = {ground: scales_of(simulation("20k", agents=10, **{"scene.ground": ground}))
                 for ground in ("stone", "grass", "floor", "sky", "dusk", "night", "water")}
    assert [ground for ground, scales in by_ground.items() if scales is ON_DARK] == ["sky", "dusk", "night", "water"]


def picture(scene, zoom, **options):
    for path, value in options.items():
        scene.sim.optimizations.set(path, value)
    scene.sim.prepare_picture()
    camera = Camera((600.0, 400.0), SIZE)
    camera.look_at(300, 200, zoom)
    surface = plain_surface(SIZE)
    scene.draw(surface, camera, None, 0.5)
    return frame_of(surface) & 0xFFFFFF


@pytest.mark.parametrize("name", MODES)
def test_a_mode_gives_one_picture_whatever_the_switches_and_changes_nothing(sim, name):
    scene = Scene(sim, sim.config, assets_folder())
    scene.show_colours("looks")
    looks = {zoom: picture(scene, zoom) for zoom in (0.12, 1.0)}
    before = sim.state_hash()
    scene.show_colours(name)
    for zoom in (0.12, 1.0):
        pictures = [picture(scene, zoom, **switches) for switches in SWITCHES]
        assert all(np.array_equal(pictures[0], other) for other in pictures)
        assert not np.array_equal(pictures[0], looks[zoom])
    assert sim.state_hash() == before
    scene.show_colours("looks")
    assert np.array_equal(picture(scene, 0.12), looks[0.12])


def test_leaders_are_told_from_followers_and_tension_is_the_mean_stretch_of_links():
    sim = simulation("column", agents=400, steps=20)
    sim.prepare_picture()
    mode, found = numbers(sim, "state")
    leads = sim.agents.view.id[:400] % 20 == 0
    assert np.array_equal(found == 0, leads) and mode.legend(sim).texts == ("leader", "follower")
    x, y, rest = sim.agents.view.x, sim.agents.view.y, sim.config.links.rest
    stretched: list[list[float]] = [[] for _ in range(400)]
    for a, b in zip(*(slots.tolist() for slots in sim.links.pairs), strict=True):
        for slot in (a, b):
            stretched[slot].append(math.hypot(x[a] - x[b], y[a] - y[b]) / rest - 1)
    expected = [min(max(sum(each) / len(each), 0) / modes.FULL_STRETCH * 256, 255) for each in stretched]
    assert np.abs(numbers(sim, "tension")[1] - np.array(expected)).max() <= 1
    assert len(set(numbers(sim, "tension")[1].tolist())) > 3


# --- Contrast of colours with the ground -----------------------------------------------------------------------------

CONTRASTED = "state", "heading", "speed", "density", "flow", "memory", "age", "cell"
LEAST = {"stone": 25, "floor": 25, "grass": 14}  # distance to a ground at its mean colour, for the eye that sees least
GROUND_SIZE = 480, 320


def ground_colour(kind):
    about = load_manifest(assets_folder())["tiles"]
    side, row = about["cell"], about["kinds"].index(kind)
    pixels = pygame.surfarray.array3d(load_surface(assets_folder() / about["file"]))
    return pixels[:, row * side:(row + 1) * side].mean(axis=(0, 1))


@pytest.mark.quick
@pytest.mark.parametrize("kind", LEAST)
def test_no_shade_of_a_scale_for_light_grounds_is_like_the_ground(kind):
    ground = ground_colour(kind)
    shades = {"rising": ramp(ON_LIGHT.rising, 64), "rainbow": ramp(ON_LIGHT.rainbow, 64), "levels": ON_LIGHT.levels,
              "wheel": ramp((*ON_LIGHT.wheel, ON_LIGHT.wheel[0]), 64), "categories": ON_LIGHT.categories}
    for name, colours in shades.items():
        nearest = min(colours, key=lambda colour: distance(colour, ground))
        assert distance(nearest, ground) > LEAST[kind], (name, nearest)


@pytest.mark.quick
def test_colours_of_a_scale_are_told_apart_by_everybody():
    assert distance(ON_LIGHT.rising[0], ON_LIGHT.rising[-1]) > 100
    assert min(distance(one, other) for one, other in pairwise(ON_LIGHT.rising)) > 25
    for colours in (ON_LIGHT.wheel, ON_LIGHT.levels, ON_LIGHT.categories):
        assert min(distance(one, other) for one, other in combinations(colours, 2)) > 22


@pytest.fixture(scope="module", params=["stone", "floor"])
def lit_scene(request):
    sim = simulation(**{**CROWDS["crowd"], **open_world(600, 400), "agents": 300, "scene.ground": request.param}, steps=60)
    return Scene(sim, sim.config, assets_folder())


def drawn(lit_scene, zoom):
    """The picture, and the ground alone: uint8[width, height, 3]."""
    surface, camera, ground = plain_surface(GROUND_SIZE), Camera((600.0, 400.0), GROUND_SIZE), []
    camera.look_at(300, 200, zoom)
    lit_scene.sim.prepare_picture()
    lit_scene.draw(surface, camera, on_ground=lambda under: ground.append(pygame.surfarray.array3d(under).copy()))
    return pygame.surfarray.array3d(surface), ground[0]


@pytest.mark.parametrize("name", CONTRASTED)
@pytest.mark.parametrize(("zoom", "least"), [(2.0, 36), (1.0, 36), (0.4, 26), (0.15, 12)])
def test_people_stand_out_from_the_ground_in_each_mode_at_each_zoom(lit_scene, name, zoom, least):
    """By the mean distance in Lab of all pixels that people change, for the eye that sees least."""
    lit_scene.show_colours(name)
    picture, ground = drawn(lit_scene, zoom)
    changed = np.abs(picture.astype(int) - ground).max(axis=2) > 8
    assert changed.mean() > 0.015
    apart = [np.linalg.norm(lab_of(picture[changed], eye) - lab_of(ground[changed], eye), axis=-1).mean()
             for eye in EYES.values()]
    assert min(apart) > least, apart


@pytest.mark.parametrize("name", CONTRASTED)
def test_people_have_just_the_colours_of_the_legend(lit_scene, name):
    lit_scene.show_colours(name)
    picture, ground = drawn(lit_scene, 2.0)
    changed = picture[np.abs(picture.astype(int) - ground).max(axis=2) > 8]
    legend, mode = lit_scene.legend(), lit_scene._mode
    known = set(map(tuple, mode.colours(lit_scene.sim)))
    if not legend.is_ramp and name != "heading":
        assert known >= set(legend.colours)
    words = changed.astype(int) @ [1 << 16, 1 << 8, 1]
    is_known = np.isin(words, [red << 16 | green << 8 | blue for red, green, blue in known])
    found, counts = np.unique(words, return_counts=True)
    assert is_known.mean() > 0.05 and is_known[words == found[counts.argmax()]].all()  # the commonest colour is one of them
