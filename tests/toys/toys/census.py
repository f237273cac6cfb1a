"""Two techniques, a stage each."""

import numpy as np

from crowd_demo.compute.arrays import Floats
from crowd_demo.compute.jit import Launch, kernel, launch
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.world import World
from toys.mishaps import happen, misplace


class Census(Stage):
    """Count agents, and change nothing."""

    name = "census"

    def wanted(self, world: World) -> bool:
        return bool(world.options.census)

    def commit(self, world: World) -> None:
        x = world.agents.columns.x[:world.agents.count]
        world.profile.counters["left_half"] = float((x < float(world.terrain.walls.width) / 2).sum())
        happen("stage")
        misplace(world)


@kernel
def slow_down(worker: int, workers: int, vx: Floats, vy: Floats, agents: int, keep: np.float32) -> None:
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        vx[slot] *= keep
        vy[slot] *= keep


class Brake(Stage):
    """Own velocities only, so the order of agents does not matter."""

    name = "brake"

    def wanted(self, world: World) -> bool:
        return bool(world.options.brake)

    def launches(self, world: World) -> tuple[Launch, ...]:
        columns, keep = world.agents.columns, np.float32(1 - world.options.brake / 10)
        return (launch(slow_down, world.workers, columns.vx, columns.vy, world.agents.count, keep),)
