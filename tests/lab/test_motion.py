"""What is measured of how people move, against every pair of a small crowd, and on crowds made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.cli import main
from crowd_demo.lab.motion import densest, head_on
from crowd_demo.measure.distances import close_pairs, nearest


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


def test_the_command_prints_and_writes_what_it_measures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    small = ("--config", "1k", "--agents", "60", "--set", "map=null", "--set", "world.width=300", "--set", "world.height=300")
    path = tmp_path / "motion.json"
    assert main(["motion", *small, "--steps", "20", "--report", str(path)]) == 0
    head, table = capsys.readouterr().out.split("\n\n")
    assert head == "1k: 60 people after 20 steps" and len(table.splitlines()) == 8
    figures = json.loads(path.read_text("utf-8"))["figures"]
    assert 0 < figures["pace"] <= 2 and 0 <= figures["watched"]["idle"] <= 1
    assert main(["motion", *small, "--steps", "0", "--at-once"]) == 0
    assert len(capsys.readouterr().out.split("\n\n")[1].splitlines()) == 4


@pytest.mark.quick
def test_only_people_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["motion", "--config", "20k-flock"]) == 2
    assert capsys.readouterr().err == "motion: 20k-flock has no people, its behaviour is flock\n"
    assert main(["motion", "--agents", "0"]) == 2
    assert capsys.readouterr().err == "motion: 20k has no agents\n"
