"""Time an agent of a step of four million birds against that of 100,000, as dense as each other."""

from __future__ import annotations

from collections.abc import Iterator

import limit
import numpy as np
from installs import here
from variants import ChildVariant

from crowd_demo.measure.comparison import TimedBlock, collect, interleave
from crowd_demo.measure.statistics import ratio_interval
from targets.base import Found, Session, Target

FEW, MANY = 100_000, 4_000_000
AT_MOST = 1.3
STEPS_A_BLOCK = 60  # each block has a sort


class StepVariant:
    """The steps of a child, in nanoseconds an agent."""

    def __init__(self, child: ChildVariant, agents: int) -> None:
        self.child, self.agents = child, agents

    def run(self, steps: int) -> float:
        block: TimedBlock = self.child.run(steps).frame
        return float(np.mean(block.times_ms["step"])) * 1e6 / self.agents


def measure(session: Session) -> Iterator[Found]:
    install = here(installed=False)
    with ChildVariant(install, "20k-flock", limit.settings(FEW, 2), picture=False) as few, \
            ChildVariant(install, "20k-flock", limit.settings(MANY, 2), picture=False) as many:
        variants = {"few": StepVariant(few, FEW), "many": StepVariant(many, MANY)}
        found = collect(variants, interleave(variants, [STEPS_A_BLOCK] * (2 if session.quick else 6), STEPS_A_BLOCK))
    of_many, of_few = np.array(found["many"]), np.array(found["few"])
    ratio = ratio_interval(of_many, of_few)
    yield Found(f"{MANY:,} birds", ratio.value, AT_MOST, interval=ratio,
                details={"ns_an_agent": float(np.median(of_many)), "ns_an_agent_of_100k": float(np.median(of_few))})


TARGET = Target("four-million", "4,000,000 birds against 100,000", "time an agent at most 1.3 times",
                "means of blocks of 60 steps, one of which sorts, of two processes in turns, two threads", measure)
