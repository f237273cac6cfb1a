"""Which techniques are inactive: their value changes nothing at present, because of another technique or of the behaviour.

Each technique's entry in the registry decides. Some are inactive in part only; `partly_inactive` says what is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from crowd_demo.registry.techniques import TECHNIQUES
from crowd_demo.sim.simulation import Simulation


def inactive(sim: Simulation) -> frozenset[str]:
    """Return the paths of the inactive techniques."""
    return frozenset(path for path, left in _answers(sim) if left and not isinstance(left, str))


def partly_inactive(sim: Simulation) -> dict[str, str]:
    """Return what the partly inactive techniques still do, by path."""
    return {path: left for path, left in _answers(sim) if left and isinstance(left, str)}


def _answers(sim: Simulation) -> Iterator[tuple[str, bool | str]]:
    situation = sim.situation
    return ((technique.path, technique.inactive(situation)) for technique in TECHNIQUES)
