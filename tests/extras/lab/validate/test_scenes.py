"""Scenes as people's places and as maps of tiles, and how people walk them."""

import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from versus import no_compiling

from crowd_demo.config.maps import MARKS, parse_octile
from crowd_demo.extras.lab.validate import EXPERIMENTS
from crowd_demo.extras.lab.validate.rooms import FLOWS, TILES, most
from crowd_demo.extras.lab.validate.scenes import (
    FROM_WALLS,
    OWN,
    STUCK_S,
    WALKS,
    Exit,
    SceneMap,
    SceneWalker,
    WalkGroup,
    WalkScene,
    jupedsim_walkers,
    left_of,
    placed,
    right_of,
    ring,
)
from crowd_demo.extras.lab.validate.validation import ANTICIPATE, MODELS, PUSH, Reading, Validation, WalkedScene
from crowd_demo.extras.trajectories import Rectangle, Trajectories, TrajectoryRecorder, speeds
from crowd_demo.measure.experiment import result_of

quick = pytest.mark.quick

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
def test_scenes_have_whole_tiles_and_everybody_begins_on_the_floor_with_any_seed(name: str, short: bool) -> None:
    for scene in EXPERIMENTS[name].scenes(short).values():
        for area in scene.floor:
            assert all(math.isclose(side / scene.tile, round(side / scene.tile), abs_tol=1e-6) for side in area)
        assert all(area.width > 0 and area.height > 0 for area in (*scene.floor, *(each.area for each in scene.exits)))
        text = SceneMap(scene).text()
        assert all(mark in text.split("map\n")[1] for mark in MARKS[:len(scene.exits)])
        beginnings = [placed(scene, seed) for seed in (1, 2, 3)]
        for people in beginnings:
            inside = np.any([part.holds(people.x, people.y) for part in scene.floor], axis=0)
            assert len(inside) == scene.people and inside.all() and (people.speed > 0.3).all()
            assert not any(each.area.holds(people.x, people.y).any() for each in scene.exits)
        drawn = scene.people > sum(len(group.places or ()) for group in scene.groups)
        assert np.array_equal(beginnings[0].x, beginnings[1].x) == (not drawn)


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


# --- experiments that were added -------------------------------------------------------------------------------------

FPS = 10


def walk_of(name: str, key: float, velocity: dict[int, tuple[float, float]], seconds: float,
           until: float = math.inf) -> WalkedScene:
    """Everybody of a scene walks as their group does, m/s, through everything, and stands still after `until` seconds."""
    scene = EXPERIMENTS[name].scene(key, False)
    people, recorder = placed(scene), TrajectoryRecorder(FPS)
    vx, vy = np.array([velocity[group] for group in people.group]).T
    for frame in range(round(seconds * FPS) + 1):
        time = min(frame / FPS, until)
        recorder.add(np.arange(len(vx)), people.x + vx * time, people.y + vy * time)
    return WalkedScene(scene, recorder.trajectories())


def read(name: str, runs: dict[float, WalkedScene]) -> dict[str, Reading]:
    return {reading.what: reading for reading in EXPERIMENTS[name].read(runs, OWN)}


@quick
def test_wide_openings_may_have_what_the_experiment_had() -> None:
    assert [most(width) for width in (1, 2, 2.4, 5)] == [2.0, 2.0, 2.8, 2.8]
    assert all(1.2 < flow / width < most(width) + 0.005 for width, flow in FLOWS.items())
    assert TILES.keys() == FLOWS.keys() and min(TILES.values()) * 0.45 * 26 > 5.8  # bodies of 6 units, or nearly


@quick
def test_the_flow_through_a_wide_opening_is_that_of_its_middle_sixty_percent() -> None:
    """All walk straight on at 1 m/s, so the flow per metre equals the density. Walls are ignored: people beside the opening
    pass the line, too."""
    runs = {width: walk_of("hermes", width, {0: (1.0, 0.0)}, 14) for width in (2.4, 5.0)}
    found = read("hermes", runs)
    density = 350 / (11 * 12)
    for width in (2.4, 5):
        assert found[f"flow per metre, {width:g} m wide"].value == pytest.approx(density, rel=0.15)
        assert (found[f"flow per metre, {width:g} m wide"].low, found[f"flow per metre, {width:g} m wide"].high) == (1.2, 2.8)
    assert found["flow, 5 m over 2.4 m"].value == pytest.approx(5 / 2.4, rel=0.2)


@quick
def test_single_file_reads_speeds_and_counts_who_overtakes() -> None:
    runs = {density: walk_of("rimea-16", density, {0: (0.5, 0.0)}, 40) for density in (1.0, 1.5)}
    found = read("rimea-16", runs)
    assert found["speed at 1 people/m"].value == pytest.approx(0.5) and found["speed at 1 people/m"].passes
    assert found["people who overtake"].value == 0
    run = runs[1.0]
    last = run.walked.id == np.argmin(placed(run.scene).x)  # walks twice as fast, and past everybody but its last lap
    quick = run.walked._replace(x=np.where(last, run.walked.x + 0.5 * run.walked.frame / FPS, run.walked.x))
    assert read("rimea-16", {1.0: WalkedScene(run.scene, quick)})["people who overtake"].value == 1


