"""A stage: a named part of a step, or of preparing a picture; how a list of stages is run, and where plugins add theirs.

A step is a loop over a list of stages. Compiling ahead loops over the same list for a small copy of the crowd and only skips
running, so it compiles exactly the kernels that the step will call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from crowd_demo.compute.jit import Call, run
from crowd_demo.registry.entries import load
from crowd_demo.registry.plugins import installed
from crowd_demo.sim.world import World


class Stage(Protocol):
    """The profile adds up the times of stages that have the same `name`.

    A behaviour's stages follow the interaction, but for those that put agents anywhere: these come `before_index`.
    """

    name: str
    before_index: bool = False

    def wanted(self, world: World) -> bool:
        """Return whether there is work in this step."""
        return True

    def calls(self, world: World) -> tuple[Call, ...]:
        """Return the kernels to run, in order. Change nothing that outlives the step except the kernels' own memory."""
        return ()

    def commit(self, world: World) -> None:
        """Swap buffers, mark an index as valid: called after the kernels have run, or were only kept, to be compiled ahead."""
        return


def run_stages(stages: Iterable[Stage], world: World, run: Callable[[Iterable[Call]], object] = run) -> None:
    """Run all stages that are wanted, in their order, each with its time in the profile.

    Compiling ahead gives another `run`, which keeps the calls of a small twin of the world instead of running them.
    """
    for stage in stages:
        if stage.wanted(world):
            with world.profile.stage(stage.name):
                run(stage.calls(world))
                stage.commit(world)


def with_plugin_stages(stages: Sequence[Stage]) -> Sequence[Stage]:
    """Return the stages with those of plugins, each after the last stage of the name that it follows. Raises ValueError."""
    listed = list(stages)
    for plugin in installed():
        for entry in plugin.stages:
            found = [number for number, stage in enumerate(listed) if stage.name == entry.after]
            if not found:
                names = ", ".join(dict.fromkeys(stage.name for stage in listed))
                raise ValueError(f"plugin stage {entry.code}: no stage {entry.after!r} to follow; there are {names}")
            listed.insert(found[-1] + 1, load(entry.code)())
    return tuple(listed)
