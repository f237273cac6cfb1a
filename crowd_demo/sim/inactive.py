"""Which techniques rest: their value changes nothing at present, because another one or the behaviour leaves them no work.

Some rest in a part of the step only; of these is said what they still do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowd_demo.sim.neighbours import STRUCTURES
from crowd_demo.sim.neighbours.sorted import Sorted
from crowd_demo.sim.neighbours.trees import TreeStructure

if TYPE_CHECKING:
    from crowd_demo.sim.simulation import Simulation

WITHOUT_CELLS = ("none", "kd_tree", "aabb_tree")


def resting(sim: Simulation) -> frozenset[str]:
    """Paths of the registry; O(1), and no structure is made for it."""
    options = sim.optimizations
    structure = STRUCTURES[options.neighbours]
    rests = {
        "reorder.when": not structure.REORDERS,
        "reorder.every": not structure.REORDERS or options.reorder.when != "every",
        "reorder.drift": not structure.REORDERS or options.reorder.when != "drift",
        "curve": not issubclass(structure, Sorted) or options.reorder.when == "off",
        "cell_size": options.neighbours in WITHOUT_CELLS and options.cull != "grid" and options.cap == "none",
        "leaf_size": not issubclass(structure, TreeStructure),
        "rebuild": options.neighbours != "aabb_tree",
        "removal": not sim.life.active,
        "stagger.by": options.stagger.avoidance == 1,
        "stagger.sight": not sim.behaviour.USES_PATHS,
        "stagger.paths": not sim.behaviour.USES_PATHS,
    }
    return frozenset(path for path, rest in rests.items() if rest)


def half_resting(sim: Simulation) -> dict[str, str]:
    """What is left to do, by path: capped agents look around one at a time, whatever the lanes do when they move."""
    options = sim.optimizations
    return {"simd": "move only"} if options.simd and options.cap != "none" else {}
