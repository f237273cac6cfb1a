"""A stage: a named part of a step, or of getting ready for a picture; and how a list of them is run.

A step is a loop over a list of stages. Compiling ahead walks the same list on a small twin of the crowd and skips only the
running, so the kernels that it compiles are those that the step will call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from crowd_demo.compute.jit import Call, run
from crowd_demo.sim.world import World


class Stage(Protocol):
    """Its `name` is what the profile calls its time; stages of one name add up."""

    name: str

    def wanted(self, world: World) -> bool:
        """Is there anything to do in this step?"""
        return True

    def calls(self, world: World) -> tuple[Call, ...]:
        """The kernels to run now, in their order. Sets nothing that outlives the step but the kernels' own memory."""
        return ()

    def commit(self, world: World) -> None:
        """What follows once the kernels have run: buffers are swapped, an index becomes valid."""
        return


def run_stages(stages: Iterable[Stage], world: World) -> None:
    """All that are wanted, in their order, each with its time in the profile."""
    for stage in stages:
        if stage.wanted(world):
            with world.profile.stage(stage.name):
                run(stage.calls(world))
                stage.commit(world)


def calls_of(stages: Iterable[Stage], world: World) -> Iterator[Call]:
    """The kernels that `run_stages` would run, without running any: for compiling ahead, on a twin of the world."""
    for stage in stages:
        if stage.wanted(world):
            yield from stage.calls(world)
            stage.commit(world)
