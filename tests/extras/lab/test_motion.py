"""What the lab measures of people, birds, flows and memory, on crowds made by hand."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from crowds import simulation
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.cli import main
from crowd_demo.config.section import UNITS_A_METRE
from crowd_demo.extras.lab import motion
from crowd_demo.extras.lab.claims.memory import (
    CANDIDATES,
    COMPONENTS,
    LAYOUTS,
    SHARES,
    STORAGES,
    layout,
    make_linear,
    make_sparse,
)
from crowd_demo.extras.lab.flocks import densest_share, flocks_of, nearest_of, order_of, splits_and_merges, strays_of
from crowd_demo.extras.lab.motion import FlowWatch, Gap, busiest, densest, filling, gaps_of, head_on
from crowd_demo.extras.walking import close_pairs, nearest
from crowd_demo.extras.walking import people as crowd_of
from crowd_demo.sim.behaviours.people_rules import WAITING, WALKING
from crowd_demo.sim.fundamental_diagram import CAPACITY, weidmann


@pytest.mark.quick
@given(people=st.integers(0, 60), side=st.sampled_from([5.0, 60.0, 300.0]), within=st.sampled_from([3.0, 12.0, 40.0]),
       seed=st.integers(0, 99))
def test_close_pairs_are_all_pairs_that_are_near(people: int, side: float, within: float, seed: int) -> None:
    x, y = np.random.default_rng(seed).uniform(0, side, (2, people)).astype(np.float32)
    distance = np.hypot(x[:, None].astype(float) - x, y[:, None].astype(float) - y)
    want = {(i, j) for i in range(people) for j in range(i) if distance[i, j] < within}
    ones, others, _ = close_pairs(x, y, within)
    pairs = [(max(i, j), min(i, j)) for i, j in zip(ones.tolist(), others.tolist(), strict=True)]
    assert set(pairs) == want and len(pairs) == len(want)
    least = np.where(np.eye(people, dtype=bool), np.inf, distance).min(axis=1, initial=within)
    assert np.allclose(nearest(x, y, within), least)


@pytest.mark.quick
def test_the_densest_square_and_the_densest_without_a_jam() -> None:
    x = np.array([1, 2, 3, 50, 51], np.float32)
    assert densest(x, np.ones(5, np.float32), np.array([0, 0, 1, 1, 0.2])) == (3, 2)


def people(**columns: Any) -> Any:
    return SimpleNamespace(**{name: np.array(values, np.float32) for name, values in columns.items()})


@pytest.mark.quick
def test_head_on_pairs_walk_against_each_other_and_are_near() -> None:
    crowd = people(x=[0, 3, 50, 52, 90, 93], y=[0] * 6, vx=[9, -9, 9, 9, 9, -9], vy=[0] * 6, state=[0, 0, 0, 0, 0, 1])
    assert head_on(crowd) == {(0, 1)}


def test_jammed_and_too_full_are_shares_of_those_who_walk() -> None:
    """On a square of 32 units in the middle of an open hall, so on 13.6 square metres; one of them waits."""
    sim = simulation("1k", agents=40, map="null", world__width=320, world__height=320)
    c: Any = sim.agents.columns
    c.x[:40], c.y[:40] = 160 + np.random.default_rng(3).uniform(0, 32, (2, 40))
    c.state[:], c.speed[:] = 0, 1.34 * UNITS_A_METRE
    c.state[5] = WAITING
    before = crowd_of(sim)
    c.x[:30] += 1.0 * UNITS_A_METRE  # into the next square, so still around those who stand
    found = filling(sim, before, seconds=1.0)
    density, flow = 40 / (96 / 26) ** 2, 30 / (96 / 26) ** 2
    assert 0.05 < weidmann(density) / 4 < 0.2 and flow > CAPACITY
    assert found == {"jammed": 10 / 39, "too_full": 1.0, "on_ground": pytest.approx(40 / (320 / 26) ** 2)}
    c.speed[0] += 1  # another one by now
    assert filling(sim, before, 2.0) == {**found, "jammed": 10 / 38, "too_full": 0.0}


def test_the_command_prints_and_writes_how_people_move(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    small = ("--config", "1k", "--agents", "60", "--set", "map=null", "--set", "world.width=300", "--set", "world.height=300")
    path = tmp_path / "motion.json"
    assert main(["lab", "motion", *small, "--steps", "20", "--report", str(path)]) == 0
    head, table = capsys.readouterr().out.split("\n\n")
    assert head == "1k: 60 people after 20 steps" and len(table.splitlines()) == 11
    figures = json.loads(path.read_text("utf-8"))["figures"]
    assert 0 < figures["pace"] <= 2 and 0 <= figures["watched"]["idle"] <= 1
    assert figures["on_ground"] == pytest.approx(60 / (300 / 26) ** 2) and figures["jammed"] <= 1 >= figures["too_full"]
    assert main(["lab", "motion", *small, "--steps", "0", "--at-once"]) == 0
    assert len(capsys.readouterr().out.split("\n\n")[1].splitlines()) == 7


@pytest.mark.quick
def test_only_people_are_measured(errors_of: Callable[..., list[str]]) -> None:
    assert errors_of("lab", "motion", "--config", "20k-flock") == [
        "lab motion: 20k-flock has no people, its behaviour is flock"]
    assert errors_of("lab", "motion", "--agents", "0") == ["lab motion: 20k has no agents"]


# --- what is measured of how birds keep together, on flocks made by hand and against every pair of a small one -------

SMALL = ("--config", "murmuration", "--agents", "301", "--set", "world.width=640", "--set", "world.height=640")


@pytest.mark.quick
@given(birds=st.integers(2, 60), most=st.integers(1, 9), seed=st.integers(0, 99))
def test_the_nearest_are_nearer_than_all_others(birds: int, most: int, seed: int) -> None:
    x, y = np.random.default_rng(seed).uniform(0, 100, (2, birds))
    near = nearest_of(x, y, np.arange(birds), most)
    for i in range(birds):
        distance = np.hypot(x - x[i], y - y[i])
        distance[i] = np.inf
        assert near[i].tolist() == np.argsort(distance)[:most].tolist()[:birds - 1]


@pytest.mark.quick
def test_order_is_one_for_birds_that_fly_alike_and_nothing_for_two_that_part() -> None:
    pair = np.array([[0, 1]])
    assert order_of(np.array([3.0, 9]), np.array([0.0, 0]), pair) == 1
    assert order_of(np.array([3.0, -9]), np.array([0.0, 0]), pair) == 0
    assert order_of(np.array([3.0, 0]), np.array([0.0, 0]), pair) == 0.5  # one of them stands


@pytest.mark.quick
def test_the_densest_twentieth_of_the_tiles() -> None:
    x, y = np.array([1.0, 2, 3, 11, 25]), np.full(5, 1.0)
    assert densest_share(x, y, 10, (1, 20)) == 3 / 5
    assert densest_share(x, y, 10, (1, 40)) == 4 / 5


@pytest.mark.quick
def test_a_sharp_edge_has_few_strays_and_a_cloud_that_thins_out_has_many() -> None:
    """Of a normal distribution an eighth is where it is less than a quarter as dense as for its median bird."""
    chance, everybody = np.random.default_rng(1), np.arange(2000)
    radius, turn = np.sqrt(chance.uniform(0, 1, 2000)), chance.uniform(0, 2 * np.pi, 2000)
    share = [strays_of(x, y, everybody, nearest_of(x, y, everybody))
             for x, y in ((radius * np.cos(turn), radius * np.sin(turn)), chance.normal(0, 1, (2, 2000)))]
    assert share[0] < 0.02 and share[1] == pytest.approx(1 / 8, abs=0.03)


@pytest.mark.quick
@given(birds=st.integers(1, 80), side=st.sampled_from([1.0, 6.0, 30.0]), seed=st.integers(0, 99))
def test_birds_in_squares_that_touch_are_one_flock(birds: int, side: float, seed: int) -> None:
    x, y = np.random.default_rng(seed).uniform(0, 100, (2, birds))
    column, row = (x / side).astype(int), (y / side).astype(int)
    touch = (abs(column[:, None] - column) <= 1) & (abs(row[:, None] - row) <= 1)
    for _ in range(birds):
        touch = touch @ touch
    flock = flocks_of(x, y, side)
    assert np.array_equal(flock[:, None] == flock, touch)


@pytest.mark.quick
def test_splits_and_merges_count_flocks_of_which_enough_birds_come() -> None:
    before, now = np.repeat([1, 2, 3], 100), np.repeat([7, 8, 9, 9], 75)
    assert splits_and_merges(before, now) == (2, 2)  # 1: 7, 8; 2: 8, 9; into 8: 1, 2; into 9: 2, 3
    now = np.where(np.arange(300) == 0, 8, before)
    assert splits_and_merges(before, now) == (0, 0)


def test_the_command_prints_and_writes_how_flocks_keep_together(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "flocks.json"
    assert main(["lab", "flocks", *SMALL, "--steps", "150", "--report", str(path)]) == 0
    head, table, changes = capsys.readouterr().out.split("\n\n")
    assert head == "murmuration: 301 agents over 150 steps" and len(table.splitlines()) == 6
    assert changes.startswith("flocks that came apart: ")
    written: dict[str, Any] = json.loads(path.read_text("utf-8"))
    assert [look["tick"] for look in written["looks"]] == [60, 120]
    assert all(0 < look["order"] <= 1 and 0.05 < look["densest"] <= 1 for look in written["looks"])


@pytest.mark.quick
@pytest.mark.parametrize("arguments, line", [
    (["--config", "20k"], "lab flocks: 20k has no birds, its behaviour is crowd"),
    (["--agents", "2"], "lab flocks: murmuration must have two birds that stay"),
    (["--config", "births-250k"], "lab flocks: births-250k must have two birds that stay"),
    (["--steps", "59"], "--steps: must be at least 60, a second, not 59"),
])
def test_a_mistake_is_one_line(arguments: list[str], line: str, errors_of: Callable[..., list[str]]) -> None:
    assert errors_of("lab", "flocks", *arguments) == [line]


@pytest.mark.slow
def test_a_murmuration_is_ordered_and_leaves_most_of_the_sky_empty() -> None:
    """The short form of what `crowd-demo lab flocks` shows over 10,000 steps (0.9, 35% in the densest twentieth)."""
    from crowd_demo import Simulation, load_config
    from crowd_demo.extras.lab.flocks import watch

    sim = Simulation(load_config("murmuration"))
    sim.step(600)
    looks, _, _ = watch(sim, 300)
    assert min(look["order"] for look in looks) >= 0.9 and min(look["densest"] for look in looks) >= 0.35


# --- storages are as large as their formulas say, the sparse set by its generations more -----------------------------

CASES = [(entities, component, used) for entities in (1000, 200_000) for component in COMPONENTS for used in SHARES]


@pytest.mark.quick
@pytest.mark.parametrize("case", CASES)
def test_arrays_are_as_large_as_the_formulas(case: tuple[int, int, float]) -> None:
    entities, _, used = case
    members, data = make_sparse(*case)
    assert sum(array.nbytes for array in make_linear(*case)) == STORAGES["linear"].formula(*case)
    assert len(members) == len(data) == round(entities * used)


@pytest.mark.quick
def test_the_published_table_but_for_its_error() -> None:
    linear, sparse = (storage.formula for storage in STORAGES.values())
    assert [sparse(1000, 8, 0.1), sparse(1000, 24, 0.5), sparse(1000, 128, 1.0)] == [8800, 20000, 136000]
    assert [linear(1000, 8, 1), linear(1000, 24, 1), linear(1000, 128, 1)] == [8125, 24125, 128125]


# --- columns and records add up the same -----------------------------------------------------------------------------

@pytest.mark.parametrize("scattered", [False, True])
def test_columns_and_records_give_the_same_sums(scattered: bool) -> None:
    launches = {name: layout(200, scattered, kind, workers=2) for name, kind in LAYOUTS.items()}
    for launch in launches.values():
        launch.run()
    arguments: Any = launches["columns"].args
    _, x, y, vx, vy, order, sums = arguments
    for agent in range(200):
        near = order[agent:agent + CANDIDATES]
        dx, dy = x[near] - x[order[agent]], y[near] - y[order[agent]]
        seen = dx * dx + dy * dy < np.float32(24**2)
        wanted = (seen.sum(), *((v[seen] * np.float32(256)).astype(np.int32).sum() for v in (dx, dy, vx[near], vy[near])))
        assert tuple(column[agent] for column in sums) == wanted
    for launch in launches.values():
        found: Any = launch.args[-1]
        for got, same in zip(found, sums, strict=True):
            assert np.array_equal(got, same)


# --- Whether a crowd keeps flowing: what is counted, on maps and crowds made by hand ---------------------------------

ROOMS = """type octile
height 7
width 12
map
@@@@@@@@@@@@
@....@.....@
@....@.....@
@..........@
@....@.....@
@....@.....@
@@@@@@@@@@@@
"""


@pytest.mark.quick
def test_gaps_are_short_runs_of_free_tiles_between_walls() -> None:
    blocked = np.array([[tile == "@" for tile in row] for row in ROOMS.splitlines()[4:]], np.uint8)
    assert Gap(1, 4, 3, 4) in gaps_of(blocked, 1.0) and Gap(1, 5, 3, 4) in gaps_of(blocked, 1.0)
    assert {gap.last - gap.first for gap in gaps_of(blocked, 1.0)} == {1, 4, 5}
    assert set(gaps_of(blocked, 2.0)) == {Gap(1, 4, 3, 4), Gap(1, 5, 3, 4)}  # all others are wider than 5 m
    assert Gap(1, 4, 3, 4).middle.tolist() == [5.0, 3.5]


@pytest.fixture
def two(tmp_path: Path) -> Any:
    """Two people, who wait for ever, in two rooms of tiles of 40 units with a door of one tile."""
    (tmp_path / "rooms.map").write_text(ROOMS, "utf-8")
    sim = simulation("1k", agents=2, map=str(tmp_path / "rooms.map"), world__width=480, world__height=280,
                     crowd__destinations=2)
    put(sim, state=[WAITING] * 2, timer=[1e6] * 2)
    return sim


def put(sim: Any, **columns: Any) -> None:
    """Write columns of the two, in id order."""
    slots = np.argsort(sim.agents.columns.id[:2])
    for name, values in columns.items():
        getattr(sim.agents.columns, name)[slots] = values


def test_who_goes_through_a_door_is_counted_by_the_way_they_go(two: Any) -> None:
    put(two, x=[180, 220], y=[140, 140])
    watch, before = FlowWatch(two), np.zeros((2, 2, 84), np.int64)
    for places in ([220, 260], [180, 220]):  # both go on to the next column, and back
        put(two, x=places)
        watch.run(two.tick + motion.LOOK)
    metre = 40 / 26
    assert watch.through(Gap(1, 4, 3, 4), before, 2.0) == pytest.approx([1 / (2 * metre), 1 / (2 * metre)])
    assert watch.through(Gap(1, 5, 3, 4), before, 2.0) == pytest.approx([1 / (2 * metre), 1 / (2 * metre)])
    assert [gap for gap, _ in busiest(watch, 2.0)] == [Gap(1, 5, 3, 4)]  # the other one is nearer than 5 m


def test_who_comes_no_nearer_makes_no_progress_until_they_arrive(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(motion, "BEGIN", 0)
    far = max(two.terrain.destinations, key=lambda one: one.x)
    goal = two.terrain.destinations.index(far)
    put(two, x=[60, 60], y=[60, 220], goal=[goal] * 2, goal_x=[far.x] * 2, goal_y=[far.y] * 2, state=[WALKING, WAITING],
        speed=[11.4, 30])  # one who is too slow to come 2 m nearer
    watch = FlowWatch(two)
    watch.run(60)
    assert watch.waited.tolist() == pytest.approx([1, 0])
    put(two, state=[WAITING] * 2, timer=[1e6] * 2)
    watch.run(66)
    assert watch.waited[0] == 0 and watch.arrivals == 1
