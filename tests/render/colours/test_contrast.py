"""Colours of modes stand out from the ground, their ends from each other, and legends show just what is drawn."""

from itertools import combinations, pairwise

import numpy as np
import pygame
import pytest
from crowds import CROWDS, open_world, simulation
from eyes import EYES, distance, lab_of

from crowd_demo.config.resources import assets_folder
from crowd_demo.render.camera import Camera
from crowd_demo.render.colours.base import ON_LIGHT, ColourScales, ramp
from crowd_demo.render.figures.sprites import load_manifest, load_surface
from crowd_demo.render.scene import Scene
from crowd_demo.sprites.pixels import plain_surface

MODES = "state", "heading", "speed", "density", "flow", "memory", "age", "cell"
LEAST = {"stone": 25, "floor": 25, "grass": 14}  # distance to a ground at its mean colour, for the eye that sees least
SIZE = 480, 320


def ground_colour(kind):
    about = load_manifest(assets_folder())["tiles"]
    side, row = about["cell"], about["kinds"].index(kind)
    pixels = pygame.surfarray.array3d(load_surface(assets_folder() / about["file"]))
    return pixels[:, row * side:(row + 1) * side].mean(axis=(0, 1))


def shades(scales: ColourScales):
    return {"rising": ramp(scales.rising, 64), "rainbow": ramp(scales.rainbow, 64), "levels": scales.levels,
            "wheel": ramp((*scales.wheel, scales.wheel[0]), 64), "categories": scales.categories}


@pytest.mark.quick
@pytest.mark.parametrize("kind", LEAST)
def test_no_shade_of_a_scale_for_light_grounds_is_like_the_ground(kind):
    ground = ground_colour(kind)
    for name, colours in shades(ON_LIGHT).items():
        nearest = min(colours, key=lambda colour: distance(colour, ground))
        assert distance(nearest, ground) > LEAST[kind], (name, nearest)


@pytest.mark.quick
def test_colours_of_a_scale_are_told_apart_by_everybody():
    assert distance(ON_LIGHT.rising[0], ON_LIGHT.rising[-1]) > 100
    assert min(distance(one, other) for one, other in pairwise(ON_LIGHT.rising)) > 25
    for colours in (ON_LIGHT.wheel, ON_LIGHT.levels, ON_LIGHT.categories):
        assert min(distance(one, other) for one, other in combinations(colours, 2)) > 22


@pytest.fixture(scope="module", params=["stone", "floor"])
def scene(request):
    sim = simulation(**{**CROWDS["crowd"], **open_world(600, 400), "agents": 300, "scene.ground": request.param}, steps=60)
    return Scene(sim, sim.config, assets_folder())


def drawn(scene, zoom):
    """The picture, and the ground alone: uint8[width, height, 3]."""
    surface, camera, ground = plain_surface(SIZE), Camera((600.0, 400.0), SIZE), []
    camera.look_at(300, 200, zoom)
    scene.sim.prepare_picture()
    scene.draw(surface, camera, on_ground=lambda under: ground.append(pygame.surfarray.array3d(under).copy()))
    return pygame.surfarray.array3d(surface), ground[0]


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize(("zoom", "least"), [(2.0, 36), (1.0, 36), (0.4, 26), (0.15, 12)])
def test_people_stand_out_from_the_ground_in_each_mode_at_each_zoom(scene, name, zoom, least):
    """By the mean distance in Lab of all pixels that people change, for the eye that sees least."""
    scene.show_colours(name)
    picture, ground = drawn(scene, zoom)
    changed = np.abs(picture.astype(int) - ground).max(axis=2) > 8
    assert changed.mean() > 0.015
    apart = [np.linalg.norm(lab_of(picture[changed], eye) - lab_of(ground[changed], eye), axis=-1).mean()
             for eye in EYES.values()]
    assert min(apart) > least, apart


@pytest.mark.parametrize("name", MODES)
def test_people_have_just_the_colours_of_the_legend(scene, name):
    scene.show_colours(name)
    picture, ground = drawn(scene, 2.0)
    changed = picture[np.abs(picture.astype(int) - ground).max(axis=2) > 8]
    legend, mode = scene.legend(), scene._mode
    known = set(map(tuple, mode.colours(scene.sim)))
    if not legend.is_ramp and name != "heading":
        assert known >= set(legend.colours)
    words = changed.astype(int) @ [1 << 16, 1 << 8, 1]
    is_known = np.isin(words, [red << 16 | green << 8 | blue for red, green, blue in known])
    found, counts = np.unique(words, return_counts=True)
    assert is_known.mean() > 0.05 and is_known[words == found[counts.argmax()]].all()  # the commonest colour is one of them
