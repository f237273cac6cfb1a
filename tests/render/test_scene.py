from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pygame
import pytest
import render_crowds as crowds
from crowds import simulation
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.compute.jit import compile_launches, is_compiled
from crowd_demo.profile import Profile
from crowd_demo.registry.built_in import BEHAVIOURS
from crowd_demo.render.camera import Camera
from crowd_demo.render.figures.sprited import Sprited
from crowd_demo.render.inks import BLACK, WHITE
from crowd_demo.render.scene import Scene
from crowd_demo.sprites.pixels import plain_surface

SIZE = 200, 150
COUNT = 200
CUT_OUT = {"crowd": 2.0, "flock": 34 / 14, "hunt": 34 / 14, "crates": 3.0,
           "playback": 2.0}  # zooms at which the sheet's own pixels are drawn
HALF_MAX = 30.0


class Ids:
    """As much of the handles of agents as figures read."""

    limit = 3 * (COUNT + 16)


class Simulation:
    """As much of a simulation as a scene reads."""

    def __init__(self, behaviour, count=COUNT, seed=0):
        agents = crowds.crowd(seed, count)
        rng = np.random.default_rng(seed)
        turn = rng.uniform(0, 6.28, count + 16)
        columns = dict(agents._asdict(), state=rng.integers(0, 3, count + 16).astype(np.int32),
                       timer=rng.uniform(0, 4, count + 16).astype(np.float32),
                       heading_x=np.cos(turn).astype(np.float32), heading_y=np.sin(turn).astype(np.float32),
                       half=(1 + 29 * rng.random(count + 16) ** 3).astype(np.float32))
        self.agents = SimpleNamespace(view=SimpleNamespace(**columns), count=count, handles=Ids())
        self.gpu_crowd = None
        self.grid, self.workers, self.ways = crowds.grid(agents, count), 2, None
        self.max_step, self.top_speed, self.on_gpu = crowds.MAX_STEP, 180.0, False
        kinds = rng.choice(5, (10, 13), p=[0.6, 0.2, 0.1, 0.05, 0.05]).astype(np.uint8)
        self.terrain = SimpleNamespace(kinds=kinds, marks=np.full((10, 13), -1, np.int16), version=0,
                                       walls=SimpleNamespace(tile=np.float32(32)))
        self.profile, self.tick, self.dt = Profile(), 77, 1 / 10
        self.optimizations = SimpleNamespace(cull="grid", depth="bands", blitter="compiled")
        self.links = SimpleNamespace(active=False)
        self.config = SimpleNamespace(behaviour=behaviour, scene=SimpleNamespace(ground="stone", colours="looks"),
                                      crowd=SimpleNamespace(wait_s=3.0, stuck_s=1.5),
                                      crates=SimpleNamespace(half_max=HALF_MAX), hunt=SimpleNamespace(predators=60))
        self.settings = self.config

    @property
    def light_workers(self):
        return max(self.workers - 1, 1)  # a number of its own


def scene_of(sim: Any, assets: Path) -> Any:
    """A scene of what is no real simulation."""
    return Scene(sim, sim.config, assets)


def camera(zoom, x=200.0, y=150.0):
    camera = Camera((crowds.WIDTH, crowds.HEIGHT), SIZE)
    camera.look_at(x, y, zoom)
    return camera


def picture(scene, camera, surface=None, alpha=0.5, frozen=None, **options):
    vars(scene.sim.optimizations).update(options)
    surface = surface or plain_surface(SIZE)
    scene.draw(surface, camera, frozen, alpha)
    return pygame.surfarray.array2d(surface).T & 0xFFFFFF


def channels(pixels):
    """Red, green and blue of a picture."""
    return (pixels[..., None] >> np.array([16, 8, 0], pixels.dtype) & 255).astype(float)


@pytest.fixture(scope="module", params=list(BEHAVIOURS))
def scene(request, assets):
    return scene_of(Simulation(request.param), assets)


def everything(scene, camera, blitters=("pygame", "compiled"), frozen=None):
    culls = ("off", "agents", "grid") if frozen is None else ("agents", "grid")
    for cull, depth, blitter, workers in product(culls, ("full", "bands"), blitters, (1, 2, 3)):
        scene.sim.workers = workers
        yield picture(scene, camera, cull=cull, depth=depth, blitter=blitter, frozen=frozen)


