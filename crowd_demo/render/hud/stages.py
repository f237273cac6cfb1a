"""The colour of each stage, the same in every configuration and different for all eyes.

The parts of a frame are three families of hues: *step* is blue, *draw* is yellow to brown, *present* is pink; to eyes without
red or green these are blue, yellow and grey. Within a family lightness tells stages apart. The hues are Okabe and Ito's; a
search placed the rest as far from each other, and from the grounds of both themes, as it could. The distances are in
tests/render/hud/test_stages.py.
"""

from __future__ import annotations

from crowd_demo.render.told import RGB

REST: RGB = (66, 71, 80)  # time of a frame that lies in no stage
OF_PLUGINS: RGB = (0, 72, 246)
COLOURS: dict[str, RGB] = {
    "life": (90, 96, 138), "compact": (24, 66, 174), "exits": (24, 12, 100), "index": (86, 180, 233),
    "reorder": (24, 102, 252), "query": (66, 174, 192), "see": (0, 114, 178), "links": (54, 126, 252),
    "sight": (90, 234, 252), "paths": (6, 60, 198),
    "admit": (120, 120, 144), "move": (48, 72, 138), "hunt": (70, 100, 200), "contact": (20, 40, 250), "pins": (72, 168, 252),
    "culling grid": (234, 216, 102), "cull": (180, 120, 84), "depth": (234, 222, 12), "ground": (213, 94, 0),
    "lines": (228, 204, 150), "blit": (230, 159, 0), "overlays": (168, 66, 30),
    "events": (185, 125, 155), "meters": (120, 80, 75), "proof": (205, 170, 195), "hud": (195, 80, 115),
    "flip": (250, 175, 180), "other": REST,
}


def colour_of(stage: str) -> RGB:
    return COLOURS.get(stage, OF_PLUGINS)
