"""How the HUD looks: the colours of the two themes, the sizes of text, and how large a unit is.

Everything is laid out in units. A unit is a pixel times the scale, which grows with the root of the window's height: text
can be read from the back of a room at 1280 x 720, and fills no larger screen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

RGBA = tuple[int, int, int] | tuple[int, int, int, int]  # opaque without the fourth
Colour = str | RGBA  # a name of the theme, or the colour itself
Theme = Mapping[str, RGBA]

PANEL, SHEET, EDGE, KEY, TOUCHED, SHADE = "panel", "sheet", "edge", "key", "touched", "shade"
TEXT, DIM, FAINT, INACTIVE, GROUND = "text", "dim", "faint", "inactive", "ground"
ACCENT, MUTED, WARM, GOOD, BAD = "accent", "muted", "warm", "good", "bad"

DARK: Theme = {
    PANEL: (13, 17, 24, 216), SHEET: (13, 17, 24, 242), EDGE: (58, 66, 78), KEY: (52, 60, 72), TOUCHED: (38, 56, 76),
    SHADE: (6, 8, 12, 150), TEXT: (230, 235, 241), DIM: (164, 174, 186), FAINT: (134, 144, 158), INACTIVE: (92, 100, 112),
    GROUND: (28, 34, 44), ACCENT: (96, 190, 240), MUTED: (62, 120, 156), WARM: (240, 178, 62), GOOD: (92, 204, 160),
    BAD: (255, 104, 84),
}
LIGHT: Theme = {
    PANEL: (250, 251, 252, 228), SHEET: (250, 251, 252, 246), EDGE: (186, 194, 204), KEY: (218, 223, 229),
    TOUCHED: (206, 226, 244), SHADE: (230, 234, 240, 140), TEXT: (20, 26, 34), DIM: (58, 68, 80), FAINT: (86, 96, 110),
    INACTIVE: (142, 150, 160), GROUND: (226, 231, 237), ACCENT: (0, 94, 162), MUTED: (92, 150, 190), WARM: (156, 86, 0),
    GOOD: (0, 112, 80), BAD: (190, 30, 20),
}
THEMES: Mapping[str, Theme] = {"dark": DARK, "light": LIGHT}

SMALL, NORMAL, LARGE, HUGE = 10, 12, 14, 26
PAD = 12
USUAL_SCALE, USUAL_HEIGHT = 1.15, 720  # pixels a unit, in a window of that height
LEAST_SCALE, MOST_SCALE = 0.7, 6.0
BOTH_PANELS = 566  # units that the two panels take side by side


def scale_for(size: tuple[int, int], factor: float = 1.0) -> float:
    """Pixels a unit in a window of that size; `factor` is the user's, as far as both panels have room side by side."""
    wanted = USUAL_SCALE * math.sqrt(size[1] / USUAL_HEIGHT) * factor
    return max(min(wanted, size[0] / BOTH_PANELS, MOST_SCALE), LEAST_SCALE)
