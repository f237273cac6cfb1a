"""Scenes as people's places and as maps of tiles, and how people walk them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from crowd_demo.config.maps import parse_octile
from crowd_demo.extras.lab.validate.experiments import EXPERIMENTS
from crowd_demo.extras.lab.validate.validation import ANTICIPATE, MODELS, PUSH
from crowd_demo.extras.lab.validate.validation_experiment import (
    FROM_WALLS,
    Exit,
    SceneMap,
    WalkGroup,
    WalkScene,
    left_of,
    placed,
    right_of,
    ring,
)
from crowd_demo.extras.lab.validate.walkers import SceneWalker
from crowd_demo.measure.experiment import result_of
from crowd_demo.measure.trajectories import Rectangle, Trajectories, speeds

FLOOR = Rectangle(0, 0, 10, 2)


def walked(scene: WalkScene, walker: SceneWalker = ANTICIPATE) -> Trajectories:
    return result_of(walker.walk(scene))


@pytest.mark.quick
def test_goals_lie_straight_on_at_the_far_end_of_an_exit() -> None:
    assert right_of(FLOOR).goal(3, 1.2) == (15.5, 1.2)
    assert left_of(FLOOR).goal(3, 0.1) == (-5.5, 0.5)
    assert Exit(Rectangle(0, -6, 2, 0), (0, -1)).goal(9, 4) == (1.5, -5.5)


@pytest.mark.quick
@pytest.mark.parametrize("people", [1, 2, 7, 40, 90])
def test_people_begin_in_their_area_apart_from_each_other_and_from_walls(people: int) -> None:
    area = Rectangle(2, 1, 8, 4)
    found = placed(WalkScene((area,), (right_of(area),), (WalkGroup(people, area, 0),), 1))
    assert len(found.x) == people
    assert area.left + FROM_WALLS <= found.x.min() and found.x.max() <= area.right - FROM_WALLS
    assert area.top + FROM_WALLS <= found.y.min() and found.y.max() <= area.bottom - FROM_WALLS
    apart = np.hypot(found.x[:, None] - found.x, found.y[:, None] - found.y)[np.triu_indices(people, 1)]
    assert people == 1 or apart.min() > 0.25


@pytest.mark.quick
def test_a_scene_is_a_map_with_a_wall_around_and_exits_as_destinations() -> None:
    floor = Rectangle(0, 0, 1, 1)
    scene = WalkScene((floor,), (Exit(Rectangle(1, 0, 2, 1), (1, 0)),), (WalkGroup(1, floor, 0),), 1)
    text = SceneMap(scene).text()
    assert text.splitlines()[4:] == ["@@@@@@", "@..00@", "@..00@", "@@@@@@"]
    assert parse_octile(text.encode(), Path("scene.map")).marks.max() == 0


@pytest.mark.quick
@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("short", [True, False])
def test_the_scenes_of_all_experiments_have_whole_tiles_and_room(name: str, short: bool) -> None:
    for scene in EXPERIMENTS[name].scenes(short).values():
        for area in scene.floor:
            assert all(math.isclose(side / scene.tile, round(side / scene.tile), abs_tol=1e-6) for side in area)
        assert all(area.width > 0 and area.height > 0 for area in (*scene.floor, *(each.area for each in scene.exits)))
        assert len(placed(scene).x) == scene.people
        text = SceneMap(scene).text()
        assert all(str(number) in text.split("map\n")[1] for number in range(len(scene.exits)))


@pytest.mark.quick
@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("short", [True, False])
def test_everybody_begins_on_the_floor_and_on_no_exit_with_any_seed(name: str, short: bool) -> None:
    for scene in EXPERIMENTS[name].scenes(short).values():
        beginnings = [placed(scene, seed) for seed in (1, 2, 3)]
        for people in beginnings:
            inside = np.zeros(len(people.x), bool)
            for part in scene.floor:
                inside |= part.holds(people.x, people.y)
            assert inside.all() and (people.speed > 0.3).all()
            assert not any(each.area.holds(people.x, people.y).any() for each in scene.exits)
        drawn = scene.people > sum(len(group.places or ()) for group in scene.groups)
        assert np.array_equal(beginnings[0].x, beginnings[1].x) == (not drawn)


@pytest.mark.quick
def test_tiles_may_have_another_size() -> None:
    floor = Rectangle(0, 0, 2.4, 0.6)
    scene = WalkScene((floor,), (Exit(Rectangle(2.4, 0, 3.6, 0.6), (1, 0)),), (WalkGroup(1, floor, 0),), 1, tile=0.6)
    assert SceneMap(scene).text().splitlines()[4:] == ["@@@@@@@@", "@....00@", "@@@@@@@@"]
    assert np.allclose(SceneMap(scene).units(0, 0), 0.6 * 26)


def test_somebody_alone_walks_as_fast_as_wanted_and_is_taken_out_at_the_exit() -> None:
    scene = WalkScene((FLOOR,), (right_of(FLOOR),), (WalkGroup(1, FLOOR, 0, 1.5, ((1.0, 1.0),)),), 30)
    for model in MODELS:
        walk = walked(scene, model)
        assert walk.x[0] == 1 and 10 < walk.x[-1] < 10.2 and 6 < walk.end_s < 6.6
        assert np.allclose(walk.y, 1, atol=0.02)
        assert np.allclose(speeds(walk.between(2, 30), 5)[2], 1.5, atol=0.01)


def test_the_same_scene_is_walked_in_the_same_way_again_unless_the_seed_is_another() -> None:
    scene = ring(FLOOR, (WalkGroup(20, FLOOR, 0), WalkGroup(20, FLOOR, 1)), 3)
    one, same, other = walked(scene), walked(scene), result_of(ANTICIPATE.walk(scene, 2))
    assert np.array_equal(one.x, same.x) and np.array_equal(one.y, same.y)
    assert not np.array_equal(one.x, other.x)


def test_a_ring_has_no_seam() -> None:
    """Two people overlap across the seam, two others in the middle: they move apart alike."""
    def pair(x: float, other: float) -> Trajectories:
        walkers = (WalkGroup(1, FLOOR, 0, 1.0, ((x, 1.0),)), WalkGroup(1, FLOOR, 0, 1.0, ((other, 1.1),)))
        return walked(ring(FLOOR, walkers, 4), PUSH)

    seam, middle = pair(9.9, 0.1), pair(4.9, 5.1)
    apart = [np.diff(walk.y.reshape(-1, 2), axis=1).ravel() for walk in (seam, middle)]
    assert np.allclose(apart[0], apart[1], atol=0.01) and apart[0][-1] > 0.2
    along = [walk.x.reshape(-1, 2) for walk in (seam, middle)]
    assert np.allclose(along[0][-1] - along[0][0], along[1][-1] - along[1][0], atol=0.02)


def test_nobody_leaves_a_ring_and_ways_go_on_beyond_its_end() -> None:
    walk = walked(ring(FLOOR, (WalkGroup(3, FLOOR, 0, 1.5), WalkGroup(3, FLOOR, 1, 1.5)), 12))
    assert walk.end_s == 12 and np.bincount(walk.frame).tolist() == [6] * 121
    last = walk.chosen(walk.frame == 120).x - walk.chosen(walk.frame == 0).x
    assert (last[:3] > 12).all() and (last[3:] < -12).all()
