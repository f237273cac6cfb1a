"""How the HUD looks: the colours of the two themes and of the stages of a frame, the sizes of text, and how large a unit is.

Everything is laid out in units. A unit is a pixel times the scale, which grows with the root of the window's height: text
can be read from the back of a room at 1280 x 720, and fills no larger screen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from crowd_demo.render.inks import RGB

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


# --- stages ----------------------------------------------------------------------------------------------------------

# The same in every configuration and different for all eyes. The parts of a frame are three families of hues: *step* is blue,
# *draw* is yellow to brown, *present* is pink; to eyes without red or green these are blue, yellow and grey. Within a family
# lightness tells stages apart. The hues are Okabe and Ito's; a search placed the rest as far from each other, and from the
# grounds of both themes, as it could. The distances are in tests/render/hud/test_theme.py.
REST: RGB = (66, 71, 80)  # time of a frame that lies in no stage
PLUGIN_STAGE: RGB = (0, 72, 246)
STAGE_COLOURS: dict[str, RGB] = {
    "life": (90, 96, 138), "compact": (24, 66, 174), "exits": (24, 12, 100), "index": (86, 180, 233),
    "reorder": (24, 102, 252), "query": (66, 174, 192), "see": (0, 114, 178), "links": (54, 126, 252),
    "sight": (90, 234, 252), "paths": (6, 60, 198),
    "admit": (120, 120, 144), "move": (48, 72, 138), "hunt": (70, 100, 200), "contact": (20, 40, 250), "pins": (72, 168, 252),
    "culling grid": (234, 216, 102), "cull": (180, 120, 84), "depth": (234, 222, 12), "ground": (213, 94, 0),
    "lines": (228, 204, 150), "blit": (230, 159, 0), "overlays": (168, 66, 30),
    "events": (185, 125, 155), "meters": (120, 80, 75), "proof": (205, 170, 195), "hud": (195, 80, 115),
    "flip": (250, 175, 180), "other": REST,
}


def stage_colour(stage: str) -> RGB:
    return STAGE_COLOURS.get(stage, PLUGIN_STAGE)
