"""What each number of the HUD is, and when it is good or bad, by the label that the HUD writes beside it.

The HUD's tooltips show these texts, and the glossary lists them.
"""

from __future__ import annotations

from typing import NamedTuple

from crowd_demo.registry.stages import PARTS


class Readout(NamedTuple):
    """A sentence each. `good`: what is good or bad; of a number that is neither, what else to make of it."""

    what: str
    good: str


TIMES = {
    "FPS shown": Readout("Pictures displayed in a second, by the last second.",
                         "60 is smooth; where the window waits for the screen, more is not reached: then compare step+draw."),
    "ms step+draw": Readout("Milliseconds of a frame: of one step and of its picture, draw. By the last second.",
                            "Up to 16.7 leaves time for 60 pictures a second. Card, tours, M and N mean the same by a frame."),
    "steps/picture": Readout("Steps from one displayed picture to the next, the mean of the last second.",
                             "At 60 steps a second 1 at 60 FPS, 0.2 at 300 FPS, 2 at 30 FPS; more at a high speed."),
    "steps/s": Readout("Steps of the crowd in the last second of the clock.",
                       "60 is real time at speed x1, unless the configuration asks for another time.step_hz."),
    "p50": Readout("The median time between two displayed pictures, in ms, of the last 300.",
                   "The usual picture, whatever the worst ones do."),
    "p95": Readout("95 % of the last 300 pictures came sooner after the one before, in ms.",
                   "Below 16.7 nobody notices a slow one."),
    "p99": Readout("99 % of the last 300 pictures came sooner after the one before, in ms.",
                   "Far above p50 means stutter: a sort, a reading of meters, or another program."),
    "speed": Readout("Seconds of the crowd's time in a second of the clock; real is the speed that is reached.",
                     "Real shows up only where the machine is too slow for the speed that was asked for."),
    "tick": Readout("Steps since the start, and the crowd's own time.", "Two runs are compared at the same tick."),
    "graph": Readout("The time of each displayed picture with the steps before it, newest at the right, stages stacked,"
                     " steps lowest; the line is 60 FPS.",
                     "Low and even is good; a spike every second or so is often a sort or a meter."),
    **{part: Readout(f"{about[0].upper()}{about[1:]}.", good) for (part, about), good in zip(PARTS.items(), (
        "What most techniques make shorter. By the last second; the card, M and N mean the same by a step.",
        "Grows with what is in view: zoom in, and culling pays.",
        "No technique changes it, and it is no part of a frame; at many FPS it takes most of the time."), strict=True)},
}
CROWD = {
    "agents": Readout("How many agents there are.", "Change them until the frame takes 16.7 ms: that many fit here."),
    "visible": Readout("Agents that the camera sees.", "The least that must be drawn."),
    "drawn": Readout("Agents that were drawn, in view or not.", "Near visible is good: culling leaves the rest out."),
    "neighbours": Readout("Neighbours that an agent found, the mean of those who looked in the last second.",
                          "Given by the crowd: no exact technique changes it."),
    "candidates": Readout("Agents at which one had to look to find its neighbours, the mean as for neighbours.",
                          "The fewer the better; brute force looks at the whole crowd."),
    "useful": Readout("The share of candidates that were neighbours.",
                      "A third is good for a grid, a sixth for SIMD lanes, which share candidates; 5 % is little."),
    "walking": Readout("People on their way.", "Nearly all, where a crowd flows."),
    "waiting": Readout("People who have arrived, and rest before they choose another goal.",
                       "As many as crowd.wait_s and the length of their ways make it."),
    "stuck": Readout("People who have not got on for a while, and wiggle to get free.",
                     "Few is good; many stand at doors that are too narrow for so many."),
    "queuing": Readout("People who stand before their destination until it has a place for them.",
                       "None, where destinations are large enough for all who come (crowd.area_per_person)."),
    "births": Readout("Agents born in a step, the mean of the last second.",
                      "They come at the end of memory, whatever their place."),
    "deaths": Readout("Agents who died in a step, the mean of the last second.",
                      "Each leaves a gap in memory, which removal closes."),
    "peak": Readout("The most agents in the time that the curve shows.", "The curve goes from its least to its most."),
}
MEMORY = {
    "sorts (ms)": Readout("How often agents were reordered in memory, and what the last time cost.",
                          "Worth it as long as it costs less than interaction would grow until the next one."),
    "since sort": Readout("Steps since agents were last reordered.", "Interaction slows down as it grows."),
    "drift": Readout("How far anybody may have moved since the last reordering, in cells.",
                     "Below half a cell nearly all neighbours are still near in memory."),
    "top worker": Readout("The candidates of the busiest worker in a step, over the mean of all workers; of the last second.",
                          "1 is an even share; with two workers 2 means that one did everything."),
    "near reads": Readout("The share of an agent's reads that fall into the same or the next cache line as the read before.",
                          "75 to 90 % right after a sort, near 0 in a crowd that was never sorted."),
    "L1 misses": Readout("The share of reads that a simulated first-level cache did not hold.",
                         "About 1 % after a sort; 10 % is much, for each miss waits."),
}
ERRORS = {
    "approximate": Readout("Techniques with this mark (~) do less work and change the motion a little; those without a mark"
                           " give exactly the same crowd.",
                           "The HUD says how large the error is wherever it can be measured."),
    "model": Readout("Techniques with this mark (≠) are another rule of behaviour, not another way to compute the same one.",
                     "Their crowds differ, and none of them is wrong; all others can be switched with either."),
    "steps since update": Readout("How many agents last looked at their neighbours 0, 1, 2, ... steps ago.",
                                  "Even bars are good: each step has the same work, and nobody waits longer than the period."),
    "stagger error": Readout("How wrong the pushes are that were kept from earlier steps, against a mean push, on a sample.",
                             "15 % (people) to 30 % (birds) at every third step is hardly seen; 50 % is."),
    "limit error": Readout("How wrong pushes are without the neighbours that the limit leaves out, against a mean push.",
                           "The nearest few err less than the first few."),
    "mean direction to": Readout("The mean direction to all neighbours and to those that the limit keeps; 0 is evenly around.",
                                 "If kept points elsewhere than all, the limit pushes the whole crowd aside."),
    "field error": Readout("How wrong pushes are that come from a smoothed field instead of pairs, the mean of a sample.",
                           "About 16 % of a mean push for birds."),
    "at worst": Readout("The largest such error of the sample, against a mean push.",
                        "Above 100 % somebody goes quite another way."),
}
SCENARIO = {
    "clock": Readout("The crowd's time since the clock of the scenario began, such as at the alarm; h:mm:ss.",
                     "The answer is told by it."),
    "remain": Readout("How many agents are there, of how many at the start.", "0, once everybody has left."),
    "answer": Readout("What the clock said when the question of the scenario was answered.",
                      "Restart with another seed, or change something, and compare."),
    "flow": Readout("How often a line was crossed, either way, or how many people have left by a door; how often per"
                    " second, the mean of the last five; and since the start, all lines to one scale.",
                    "A door lets 1.2 to 2 people a metre and second through."),
    "inside": Readout("How many agents are in an area.", "Areas are those of measure.areas."),
}
TIMELINE = {
    "timeline": Readout("How far back one can go, and how long the frames took then; the line is the present.",
                        "Press or drag to go there; what is changed there begins a new future."),
}

READOUTS: dict[str, Readout] = {**TIMES, **CROWD, **MEMORY, **ERRORS, **SCENARIO, **TIMELINE}
