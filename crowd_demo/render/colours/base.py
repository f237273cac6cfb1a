"""Colour modes: a mode chooses the colours of agents, in sprites, crates and light, and explains them in a legend.

A mode reads the simulation and never writes it. Its kernels take columns, not a behaviour's record, so each is
compiled once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np

from crowd_demo.compute.arrays import Bytes, Ints, Words
from crowd_demo.compute.jit import Launch
from crowd_demo.render.drawing import Mode, numbering
from crowd_demo.render.inks import RGB, packed
from crowd_demo.sim.simulation import Simulation

CATEGORIES: tuple[RGB, ...] = (  # told apart by colour-blind people too: Okabe and Ito 2008, without black
    (230, 159, 0), (86, 180, 233), (0, 158, 115), (240, 228, 66), (0, 114, 178), (213, 94, 0), (204, 121, 167),
    (240, 240, 240))
RISING: tuple[RGB, ...] = (  # no end is as dark as a sky or a night
    (86, 148, 250), (60, 192, 190), (250, 222, 80), (252, 136, 40), (232, 48, 70))
FALLING = RISING[::-1]
RAINBOW: tuple[RGB, ...] = (  # all about as light, between the dark of a sky or a night and the light of a floor
    (245, 100, 88), (218, 132, 20), (168, 158, 20), (80, 178, 80), (20, 174, 165), (80, 152, 250), (184, 124, 250))
LEVELS = 256


class Legend(NamedTuple):
    """What the colours mean: a text for each colour, or two texts for the ends of a ramp."""

    title: str
    colours: tuple[RGB, ...]
    texts: tuple[str, ...]

    @property
    def is_ramp(self) -> bool:
        return len(self.texts) != len(self.colours)


class ColourMode(Protocol):
    """Base class of modes. A mode is made when it is chosen, and owns the memory that its kernels need."""

    COLOURS: Sequence[RGB] = ()

    def colours(self, sim: Simulation) -> Sequence[RGB]:
        """Return the colours that there are, at most 256."""
        return self.COLOURS

    def mode(self, sim: Simulation) -> Mode:
        """Return the record by whose type agents are numbered (`number_of`), unless `calls` does without."""
        return None

    def launches(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Launch, ...]:
        """Return the kernels after which `number[k]` is the number of the colour of the agent in `slots[k]`."""
        return (numbering(sim.world.workers, slots, self.mode(sim), number),)

    def launches_to_compile(self, sim: Simulation, number: Bytes) -> tuple[Launch, ...]:
        """Return every kernel that `calls` may return, to be compiled and never run."""
        return self.launches(sim, np.zeros(0, np.int32), number)

    def legend(self, sim: Simulation) -> Legend:
        """Explain the colours."""

    def tells(self, sim: Simulation) -> bool:
        """Do they tell anything of this crowd? Not if all agents have the same colour."""
        return len(self.legend(sim).texts) > 1


@lru_cache(32)  # a mode is asked for its colours in each frame
def ramp(anchors: tuple[RGB, ...], levels: int = LEVELS) -> tuple[RGB, ...]:
    """`levels` colours, interpolated from the first anchor to the last."""
    at, ends = np.linspace(0, len(anchors) - 1, levels), np.arange(len(anchors))
    channels = (np.interp(at, ends, channel).round().astype(int).tolist() for channel in np.array(anchors, float).T)
    return tuple((red, green, blue) for red, green, blue in zip(*channels, strict=True))


@lru_cache(32)
def palette_of(colours: tuple[RGB, ...]) -> Words:
    """The colours as 0xRRGGBB; not to be written into."""
    return packed(colours)
