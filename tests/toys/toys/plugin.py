"""What the package adds. Nothing heavy is imported here: `crowd-demo --help` reads this file."""

import sys
from pathlib import Path

from crowd_demo.registry.entries import (
    APPROXIMATE,
    BehaviourEntry,
    ColourEntry,
    OverlayEntry,
    Plugin,
    Situation,
    StageEntry,
    Technique,
)


def is_inactive(situation: Situation) -> bool:
    if "toys.mishaps" in sys.modules:
        sys.modules["toys.mishaps"].happen("inactive")
    return situation.get("census") is True


PLUGIN = Plugin(
    techniques=(
        Technique("census", (False, True), False, label="census", why="count who stands in the left half",
                  stage="census"),
        Technique("brake", (0, 1, 2), 0, APPROXIMATE, label="brake", why="take so many tenths of everybody's speed, each step",
                  stage="brake", key="'", inactive=is_inactive),
    ),
    behaviours=(BehaviourEntry("gnats", "gnats that follow", "toys.settings:GnatSettings", "toys.gnats:Gnats",
                               "crowd_demo.render.figures.birds:BirdFigures"),),
    stages=(StageEntry("toys.census:Census", after="move"), StageEntry("toys.census:Brake", after="interaction")),
    overlays=(OverlayEntry("centre", "mark the middle of the world", "toys.centre:draw_centre", key="`"),),
    colours=(ColourEntry("plain", "all agents alike", "toys.mishaps:Plain"),),
    scenarios=Path(__file__).parent / "scenarios",
)
