"""Culling: the slots of the agents whose drawn position lies in the bounds of the view.

`off` takes all agents, `agents` tests each of them, `grid` visits only the cells that meet the bounds and tests only
the agents of the cells on their border. `agents` and `grid` find the same set; `agents` keeps the order of the slots,
`grid` that of the cells, unless all cells are surely inside: then it takes all agents as they lie in memory, which is
the quickest order to read them in. Each worker collects into a part of `region` that is large enough for all it may
find, and then copies what it found to its part of `slots`. O(candidates); the order is the same for any number of
workers; nothing is allocated.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Ints, Longs
from crowd_demo.compute.jit import Launch, device, kernel, launch, run
from crowd_demo.grid.cells import Cells
from crowd_demo.render.camera import Rect, clamp
from crowd_demo.render.drawing import Bounds, Moving, within
from crowd_demo.sim.neighbours.structure import AgentGrid


class CellRange(NamedTuple):
    """The cells of a grid in rows [row0, row1) and columns [column0, column1)."""

    row0: int
    row1: int
    column0: int
    column1: int

    @property
    def cells(self) -> int:
        return (self.row1 - self.row0) * (self.column1 - self.column0)


class CellsInView(NamedTuple):
    """The cells that meet the bounds, and those of them all of whose agents are surely inside."""

    all: CellRange
    inner: CellRange


class FoundSlots(NamedTuple):
    """By worker: the slots that it found, `region[first:first + size]`, and the number of agents that it tested."""

    region: Ints
    first: Longs  # [workers], as the next two
    size: Longs
    tested: Longs


def span(low: float, high: float, slack: float, cell: float, cells: int) -> tuple[int, int, int, int]:
    """The cells along an axis that may hold agents in [low, high], then the cells that hold no others.

    An agent may be up to `slack` outside its cell.
    """
    first = int(clamp(math.floor((low - slack) / cell), 0, cells))
    last = int(clamp(math.floor((high + slack) / cell) + 1, first, cells))
    inner_first = int(clamp(math.ceil((low + slack) / cell), first, last))
    inner_last = int(clamp(math.floor((high - slack) / cell), inner_first, last))
    return first, last, inner_first, inner_last


def cells_in(bounds: Bounds, slack: float, cell: float, columns: int, rows: int) -> CellsInView:
    """The cells of a grid of `columns` x `rows` that meet the bounds."""
    row0, row1, inner_row0, inner_row1 = span(float(bounds.top), float(bounds.bottom), slack, cell, rows)
    column0, column1, inner0, inner1 = span(float(bounds.left), float(bounds.right), slack, cell, columns)
    return CellsInView(CellRange(row0, row1, column0, column1), CellRange(inner_row0, inner_row1, inner0, inner1))


def bounds_of(rect: Rect, margin: Rect) -> Bounds:
    """Bounds of drawn positions: `rect` grown by how far a sprite reaches beyond its position on each side (`margin`)."""
    return Bounds(np.float32(rect.left - margin.right), np.float32(rect.top - margin.bottom),
                  np.float32(rect.right + margin.left), np.float32(rect.bottom + margin.top))


@kernel
def cull_agents(worker: int, workers: int, count: int, agents: Moving, ahead: np.float32, bounds: Bounds,
                found: FoundSlots) -> None:
    """Find those of this worker's share of the slots [0, count) whose drawn position is in the bounds."""
    first, last = count * worker // workers, count * (worker + 1) // workers
    at = first
    for slot in range(first, last):
        found.region[np.uintp(at)] = slot
        at += within(np.uintp(slot), agents, ahead, bounds)
    found.first[worker], found.size[worker], found.tested[worker] = first, at - first, last - first


@device
def _test(first: int, last: int, cells: Cells, agents: Moving, ahead: np.float32, bounds: Bounds, at: int,
          found: FoundSlots) -> int:
    for k in range(first, last):
        slot = cells.order[np.uintp(k)]
        found.region[np.uintp(at)] = slot
        at += within(np.uintp(slot), agents, ahead, bounds)
    return at


