"""Whether a crowd keeps flowing: what is counted, on maps and crowds made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crowds import simulation
from flow_maps import MAPS, SIDE, text_of

from crowd_demo.cli import main
from crowd_demo.extras.lab import motion
from crowd_demo.extras.lab.motion import FlowWatch, Gap, busiest, gaps_of
from crowd_demo.sim.behaviours.people_rules import WAITING, WALKING

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


@pytest.mark.parametrize("name", MAPS)
def test_the_maps_are_what_they_are_called(name: str) -> None:
    rows = text_of(name).splitlines()[4:]
    assert len(rows) == SIDE and {len(row) for row in rows} == {SIDE}
    assert ("W" in text_of(name)) == (name == "lake")


def test_the_command_reports_both_moments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(motion, "REPORTED", (240, 480))
    monkeypatch.setattr(motion, "WINDOW", 60)
    monkeypatch.setattr(motion, "BEGIN", 60)
    (tmp_path / "lake.map").write_text(text_of("lake"), "utf-8")
    report = tmp_path / "flow.json"
    assert main(["lab", "motion", "--config", "1k", "--agents", "300", "--set", f"map={tmp_path / 'lake.map'}", "--flow",
                 "--report", str(report)]) == 0
    found = json.loads(report.read_text("utf-8"))["flow"]
    assert list(found) == ["240", "480"] and found["480"]["arrivals_per_minute"] >= 0
    assert 0 <= found["240"]["hardly_move"] <= 1 and found["480"]["longest_s"] <= 8
    assert "hardly move" in capsys.readouterr().out
