"""A run that is recorded, and the run that its recording plays."""

from pathlib import Path
from typing import Any, Self

import numpy as np
from crowds import open_world, simulation

from crowd_demo.host.recording.format import Script
from crowd_demo.host.recording.recording import Player, Recording
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.sim.actions import Action, Populate, SetWalls, Switch
from crowd_demo.sim.simulation import Simulation

SETTINGS: dict[str, Any] = {"agents": 120, "time__step_hz": 20, **open_world(500, 400)}


def random_action(chance: np.random.Generator) -> Action:
    kind = int(chance.integers(3))
    if kind == 0:
        return Populate(int(chance.integers(60, 180)))
    if kind == 1:
        left, top = chance.integers(6, size=2).tolist()
        return SetWalls((left, top, left + 2, top + 1), bool(chance.integers(2)))
    path = ("stagger.avoidance", "stagger.sight", "reorder.every", "removal", "threads")[chance.integers(5)]
    choices = BY_PATH[path].choices
    return Switch(path, choices[chance.integers(len(choices))])


class Run:
    """A run that is recorded: random actions, restarts, loads and rewinds."""

    def __init__(self, path: Path, seed: int, **settings: Any) -> None:
        self.chance = np.random.default_rng(seed)
        self.sim = simulation(**{**SETTINGS, **settings})
        self.recording = Recording(path, self.sim)
        self.kept = self.sim.snapshot()

    def steps(self, count: int) -> Self:
        for _ in range(count):
            if self.chance.random() < 0.2:
                self.act(random_action(self.chance))
            self.sim.step()
            self.recording.stepped(self.sim)
        return self

    def act(self, action: Action) -> None:
        self.sim.apply(action)
        self.recording.acted(self.sim.tick, action)

    def end(self, crash: str = "") -> Self:
        """End the recording, and wait until it is written."""
        self.recording.end(self.sim, crash)
        self.recording.wait()
        return self

    def restart(self) -> None:
        left, config = self.sim.tick, self.sim.config
        options = self.sim.optimizations.model_copy(deep=True)
        self.sim = Simulation(config.model_copy(update={"agents": 77, "optimizations": options}))
        self.recording.begin(self.sim, left)

    def load(self) -> None:
        left = self.sim.tick
        self.sim = Simulation.from_snapshot(self.kept)
        self.recording.begin(self.sim, left)

    def rewind(self) -> None:
        left = self.sim.tick
        self.sim.restore(self.kept)
        self.recording.rewound(self.sim, left)


def replayed(script: Script, start_at: int = 0) -> tuple[Player, Simulation]:
    player = Player(script, start_at)
    sim = player.start(Simulation(script.parts[0].config))
    while not player.done:
        sim = player.step()
    return player, sim