@kernel
def cull_cells(worker: int, workers: int, cells: Cells, in_view: CellsInView, agents: Moving, ahead: np.float32,
                bounds: Bounds, found: FoundSlots) -> None:
    """Take a share of the rows: a row belongs to a worker by the candidates before it, so all get about as many."""
    total, window, inner = 0, in_view.all, in_view.inner
    for row in range(window.row0, window.row1):
        base = row * cells.columns
        total += cells.start[base + window.column1] - cells.start[base + window.column0]
    before, at, tested = 0, 0, 0
    found.first[worker] = 0
    for row in range(window.row0, window.row1):
        base = row * cells.columns
        first, last = cells.start[base + window.column0], cells.start[base + window.column1]
        if last > first and before * workers // total == worker:
            if at == 0:
                found.first[worker] = at = before
            has_inner = inner.row0 <= row < inner.row1
            left = cells.start[base + inner.column0] if has_inner else last
            right = cells.start[base + inner.column1] if has_inner else last
            at = _test(first, left, cells, agents, ahead, bounds, at, found)
            for k in range(right - left):
                found.region[np.uintp(at + k)] = cells.order[np.uintp(left + k)]
            at += right - left
            at = _test(right, last, cells, agents, ahead, bounds, at, found)
            tested += left - first + last - right
        before += last - first
    found.size[worker], found.tested[worker] = at - found.first[worker], tested


@kernel
def pack(worker: int, workers: int, found: FoundSlots, slots: Ints) -> None:
    """Copy what this worker found behind what earlier workers found, to slots int32[visible]."""
    first, to = found.first[worker], 0
    for earlier in range(worker):
        to += found.size[earlier]
    for k in range(found.size[worker]):
        slots[np.uintp(to + k)] = found.region[np.uintp(first + k)]


class Cull:
    """Owns the buffers. After `run`, `counters` has the numbers of tested agents and of visited cells.

    No cell is visited where all agents are taken.
    """

    def __init__(self) -> None:
        self.counters: dict[str, int] = {}
        self.in_view: CellsInView | None = None  # the cells that met the bounds last; None if culling does not go by cells
        self._takes_all = True
        self._reserve(0, 1)

    def _reserve(self, agents: int, workers: int) -> None:
        self.identity = np.arange(agents, dtype=np.int32)
        self.slots = np.empty(agents + 1, np.int32)
        self.found = FoundSlots(np.empty(agents + 1, np.int32), *(np.zeros(workers, np.int64) for _ in range(3)))

    def launches(self, how: str, workers: int, count: int, agents: Moving, ahead: np.float32, bounds: Bounds,
                 grid: AgentGrid | None = None, slack: float = 0.0) -> tuple[Launch, ...]:
        """The kernels of `how`; only "grid" needs `grid`. `slack`: how far an agent may be outside its cell, world units."""
        if count > len(self.identity) or workers > len(self.found.size):
            self._reserve(max(count, len(self.identity)), max(workers, len(self.found.size)))
        self.counters, self.in_view, self._takes_all = {"tested": 0, "cells_visited": 0}, None, how == "off"
        if how == "off":
            return ()
        last = launch(pack, workers, self.found, self.slots)
        if how == "agents":
            return launch(cull_agents, workers, count, agents, ahead, bounds, self.found), last
        assert grid, "culling by grid needs one"
        in_view = self.in_view = cells_in(bounds, slack, grid.cell, grid.columns, grid.rows)
        self._takes_all = in_view.inner == (0, grid.rows, 0, grid.columns)
        self.counters["cells_visited"] = 0 if self._takes_all else in_view.all.cells
        return launch(cull_cells, workers, grid.view(), in_view, agents, ahead, bounds, self.found), last

    def run(self, launches: tuple[Launch, ...], workers: int, count: int) -> Ints:
        """Return the visible slots, int32[visible]; the array is overwritten by the next frame."""
        if self._takes_all:
            return self.identity[:count]
        run(launches)
        self.counters["tested"] = int(self.found.tested[:workers].sum())
        return self.slots[:int(self.found.size[:workers].sum())]
