"""A kd-tree: the world is cut in two at the median, again and again; a leaf is a rectangle of the world and who stands there.

The rectangles leave no gaps, so a leaf at the edge of a crowd reaches far into the void and is asked for in vain: the boxes
of aabb_tree.py do not.
"""

from __future__ import annotations

from .trees import TreeStructure


class KdTree(TreeStructure):
    """Boxes are the regions that were cut."""
