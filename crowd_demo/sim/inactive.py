"""Which techniques are inactive: their value changes nothing at present, because of another technique or of the behaviour.

Each technique's entry in the registry decides. Some are inactive in part only; `partly_inactive` says what is left.
"""

from __future__ import annotations

from crowd_demo.registry.techniques import TECHNIQUES
from crowd_demo.sim.simulation import Simulation


def inactive(sim: Simulation) -> frozenset[str]:
    """Return the paths of the inactive techniques."""
    situation = sim.situation
    return frozenset(technique.path for technique in TECHNIQUES if technique.inactive(situation) is True)


def partly_inactive(sim: Simulation) -> dict[str, str]:
    """Return what the partly inactive techniques still do, by path."""
    situation = sim.situation
    found = ((technique.path, technique.inactive(situation)) for technique in TECHNIQUES)
    return {path: left for path, left in found if isinstance(left, str) and left}
