"""Heat maps: areas that are the darker and the more opaque the more there is in them."""

from __future__ import annotations

from collections import defaultdict, deque
from itertools import count
from typing import NamedTuple

from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Doubles
from crowd_demo.render.hud.status import Key
from crowd_demo.render.inks import SCALE, scale_inks
from crowd_demo.render.overlays.sketch import Sketch

PALE, FULL = 160, 215  # how opaque the least and the most are, of 255: enough to be told apart on any ground
LASTING = 180  # pictures


class Heat(NamedTuple):
    """Rectangles of the world, and how much there is in each, 1 or more."""

    left: ArrayLike
    top: ArrayLike
    right: ArrayLike
    bottom: ArrayLike
    amounts: Doubles


class Scales:
    """Where the scale of each heat map ends: at once higher if there is more; lower once no picture has needed it for long.

    So colours do not flicker.
    """

    def __init__(self) -> None:
        self._needed = defaultdict[str, deque[int]](lambda: deque(maxlen=LASTING))

    def end_of(self, what: str, most: float) -> int:
        """Where the scale of this picture ends."""
        self._needed[what].append(round_up(most))
        return max(self._needed[what])


def draw_heat(sketch: Sketch, heat: Heat, what: str, scales: Scales) -> None:
    """Fill rectangles by how much there is of what."""
    most = float(heat.amounts.max(initial=0))
    end = scales.end_of(what, most)
    inks = scale_inks((heat.amounts - 1) / (end - 1), PALE, FULL)
    sketch.areas(heat.left, heat.top, heat.right, heat.bottom, inks)
    keys = (Key(colour, f"{1 + (end - 1) * third // 3:,}") for third, colour in enumerate(SCALE))
    sketch.explain(f"{what}; most {most:,.0f}", *keys)


def round_up(number: float) -> int:
    """The next number of 4, 7, 10, 13, 19, 25, 37, 49, ...: 1 and three equal steps."""
    steps = (each << power >> 1 for power in count() for each in (2, 3))  # 1, 1, 2, 3, 4, 6, 8, 12, ...
    return next(1 + 3 * step for step in steps if 1 + 3 * step >= number)
