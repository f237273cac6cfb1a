"""The registry of stages: what each stage is, and to which of three parts it belongs.

*step* is what moves the crowd, *draw* what makes its picture: a frame is a step and its picture. *present* is what a
window takes whatever is in it: events, the HUD with its meters, handing the picture over, and the time in no stage.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

PARTS = {
    "step": "moving the crowd: milliseconds per step",
    "draw": "drawing the crowd: milliseconds per frame",
    "present": "the fixed cost of a window per frame: events, HUD, meters, presenting the frame",
}


class StageText(NamedTuple):
    name: str  # as in the profile
    part: str  # one of `PARTS`
    colour: tuple[int, int, int]  # in the graph of frame times and beside the stage's time
    about: str


# The colours differ for all eyes. The parts are three families of hues: *step* is blue, *draw* is yellow to brown, and
# *present* is pink; to eyes without red or green these are blue, yellow and grey. Within a family lightness tells stages
# apart. The hues are Okabe and Ito's; a search placed the rest as far from each other, and from the grounds of both
# themes, as it could. The distances are in tests/render/hud/test_stage_colours.py.
PLUGIN_COLOUR = (0, 72, 246)

_KNOWN = (
    StageText("life", "step", (90, 96, 138), "births and deaths"),
    StageText("compact", "step", (24, 66, 174),
              "closes the gaps of dead agents in memory, where removal is deferred"),
    StageText("exits", "step", (24, 12, 100), "removes or replaces people who have arrived at an exit"),
    StageText("index", "step", (86, 180, 233),
              "sorts agents into cells, or builds the tree"),
    StageText("reorder", "step", (24, 102, 252),
              "in some steps: moves agents in memory into the order of their cells"),
    StageText("query", "step", (66, 174, 192),
              "finds the candidates of each leaf of a tree or square of cells"),
    StageText("interaction", "step", (0, 114, 178),
              "agents that are due test their candidates, and add up the pushes of neighbours"),
    StageText("links", "step", (54, 126, 252), "pulls at agents tied by springs"),
    StageText("sight", "step", (90, 234, 252), "people who are due test whether their goal is in sight"),
    StageText("paths", "step", (6, 60, 198),
              "people who are due take a new heading, and flow fields are updated"),
    StageText("admit", "step", (120, 120, 144),
              "destinations admit people from the queue"),
    StageText("hunt", "step", (70, 100, 200), "predators look for the densest cell of prey in sight"),
    StageText("move", "step", (48, 72, 138), "gives agents their next velocity and position, outside walls"),
    StageText("contact", "step", (20, 40, 250), "pushes overlapping bodies apart"),
    StageText("pins", "step", (72, 168, 252), "holds pinned agents in their places"),
    StageText("count", "step", (22, 50, 90), "counts agents that cross the lines of a scenario with events"),
    StageText("culling grid", "draw", (234, 216, 102),
              "sorts agents into cells again, for culling by cells"),
    StageText("cull", "draw", (180, 120, 84), "finds the agents in view"),
    StageText("depth", "draw", (234, 222, 12), "sorts what is drawn, back to front"),
    StageText("ground", "draw", (213, 94, 0), "draws floor, walls and water"),
    StageText("lines", "draw", (228, 204, 150), "draws the links"),
    StageText("blit", "draw", (230, 159, 0), "draws the agents"),
    StageText("overlays", "present", (80, 44, 44), "draws the overlays"),
    StageText("events", "present", (185, 125, 155), "reads keys, mouse and window"),
    StageText("garbage", "present", (255, 219, 210), "collects Python's garbage, at the end of a frame"),
    StageText("meters", "present", (120, 80, 75),
              "in some frames: measures errors and the order in memory on a sample"),
    StageText("proof", "present", (205, 170, 195),
              "after a switch: compares two crowds, in 25% of the time. Side by side: the second crowd"),
    StageText("hud", "present", (195, 80, 115), "draws the HUD"),
    StageText("flip", "present", (250, 175, 180),
              "presents the frame, and may wait for the screen"),
    StageText("other", "present", (66, 71, 80),
              "time outside all stages"),
)

# Listed whether they run or not, since any crowd can have them: so no row moves when a technique is switched.
EVERYWHERE = ("index", "reorder", "query", "interaction", "move", "culling grid", "cull", "depth", "ground", "blit",
              "overlays", "events", "garbage", "meters", "proof", "hud", "flip", "other")

STAGES: dict[str, StageText] = {stage.name: stage for stage in _KNOWN}  # in the order in which they are stacked


def text_of(stage: str) -> StageText:
    """The record of a stage; one that is not in the registry is a plugin's, and part of a step."""
    return STAGES.get(stage) or StageText(stage, "step", PLUGIN_COLOUR, "a stage that a plugin has added")


def in_order(stages: Iterable[str]) -> list[str]:
    """Part by part, each in the order of the registry; those of plugins at the end of the step."""
    parts, known = list(PARTS), list(STAGES)
    return sorted(stages, key=lambda stage: (parts.index(text_of(stage).part),
                                             known.index(stage) if stage in STAGES else len(known)))


def stages_of(part: str, stages: Iterable[str]) -> list[str]:
    return [stage for stage in in_order(stages) if text_of(stage).part == part]
