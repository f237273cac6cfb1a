"""Other programs, where they are installed.

JuPedSim walks the same scenes: https://www.jupedsim.org (LGPL, used as a program of its own). PedPy has some of the same
measures: https://pedpy.readthedocs.io (the extra `validation`).
"""

from __future__ import annotations

import math
from collections.abc import Generator
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles, Longs
from crowd_demo.lab.validate.validation_experiment import Measures
from crowd_demo.lab.validate.walk_scene import WalkScene, placed
from crowd_demo.measure.trajectories import Line, Rectangle, Trajectories, TrajectoryRecorder

FPS, STEPS = 10, 10  # frames a second, steps a frame


def pedpy_measures() -> Measures | None:
    """Return the measures that PedPy has; None where it is not installed."""
    try:
        import pandas
        import pedpy
    except ImportError:
        return None

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


class JuPedSimWalk(NamedTuple):
    """Its collision-free speed model (Tordeux and others 2016) with its own defaults."""

    name: str = "JuPedSim"
    about: str = "JuPedSim's collision-free speed model (Tordeux, Chraibi and Seyfried 2016) with its defaults"

    def why_not(self, scene: WalkScene) -> str:
        return "JuPedSim has no corridor that is closed to a ring" if scene.ring else ""

    def walk(self, scene: WalkScene) -> Generator[float, None, Trajectories]:
        import jupedsim
        import shapely

        def box(area: Rectangle) -> shapely.Polygon:
            return shapely.box(area.left, area.top, area.right, area.bottom)

        floor = shapely.unary_union([box(part) for part in (*scene.floor, *(each.area for each in scene.exits))])
        sim = jupedsim.Simulation(model=jupedsim.CollisionFreeSpeedModel(), geometry=floor, dt=1 / (FPS * STEPS))
        exits = [sim.add_exit_stage(box(each.area)) for each in scene.exits]
        journeys = [sim.add_journey(jupedsim.JourneyDescription([stage])) for stage in exits]
        people, numbers = placed(scene), {}
        for person, (x, y, speed, group) in enumerate(zip(people.x, people.y, people.speed, people.group, strict=True)):
            number = scene.groups[group].exit
            numbers[sim.add_agent(jupedsim.CollisionFreeSpeedModelAgentParameters(
                position=(float(x), float(y)), desired_speed=float(speed), journey_id=journeys[number],
                stage_id=exits[number]))] = person
        recorder, frames = TrajectoryRecorder(FPS), math.ceil(scene.seconds * FPS)
        while sim.agent_count() and recorder.frames <= frames:
            agents = [(numbers[agent.id], *agent.position) for agent in sim.agents()]
            recorder.add(*zip(*agents, strict=True))
            sim.iterate(STEPS)
            yield recorder.frames / frames
        return recorder.trajectories()


def jupedsim_walkers() -> list[JuPedSimWalk]:
    """Return JuPedSim, if it is installed."""
    return [JuPedSimWalk()] * (find_spec("jupedsim") is not None)
