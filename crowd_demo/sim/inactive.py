"""Which techniques are inactive: their value changes nothing at present, because another one or the behaviour leaves them no work.

Each technique's entry in the registry says when. Some have a part of their work left; of these is said which.
"""

from __future__ import annotations

from crowd_demo.registry.techniques import TECHNIQUES
from crowd_demo.sim.simulation import Simulation


def inactive(sim: Simulation) -> frozenset[str]:
    """Paths of the registry."""
    situation = sim.situation
    return frozenset(technique.path for technique in TECHNIQUES if technique.inactive(situation))


def partly_inactive(sim: Simulation) -> dict[str, str]:
    """What is left to do, by path."""
    situation = sim.situation
    return {technique.path: left for technique in TECHNIQUES if (left := technique.partly(situation))}
