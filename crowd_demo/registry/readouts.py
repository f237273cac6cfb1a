"""What each number of the HUD is, and when it is good or bad, by the label that the HUD writes beside it.

The HUD's tooltips show these texts, and docs/reference/overlays.md lists them.
"""

from __future__ import annotations

from typing import NamedTuple

from crowd_demo.registry.stages import PARTS


class Readout(NamedTuple):
    """A sentence each. `good`: what is good or bad; of a number that is neither, what else to make of it."""

    what: str
    good: str


READOUTS = {
    # times
    "FPS": Readout("Frames displayed in the last second.",
                   "60 is smooth, and the maximum where the window waits for the screen."),
    "ms per frame": Readout("One step, and drawing it.",
                            "Up to 16.7 allows 60 FPS. Card, tours, M and N define a frame alike."),
    "steps per frame": Readout("Steps per displayed frame.", "At speed 1: 1 at 60 FPS, 2 at 30 FPS."),
    "steps per s": Readout("Steps in the last second.", "60 is real time, unless time.step_hz is set."),
    "p50": Readout("Median frame interval of the last 300 frames, in ms.", "The usual frame."),
    "p95": Readout("95th percentile of the frame interval over the last 300 frames, in ms.",
                   "Below 16.7, slow frames go unnoticed."),
    "p99": Readout("99th percentile of the frame interval over the last 300 frames, in ms.",
                   "Far above p50 means stutter: a sort, meters, or another program."),
    "speed": Readout("Simulated seconds per second of real time.",
                     "Real, the speed that is reached, appears if the machine is too slow."),
    "tick": Readout("Steps since the start, and the simulated time.", "Compare two runs at the same tick."),
    "graph": Readout("Time of each displayed frame with its steps, newest at the right. The line is 60 FPS.",
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
                      "A third is good for a grid, 10 to 13% with SIMD lanes, which share candidates."),
    "walking": Readout("People on their way.", "Nearly all, where a crowd flows."),
    "waiting": Readout("People who have arrived and pause.", "Follows from crowd.wait_s and the routes."),
    "stuck": Readout("People blocked by oncoming people, a wall or a knot for 1.5 s (crowd.stuck_s).",
                     "Few is good. They are nudged at random."),
    "queuing": Readout("People behind others who go the same way, or outside a full destination.",
                       "They choose again after crowd.reconsider_s on average."),
    "reconsider": Readout("People without progress for 1.5 s (crowd.stuck_s) who may choose another destination. Each does"
                          " after 5 s (crowd.reconsider_s) on average. People who leave or are sent may not.",
                          "Near 0 where a crowd flows. Many, if more people want to pass than can."),
    "births": Readout("Births per step.", "They are placed at the end of memory."),
    "deaths": Readout("Deaths per step.", "Each leaves a gap in memory, which removal closes."),
    "peak": Readout("Maximum number of agents in the period of the curve.",
                    "The curve is scaled from its minimum to its maximum."),
    # memory
    "sorts (ms)": Readout("Reorderings in memory, and the time of the last one.",
                          "Sorting pays if it saves interaction more time than it takes."),
    "since sort": Readout("Steps since agents were last reordered.", "Interaction slows down as it grows."),
    "drift": Readout("Upper bound of the distance moved since the last reordering, in cells.",
                     "Below 0.5 most neighbours are still near in memory."),
    "top worker": Readout("Candidates of the busiest worker relative to the mean.",
                          "1 is an even share. With two workers, 2 means that one does all work."),
    "near reads": Readout("Share of reads in the same cache line as the previous read, or the next line.",
                          "75 to 90% right after a sort, near 0 without sorting."),
    "L1 misses": Readout("Share of reads that miss a simulated first-level cache.",
                         "About 1% after a sort. 10% is much, as each miss waits for memory."),
    # errors
    "approximate": Readout("Techniques marked ~ do less work and change the motion a little.",
                           "The HUD shows the error where it can be measured."),
    "model": Readout("Techniques marked ≠ are another rule of behaviour.", "Their crowds differ, and each is valid."),
    "steps since update": Readout("Agents whose last update was 0, 1, 2, ... steps ago.",
                                  "Even bars are good: each step has the same work."),
    "stagger error": Readout("Error of the pushes kept from earlier steps, relative to a mean push.",
                             "9 to 20% at every third step is hardly visible. 50% is visible."),
    "limit error": Readout("Error of pushes without the neighbours beyond the limit, relative to a mean push.",
                           "The nearest give a smaller error than the first."),
    "mean direction to": Readout("Mean direction to all neighbours, and to those within the limit. 0 is even.",
                                 "If the two differ, the limit pushes the whole crowd aside."),
    "field error": Readout("Mean error of pushes from a smoothed field instead of pairs.",
                           "About 16% of a mean push for birds."),
    "at worst": Readout("Largest such error in the sample.",
                        "Above 100%, at least one agent steers in a wrong direction."),
    # scenario
    "clock": Readout("Simulated time since the scenario's clock started, for example at the alarm.",
                     "The answer is a time on this clock."),
    "remain": Readout("Number of agents present, and at the start.", "0 once all have left."),
    "answer": Readout("Time on the clock when the scenario ended.", "Restart, change something, and compare."),
    "flow": Readout("Crossings of a line in both directions, or people who left by a door. The rate is the mean of 5 s.",
                    "A door passes 1.2 to 2 people per metre and second."),
    "inside": Readout("Number of agents in an area.", "Areas are those of measure.areas."),
    # timeline
    "timeline": Readout("The recorded past, with the time of its frames.",
                        "Click or drag to rewind. An edit in the past discards what came after it."),
}
