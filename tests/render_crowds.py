"""Small crowds to draw, made from a seed or by hypothesis."""

from types import SimpleNamespace

import numpy as np
import reference_render as reference
from hypothesis import strategies as st

from crowd_demo.grid.cells import Cells
from crowd_demo.render.drawing import Moving

WIDTH, HEIGHT, CELL, MAX_STEP = 400.0, 300.0, 32.0, 3.0
COLUMNS, ROWS = 13, 10


def crowd(seed, count, spread=1.0):
    """Agents in shuffled order of id, in the middle `spread` of the world, padded by 16."""
    rng = np.random.default_rng(seed)
    padded = count + 16
    place = [(0.5 + spread * rng.uniform(-0.5, 0.5, padded)) * size for size in (WIDTH, HEIGHT)]
    x, y = (column.astype(np.float32) for column in place)
    vx, vy = (rng.uniform(-180, 180, padded).astype(np.float32) for _ in range(2))
    return Moving(rng.permutation(3 * padded)[:padded].astype(np.int32), x, y, vx, vy)


def grid(agents, count, seed=0):
    """A grid over where the agents were before they last moved."""
    moved = np.random.default_rng(seed).uniform(-MAX_STEP, MAX_STEP, (2, count)).astype(np.float32)
    x = np.clip(agents.x[:count] - moved[0], 0, WIDTH)
    y = np.clip(agents.y[:count] - moved[1], 0, HEIGHT)
    order, start = reference.cells(x, y, CELL, COLUMNS, ROWS)
    cells = Cells(order, start, COLUMNS, ROWS, reach=1)
    return SimpleNamespace(order=order, start=start, columns=COLUMNS, rows=ROWS, cell=CELL, fresh=True, view=lambda: cells)


counts = st.sampled_from([0, 1, 2, 3, 17, 60, 200])
seeds = st.integers(0, 2**32 - 1)
workers = st.integers(1, 3)
