"""People of JuPedSim walk the same scenes, where it is installed: `pip install jupedsim`.

It is used as a program of its own (LGPL): https://www.jupedsim.org. Each of its models walks with its own defaults.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from importlib.util import find_spec
from typing import NamedTuple

from crowd_demo.extras.lab.validate.validation_experiment import WalkScene, placed
from crowd_demo.extras.lab.validate.walkers import FPS
from crowd_demo.extras.trajectories import Rectangle, Trajectories, TrajectoryRecorder

STEPS = 10  # a frame
STUCK_S = 60  # when nobody has left for so long, nobody will any more


class JuPedSimWalk(NamedTuple):
    """One of its models, by the name of the model's class; that of its agents is the same with `AgentParameters`."""

    name: str
    about: str
    model: str
    random: bool = False  # does the model draw numbers?

    def why_not(self, scene: WalkScene) -> str:
        return "JuPedSim has no corridor that is closed to a ring" if scene.ring else ""

    def walk(self, scene: WalkScene, seed: int = 1) -> Generator[float, None, Trajectories]:
        import jupedsim
        import shapely

        def box(area: Rectangle) -> shapely.Polygon:
            return shapely.box(area.left, area.top, area.right, area.bottom)

        floor = shapely.unary_union([box(part) for part in (*scene.floor, *(each.area for each in scene.exits))])
        model, agent = (getattr(jupedsim, self.model + kind) for kind in ("", "AgentParameters"))
        drawn = {"rng_seed": seed} if self.random else {}
        sim = jupedsim.Simulation(model=model(**drawn), geometry=floor, dt=1 / (FPS * STEPS))
        exits = [sim.add_exit_stage(box(each.area)) for each in scene.exits]
        journeys = [sim.add_journey(jupedsim.JourneyDescription([stage])) for stage in exits]
        people, numbers = placed(scene, seed), {}
        for person, (x, y, speed, group) in enumerate(zip(people.x, people.y, people.speed, people.group, strict=True)):
            number = scene.groups[group].exit
            numbers[sim.add_agent(agent(position=(float(x), float(y)), desired_speed=float(speed),
                                        journey_id=journeys[number], stage_id=exits[number]))] = person
        recorder, frames = TrajectoryRecorder(FPS), math.ceil(scene.seconds * FPS)
        left = 0  # the frame in which somebody did
        while sim.agent_count() and recorder.frames <= min(frames, left + STUCK_S * FPS):
            agents = [(numbers[agent.id], *agent.position) for agent in sim.agents()]
            recorder.add(*zip(*agents, strict=True))
            sim.iterate(STEPS)
            left = recorder.frames if sim.agent_count() < len(agents) else left
            yield recorder.frames / frames
        return recorder.trajectories()


# With their defaults V2 of the first one walks just as it does; the social force model pushes people off the floor at
# a corner (RuntimeError), and the generalized centrifugal force model takes 14 s for the short crossing, where all get
# stuck.
WALKS = (
    JuPedSimWalk("CFSM", "JuPedSim's collision-free speed model (Tordeux 2016)", "CollisionFreeSpeedModel"),
    JuPedSimWalk("CFSM V3", "its third version, in which people turn away from others", "CollisionFreeSpeedModelV3"),
    JuPedSimWalk("AVM", "JuPedSim's anticipation velocity model (Xu 2021)", "AnticipationVelocityModel", random=True),
    JuPedSimWalk("WarpDriver", "JuPedSim's WarpDriver (Wolinski 2016)", "WarpDriverModel"))


def jupedsim_walkers() -> list[JuPedSimWalk]:
    """Return what the installed JuPedSim has of its models; none where it is not installed."""
    if not find_spec("jupedsim"):
        return []
    import jupedsim

    return [each for each in WALKS if hasattr(jupedsim, each.model)]
