"""Files of trajectories have what the crowd's columns had, each person under a number of its own."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported import FLUX, LEAVING, READERS, asked, of_sqlite, queried, source, walked_through, written
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from recorded_run import Run, random_action

from crowd_demo.compute.arrays import Bools, Longs
from crowd_demo.config.maps import FLOOR, WALL, label_areas
from crowd_demo.extras.export.sources import PersonNumbers, Source, frames, read_source
from crowd_demo.extras.export.trajectories import FORMATS, area_text, doubled_area, lacking, outlines, steps_between, write
from crowd_demo.host.recording.format import write_save
from crowd_demo.sim.actions import SetWalls
from crowd_demo.sim.behaviours.people_rules import WAITING
from crowd_demo.sim.terrain.tiles import Terrain

METRE = 26.0
RUNS: dict[str, tuple[str, float, dict[str, Any]]] = {
    "people": ("1k", 0.5, {"agents": 40}), "exits": ("station", 12, LEAVING), "births": ("20k-flock", 2, FLUX),
    "exits, one speed": ("station", 12, {**LEAVING, "crowd.speed_min": 40, "crowd.speed_max": 40})}
suffixes = pytest.mark.parametrize("suffix", sorted(READERS))


def made(name: str) -> Source:
    scenario, seconds, settings = RUNS[name]
    return source(scenario, seconds, **settings)


@pytest.mark.parametrize("run", ["people", "births"])
@suffixes
def test_positions_are_those_of_the_columns(tmp_path: Path, suffix: str, run: str) -> None:
    of = made(run)
    found = written(of, tmp_path / f"run{suffix}", fps=of.config.time.step_hz / 3, metres=run == "people")
    unit, apart = (METRE if run == "people" else 1.0), (0.0 if suffix in (".sqlite", ".parquet") else 0.5000001e-6)
    expected = walked_through(of, 3)
    assert len(found) == sum(len(columns.id) for columns, _ in expected)
    for frame, (columns, _) in enumerate(expected):
        rows = sorted(place for (_, number), place in found.items() if number == frame)
        places = sorted(zip(columns.x.astype(float) / unit, columns.y.astype(float) / unit, strict=True))
        assert np.abs(np.array(rows) - np.array(places)).max() <= apart


@pytest.mark.parametrize("run", RUNS)
def test_a_number_is_one_person(tmp_path: Path, run: str) -> None:
    of, every = made(run), 3
    table = written(of, tmp_path / "run.sqlite", fps=of.config.time.step_hz / every, metres=False)
    arrivals, leaves = dict[int, int](), dict[int, bool]()
    number = dict[tuple[int, int, int], int]()
    expected = dict[tuple[int, int], tuple[float, float]]()
    for step, (_, sim) in zip(range(of.steps + 1), of.states(), strict=False):  # every step: nobody is missed
        columns: Any = sim.agents.by_id()
        for row, identity in enumerate(columns.id.tolist()):
            if run.startswith("exits"):  # who has arrived at an exit is somebody else in the next step
                arrivals[identity] = arrivals.get(identity, 0) + leaves.get(identity, False)
                leaves[identity] = columns.state[row] == WAITING and columns.timer[row] > 0 and columns.goal[row] < 2
            who = identity, int(sim.agents.handles.generations[identity]), arrivals.get(identity, 0)
            if step % every == 0:
                expected[number.setdefault(who, len(number)), step // every] = float(columns.x[row]), float(columns.y[row])
    assert table == expected
    assert (len(number) > len({identity for identity, _, _ in number})) == (run != "people")


@pytest.mark.parametrize("run", ["people", "exits"])
def test_a_part_of_a_run_is_that_part(tmp_path: Path, run: str) -> None:
    of = made(run)
    whole = written(of, tmp_path / "whole.sqlite", fps=10)
    part = written(of, tmp_path / "part.sqlite", fps=10, from_s=0.2, to_s=0.4)
    assert {frame for _, frame in part} == {0, 1, 2}
    assert sorted(part.values()) == sorted(place for (_, frame), place in whole.items() if 2 <= frame <= 4)


# --- sources -----------------------------------------------------------------------------------------------------------

def test_a_save_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    of = made("births")
    *_, frame = frames(of, last=30)
    write_save(tmp_path / "at.crowd", frame.sim.snapshot())
    saved = read_source(str(tmp_path / "at.crowd"), 0.5)
    again = [frame.sim.state_hash() for frame in frames(saved, every=10)]
    assert len(again) == saved.steps // 10 + 1
    assert again == [frame.sim.state_hash() for frame in frames(of, every=10, first=30, last=30 + saved.steps)]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_recording_gives_the_frames_that_were(tmp_path: Path, seed: int) -> None:
    run = Run(tmp_path / "run.replay", seed)
    hashes = []
    for part in (run.restart, run.load, run.end):
        for _ in range(12):
            if run.chance.random() < 0.3:
                run.act(random_action(run.chance))
            hashes.append(run.sim.state_hash())
            run.sim.step()
            run.recording.stepped(run.sim)
        part()
    hashes.append(run.sim.state_hash())
    of = read_source(str(run.recording.path), None)
    seen = list(frames(of, every=1))
    assert of.steps == 36 and [frame.crowd for frame in seen] == [0] * 12 + [1] * 12 + [2] * 13
    numbers = PersonNumbers()
    people = [set(numbers.of(frame).tolist()) for frame in frames(of)]
    assert not people[11] & people[12] and not people[23] & people[24]
    assert [frame.sim.state_hash() for frame in frames(of)] == hashes


def test_what_is_not_the_recorded_crowd_is_not_written(tmp_path: Path) -> None:
    run = Run(tmp_path / "run.replay", 3, time__step_hz=5).steps(12).end()
    of = read_source(str(run.recording.path), None)
    states = of.states

    def disturbed() -> Any:
        for number, (crowd, sim) in enumerate(states()):
            if number == 6:
                sim.agents.columns.x[0] += 1
            yield crowd, sim

    with pytest.raises(ValueError, match="parts at tick"):
        write(asked(of._replace(states=disturbed), tmp_path / "run.csv"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.replay"]


# --- the walkable area ---------------------------------------------------------------------------------------------------

def test_the_database_has_the_walkable_area_of_every_frame(tmp_path: Path) -> None:
    shapely = pytest.importorskip("shapely", reason="shapely comes with the extra [validation]")
    of = source("1k", 0.5, agents=30, map=None, world__width=520, world__height=260)
    states = of.states

    def built() -> Any:
        for number, (crowd, sim) in enumerate(states()):
            if number == 12:
                sim.apply(SetWalls((4, 0, 5, 3), True))  # to the lower edge but for a gap
            yield crowd, sim

    path = tmp_path / "run.sqlite"
    said = write(asked(of._replace(states=built), path, fps=10))
    areas = dict(queried(path, "SELECT hash, wkt FROM geometry"))
    by_frame = [shapely.from_wkt(areas[number]) for _, number in sorted(queried(path, "SELECT * FROM frame_data"))]
    tile = 65 / METRE
    assert [round(area.area / tile**2, 6) for area in by_frame] == [32.0] * 2 + [29.0] * 4
    assert all(area.is_valid and area.geom_type == "Polygon" for area in by_frame) and len(areas) == 2
    for (_, frame), (x, y) in of_sqlite(path).items():
        assert by_frame[frame].buffer(1e-9).contains(shapely.Point(x, y))
    assert len(said) == 2
    said = write(asked(of._replace(states=built), tmp_path / "run.txt", fps=10))
    assert said[-1] == "the walkable area changed: the file has at most that of the first frame; .sqlite has all"


# --- files ---------------------------------------------------------------------------------------------------------------

@suffixes
def test_a_file_that_cannot_be_finished_leaves_the_old_one(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run{suffix}"
    path.write_text("old", "utf-8")

    def full(step: int) -> None:
        if step == 20:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write(asked(made("people"), path), full)
    assert [each.name for each in tmp_path.iterdir()] == [path.name] and path.read_text("utf-8") == "old"


def test_what_does_not_fit_on_the_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = asked(made("people"), tmp_path / "run.csv")
    assert lacking(wanted.path, 100_000) == ""
    monkeypatch.setattr("shutil.disk_usage", lambda folder: type("Usage", (), {"free": 1000}))
    assert lacking(wanted.path, 100_000) == f"{wanted.path}: needs about 0 MB, and 0 MB are free in {tmp_path}"


@suffixes
def test_the_size_of_a_row_is_estimated_well(tmp_path: Path, suffix: str) -> None:
    wanted = asked(source("1k", 20, agents=500), tmp_path / f"run{suffix}")
    write(wanted)
    rows = len(READERS[suffix](wanted.path))
    assert 0.6 < wanted.path.stat().st_size / (rows * FORMATS[suffix].nbytes) < 1.2


@pytest.mark.quick
@pytest.mark.parametrize(("fps", "step_hz", "every"), [
    (None, 60, 6), (None, 20, 2), (None, 25, 3), (None, 5, 1), (60, 60, 1), (7.5, 60, 8), (6.666667, 60, 9), (12.5, 25, 2)])
def test_rates_that_divide_the_steps(fps: float | None, step_hz: float, every: int) -> None:
    assert steps_between(fps, step_hz) == every


@pytest.mark.quick
@pytest.mark.parametrize(("fps", "line"), [
    (7, "--fps: 7 does not divide the 60 steps per second; 6.666667 and 7.5 do"),
    (120, "--fps: 120 does not divide the 60 steps per second; 60 does")])
def test_rates_that_do_not(fps: float, line: str) -> None:
    with pytest.raises(ValueError) as raised:
        steps_between(fps, 60)
    assert str(raised.value) == line


def test_directions_are_of_length_one_or_zero(tmp_path: Path) -> None:
    write(asked(made("people"), tmp_path / "run.sqlite"))
    rows = queried(tmp_path / "run.sqlite", "SELECT frame, ori_x, ori_y FROM trajectory_data")
    lengths = np.array([np.hypot(x, y) for _, x, y in rows])
    assert set(np.round(lengths, 9)) == {0.0, 1.0}


# --- outlines of areas -----------------------------------------------------------------------------------------------

MASKS = arrays(np.bool_, st.tuples(st.integers(1, 7), st.integers(1, 7)))


def areas(free: Bools) -> list[Bools]:
    """The areas of free tiles that touch by their sides."""
    labels = label_areas(free, corners=False)
    return [labels == number for number in range(labels.max() + 1)]


def enclosed(rings: list[Longs], shape: tuple[int, int]) -> Bools:
    """The tiles whose middle is inside: a line to the left crosses an odd number of upright sides."""
    inside = np.zeros(shape, bool)
    for ring in rings:
        for (x, y), (_, to_y) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            inside[min(y, to_y):max(y, to_y), x:] ^= True
    return inside


@given(MASKS)
def test_rings_enclose_the_area_and_are_simple(free: Bools) -> None:
    for area in areas(free):
        rings = outlines(area)
        assert np.array_equal(enclosed(rings, area.shape), area)
        assert [doubled_area(ring) > 0 for ring in rings] == [True] + [False] * (len(rings) - 1)
        assert sum(map(doubled_area, rings)) == 2 * area.sum()
        for ring in rings:
            assert len(np.unique(ring, axis=0)) == len(ring)


@given(MASKS)
def test_the_text_is_valid_and_has_the_area_of_its_tiles(free: Bools) -> None:
    shapely = pytest.importorskip("shapely", reason="shapely comes with the extra [validation]")
    terrain = Terrain(None, free.shape[1] * 64, free.shape[0] * 64)
    terrain.set_kinds(np.where(free, FLOOR, WALL).astype(np.uint8))
    chosen = np.arange(terrain.labels.max() + 1)
    found = shapely.from_wkt(area_text(terrain.labels, chosen, terrain.walls, 26.0))
    assert found.is_valid
    tile = float(terrain.walls.tile) / 26
    assert found.area == pytest.approx((terrain.blocked == 0).sum() * tile * tile)
