"""What the added experiments read from walks that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from crowd_demo.extras.lab.validate.experiments import EXPERIMENTS
from crowd_demo.extras.lab.validate.experiments.doors import FLOWS, TILES, most
from crowd_demo.extras.lab.validate.experiments.streams import expected_speed
from crowd_demo.extras.lab.validate.validation_experiment import OWN, Reading, WalkedScene, placed
from crowd_demo.measure.trajectories import TrajectoryRecorder

pytestmark = pytest.mark.quick
FPS = 10


def walked(name: str, key: float, velocity: dict[int, tuple[float, float]], seconds: float,
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


def test_wide_openings_may_have_what_the_experiment_had() -> None:
    assert [most(width) for width in (1, 2, 2.4, 5)] == [2.0, 2.0, 2.8, 2.8]
    assert all(1.2 < flow / width < most(width) + 0.005 for width, flow in FLOWS.items())
    assert TILES.keys() == FLOWS.keys() and min(TILES.values()) * 0.45 * 26 > 5.8  # bodies of 6 units, or nearly


def test_the_flow_through_a_wide_opening_is_that_of_its_middle_sixty_percent() -> None:
    """All walk straight on at 1 m/s, so the flow per metre equals the density. Walls are ignored: people beside the opening
    pass the line, too."""
    runs = {width: walked("hermes", width, {0: (1.0, 0.0)}, 14) for width in (2.4, 5.0)}
    found = read("hermes", runs)
    density = 350 / (11 * 12)
    for width in (2.4, 5):
        assert found[f"flow per metre, {width:g} m wide"].value == pytest.approx(density, rel=0.15)
        assert (found[f"flow per metre, {width:g} m wide"].low, found[f"flow per metre, {width:g} m wide"].high) == (1.2, 2.8)
    assert found["flow, 5 m over 2.4 m"].value == pytest.approx(5 / 2.4, rel=0.2)


def test_people_in_single_file_need_room_in_proportion_to_their_speed() -> None:
    """A metre and 42 cm for each at 1 m/s; 36 cm standing."""
    assert expected_speed(1 / 1.42) == pytest.approx(1) and expected_speed(1 / 0.36) == 0 == expected_speed(4)
    assert expected_speed(0.1) == 1.24


def test_single_file_reads_speeds_and_counts_who_overtakes() -> None:
    runs = {density: walked("rimea-16", density, {0: (0.5, 0.0)}, 40) for density in (1.0, 1.5)}
    found = read("rimea-16", runs)
    assert found["speed at 1 people/m"].value == pytest.approx(0.5) and found["speed at 1 people/m"].passes
    assert found["people who overtake somebody"].value == 0
    run = runs[1.0]
    last = run.walked.id == np.argmin(placed(run.scene).x)  # walks twice as fast, and past everybody but its last lap
    quick = run.walked._replace(x=np.where(last, run.walked.x + 0.5 * run.walked.frame / FPS, run.walked.x))
    assert read("rimea-16", {1.0: WalkedScene(run.scene, quick)})["people who overtake somebody"].value == 1


def test_streams_of_both_ways_have_the_speed_along_their_own_way() -> None:
    found = read("both-ways", {1.0: walked("both-ways", 1.0, {0: (1.0, 0.3), 1: (-1.0, 0.3)}, 30)})
    assert found["speed at 1 people/m²"].value == pytest.approx(1) and found["speed at 1 people/m²"].passes


def test_people_of_four_streams_count_when_they_are_beyond_the_crossing() -> None:
    ways = {0: (1.0, 0.0), 1: (-1.0, 0.0), 2: (0.0, -1.0), 3: (0.0, 1.0)}
    across = "streams of 0.5/m²: people who get across"
    everybody = read("four-ways", {0.5: walked("four-ways", 0.5, ways, 40)})
    assert everybody[across].value == everybody[across].high == 4 * 28 and everybody[across].passes
    assert 0.7 < everybody["streams of 0.5/m²: speed over Weidmann's"].value < 2
    stopped = read("four-ways", {0.5: walked("four-ways", 0.5, ways, 40, until=4)})
    assert 0 <= stopped[across].value < 10 and not stopped[across].passes
    back = read("four-ways", {0.5: walked("four-ways", 0.5, {**ways, 3: (0.0, -1.0)}, 40)})
    assert back[across].value == 3 * 28


def test_a_crowd_against_another_takes_until_its_last_is_out_of_the_corridor() -> None:
    """They walk straight on, squeezed into the width of the corridor: 10 % slower takes 11 % longer."""
    speed = {0: 1.0, 50: 0.9, 100: 0.95}
    runs: dict[float, WalkedScene] = {others: walked("imo-8", others, {0: (v, 0.0), 1: (-v, 0.0)}, 40)
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


def test_the_share_by_the_longer_way_is_of_those_who_get_through() -> None:
    few, many = (walked("rimea-14", people, {0: (1.0, 0.0)}, 30) for people in (10, 100))
    up = few._replace(walked=few.walked._replace(y=np.full(len(few.walked.y), 1.5)))
    ids = many.walked.id
    split = many._replace(walked=many.walked._replace(y=np.where(ids < 60, 1.5, np.where(ids < 80, 9.0, 5.0))))
    found = read("rimea-14", {10: up, 100: split})
    assert [reading.value for reading in found.values()] == [0, 0.25] and all(each.passes for each in found.values())
    alone = read("rimea-14", {10: up, 100: up})
    assert [reading.passes for reading in alone.values()] == [True, False]
