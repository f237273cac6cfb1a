"""The time of a pair and the memory of an agent: from one in a cell to 64, and from a thousand to millions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from crowd_demo.extras.lab.claims.cases import Arm, CrowdArm, TimedCase, configured
from crowd_demo.extras.lab.claims.claim import OWN, Answer, Case, Claim, Figures, Found, LabScale
from crowd_demo.extras.lab.claims.judging import pairs, speed_up
from crowd_demo.extras.lab.storage import allocated_bytes
from crowd_demo.sim.simulation import Simulation

SHARING = (1, 2, 4, 8, 16, 32, 64)  # agents in a cell, on the mean
MANY = 1_000_000  # agents beyond which only every third density is tried: each is a crowd in memory
CELL = 24  # units: what a bird of 20k-flock perceives
SPARSE, DENSE = (f"{number} a cell" for number in (SHARING[0], SHARING[-1]))
LONGER = 1.5  # times as long as a pair of a sparse crowd


def arm(agents: int, sharing: int) -> Callable[[], Arm]:
    side = CELL * math.sqrt(20_000 / sharing)  # of the configuration, whose world grows with the crowd
    return lambda: CrowdArm(configured("20k-flock", agents, world__width=side, world__height=side), measure=memory)


def memory(crowd: CrowdArm) -> Figures:
    """Bytes an agent of all that a simulation holds after a step: columns in both buffers, index, schedule."""
    config = crowd.sim.config
    held = min(allocated_bytes(lambda: stepped(Simulation(config))) for _ in range(2))  # the first remembers more
    return {"bytes_an_agent": held / max(config.agents, 1)}


def stepped(sim: Simulation) -> Simulation:
    sim.step()
    return sim


def cases(scale: LabScale) -> Sequence[Case]:
    return [TimedCase(f"{size:,} birds", size,
                      {f"{sharing} a cell": arm(size, sharing) for sharing in SHARING[::3 if size > MANY else 1]},
                      steps=3, same=(), seconds=1 + size * 1.5e-5)
            for size in scale.sizes(1_000, 10_000, 100_000, 250_000, 1_000_000, 4_000_000)]


def decide(found: Found) -> Answer:
    """By the interaction: how many times as fast it is in the dense crowd, for as many pairs."""
    ratio, more = speed_up(found, DENSE, SPARSE, "interaction"), pairs(found, DENSE) / max(pairs(found, SPARSE), 1)
    if not ratio.known:
        return "unclear"
    return "yes" if ratio.low * more > 1 / LONGER else "no" if ratio.high * more < 1 / LONGER else "unclear"


CLAIM = Claim(
    "density", "What does a pair cost, and how much memory an agent, from one agent in a cell to 64?",
    "a step costs what its pairs cost, however many share a cell", OWN,
    f"a pair (an agent and a candidate that it is tested with) takes less than {LONGER} times as long with 64 agents in a"
    " cell as with one", cases, decide)