@pytest.mark.parametrize("zoom", [None, 0.15, 0.2, 0.35, 0.7, 1.3, 4.1])  # people fade to light at the second, birds then
def test_figures_give_one_picture_whatever_the_switches(scene, zoom):
    """Those that are cut out of the sheet as they are, and at any other size."""
    pictures = list(everything(scene, camera(zoom or CUT_OUT[scene.sim.config.behaviour])))
    assert all(np.array_equal(pictures[0], other) for other in pictures)
    assert zoom or len(np.unique(pictures[0])) > 100


@pytest.mark.parametrize("behaviour, size", [("crowd", 22.0), ("flock", 14.0), ("hunt", 14.0)])
def test_light_looks_like_sprites_from_afar(assets, behaviour, size, monkeypatch):
    """Where the two cross-fade, each part of the picture is about as bright and as colourful in both."""
    scene, taken = scene_of(Simulation(behaviour), assets), []
    for sharpness in (0, 256):
        monkeypatch.setattr(Sprited, "_sharpness", lambda *_, sharpness=sharpness: sharpness)
        pixels = picture(scene, camera(4.6 / size), depth="bands", blitter="compiled", cull="agents")
        taken.append(channels(pixels).reshape(5, 30, 5, 40, 3).mean(axis=(1, 3)))
    light, sprites = taken
    assert np.abs(light - sprites).max() < 10, "of 255"
    assert np.abs(light.mean() - sprites.mean()) < 2


def test_a_frozen_view_gives_one_picture_with_either_culling(scene):
    frozen = camera(4.0, 150, 100).view_rect()
    zoom = CUT_OUT[scene.sim.config.behaviour]
    pictures = list(everything(scene, camera(zoom), frozen=frozen))
    assert all(np.array_equal(pictures[0], other) for other in pictures)
    assert not np.array_equal(pictures[0], picture(scene, camera(zoom)))


@given(zoom=st.floats(0.05, 8), x=st.floats(0, 400), y=st.floats(0, 300), alpha=st.floats(0, 1))
def test_culling_never_shows_anywhere(scene, zoom, x, y, alpha):
    seen = camera(zoom, x, y)
    whole = picture(scene, seen, alpha=alpha, cull="off", depth="bands", blitter="compiled")
    visible = scene.sim.profile.counters["visible"]
    drawn = set()
    for cull in ("agents", "grid"):
        assert np.array_equal(whole, picture(scene, seen, alpha=alpha, cull=cull))
        counters = scene.sim.profile.counters
        assert counters["visible"] == visible <= counters["drawn"] <= counters["total"]
        drawn.add(counters["drawn"])
    assert len(drawn) == 1, "cells may not lose even an agent whose sprite barely misses the screen"


def test_a_scene_reads_a_grid_that_is_fresh_and_makes_none(scene, monkeypatch):
    monkeypatch.setattr(scene.sim.grid, "fresh", False)
    picture(scene, camera(1.0), cull="agents")
    with pytest.raises(AssertionError, match="prepare_picture"):
        picture(scene, camera(1.0), cull="grid")
    assert not scene.sim.grid.fresh


@pytest.mark.parametrize("behaviour", CUT_OUT)
@pytest.mark.parametrize("blitter", ["pygame", "compiled"])
def test_what_is_compiled_ahead_is_all_that_runs(assets, behaviour, blitter):
    sim = Simulation(behaviour)
    sim.optimizations.blitter = blitter
    scene = scene_of(sim, assets)
    launches = list(scene.launches(camera(1.0)))
    compile_launches(launches)
    before = {launch.name: len(launch.compiled.overloads) for launch in launches}
    for zoom in (0.1, 1.0, 8.0):
        picture(scene, camera(zoom))
    assert all(is_compiled(launch) for launch in launches)
    assert before == {launch.name: len(launch.compiled.overloads) for launch in launches}


# --- predators, from afar ------------------------------------------------------------------------------------------------

AFAR = (0.05, 0.15, 0.28, 0.5)  # light, light, between light and sprites, sprites


def hunt(assets, predators, count=COUNT, spread=1.0):
    """A scene of a hunt."""
    sim = Simulation("hunt", count)
    sim.config.hunt.predators = predators
    columns, place = sim.agents.view, crowds.crowd(0, count, spread)
    columns.x, columns.y, columns.id = place.x, place.y, np.roll(np.arange(count + 16), 5).astype(np.int32)
    sim.grid = crowds.grid(place, count)
    return scene_of(sim, assets)


