"""A neighbour grid for programs of your own: neighbours of points in the plane, and sums over them, in SIMD lanes.

    grid = Grid(radius=10.0, bounds=((0, 0), (4000, 4000)))
    grid.update(x, y)                   # each frame
    grid.counts()                       # how many others are within the radius of each point
    i, j = grid.pairs()
    start, index = grid.neighbours()
    total = grid.sum(rule, vx, vy)      # a rule of your own for each pair, compiled

The simulation of this package sorts its agents by the same kernels. Needs NumPy and Numba, not pygame (docs/grid.md).
"""

from crowd_demo.compute.simd import root, select
from crowd_demo.grid.neighbour_grid import Grid
from crowd_demo.grid.rules import pair_rule

__all__ = ["Grid", "pair_rule", "root", "select"]
