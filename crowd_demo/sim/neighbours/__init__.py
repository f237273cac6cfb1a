"""Who may be near whom: one file a structure, one interface (structure.py)."""

from __future__ import annotations

from .aabb_tree import AabbTree
from .brute import Brute
from .buckets import Buckets
from .field import FieldGrid
from .kd_tree import KdTree
from .linked import Linked
from .sorted import Sorted
from .structure import Candidates, Place, Structure
from .z_grid import ZGrid

__all__ = ["STRUCTURES", "Candidates", "Place", "Structure"]

STRUCTURES: dict[str, type[Structure]] = {
    "none": Brute, "linked": Linked, "buckets": Buckets, "sorted": Sorted, "z_grid": ZGrid, "kd_tree": KdTree,
    "aabb_tree": AabbTree, "field": FieldGrid,
}
