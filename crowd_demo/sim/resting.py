"""Which techniques rest: their value changes nothing at present, because another one or the behaviour leaves them no work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .neighbours import STRUCTURES
from .neighbours.trees import TreeStructure

if TYPE_CHECKING:
    from .step import Simulation

WITHOUT_CELLS = ("none", "kd_tree", "aabb_tree")


def resting(sim: Simulation) -> frozenset[str]:
    """Paths of the registry; O(1), and no structure is made for it."""
    options = sim.optimizations
    structure = STRUCTURES[options.neighbours]
    rests = {
        "reorder.when": not structure.REORDERS,
        "reorder.every": not structure.REORDERS or options.reorder.when != "every",
        "reorder.drift": not structure.REORDERS or options.reorder.when != "drift",
        "cell_size": options.neighbours in WITHOUT_CELLS and options.cull != "grid",
        "leaf_size": not issubclass(structure, TreeStructure),
        "removal": not sim.life.active,
        "stagger.sight": not sim.behaviour.USES_PATHS,
        "stagger.paths": not sim.behaviour.USES_PATHS,
    }
    return frozenset(path for path, rest in rests.items() if rest)
