"""What is measured of how birds keep together, on flocks made by hand and against every pair of a small one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.cli import main
from crowd_demo.extras.lab.flocks import densest_share, flocks_of, nearest_of, order_of, splits_and_merges, strays_of

SMALL = ("--config", "murmuration", "--agents", "301", "--set", "world.width=640", "--set", "world.height=640")
quick = pytest.mark.quick


@quick
@given(birds=st.integers(2, 60), most=st.integers(1, 9), seed=st.integers(0, 99))
def test_the_nearest_are_nearer_than_all_others(birds: int, most: int, seed: int) -> None:
    x, y = np.random.default_rng(seed).uniform(0, 100, (2, birds))
    near = nearest_of(x, y, np.arange(birds), most)
    for i in range(birds):
        distance = np.hypot(x - x[i], y - y[i])
        distance[i] = np.inf
        assert near[i].tolist() == np.argsort(distance)[:most].tolist()[:birds - 1]


@quick
def test_order_is_one_for_birds_that_fly_alike_and_nothing_for_two_that_part() -> None:
    pair = np.array([[0, 1]])
    assert order_of(np.array([3.0, 9]), np.array([0.0, 0]), pair) == 1
    assert order_of(np.array([3.0, -9]), np.array([0.0, 0]), pair) == 0
    assert order_of(np.array([3.0, 0]), np.array([0.0, 0]), pair) == 0.5  # one of them stands


@quick
def test_the_densest_twentieth_of_the_tiles() -> None:
    x, y = np.array([1.0, 2, 3, 11, 25]), np.full(5, 1.0)
    assert densest_share(x, y, 10, (1, 20)) == 3 / 5
    assert densest_share(x, y, 10, (1, 40)) == 4 / 5


@quick
def test_a_sharp_edge_has_few_strays_and_a_cloud_that_thins_out_has_many() -> None:
    """Of a normal distribution an eighth is where it is less than a quarter as dense as for its median bird."""
    chance, everybody = np.random.default_rng(1), np.arange(2000)
    radius, turn = np.sqrt(chance.uniform(0, 1, 2000)), chance.uniform(0, 2 * np.pi, 2000)
    share = [strays_of(x, y, everybody, nearest_of(x, y, everybody))
             for x, y in ((radius * np.cos(turn), radius * np.sin(turn)), chance.normal(0, 1, (2, 2000)))]
    assert share[0] < 0.02 and share[1] == pytest.approx(1 / 8, abs=0.03)


@quick
@given(birds=st.integers(1, 80), side=st.sampled_from([1.0, 6.0, 30.0]), seed=st.integers(0, 99))
def test_birds_in_squares_that_touch_are_one_flock(birds: int, side: float, seed: int) -> None:
    x, y = np.random.default_rng(seed).uniform(0, 100, (2, birds))
    column, row = (x / side).astype(int), (y / side).astype(int)
    touch = (abs(column[:, None] - column) <= 1) & (abs(row[:, None] - row) <= 1)
    for _ in range(birds):
        touch = touch @ touch
    flock = flocks_of(x, y, side)
    assert np.array_equal(flock[:, None] == flock, touch)


@quick
def test_splits_and_merges_count_flocks_of_which_enough_birds_come() -> None:
    before, now = np.repeat([1, 2, 3], 100), np.repeat([7, 8, 9, 9], 75)
    assert splits_and_merges(before, now) == (2, 2)  # 1: 7, 8; 2: 8, 9; into 8: 1, 2; into 9: 2, 3
    now = np.where(np.arange(300) == 0, 8, before)
    assert splits_and_merges(before, now) == (0, 0)


def test_the_command_prints_and_writes_what_it_measures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "flocks.json"
    assert main(["lab", "flocks", *SMALL, "--steps", "150", "--report", str(path)]) == 0
    head, table, changes = capsys.readouterr().out.split("\n\n")
    assert head == "murmuration: 301 agents over 150 steps" and len(table.splitlines()) == 6
    assert changes.startswith("flocks that came apart: ")
    written: dict[str, Any] = json.loads(path.read_text("utf-8"))
    assert [look["tick"] for look in written["looks"]] == [60, 120]
    assert all(0 < look["order"] <= 1 and 0.05 < look["densest"] <= 1 for look in written["looks"])


@quick
@pytest.mark.parametrize("arguments, line", [
    (["--config", "20k"], "lab flocks: 20k has no birds, its behaviour is crowd"),
    (["--agents", "2"], "lab flocks: murmuration must have two birds that stay"),
    (["--config", "births-250k"], "lab flocks: births-250k must have two birds that stay"),
    (["--steps", "59"], "--steps: must be at least 60, a second, not 59"),
])
def test_a_mistake_is_one_line(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "flocks", *arguments]) == 2
    assert capsys.readouterr().err == line + "\n"


def test_a_murmuration_is_ordered_and_leaves_most_of_the_sky_empty() -> None:
    """The short form of what `crowd-demo lab flocks` shows over 10,000 steps (0.9, 35% in the densest twentieth)."""
    from crowd_demo import Simulation, load_config
    from crowd_demo.extras.lab.flocks import watch

    sim = Simulation(load_config("murmuration"))
    sim.step(600)
    looks, _, _ = watch(sim, 300)
    assert min(look.order for look in looks) >= 0.9 and min(look.densest for look in looks) >= 0.35
