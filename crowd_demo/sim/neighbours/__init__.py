"""Who may be near whom: one file a structure, one interface (structure.py)."""

from __future__ import annotations

from crowd_demo.sim.behaviours.flock_field import FieldGrid
from crowd_demo.sim.neighbours.aabb_tree import AabbTree
from crowd_demo.sim.neighbours.brute import Brute
from crowd_demo.sim.neighbours.buckets import Buckets
from crowd_demo.sim.neighbours.kd_tree import KdTree
from crowd_demo.sim.neighbours.linked import Linked
from crowd_demo.sim.neighbours.sorted import Sorted
from crowd_demo.sim.neighbours.structure import Candidates, Place, Structure
from crowd_demo.sim.neighbours.z_grid import ZGrid

__all__ = ["STRUCTURES", "Candidates", "Place", "Structure"]

STRUCTURES: dict[str, type[Structure]] = {
    "none": Brute, "linked": Linked, "buckets": Buckets, "sorted": Sorted, "z_grid": ZGrid, "kd_tree": KdTree,
    "aabb_tree": AabbTree, "field": FieldGrid,
}
