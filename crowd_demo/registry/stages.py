"""The registries of what the HUD lists: stages, each with the one of three parts to which it belongs; and readouts.

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
              "closes the gaps of dead agents, where removal is deferred"),
    StageText("exits", "step", (24, 12, 100), "removes or replaces people who have arrived at an exit"),
    StageText("index", "step", (86, 180, 233),
              "sorts agents into cells, or builds the tree"),
    StageText("reorder", "step", (24, 102, 252),
              "in some steps: moves agents in memory into the order of their cells"),
    StageText("query", "step", (66, 174, 192),
              "finds the candidates of each leaf of a tree or square of cells"),
    StageText("interaction", "step", (0, 114, 178),
              "due agents test candidates and add up the pushes of neighbours"),
    StageText("links", "step", (54, 126, 252), "pulls at agents tied by springs"),
    StageText("sight", "step", (90, 234, 252), "due people test whether their goal is in sight"),
    StageText("paths", "step", (6, 60, 198),
              "due people take a new heading, and flow fields are updated"),
    StageText("admit", "step", (120, 120, 144),
              "destinations admit people from the queue"),
    StageText("hunt", "step", (70, 100, 200), "predators look for the densest cell of prey in sight"),
    StageText("move", "step", (48, 72, 138), "gives agents their next velocity and position, outside walls"),
    StageText("contact", "step", (20, 40, 250), "pushes overlapping bodies apart"),
    StageText("pins", "step", (72, 168, 252), "holds pinned agents in their places"),
    StageText("count", "step", (22, 50, 90), "counts agents that cross lines, in scenarios with events"),
    StageText("culling grid", "draw", (234, 216, 102),
              "sorts agents into cells, for culling by cells"),
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


# --- readouts --------------------------------------------------------------------------------------------------------

class Readout(NamedTuple):
    """A sentence each. `good`: what is good or bad; of a number that is neither, what else to make of it."""

    what: str
    good: str


# What each number of the HUD is, and when it is good or bad, by the label that the HUD writes beside it: texts of the HUD's
# tooltips and of docs/reference/overlays.md.
READOUTS = {
    # times
    "FPS": Readout("Frames displayed in the last second.",
                   "60 is smooth, and often the screen's maximum."),
    "ms per frame": Readout("One step, and drawing it.",
                            "Up to 16.7 allows 60 FPS."),
    "steps per frame": Readout("Steps per displayed frame.", "At speed 1: 1 at 60 FPS, 2 at 30 FPS."),
    "steps per s": Readout("Steps in the last second.", "60 is real time, unless time.step_hz is set."),
    "p50": Readout("Median of the last 300 frame intervals, in ms.", "The usual frame."),
    "p95": Readout("95th percentile of the last 300 frame intervals, in ms.", "Below 16.7, slow frames go unnoticed."),
    "p99": Readout("99th percentile of the last 300 frame intervals, in ms.",
                   "Far above p50 means stutter: a sort, meters, or another program."),
    "speed": Readout("Simulated seconds per second of real time.",
                     "Real, the speed that is reached, appears if the machine is too slow."),
    "tick": Readout("Steps since the start, and the simulated time.", "Compare two runs at the same tick."),
    "graph": Readout("Time of each frame with its steps, newest at the right. The line is 60 FPS.",
                     "Low and even is good. A regular spike is often a sort or a meter."),
    **{part: Readout(f"{about[0].upper()}{about[1:]}.", good) for (part, about), good in zip(PARTS.items(), (
        "Most techniques shorten it. Card, M and N measure the same.",
        "Grows with what is in view.",
        "No technique changes it. It does not count as frame time."), strict=True)},
    # crowd
    "agents": Readout("Number of agents.", "The largest crowd at 60 FPS takes 16.7 ms per frame."),
    "in view": Readout("Agents in view.", "The least that must be drawn."),
    "drawn": Readout("Agents that were drawn, in view or not.", "Good if near 'in view'."),
    "neighbours": Readout("Neighbours per agent.", "No exact technique changes it."),
    "candidates": Readout("Agents tested per query to find the neighbours.",
                          "The fewer the better. Brute force tests the whole crowd."),
    "useful": Readout("Share of candidates that are neighbours.",
                      "A third is good for a grid, 10 to 13% with SIMD lanes."),
    "walking": Readout("People on their way.", "Nearly all, where a crowd flows."),
    "waiting": Readout("People who have arrived and pause.", "Follows from crowd.wait_s and the routes."),
    "stuck": Readout("People blocked by oncoming people, a wall or a knot for 1.5 s (crowd.stuck_s).",
                     "Few is good. They are nudged at random."),
    "queuing": Readout("People behind others who go the same way, or outside a full destination.",
                       "They choose again after crowd.reconsider_s on average."),
    "reconsider": Readout("Stuck or queuing people who may choose another destination. Each does"
                          " after 5 s (crowd.reconsider_s) on average. People who leave or are sent may not.",
                          "Near 0 where a crowd flows."),
    "births": Readout("Births per step.", "They are placed at the end of memory."),
    "deaths": Readout("Deaths per step.", "Each leaves a gap in memory, which removal closes."),
    "peak": Readout("Maximum number of agents on the curve.",
                    "The curve is scaled from its minimum to its maximum."),
    # memory
    "sorts (ms)": Readout("Reorderings in memory, and the time of the last one.",
                          "Sorting pays if it saves interaction more time than it takes."),
    "since sort": Readout("Steps since agents were last reordered.", "Interaction slows down as it grows."),
    "drift": Readout("Upper bound of the distance moved since the last reordering, in cells.",
                     "Below 0.5 most neighbours are still near in memory."),
    "top worker": Readout("Candidates of the busiest worker relative to the mean.",
                          "1 is an even share. With two workers, 2 means that one does all work."),
    "near reads": Readout("Share of reads in the cache line of the previous read, or the next line.",
                          "75 to 90% right after a sort, near 0 without sorting."),
    "L1 misses": Readout("Share of reads that miss a simulated first-level cache.",
                         "About 1% after a sort. 10% is much."),
    # errors
    "approximate": Readout("Techniques marked ~ do less work and change the motion a little.",
                           "The HUD shows the error where it can be measured."),
    "model": Readout("Techniques marked ≠ are another rule of behaviour.", "Their crowds differ, and each is valid."),
    "steps since update": Readout("Agents whose last update was 0, 1, 2, ... steps ago.",
                                  "Even bars are good: each step has the same work."),
    "stagger error": Readout("Error of the pushes kept from earlier steps, relative to a mean push.",
                             "9 to 20% at every third step is hardly visible, 50% is."),
    "limit error": Readout("Error of pushes without the neighbours beyond the limit, relative to a mean push.",
                           "The nearest give a smaller error than the first."),
    "mean direction to": Readout("Mean direction to all neighbours and to those within the limit. 0 is even.",
                                 "If the two differ, the limit pushes the whole crowd aside."),
    "field error": Readout("Mean error of pushes from a smoothed field instead of pairs.",
                           "About 16% of a mean push for birds."),
    "at worst": Readout("Largest such error in the sample.",
                        "Above 100%, at least one agent steers in a wrong direction."),
    # scenario
    "clock": Readout("Simulated time since the scenario's clock started, as at an alarm.",
                     "The answer is a time on this clock."),
    "remain": Readout("Number of agents present, and at the start.", "0 once all have left."),
    "answer": Readout("Time on the clock when the scenario ended.", "Restart, change something, and compare."),
    "flow": Readout("Crossings of a line both ways, or people who left by a door. The rate is the mean of 5 s.",
                    "A door passes 1.2 to 2 people per metre and second."),
    "inside": Readout("Number of agents in an area.", "Areas are those of measure.areas."),
    # timeline
    "timeline": Readout("The recorded past, with the time of its frames.",
                        "Click or drag to rewind. An edit in the past discards what came after it."),
}
