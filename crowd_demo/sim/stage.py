"""A stage: a named part of a step, or of preparing a picture; how a list of stages is run, and where plugins add theirs.

A step is a loop over a list of stages. Compiling ahead loops over the same list for a small copy of the crowd and only skips
running, so it compiles exactly the kernels that the step will call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from crowd_demo.compute.jit import Call, run
from crowd_demo.registry.entries import load
from crowd_demo.registry.plugins import installed, owner_of
from crowd_demo.registry.stages import STAGES
from crowd_demo.registry.texts import say_once
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
    """Return the stages with those of plugins, each after the last stage of the name that it follows, if there is one.

    What code of a plugin has moved is checked, whether the stage is one of its own or of its behaviour.
    """
    listed = list(stages)
    for plugin in installed():
        for entry in plugin.plugin.stages:
            found = [number for number, stage in enumerate(listed) if stage.name == entry.after]
            if found:
                listed.insert(found[-1] + 1, load(entry.code)())
            elif entry.after not in STAGES:  # else it is one of another behaviour
                say_once(f"plugin {plugin.name}: stage {entry.code} is left out: there is no stage {entry.after!r} to follow")
    owners = [owner_of(type(stage).__module__) for stage in listed]
    return tuple(Checked(stage, owner) if owner else stage for stage, owner in zip(listed, owners, strict=True))


class Checked(Stage):
    """A stage of a plugin; positions are checked after it, for kernels find memory by them."""

    def __init__(self, stage: Stage, plugin: str) -> None:
        self.stage, self._plugin = stage, plugin
        self.name, self.before_index = stage.name, stage.before_index
        self.wanted, self.calls = stage.wanted, stage.calls  # type: ignore[method-assign]

    def commit(self, world: World) -> None:
        """Raises ValueError for an agent that is not in the world."""
        self.stage.commit(world)
        agents, ground = world.agents, world.ground
        x, y = (column[:agents.count] for column in (agents.columns.x, agents.columns.y))
        within = (x >= 0) & (x <= ground.limit_x) & (y >= 0) & (y <= ground.limit_y)  # which a NaN is not
        if not within.all():
            slot = int(within.argmin())
            raise ValueError(f"plugin {self._plugin}: stage {self.name} has put agent {agents.columns.id[slot]} at"
                             f" ({x[slot]:g}, {y[slot]:g}), which is not in the world")


def unchecked(stage: Stage) -> Stage:
    """The stage itself, where it is checked."""
    return stage.stage if isinstance(stage, Checked) else stage
