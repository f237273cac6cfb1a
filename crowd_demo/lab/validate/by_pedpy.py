"""The measures that PedPy has, as PedPy computes them: https://pedpy.readthedocs.io. Needs the extra `validation`."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Doubles, Longs
from crowd_demo.lab.validate.experiment import Measures
from crowd_demo.measure.trajectories import Line, Rectangle, Trajectories


def pedpy_measures() -> Measures:
    """Raises ImportError where PedPy is not installed."""
    import pandas
    import pedpy

    def table(of: Trajectories) -> pedpy.TrajectoryData:
        frame = pandas.DataFrame({"id": of.id, "frame": of.frame, "x": of.x, "y": of.y})
        return pedpy.TrajectoryData(frame, frame_rate=of.fps)

    def crossings(of: Trajectories, line: Line) -> tuple[Longs, Doubles]:
        border = pedpy.MeasurementLine([(line.x, line.y), (line.to_x, line.to_y)])
        _, found = pedpy.compute_n_t(traj_data=table(of), measurement_line=border)
        order = np.lexsort((found.id, found.frame))
        return found.id.to_numpy(np.int64)[order], found.frame.to_numpy(float)[order] / of.fps

    def speeds(of: Trajectories, step: int, axis: tuple[float, float] | None = None) -> tuple[Longs, Longs, Doubles]:
        direction = None if axis is None else np.array(axis)
        found = pedpy.compute_individual_speed(traj_data=table(of), frame_step=step, movement_direction=direction,
                                               speed_calculation=pedpy.SpeedCalculation.BORDER_EXCLUDE)
        found = found.sort_values(["id", "frame"])
        return found.id.to_numpy(np.int64), found.frame.to_numpy(np.int64), found.speed.to_numpy(float)

    def density(of: Trajectories, area: Rectangle) -> Doubles:
        corners = [(area.left, area.top), (area.right, area.top), (area.right, area.bottom), (area.left, area.bottom)]
        found = pedpy.compute_classic_density(traj_data=table(of), measurement_area=pedpy.MeasurementArea(corners))
        return found.density.to_numpy(float)

    return Measures(crossings, speeds, density)
