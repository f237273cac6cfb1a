"""The registry of stages: what each of a frame's stages is, and to which of three parts of the frame it belongs.

*step* is what moves the crowd, *draw* what makes its picture, *present* what a window takes whatever is in it: events, the HUD
with its meters, handing the picture over, and the time that lies in no stage. The three add up to the frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

PARTS = {
    "step": "what moves the crowd; a frame has none to four steps, or more at a high speed",
    "draw": "what makes the picture of the crowd",
    "present": "what a window takes whatever is in it: events, HUD, meters, handing the picture over",
}


class StageText(NamedTuple):
    """What is known of a stage."""

    name: str  # as in the profile
    part: str  # one of `PARTS`
    about: str


_KNOWN = (
    StageText("life", "step", "births and deaths"),
    StageText("compact", "step", "closes the gaps in memory that the dead have left, where removal is deferred"),
    StageText("exits", "step", "people who have arrived at an exit leave, and as many others come in"),
    StageText("index", "step", "finds out who stands where: sorts agents into cells, or builds the tree"),
    StageText("reorder", "step", "moves agents in memory into the order of their cells; only now and then"),
    StageText("query", "step", "finds the candidates of each leaf of a tree, or of each square of cells"),
    StageText("interaction", "step", "each agent that is due looks at its candidates, and adds up the push of its neighbours"),
    StageText("links", "step", "pulls at agents that are tied to each other by springs"),
    StageText("sight", "step", "people who are due look whether their goal is in sight"),
    StageText("paths", "step", "people who are due take a new heading; flow fields are made, and again around crowds"),
    StageText("admit", "step", "destinations count who is there and who queues, and decide whom they let in"),
    StageText("hunt", "step", "predators look for the densest cell of prey in sight"),
    StageText("move", "step", "each agent takes its next velocity and position, and stays out of walls"),
    StageText("contact", "step", "moves people apart whose bodies overlap; one or more passes"),
    StageText("pins", "step", "holds pinned agents in their places"),
    StageText("culling grid", "draw", "sorts agents into cells once more, for culling by cells: they have moved since index"),
    StageText("cull", "draw", "finds the agents that the camera sees"),
    StageText("depth", "draw", "puts what is drawn into order, back first"),
    StageText("ground", "draw", "draws floor, walls and water"),
    StageText("lines", "draw", "draws the links"),
    StageText("blit", "draw", "draws the agents"),
    StageText("overlays", "draw", "draws what is switched on over the picture, such as the frozen view"),
    StageText("events", "present", "reads keys, mouse and window"),
    StageText("meters", "present", "measures errors and the order in memory on a sample, for the HUD; only now and then"),
    StageText("proof", "present", "after a switch: measures what it gave, and compares two crowds, a twentieth of the time; or"
              " side by side, the second crowd"),
    StageText("hud", "present", "draws the HUD"),
    StageText("flip", "present", "hands the picture to the system; waits for the screen where that is synchronous"),
    StageText("other", "present", "lies in no stage: handing work to another thread, counting, Python itself"),
)

STAGES: dict[str, StageText] = {stage.name: stage for stage in _KNOWN}  # in the order in which they are stacked


def text_of(stage: str) -> StageText:
    """What is known of a stage; one that is not in the registry is a plugin's, and those are parts of a step."""
    return STAGES.get(stage) or StageText(stage, "step", "a stage that a plugin has added")


def in_order(stages: Iterable[str]) -> list[str]:
    """Part by part, each in the order of the registry; those of plugins at the end of the step."""
    parts, known = list(PARTS), list(STAGES)
    return sorted(stages, key=lambda stage: (parts.index(text_of(stage).part),
                                             known.index(stage) if stage in STAGES else len(known)))


def stages_of(part: str, stages: Iterable[str]) -> list[str]:
    """Those of the stages that belong to a part, in their order."""
    return [stage for stage in in_order(stages) if text_of(stage).part == part]
