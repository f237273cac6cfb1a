"""Blocks, which workers take one by one: a few rows of cells, one row where many agents stand, parts of it where most do."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Int, Ints
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import LANES
from crowd_demo.sim.interaction.pairwise import BLOCK
from crowd_demo.sim.neighbours.candidates import Cells

SHARES, LEAST_BLOCK = 2, 2  # a block is at most 1/SHARES of a worker's share of the rows left, and at least LEAST_BLOCK rows
HEAVY = 4  # a block with more than 1/HEAVY of a worker's share of the agents is cut into its rows, and these into parts
PARTS, LEAST_PART = 16, 4 * LANES  # a part is 1/PARTS of a worker's share of the agents, or LEAST_PART


class Blocks(NamedTuple):
    """Block b is the agents order[start[b]:start[b + 1]], which stand in the rows [first[b], last[b])."""

    start: Ints  # int32[blocks + 1]
    first: Ints  # int32[blocks]
    last: Ints


def blocks_of(cells: Cells, workers: int) -> Blocks:
    """Return blocks that so many workers can share evenly: of at most BLOCK rows, and smaller where it is crowded."""
    rows = _rows(cells.rows, workers)
    start = cells.start[rows * cells.columns]
    heavy = start[1:] - start[:-1] > start[-1] // (HEAVY * workers)  # a product might not fit into 32 bits
    if workers == 1 or not heavy.any():
        return Blocks(start, rows[:-1], rows[1:])
    size = max(int(start[-1]) // (PARTS * workers * LANES) * LANES, LEAST_PART)
    blocks: list[tuple[int, int, int]] = []
    for first, last, agents, cut in zip(rows[:-1].tolist(), rows[1:].tolist(), start.tolist(), heavy, strict=False):
        blocks += _cut(cells, first, last, size) if cut else [(agents, first, last)]
    starts, firsts, lasts = np.ascontiguousarray(np.array(blocks, np.int32).T)  # kernels are compiled for such arrays
    return Blocks(np.append(starts, start[-1]), firsts, lasts)


def _cut(cells: Cells, first: int, last: int, size: int) -> list[tuple[int, int, int]]:
    """Return the agents of some rows, at most `size` at a time: (where a block starts, its row, the row after that)."""
    starts = cells.start[first * cells.columns:last * cells.columns + 1:cells.columns].tolist()
    return [(k, row, row + 1) for row, begin, end in zip(range(first, last), starts, starts[1:], strict=False)
            for k in range(begin, end, size)]


@lru_cache(maxsize=8)
def _rows(rows: int, workers: int) -> Ints:
    """Where blocks of BLOCK rows begin, and the end; smaller ones towards the end, so that all workers are ready together."""
    begins = [0]
    while begins[-1] < rows:
        left = rows - begins[-1]
        fair = BLOCK if workers == 1 else max(left // (SHARES * workers), LEAST_BLOCK)
        begins.append(begins[-1] + min(left, BLOCK, fair))
    return np.array(begins, np.int32)


def largest(blocks: Blocks, cells: Cells) -> int:
    """Return how many agents the largest block reads: those of its rows, and of the rows within reach."""
    top = np.maximum(blocks.first - cells.reach, 0) * cells.columns
    bottom = np.minimum(blocks.last + cells.reach, cells.rows) * cells.columns
    return int((cells.start[bottom] - cells.start[top]).max())


@device
def part(cells: Cells, row: int, begin: int, end: int) -> tuple[Int, Int]:
    """Return (first, end) of the agents of a row that are in order[begin:end]."""
    first, last = cells.start[np.uintp(row * cells.columns)], cells.start[np.uintp((row + 1) * cells.columns)]
    return np.int64(max(begin, first)), np.int64(min(end, last))  # one type, or whoever counts on from them is compiled twice