def inked(pixels, ink):
    """Where the picture has about that colour."""
    return (np.abs(channels(pixels) - ink) < 40).all(axis=-1)


@pytest.mark.parametrize("zoom", AFAR)
def test_a_predator_is_seen_from_afar_whole_and_over_all_others(assets, zoom):
    """In the middle of all it looks as if it were alone."""
    pictures = []
    for count in (1, COUNT):
        scene = hunt(assets, 1, count, spread=0.05 / zoom)
        columns = scene.sim.agents.view
        columns.id = np.arange(count + 16, dtype=np.int32)
        columns.x[0], columns.y[0], columns.vx[:], columns.vy[:] = 200, 150, 30, 30
        pictures.append(picture(scene, camera(zoom), cull="agents", depth="bands", blitter="compiled"))
    outline = inked(pictures[0], WHITE)
    rows, columns = (slice(found.min(), found.max() + 1) for found in np.nonzero(outline))
    assert 9 <= columns.stop - columns.start <= 18, "pixels"
    assert outline.sum() > 20 and inked(pictures[0][rows, columns], BLACK).sum() > 10
    assert np.abs(channels(pictures[0]) - channels(pictures[1]))[outline].max() < 40


@pytest.mark.parametrize("zoom", AFAR)
def test_each_predator_is_outlined_and_nobody_else(assets, zoom):
    outlined = [inked(picture(hunt(assets, predators), camera(zoom)), WHITE).sum() for predators in (0, 1, 3)]
    assert 0 == outlined[0] < outlined[1] < outlined[2]


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("behaviour", CUT_OUT)
def test_tiny_crowds_are_drawn(assets, behaviour, count):
    sim = Simulation(behaviour, count)
    scene = scene_of(sim, assets)
    for cull, depth, blitter, zoom in product(("off", "agents", "grid"), ("off", "full", "bands"),
                                              ("pygame", "compiled"), (0.1, 1.0)):
        picture(scene, camera(zoom), cull=cull, depth=depth, blitter=blitter)
        assert sim.profile.counters["total"] == count


def test_stages_are_named_in_the_order_of_the_frame(scene):
    scene.sim.profile = Profile()
    picture(scene, camera(1.0))
    assert scene.sim.profile.stages == ("cull", "depth", "ground", "blit")


# --- roofs over exits --------------------------------------------------------------------------------------------------

def station_with(place: tuple[float, float], assets: Path, exits: int = 3) -> Any:
    """A picture of the station with everybody in one place, float[H, W, 3]; a tile has 26 units and 13 pixels."""
    sim = simulation("station", agents=20, crowd__exits=exits)
    columns: Any = sim.agents.view
    columns.x[:20], columns.y[:20] = place
    sim.prepare_picture()
    camera, surface = Camera((1508.0, 962.0), (754, 481)), plain_surface((754, 481))
    camera.look_at(754, 481, 0.5)
    Scene(sim, sim.config, assets).draw(surface, camera)
    return np.array(pygame.surfarray.array3d(surface)).swapaxes(0, 1)


@pytest.mark.parametrize("exits", [0, 3])
@pytest.mark.parametrize(("door", "other"), [((60, 580), (70, 690)), ((1450, 640), (1440, 585)), ((750, 930), (720, 940))])
def test_people_in_the_doors_of_a_station_are_under_its_roofs(assets, exits, door, other):
    under, elsewhere = (station_with(place, assets, exits) for place in (door, other))
    assert np.array_equal(under, elsewhere) == (exits == 3)


def test_roofs_are_over_exits_at_the_edge_of_the_map_alone(assets):
    sim = simulation("station", agents=20)
    roofs, ways = Scene(sim, sim.config, assets)._roofs, sim.ways
    assert ways
    found = list(roofs._found(sim.terrain, {0, 2, 3}))
    assert [(*cover[:4], cover.is_roof) for cover in found] == [
        (0, 19, 3, 21, False), (0, 21, 6, 28, True), (25, 31, 33, 37, True)], "the wall above the left door; 3 is a platform"
    assert all(cover.numbers.shape == (cover.lower - cover.upper, cover.right - cover.left) for cover in found)
    ways.set_exit(0, False)
    assert [cover.left for cover in roofs._found(sim.terrain, ways.exits) if cover.is_roof] == [52, 25]
