"""PedPy reads the files, and measures in them what this program measures."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported import LEAVING, asked, source

from crowd_demo.extras.export.sources import PersonNumbers, Source, frames
from crowd_demo.extras.export.trajectories import write
from crowd_demo.extras.trajectories import Rectangle, Trajectories, TrajectoryRecorder, density, speeds

pedpy = pytest.importorskip("pedpy", reason="PedPy comes with the extra [validation]")

METRE, FPS, SUFFIXES = 26.0, 10, (".txt", ".sqlite", ".parquet", ".csv")


def loaded(path: Path) -> Any:
    if path.suffix == ".txt":
        return pedpy.load_trajectory(trajectory_file=path)
    if path.suffix == ".sqlite":
        return pedpy.load_trajectory_from_jupedsim_sqlite(trajectory_file=path)
    import pandas as pd

    table = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    return pedpy.TrajectoryData(table, FPS)


def seen(of: Source) -> Trajectories:
    """The same people, straight from the crowd."""
    recorder, numbers = TrajectoryRecorder(FPS), PersonNumbers()
    for frame in frames(of, round(of.config.time.step_hz / FPS)):
        recorder.add(numbers.of(frame), frame.columns.x / METRE, frame.columns.y / METRE)
    return recorder.trajectories()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_speeds_and_densities_are_ours(tmp_path: Path, suffix: str) -> None:
    of, path = source("station", 12, **LEAVING), tmp_path / f"run{suffix}"
    write(asked(of, path))
    theirs, ours = loaded(path), seen(of)
    assert theirs.frame_rate == FPS
    step = 5
    found = pedpy.compute_individual_speed(
        traj_data=theirs, frame_step=step, speed_calculation=pedpy.SpeedCalculation.BORDER_EXCLUDE)
    found = found.sort_values(["id", "frame"])
    identity, frame, speed = speeds(ours, step)
    assert np.array_equal(found.id, identity) and np.array_equal(found.frame, frame) and len(identity) > 1000
    assert np.abs(found.speed.to_numpy() - speed).max() < 1e-5
    area = Rectangle(10, 10, 40, 30)
    corners = [(area.left, area.top), (area.right, area.top), (area.right, area.bottom), (area.left, area.bottom)]
    dense = pedpy.compute_classic_density(traj_data=theirs, measurement_area=pedpy.MeasurementArea(corners))
    assert np.allclose(dense.density.to_numpy(float), density(ours, area)) and dense.density.max() > 0


@pytest.mark.parametrize("name", ["station", "5k", "20k"])
def test_the_walkable_area_is_one_polygon_with_everybody_in_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / "run.sqlite"
    write(asked(source(name, 0.2, agents=200), path))
    area = pedpy.load_walkable_area_from_jupedsim_sqlite(trajectory_file=path)
    assert area.area > 1000
    assert all(area.polygon.buffer(1e-9).covers(point) for point in loaded(path).data.point)
