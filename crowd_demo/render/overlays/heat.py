"""Heat maps: squares that are the darker and the more opaque the more there is in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.render.inks import SCALE, scale_inks
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.render.told import Key

PALE, FULL = 70, 205  # how opaque the least and the most are, of 255


def draw_heat(sketch: Sketch, left: ArrayLike, top: ArrayLike, side: float, amounts: ArrayLike, what: str) -> None:
    """Fill squares by how much there is; the scale ends at a round number, so colours do not change all the time."""
    draw_boxes(sketch, left, top, np.asarray(left) + side, np.asarray(top) + side, amounts, what)


def draw_boxes(sketch: Sketch, left: ArrayLike, top: ArrayLike, right: ArrayLike, bottom: ArrayLike, amounts: ArrayLike,
               what: str) -> None:
    """The same for rectangles."""
    amounts = np.asarray(amounts, np.float64)
    end = round_up(float(amounts.max(initial=1)))
    sketch.areas(left, top, right, bottom, scale_inks(amounts / end, PALE, FULL))
    sketch.tell(f"{what}; most {amounts.max(initial=0):,.0f}", Key(SCALE[0], "0"), Key(SCALE[1], f"{end / 3:,.3g}"),
                Key(SCALE[2], f"{end * 2 / 3:,.3g}"), Key(SCALE[3], f"{end:,.3g}"))


def round_up(number: float) -> float:
    """The next number of 1, 2, 3, 6, 12, 24, ..."""
    end = 3.0
    while end < number:
        end *= 2
    return end