@quick
def test_people_of_four_streams_count_when_they_are_beyond_the_crossing() -> None:
    ways = {0: (1.0, 0.0), 1: (-1.0, 0.0), 2: (0.0, -1.0), 3: (0.0, 1.0)}
    across = "streams of 0.5/m²: people who get across"
    everybody = read("four-ways", {0.5: walk_of("four-ways", 0.5, ways, 40)})
    assert everybody[across].value == everybody[across].high == 4 * 28 and everybody[across].passes
    assert 0.7 < everybody["streams of 0.5/m²: speed over Weidmann's"].value < 2
    stopped = read("four-ways", {0.5: walk_of("four-ways", 0.5, ways, 40, until=4)})
    assert 0 <= stopped[across].value < 10 and not stopped[across].passes
    back = read("four-ways", {0.5: walk_of("four-ways", 0.5, {**ways, 3: (0.0, -1.0)}, 40)})
    assert back[across].value == 3 * 28


@quick
def test_a_crowd_against_another_takes_until_its_last_is_out_of_the_corridor() -> None:
    """They walk straight on, squeezed into the width of the corridor: 10 % slower takes 11 % longer."""
    speed = {0: 1.0, 50: 0.9, 100: 0.95}
    runs: dict[float, WalkedScene] = {others: walk_of("imo-8", others, {0: (v, 0.0), 1: (-v, 0.0)}, 40)
                                      for others, v in speed.items()}
    squeezed = {others: run._replace(walked=run.walked._replace(y=5 + (run.walked.y - 5) * 0.19))
                for others, run in runs.items()}
    found = read("imo-8", squeezed)
    assert [found[f"{others} against them: people who get through"].value for others in speed] == [100, 150, 200]
    slower, faster = (found[f"time until all are through, {pair}"] for pair in (
        "50 against them over 0", "100 against them over 50"))
    assert slower.value == pytest.approx(1 / 0.9, abs=0.02) and slower.passes
    assert faster.value == pytest.approx(0.9 / 0.95, abs=0.02) and not faster.passes
    stuck = read("imo-8", {0: squeezed[0], 50: runs[50]})  # in the wall beside the corridor
    assert not any(each.passes for what, each in stuck.items() if "50" in what)


@quick
def test_the_share_by_the_longer_way_is_of_those_who_get_through() -> None:
    few, many = (walk_of("rimea-14", people, {0: (1.0, 0.0)}, 30) for people in (10, 100))
    up = few._replace(walked=few.walked._replace(y=np.full(len(few.walked.y), 1.5)))
    ids = many.walked.id
    split = many._replace(walked=many.walked._replace(y=np.where(ids < 60, 1.5, np.where(ids < 80, 9.0, 5.0))))
    found = read("rimea-14", {10: up, 100: split})
    assert [reading.value for reading in found.values()] == [0, 0.25] and all(each.passes for each in found.values())
    assert [reading.passes for reading in read("rimea-14", {10: up, 100: up}).values()] == [True, False]


# --- juPedSim walks the same scenes ----------------------------------------------------------------------------------

with_jupedsim = pytest.mark.skipif(not find_spec("jupedsim"), reason="JuPedSim is installed by hand: pip install jupedsim")


@with_jupedsim
@pytest.mark.parametrize("name", ["rimea-1", "rimea-6"])
def test_a_corridor_and_a_corner_as_we_do(name: str) -> None:
    validation = Validation([EXPERIMENTS[name]], walkers := jupedsim_walkers(), True, no_compiling, None, seeds=2)
    result_of(validation.run())
    (result,) = validation.results
    assert result.errors == {} and set(result.readings) == {each.name for each in walkers} <= {each.name for each in WALKS}
    readings = [reading for found in result.readings.values() for reading in found]
    assert all(reading.passes and len(reading.values) == 1 for reading in readings)


@with_jupedsim
def test_it_says_what_it_cannot_walk() -> None:
    (scene, *_) = EXPERIMENTS["rimea-4"].scenes(True).values()
    assert jupedsim_walkers()[0].why_not(scene) == "JuPedSim has no corridor that is closed to a ring"


@with_jupedsim
def test_a_walk_ends_when_nobody_has_left_for_a_minute() -> None:
    """Two people of the collision-free speed model stand face to face for ever."""
    (scene,) = EXPERIMENTS["head-on"].scenes(True).values()
    walker = jupedsim_walkers()[0]
    assert result_of(walker.walk(scene._replace(seconds=300))).end_s == STUCK_S
    (alone,) = EXPERIMENTS["rimea-1"].scenes(True).values()
    assert 30 < result_of(walker.walk(alone)).end_s < 35
