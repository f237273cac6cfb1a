"""Neighbours asked every n steps only: time against error, and the longest wait, at every period that there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.extras.lab.claims.cases import CrowdArm, TimedCase, Values, crowds
from crowd_demo.extras.lab.claims.claim import NOTES, Answer, Case, Claim, Figures, Found, LabScale
from crowd_demo.extras.lab.claims.judging import blocks_of, faster
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.sim.metrics.avoidance_error import ages, stagger_error
from crowd_demo.sim.neighbours.schedule import LONGEST

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALWAYS, CLAIMED = "every step", "every 3"
FEW, PERIODS = (2, 3, 4, 8, LONGEST), range(2, LONGEST + 1)  # of a large crowd and of a small one
RULES = [str(rule) for rule in BY_PATH["stagger.by"].choices]


def arms(rule: str, periods: Sequence[int]) -> dict[str, Values]:
    return {ALWAYS: {"stagger.avoidance": 1},
            **{f"every {period}": {"stagger.avoidance": period, "stagger.by": rule} for period in periods}}


def price(crowd: CrowdArm) -> Figures:
    """The error of the avoidance that was kept, of a mean one; and the most steps that anybody has waited."""
    waited = ages(crowd.sim)
    return {"longest_wait": float(np.flatnonzero(waited).max(initial=0)), "error": stagger_error(crowd.sim).mean}


def cases(scale: LabScale) -> Sequence[Case]:
    return [TimedCase(f"{size:,} {who} by {rule}", size,
                      crowds(name, size, arms(rule, PERIODS if size <= 20_000 else FEW), measure=price), steps=LONGEST,
                      same=(), seconds=1.5 + size * 5e-5)
            for size in scale.sizes(20_000, 100_000) for name, who in (("20k", "people"), ("20k-flock", "birds"))
            for rule in RULES]


def decide(found: Found) -> Answer:
    return faster(found, CLAIMED, ALWAYS, times=2.5, stage="interaction")


def draw_price(axes: Axes, found: Sequence[Found]) -> None:
    """One curve for each case: the error of each period over its time of the interaction, relative to that of period 1."""
    for case in found:
        shares = [float(np.median(blocks_of(case, arm, "interaction") / blocks_of(case, ALWAYS, "interaction")))
                  for arm in case.arms]
        axes.plot(shares, [case.figures[arm]["error"] for arm in case.arms], ".-", label=case.case, linewidth=0.8)
    axes.set(xscale="log", xlabel="time of the interaction, of that of every step", ylabel="error, of a mean push")
    axes.set_title(f"Periods 1 (right) to {LONGEST} (left)", loc="left", fontsize="small")
    axes.legend(fontsize="x-small", frameon=False)


CLAIM = Claim(
    "stagger", "What does it save to ask for neighbours every n steps only, and what does it cost?",
    "a period of 3 saves about 67 % of the avoidance", NOTES,
    "the stage interaction is at least 2.5 times as fast at period 3 (60 % saved); periods 1 to 16, by place, tile and id,"
    " stand beside it with their error and the longest wait in steps", cases, decide, by_size=False, draw=draw_price)
