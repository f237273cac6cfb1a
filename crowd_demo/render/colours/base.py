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
from crowd_demo.compute.jit import Launch, launch
from crowd_demo.render.drawing import Mode, number_agents
from crowd_demo.render.inks import RGB, packed
from crowd_demo.sim.simulation import Simulation

LEVELS = 256
DARK_GROUNDS = "sky", "dusk", "night", "water"


class ColourScales(NamedTuple):
    """Colours that stand out from a kind of ground and can be told apart, by colour-blind people too."""

    rising: tuple[RGB, ...]  # the anchors of a ramp from little to much
    rainbow: tuple[RGB, ...]  # of a ramp in which nothing is more
    wheel: tuple[RGB, ...]  # going up, right, down, left
    levels: tuple[RGB, ...]  # six, from free to jammed
    categories: tuple[RGB, ...]


ON_DARK = ColourScales(  # no colour is as dark as a sky or a night
    rising=((86, 148, 250), (60, 192, 190), (250, 222, 80), (252, 136, 40), (232, 48, 70)),
    rainbow=(
        (245, 100, 88), (218, 132, 20), (168, 158, 20), (80, 178, 80), (20, 174, 165), (80, 152, 250), (184, 124, 250)),
    wheel=((255, 248, 232), (255, 196, 70), (188, 96, 150), (86, 168, 255)),
    levels=((66, 116, 236), (52, 152, 226), (56, 190, 172), (250, 216, 70), (252, 134, 40), (228, 36, 64)),
    categories=(  # Okabe and Ito 2008, without black
        (230, 159, 0), (86, 180, 233), (0, 158, 115), (240, 228, 66), (0, 114, 178), (213, 94, 0), (204, 121, 167),
        (240, 240, 240)))
ON_LIGHT = ColourScales(  # no colour, and none between two of a ramp, is as pale as stone or a floor, or a green like grass
    rising=((29, 110, 255), (100, 14, 136), (186, 0, 66), (226, 88, 0), (255, 210, 19)),
    rainbow=((205, 40, 60), (215, 110, 0), (112, 104, 0), (16, 110, 52), (10, 123, 120), (20, 84, 255), (140, 55, 210)),
    wheel=((0, 122, 80), (240, 130, 0), (120, 20, 110), (43, 90, 251)),
    levels=((33, 37, 120), (40, 116, 243), (5, 100, 120), (255, 225, 9), (219, 109, 7), (148, 30, 30)),
    categories=(
        (245, 135, 10), (55, 169, 247), (18, 108, 90), (248, 240, 7), (8, 54, 197), (190, 50, 0), (172, 60, 160),
        (25, 14, 25)))


def scales_of(sim: Simulation) -> ColourScales:
    """The colours for the ground that the agents are drawn on."""
    return ON_DARK if sim.config.scene.ground in DARK_GROUNDS else ON_LIGHT


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
        """Return the record by whose type agents are numbered (`number_of`), unless `launches` does without."""
        return None

    def launches(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Launch, ...]:
        """Return the kernels after which `number[k]` is the number of the colour of the agent in `slots[k]`."""
        return (launch(number_agents, sim.workers, slots, self.mode(sim), number),)

    def launches_to_compile(self, sim: Simulation, number: Bytes) -> tuple[Launch, ...]:
        """Return every kernel that `launches` may return, to be compiled and never run."""
        return self.launches(sim, np.zeros(0, np.int32), number)

    def legend(self, sim: Simulation) -> Legend:
        """Explain the colours."""

    def tells(self, sim: Simulation) -> bool:
        """Return whether the colours show anything about this crowd. Not if all agents have the same colour."""
        return len(self.legend(sim).texts) > 1


@lru_cache(32)  # a mode is asked for its colours in each frame
def ramp(anchors: tuple[RGB, ...], levels: int = LEVELS) -> tuple[RGB, ...]:
    at, ends = np.linspace(0, len(anchors) - 1, levels), np.arange(len(anchors))
    channels = (np.interp(at, ends, channel).round().astype(int).tolist() for channel in np.array(anchors, float).T)
    return tuple((red, green, blue) for red, green, blue in zip(*channels, strict=True))


@lru_cache(32)
def palette_of(colours: tuple[RGB, ...]) -> Words:
    """The colours as 0xRRGGBB; not to be written into."""
    return packed(colours)
