"""JuPedSim walks the same scenes: https://www.jupedsim.org. Used as a program of its own (LGPL), where it is installed."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import NamedTuple

from crowd_demo.lab.validate.placing import placed
from crowd_demo.lab.validate.scene import Scene
from crowd_demo.measure.trajectories import Rectangle, Trajectories, TrajectoryRecorder

FPS, STEPS = 10, 10  # frames a second, steps a frame


class JuPedSimWalk(NamedTuple):
    """Its collision-free speed model (Tordeux and others 2016) with its own defaults."""

    name: str = "JuPedSim"
    about: str = "JuPedSim's collision-free speed model (Tordeux, Chraibi and Seyfried 2016) with its defaults"

    def why_not(self, scene: Scene) -> str:
        return "JuPedSim has no corridor that is closed to a ring" if scene.ring else ""

    def walk(self, scene: Scene, seed: int = 1) -> Generator[float, None, Trajectories]:
        import jupedsim
        import shapely

        def box(area: Rectangle) -> shapely.Polygon:
            return shapely.box(area.left, area.top, area.right, area.bottom)

        floor = shapely.unary_union([box(part) for part in (*scene.floor, *(each.area for each in scene.exits))])
        sim = jupedsim.Simulation(model=jupedsim.CollisionFreeSpeedModel(), geometry=floor, dt=1 / (FPS * STEPS))
        exits = [sim.add_exit_stage(box(each.area)) for each in scene.exits]
        journeys = [sim.add_journey(jupedsim.JourneyDescription([stage])) for stage in exits]
        people, numbers = placed(scene, seed), {}
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
    try:
        import jupedsim  # noqa: F401
    except ImportError:
        return []
    return [JuPedSimWalk()]
