"""Heat maps: squares that are the darker and the more opaque the more there is in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.render.inks import SCALE, scale_inks
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.render.told import Key

PALE, FULL = 160, 215  # how opaque the least and the most are, of 255: enough to be told apart on any ground


def draw_heat(sketch: Sketch, left: ArrayLike, top: ArrayLike, right: ArrayLike, bottom: ArrayLike, amounts: ArrayLike,
              what: str, ends: dict[str, float] | None = None) -> None:
    """Fill rectangles by how much there is, 1 or more; `ends` keeps the end of the scale of each `what`."""
    amounts = np.asarray(amounts, np.float64)
    end = end_for(float(amounts.max(initial=1)), what, {} if ends is None else ends)
    sketch.areas(left, top, right, bottom, scale_inks((amounts - 1) / (end - 1), PALE, FULL))
    keys = (Key(colour, f"{1 + (end - 1) * third / 3:,.0f}") for third, colour in enumerate(SCALE))
    sketch.tell(f"{what}; most {amounts.max(initial=0):,.0f}", *keys)


def end_for(most: float, what: str, ends: dict[str, float]) -> float:
    """The end of a scale. It stays until there is more, or less than a quarter of it, so that colours do not flicker."""
    if not ends.get(what, 0) / 4 <= most <= ends.get(what, 0):
        ends[what] = round_up(most)
    return ends[what]


def round_up(number: float) -> float:
    """The next number of 4, 7, 13, 25, 49, ...: 1 and three equal steps."""
    step = 1.0
    while 1 + 3 * step < number:
        step *= 2
    return 1 + 3 * step
