"""What is measured of how people move, against every pair of a small crowd, and on crowds made by hand."""

from __future__ import annotations

import json
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
from crowd_demo.extras.lab.motion import densest, filling, head_on
from crowd_demo.extras.walking import close_pairs, nearest
from crowd_demo.extras.walking import people as crowd_of
from crowd_demo.sim.behaviours.people_rules import WAITING
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
    rng = np.random.default_rng(3)
    c.x[:40], c.y[:40] = 160 + rng.uniform(0, 32, (2, 40))
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


def test_the_command_prints_and_writes_what_it_measures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
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
def test_only_people_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "motion", "--config", "20k-flock"]) == 2
    assert capsys.readouterr().err == "lab motion: 20k-flock has no people, its behaviour is flock\n"
    assert main(["lab", "motion", "--agents", "0"]) == 2
    assert capsys.readouterr().err == "lab motion: 20k has no agents\n"
