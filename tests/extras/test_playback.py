"""Measured people are where their file says, whatever is done to them; and their crowd is one like any other."""

from pathlib import Path
from typing import cast

import numpy as np
import pytest
from crowd_demo.app.side_by_side import SecondRun, config_beside
from driven import Driven
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_playback import Row, people_at

from crowd_demo.config.loader import load_config
from crowd_demo.extras.playback import PlaybackColumns
from crowd_demo.sim.actions import Place
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot

METRE, STANDING = 26.0, 2.6
AREA = "POLYGON ((0 0, 20 0, 20 10, 0 10, 0 0))"
WALKERS = [(person, frame, 1 + 0.04 * frame * (1 + person % 3), 1 + person * 0.3) for person in range(25)
           for frame in range(person % 7, 60 + person % 5)]

places = st.integers(-40, 40).map(lambda quarters: quarters / 4)
files = st.lists(st.tuples(st.integers(-3, 6), st.integers(-5, 40), places, places), min_size=1, max_size=40,
                 unique_by=lambda row: row[:2])


def text_of(rows: list[Row], fps: float = 10, area: str = "") -> str:
    head = f"# framerate: {fps}\n" + (f"# geometry: {area}\n" if area else "")
    return head + "".join(f"{person} {frame} {x!r} {y!r}\n" for person, frame, x, y in rows)


def played(path: Path, rows: list[Row] = WALKERS, fps: float = 10, area: str = AREA, **changes: object) -> Simulation:
    path.write_text(text_of(rows, fps, area), encoding="utf-8")
    return Simulation(load_config("1k", {"behaviour": "playback", "playback.file": str(path), "map": None, **{
        name.replace("__", "."): value for name, value in changes.items()}}))


@settings(max_examples=60)
@given(files, st.sampled_from([1.0, 10.0, 25.0, 29.97, 100.0]), st.sampled_from([20, 60]))
def test_everybody_is_where_the_file_says_at_every_tick(tmp_path_factory: pytest.TempPathFactory, rows: list[Row], fps: float,
                                                       step_hz: int) -> None:
    sim = played(tmp_path_factory.mktemp("played") / "walks.txt", rows, fps, "", time__step_hz=step_hz, world__tile=13)
    left, top = min(x for _, _, x, _ in rows) - 0.5, max(y for *_, y in rows) + 0.5
    span = max(row[1] for row in rows) - min(row[1] for row in rows)
    for tick in range(min(int(span / fps * step_hz) + 4, 50)):
        expected = people_at(rows, tick, step_hz, fps, METRE, left, top, STANDING)
        found = cast(PlaybackColumns, sim.agents.by_id())
        assert found.person.tolist() == sorted(expected)
        for slot, person in enumerate(found.person.tolist()):
            seen = expected[person]
            for column, value in zip(("x", "y", "vx", "vy"), seen[:4], strict=True):
                assert getattr(found, column)[slot] == pytest.approx(value, abs=2e-3, rel=1e-5), (tick, person, column)
                assert value or not np.signbit(getattr(found, column)[slot]), (tick, person, column)
            assert (found.heading_x[slot], found.heading_y[slot]) == pytest.approx(seen.heading, abs=1e-5)
            assert (found.state[slot] == 1) == seen.stands or np.hypot(*seen[2:4]) == pytest.approx(STANDING)
        sim.step()


@pytest.mark.quick
def test_neighbours_are_counted_and_nobody_is_pushed(tmp_path: Path) -> None:
    sim = played(tmp_path / "walks.txt", optimizations__stagger__avoidance=1)
    sim.step(30)
    found = sim.agents.by_id()
    distance = np.hypot(found.x[:, None] - found.x, found.y[:, None] - found.y)
    near = int((distance < sim.config.playback.radius).sum()) - len(found.id)
    assert sim.profile.counters["neighbours_per_agent"] == pytest.approx(near / len(found.id), rel=0.01)
    assert near > 0 and not found.avoidance_x.any() and not found.avoidance_y.any()


@pytest.mark.quick
def test_a_state_is_a_function_of_the_tick(tmp_path: Path) -> None:
    sim, hashes = played(tmp_path / "walks.txt"), dict[int, str]()
    snapshots = dict[int, Snapshot]()
    for _ in range(60):
        hashes[sim.tick], snapshots[sim.tick] = sim.state_hash(), sim.snapshot()
        sim.step()
    for tick in (40, 3, 20):
        sim.restore(snapshots[tick])
        sim.step(10)
        assert sim.state_hash() == hashes[tick + 10]


