"""Which kernels a set of options will run, found without running any of them on the crowd.

A small copy of the simulation, of the same behaviour, lists the launches of a step and of a frame. These have the types
of the real ones, for types depend on neither the number of agents nor the map. Making the copy may run kernels, listing
its launches runs none. It takes a few milliseconds.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np

from crowd_demo.compute.jit import Launch, compile_launches, is_compiled
from crowd_demo.config.model import Config, Life, Optimizations, with_values
from crowd_demo.config.resources import assets_folder
from crowd_demo.registry.built_in import COLOURS
from crowd_demo.registry.entries import load
from crowd_demo.registry.techniques import TECHNIQUES
from crowd_demo.render.camera import Camera
from crowd_demo.render.colours.modes import AgeColours
from crowd_demo.render.drawing import moving
from crowd_demo.render.overlays.base import overlay_launches
from crowd_demo.render.scene import Scene
from crowd_demo.sim.inspection import avoidance_launch, perceive_launch
from crowd_demo.sim.metrics.readings import launches_to_compile
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.world import WORTH_A_GPU

SMALL_AGENTS = 64
SMALL_SIDE = 512.0  # world units, at most
SMALL_PX = (64, 64)
LEAST_LEAF = 4  # agents in a leaf: with more, so few agents would fit into one leaf and no kernel of trees be called


class KernelFinder:
    """Finds the kernels for a configuration, whatever its optimizations are. Any thread may call `missing`."""

    def __init__(self, config: Config, render: bool = True) -> None:
        world = config.world.model_copy(update={
            side: min(getattr(config.world, side), SMALL_SIDE) for side in ("width", "height")})
        self._sim = Simulation(config.model_copy(update={"agents": SMALL_AGENTS, "map": None, "world": world, "life": Life()}))
        self._scene = Scene(self._sim, config, assets_folder()) if render else None
        self._camera = Camera((world.width, world.height), SMALL_PX)
        self._worth_a_gpu = config.agents >= WORTH_A_GPU
        self._lock = threading.Lock()

    def missing(self, options: Optimizations, overlays: bool = True) -> list[Launch]:
        """Calls whose kernels are not compiled yet, each kernel and signature once, in the order of the frame.

        Without `overlays` not what only these and the inspector call.
        """
        with self._lock:
            self._sim.optimizations = with_values(options, {"leaf_size": LEAST_LEAF})
            if options.device == "auto" and self._worth_a_gpu:  # as the crowd itself decides, which is larger
                self._sim.optimizations.set("device", "cuda")
            found: dict[tuple[object, ...], Launch] = {}
            for launch in self._launches(overlays):
                signature = launch.signature()
                if signature not in launch.compiled.overloads:
                    found[launch.kernel, signature] = launch
        return list(found.values())

    def missing_colours(self, *names: str) -> list[Launch]:
        """Calls of these colour modes whose kernels are not compiled yet."""
        with self._lock:
            modes = [load(COLOURS[name].code)() for name in names if COLOURS[name].code]
            launches = [each for mode in modes for each in mode.launches_to_compile(self._sim, np.zeros(0, np.uint8))]
        return [launch for launch in launches if not is_compiled(launch)]

    def missing_anywhere(self, options: Optimizations) -> Iterator[Launch]:
        """Yield the launches of each single other choice and of all colour modes whose kernels are not compiled yet."""
        for other in all_choices(options):
            yield from self.missing(other)
        yield from self.missing_colours(*(COLOURS if self._scene else ()))

    def _launches(self, overlays: bool) -> Iterator[Launch]:
        yield from self._sim.agents.closing(1)  # births, deaths and a new number of agents come between steps
        yield from self._sim.launches_to_compile()
        if self._scene:
            yield from self._scene.launches(self._camera)
            yield from launches_to_compile(self._sim)
        if self._scene and overlays:
            yield from overlay_launches(self._sim.workers, moving(self._sim.agents.columns))
            nobody = np.zeros(0, np.int32)
            yield perceive_launch(self._sim, 0, nobody)[0]
            yield from AgeColours().launches_to_compile(self._sim, np.zeros(0, np.uint8))  # the overlay of turns reads ages
            if "avoidance" in self._sim.behaviour.techniques:  # its overlay is for no others
                yield avoidance_launch(self._sim, nobody, ())[0]


def all_choices(options: Optimizations) -> Iterator[Optimizations]:
    """The options with one technique at another of its choices, for each technique and choice."""
    for technique in TECHNIQUES:
        for value in technique.choices:
            yield with_values(options, {technique.path: value})


def key_of(launch: Launch) -> str:
    """Return the same name of the kernel and its signature in every process."""
    return f"{launch.kernel.__module__}.{launch.name}{launch.signature()}"


def kernel_name(launch: Launch) -> str:
    return launch.name.replace("_", " ").strip()


def compile_missing(ahead: KernelFinder, options: Optimizations) -> Iterator[str]:
    """Compile what these options need, kernel by kernel; yield a line before each."""
    for launch in ahead.missing(options):
        yield f"compiling {kernel_name(launch)}"
        compile_launches((launch,))
