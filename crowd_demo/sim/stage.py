"""A stage: a named part of a step, or of the preparation of a picture; and how a list of stages is run.

A step is a loop over a list of stages. Compiling ahead loops over the same list for a small copy of the crowd and only skips
running, so it compiles exactly the kernels that the step will call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from crowd_demo.compute.jit import Call, run
from crowd_demo.sim.world import World


class Stage(Protocol):
    """The profile adds up the times of stages that have the same `name`."""

    name: str

    def wanted(self, world: World) -> bool:
        """Return whether there is work in this step."""
        return True

    def calls(self, world: World) -> tuple[Call, ...]:
        """Return the kernels to run, in order. Change nothing that outlives the step except the kernels' own memory."""
        return ()

    def commit(self, world: World) -> None:
        """Swap buffers, mark an index as valid: called after the kernels have run, or were skipped by `calls_of`."""
        return


def run_stages(stages: Iterable[Stage], world: World) -> None:
    """Run the stages that have work, in order, and record each one's time in the profile."""
    for stage in stages:
        if stage.wanted(world):
            with world.profile.stage(stage.name):
                run(stage.calls(world))
                stage.commit(world)


def calls_of(stages: Iterable[Stage], world: World) -> Iterator[Call]:
    """Yield the kernels that `run_stages` would run, without running any: to compile ahead, on a copy of the world."""
    for stage in stages:
        if stage.wanted(world):
            yield from stage.calls(world)
            stage.commit(world)