@pytest.mark.quick
@pytest.mark.parametrize("removal", ["swap_back", "shift", "deferred"])
@pytest.mark.parametrize("neighbours", ["none", "linked", "sorted", "z_grid", "kd_tree", "aabb_tree"])
def test_who_comes_and_goes_leaves_one_hash_whatever_the_structure(tmp_path: Path, neighbours: str, removal: str) -> None:
    rows = [(person, frame, 2 + 0.3 * (person % 40) + 0.01 * frame, 2.0 + person // 40) for person in range(120)
            for frame in range(person % 30, person % 30 + 8)]
    usual = played(tmp_path / "walks.txt", rows, optimizations__stagger__avoidance=1)
    other = played(tmp_path / "walks.txt", rows, optimizations__stagger__avoidance=1, optimizations__neighbours=neighbours,
                   optimizations__removal=removal)
    for _ in range(30):
        usual.step(5)
        other.step(5)
        assert usual.state_hash() == other.state_hash()


@pytest.mark.quick
def test_who_was_moved_taken_out_or_brought_in_is_back_after_a_step(tmp_path: Path) -> None:
    plain, sim = played(tmp_path / "walks.txt"), played(tmp_path / "walks.txt")
    plain.step(50)
    sim.step(49)
    sim.remove_agents(np.array([2, 3], np.int32))
    sim.apply(Place(5, 60.0, 60.0))
    sim.add_agents(np.array([90], np.int32), 1)
    sim.step()
    for name, ours, theirs in zip(sim.agents.names, sim.agents.by_id(), plain.agents.by_id(), strict=True):
        assert np.array_equal(ours, theirs) or name == "next_update"


@pytest.mark.quick
def test_without_a_file_nobody_moves() -> None:
    sim = Simulation(load_config("1k", {"behaviour": "playback", "map": None, "agents": 30}))
    before = sim.agents.by_id()
    sim.step(3)
    after = sim.agents.by_id()
    assert np.array_equal(before.x, after.x) and np.array_equal(before.y, after.y) and len(after.id) == 30


def test_colours_overlays_inspector_and_timeline_work(tmp_path: Path) -> None:
    path = tmp_path / "walks.txt"
    path.write_text(text_of(WALKERS, 10, AREA), encoding="utf-8")
    driven = Driven("behaviour=playback", f"playback.file={path}", f"map={path}", "scene.overlays=[density, streams]")
    hashes, crowd = dict[int, str](), driven.program.crowd
    for _ in range(30):
        driven.frames()
        hashes[crowd.sim.tick] = crowd.sim.state_hash()
    for key in "q" * 9:  # all colours
        driven.press(key)
        hashes[crowd.sim.tick] = crowd.sim.state_hash()
    driven.press("f6")
    assert driven.status().inspection
    for _ in range(4):
        driven.press("backspace")
    assert crowd.sim.tick < max(hashes) and crowd.sim.state_hash() == hashes[crowd.sim.tick]


def test_a_run_of_ours_is_beside_the_measured_people(tmp_path: Path) -> None:
    walks, ours = tmp_path / "walks.txt", tmp_path / "ours.yaml"
    walks.write_text(text_of(WALKERS, 10, AREA), encoding="utf-8")
    ours.write_text("agents: 30\nmap: null\ntime: {step_hz: 50}\n", encoding="utf-8")
    driven = Driven("behaviour=playback", f"playback.file={walks}", f"map={walks}", f"playback.beside={ours}")
    driven.frames(5)
    driven.press("\\")
    split, crowd = driven.program.split, driven.program.crowd
    assert isinstance(split.second, SecondRun)
    driven.until(lambda: split.second and split.second.sim and split.second.sim.tick == crowd.sim.tick)
    run = split.second.sim
    assert run and run.config.behaviour == "crowd" and run.agents.count == 30 and run.config.time.step_hz == 60
    assert np.array_equal(run.terrain.kinds, crowd.sim.terrain.kinds)
    alone = Simulation(config_beside(driven.config) or driven.config)
    alone.step(run.tick)
    assert run.state_hash() == alone.state_hash()
    halves = driven.status().halves
    assert halves and (halves.left.value, halves.right.value) == ("walks.txt", "ours")
    for _ in range(3):
        driven.press("backspace")
    driven.until(lambda: split.second and split.second.sim and split.second.sim.tick == crowd.sim.tick)
    assert crowd.sim.tick < alone.tick
    driven.press("\\")
    assert split.second is None
