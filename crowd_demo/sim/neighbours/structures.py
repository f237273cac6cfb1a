"""All neighbour structures by their names. A behaviour may replace one by its own (flock_field.py)."""

from __future__ import annotations

from crowd_demo.sim.neighbours.aabb_tree import AabbTree
from crowd_demo.sim.neighbours.brute import Brute
from crowd_demo.sim.neighbours.buckets import Buckets
from crowd_demo.sim.neighbours.kd_tree import KdTree
from crowd_demo.sim.neighbours.linked import Linked
from crowd_demo.sim.neighbours.sorted import Sorted
from crowd_demo.sim.neighbours.structure import Structure
from crowd_demo.sim.neighbours.z_grid import ZGrid

STRUCTURES: dict[str, type[Structure]] = {
    "none": Brute, "linked": Linked, "buckets": Buckets, "sorted": Sorted, "z_grid": ZGrid, "kd_tree": KdTree,
    "aabb_tree": AabbTree, "field": Sorted,
}
