"""This program's people walk a scene: it becomes a map of tiles, people are placed before the first step, and positions are
recorded between steps. What happens within a step is the model's own."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crowd_demo.config.loader import Location, Override, Source
from crowd_demo.config.metres import UNITS_A_METRE
from crowd_demo.config.model import Config
from crowd_demo.lab.validate.ground import Ground, ground_of, map_of
from crowd_demo.lab.validate.leaving import Exits, Ring
from crowd_demo.lab.validate.placing import Placed, placed
from crowd_demo.lab.validate.scene import Scene
from crowd_demo.measure.trajectories.table import Recorder, Trajectories
from crowd_demo.sim.behaviours.people_rules import WALKING, PeopleColumns
from crowd_demo.sim.simulation import Simulation

FPS = 10
ORIGIN = Location("validate")


class CrowdWalk(NamedTuple):
    """One of this program's models."""

    name: str
    about: str
    settings: Mapping[str, object]  # of the configuration, by path

    def why_not(self, scene: Scene) -> str:
        """Say why it cannot walk a scene: it can walk them all."""
        return ""

    def walk(self, scene: Scene, seed: int = 1) -> Generator[float, None, Trajectories]:
        """Run until the scene's end or until all have left; yield how much of that is done; return who was where."""
        ground = ground_of(scene)
        sim = simulation(scene, ground, self.settings, seed)
        place(sim, scene, placed(scene, seed), ground)
        leaving = Ring(sim, scene, ground) if scene.ring else Exits(sim, scene, ground)
        recorder, frames = Recorder(FPS), math.ceil(scene.seconds * FPS)
        while leaving.look(recorder) and recorder.frames <= frames:
            for _ in range(round(1 / sim.dt / FPS)):
                leaving.before_step()
                sim.step()
            yield recorder.frames / frames
        return recorder.trajectories()


def simulation(scene: Scene, ground: Ground, settings: Mapping[str, object], seed: int) -> Simulation:
    """Return a simulation of the scene's floor with as many people, anywhere."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.map"
        path.write_text(map_of(scene, ground), "ascii")
        return Simulation(config_of(scene, ground, path, settings, seed))


def config_of(scene: Scene, ground: Ground, path: Path, settings: Mapping[str, object], seed: int) -> Config:
    world = {"width": ground.area.width * UNITS_A_METRE, "height": ground.area.height * UNITS_A_METRE}
    data: dict[str, object] = {"agents": scene.people, "seed": seed, "behaviour": "crowd", "world": world, "map": str(path)}
    overrides = [Override(ORIGIN, tuple(key.split(".")), value) for key, value in settings.items()]
    return Source.of(data, ORIGIN.origin, overrides).config


def place(sim: Simulation, scene: Scene, people: Placed, ground: Ground) -> None:
    """Put everybody where they begin, standing, about to walk to their goal. Call before the first step."""
    c, who = sim.agents.columns, sim.agents.columns.id[:sim.agents.count].copy()
    assert isinstance(c, PeopleColumns)
    groups = [scene.groups[number] for number in people.group[who]]
    x, y = ground.units(people.x[who], people.y[who])
    goal_x, goal_y = ground.units(people.goal_x[who], people.goal_y[who])
    speed = np.where([group.speed is None for group in groups], c.speed[:len(who)], people.speed[who] * UNITS_A_METRE)
    heading = np.array([scene.exits[group.exit].towards for group in groups], np.float32)
    values = {"x": x, "y": y, "goal_x": goal_x, "goal_y": goal_y, "speed": speed, "goal": [group.exit for group in groups],
              "heading_x": heading[:, 0], "heading_y": heading[:, 1], "state": WALKING}
    for name, value in values.items():
        getattr(c, name)[:len(who)] = value
