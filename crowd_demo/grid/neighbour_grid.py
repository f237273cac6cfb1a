"""The public grid: arrays in, arrays out, and the memory in between."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import ArrayLike, DTypeLike

from crowd_demo.compute.arrays import Array, Ints, Longs, Reals, with_room
from crowd_demo.compute.jit import max_threads, threading_layer
from crowd_demo.grid.cells import MAX_CELLS, CellIndex, find_cells
from crowd_demo.grid.kernels import (
    ALL,
    ANY,
    LATER,
    Indexed,
    Periodic,
    Sides,
    add_up_lanes,
    add_up_one_by_one,
    follow_points,
    list_neighbours,
    sort_points,
    take_column,
    take_nearest,
    wrap_column,
)
from crowd_demo.grid.rules import pair_rule, rule_of

Function = Callable[..., object]
POINTS_PER_THREAD = 4096  # fewer are not worth another thread
MAX_THREADS = 64
CELLS_PER_POINT = 2  # at most: empty cells cost time
AXES = 0, 1
_forms: dict[tuple[object, ...], tuple[Function, int]] = {}  # kernel and number of values, by rule and types
_lock = threading.RLock()  # of all grids, where Numba's threads only work for one thread at a time


@pair_rule
def one(dx: object, dy: object, me: object, other: object) -> int:
    return 1


class Grid:
    """Neighbours of points in the plane within a radius.

    Distances are calculated in the type of the coordinates: a pair is near if dx * dx + dy * dy <= radius * radius.

    `bounds` are ((left, top), (right, bottom)). `threads` is "auto" or a number from 1 to 64, which changes no result.
    `cell_size` is "auto", which fits the radius and the number of points, or a number.

    `outside="clamp"` puts points outside the bounds into the nearest cell of the border. Results are exact, and slow only
    where many points are outside. `outside="refuse"` raises a ValueError that names the first one.

    `periodic=(x, y)` joins opposite sides along an axis. A joined side is longer than twice the radius and the skin.
    Points outside are moved by whole sides.

    With a `skin`, `pairs` and `neighbours` return Verlet lists: all others within radius + skin at the last sort.

    Any thread can use a grid; calls wait for each other. Raises ValueError for impossible arguments.
    """

    def __init__(self, radius: float, bounds: ArrayLike, *, threads: int | Literal["auto"] = "auto",
                 cell_size: float | Literal["auto"] = "auto", outside: Literal["clamp", "refuse"] = "clamp",
                 periodic: Sequence[bool] = (False, False), skin: float = 0.0) -> None:
        self.radius = _number("radius", radius)
        self.skin = _number("skin", skin) if skin else 0.0
        self._cell = 0.0 if isinstance(cell_size, str) and cell_size == "auto" else _number("cell_size", cell_size)
        corners = np.asarray(bounds, np.float64) if np.shape(bounds) == (2, 2) else np.full((2, 2), np.nan)
        _require(np.isfinite(corners).all() and (corners[0] <= corners[1]).all(), "bounds",
                 "((left, top), (right, bottom)), finite and in this order", bounds)
        _require(outside in ("clamp", "refuse"), "outside", "'clamp' or 'refuse'", outside)
        _require(threads == "auto" or (isinstance(threads, int | np.integer) and 1 <= threads <= MAX_THREADS),
                 "threads", f"'auto' or a whole number from 1 to {MAX_THREADS}", threads)
        self._low, self._sides = corners[0], corners[1] - corners[0]
        self._periodic, shortest = np.asarray(periodic, bool), 2 * (self.radius + self.skin)
        _require(self._periodic.shape == (2,) and (~self._periodic | (self._sides > shortest)).all(), "periodic",
                 f"two truth values, and joined sides longer than {shortest:g}", periodic)
        self._refuses, self._threads = outside == "refuse", max_threads() if threads == "auto" else int(threads)
        self._lock = _lock if threading_layer() == "workqueue" else threading.RLock()
        self._queue = np.zeros(2, np.int64)  # the next chunk, and what a kernel reports
        self._indices: dict[tuple[int, type], CellIndex] = {}
        self._memory: dict[tuple[object, type], Array] = {}
        self._fit(0, np.float32)

    def _fit(self, count: int, kind: type[np.floating]) -> None:
        """Choose cells for so many points, and their memory."""
        level = count.bit_length()
        self.count, self.kind = count, kind
        self._lists: dict[int, tuple[Longs, Ints, Ints]] = {}
        if (level, kind) not in self._indices:
            width, height = self._sides.tolist()
            self._indices[level, kind] = CellIndex(
                1 << level, width, height, self.radius + self.skin, self._cell,
                min(self._threads, 1 + (1 << level) // POINTS_PER_THREAD), kind=kind, corner=self._low.tolist(),
                max_cells=min(MAX_CELLS, CELLS_PER_POINT << level), smallest=0.0)
        self._index = index = self._indices[level, kind]
        sides = (Periodic if self._periodic.any() else Sides)(
            *np.where(self._periodic, self._sides, np.inf).astype(kind), *map(int, self._periodic))
        self._points = Indexed(self._room("x"), self._room("y"), kind(self.radius) * kind(self.radius), index.view(),
                               index.floor, sides, index.space.key)
        low, most = self._low.astype(kind), np.finfo(kind).max
        self._box = (*low, *low + self._sides.astype(kind)) if self._refuses else (-most, -most, most, most)

    def update(self, x: Reals, y: Reals) -> bool:
        """Sort points by cell: x and y float32[n] or float64[n], of one type. Return whether they were sorted again.

        O(n + cells), a counting sort. Allocates memory only for another n or type. Keeps no reference to x and y.
        Raises ValueError, which names the first element that is not finite, or outside where that is refused; the
        grid has no points then.
        """
        with self._lock:
            x, y = _column("x", x), _column("y", y)
            if x.dtype != y.dtype or len(x) != len(y):
                raise ValueError(f"y: must be {x.dtype}[{len(x)}] like x, not {y.dtype}[{len(y)}]")
            if self.skin and (len(x), x.dtype.type) == (self.count, self.kind):  # take new positions in the old order
                places = *self._wrapped(x, y), *(self._room(("sorted", axis)) for axis in AXES)
                self._share(follow_points, self._points, places, self.count, self.kind(self.skin / 2) ** 2, self._queue)
                if not self._queue[1]:  # none is more than half the skin from where it was sorted
                    return False
            self._fit(len(x), x.dtype.type)
            given, inside = (x, y), self._wrapped(x, y)
            space = self._index.space
            find_cells(self._index.workers, inside[0], inside[1], self.count, self._index.floor, space)
            self._share(sort_points, self._points, space, inside[0], inside[1], self.count, self._box, self._queue)
            if self._queue[1]:
                self._fit(0, self.kind)
                for axis, column in (*enumerate(given), *enumerate(inside)):
                    _refuse("xy"[axis], column, *self._box[axis::2])
            if self.skin:
                for axis in AXES:
                    self._room(("sorted", axis))[:] = (self._points.x, self._points.y)[axis]
            return True

    # --- what is near ------------------------------------------------------------------------------------------------

    def counts(self) -> Ints:
        """Return how many others are within the radius of each point: int32[n]. O(points near each)."""
        return self.sum(one, dtype=np.int32)

    def sum(self, rule: Function, *columns: ArrayLike, dtype: DTypeLike | None = None) -> Array:
        """Return the sums of what a rule (`pair_rule`) returns for each point and all others within the radius.

        They are [n], or [values, n] where the rule returns a tuple. A column is float32[n], float64[n] or int32[n],
        or a number for all points. Floats become the type of the coordinates and sums. With `dtype=np.int32` sums are
        whole numbers. Neither threads nor lanes change a bit. O(points near each).
        """
        with self._lock:
            kind = np.dtype(dtype or self.kind)
            _require(kind in (np.float32, np.float64, np.int32), "dtype", "float32, float64 or int32", kind)
            taken = tuple(self._taken(number, column) for number, column in enumerate(columns))
            added = rule_of(rule)
            form = type(added), self.kind, type(self._points.sides), kind, *(each.dtype for each in taken)
            if form not in _forms:
                for kernel in (add_up_lanes, add_up_one_by_one):
                    try:
                        kernel(1, self._points, added, taken, 0, self._queue, np.empty((1, 0), kind))
                        _forms[form] = kernel, int(self._queue[1])
                        break
                    except NumbaError as error:
                        reason = error
                else:
                    raise ValueError(f"rule: Numba cannot compile {type(added).__name__}: {reason}") from reason
            add_up, values = _forms[form]
            sums = np.empty((max(values, 1), self.count), kind)
            self._share(add_up, self._points, added, taken, self.count, self._queue, sums)
            return sums if values else sums[0]

    def pairs(self) -> tuple[Ints, Ints]:
        """Return all pairs within the radius, (i, j) with i < j, int32[m] each. O(points near each + pairs)."""
        _, later, owner = self._listed(LATER)
        return owner, later

    def neighbours(self) -> tuple[Longs, Ints]:
        """Return the neighbours of all points as (start, index): those of k are index[start[k]:start[k + 1]].

        start int64[n + 1], index int32[m], for each point in the order of cells. O(points near each).
        """
        return self._listed(ALL)[:2]

    def query(self, points: ArrayLike) -> tuple[Longs, Ints]:
        """Return the points within the radius of any places, float[m, 2], as (start, index) like `neighbours`.

        O(points near each). Raises ValueError for a wrong shape, and for the first place that is not finite.
        """
        with self._lock:
            places: Reals = np.asarray(points, self.kind)
            _require(places.ndim == 2 and places.shape[1] == 2, "points", "float[m, 2]", places.shape)
            columns = [np.ascontiguousarray(places[:, axis]) for axis in AXES]
            for axis in AXES:
                _refuse(f"points[:, {axis}]", columns[axis], -np.inf, np.inf)
            x, y = self._wrapped(*columns)
            return self._list(ANY, self._points, x, y, np.arange(len(places), dtype=np.int32))[:2]

    def nearest(self, k: int) -> tuple[Ints, Reals]:
        """Return the k nearest others within the radius of each point, nearest first, ties by index: (index, distance).

        index int32[n, k], distance of the type of the coordinates; -1 and inf where there are fewer. O(k points near
        each).
        """
        with self._lock:
            _require(isinstance(k, int | np.integer) and k >= 0, "k", "a whole number from 0 on", k)
            found, squares = np.full((self.count, k), -1, np.int32), np.full((self.count, k), np.inf, self.kind)
            places = np.empty((2, self.count), self.kind)
            places[:, self.order] = self._points.x[:self.count], self._points.y[:self.count]
            take_nearest(self._index.workers, self._points, places, *self.neighbours(), found, squares)
            return found, np.sqrt(squares, out=squares)

    # --- the sort ----------------------------------------------------------------------------------------------------

    @property
    def order(self) -> Ints:
        """The points in the order of cells, int32[n]: `column[grid.order]` is sorted."""
        return self._index.order[:self.count].copy()

    @property
    def cell_start(self) -> Ints:
        """Where each cell begins in the order, row by row, and the end: int32[rows * columns + 1]."""
        return self._index.start.copy()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of cells."""
        return self._index.rows, self._index.columns

    # --- memory ------------------------------------------------------------------------------------------------------

    def _room(self, name: object, kind: type | None = None) -> Array:
        """Return memory for a column in the order of cells, with room for a register beyond it."""
        key, needed = (name, kind or self.kind), self.count + 16
        if key not in self._memory or len(self._memory[key]) < needed:
            self._memory[key] = np.zeros(with_room(needed), key[1])
        return self._memory[key][:needed]

    def _wrapped(self, *columns: Reals) -> list[Reals]:
        found = list(columns)
        for axis in AXES:
            if self._periodic[axis] and not self._refuses:
                low, side = self.kind(self._low[axis]), self.kind(self._sides[axis])
                found[axis] = self._room(axis) if len(found[axis]) == self.count else np.empty_like(found[axis])
                wrap_column(1, columns[axis], len(columns[axis]), low, side, found[axis])
        return found

    def _taken(self, number: int, column: ArrayLike) -> Array | np.generic:
        """Return a column of `sum` in the order of cells, or a number."""
        if np.ndim(column) == 0:
            return self.kind(np.asarray(column).item())
        values = np.ascontiguousarray(column)
        fits = values.dtype in (np.float32, np.float64, np.int32) and values.shape == (self.count,)
        _require(fits, f"column {number}", f"float32, float64 or int32 [{self.count}], or a number",
                 f"{values.dtype}{list(values.shape)}")
        out = self._room(number + 2, np.int32 if values.dtype == np.int32 else None)
        take_column(self._index.workers, self._index.order, self.count, values, out)
        return out

    # --- kernels -----------------------------------------------------------------------------------------------------

    def _share(self, kernel: Function, *args: object) -> None:
        """Run a kernel whose workers take their points from the queue, or report by it."""
        self._queue[:] = 0
        kernel(self._index.workers, *args)

    def _listed(self, which: int) -> tuple[Longs, Ints, Ints]:
        """Return lists of the points themselves. With a skin they are kept until the points are sorted again."""
        with self._lock:
            if which not in self._lists:
                points, reach = self._points, self.kind(self.radius + self.skin)
                if self.skin:
                    x, y = (self._room(("sorted", axis)) for axis in AXES)
                    points = points._replace(x=x, y=y, radius_sq=reach * reach)
                found = self._list(which, points, points.x, points.y, self._index.order[:self.count])
                if not self.skin:
                    return found
                self._lists[which] = found
            return self._lists[which]

    def _list(self, which: int, points: Indexed, x: Reals, y: Reals, slots: Ints) -> tuple[Longs, Ints, Ints]:
        """Return (start, index, owner) of what is near (x[k], y[k]); `owner` only where LATER ones are listed."""
        start, index = np.zeros(len(slots) + 1, np.int64), np.empty(0, np.int32)
        self._share(list_neighbours, points, x, y, slots, which, self._queue, start, index, index)
        np.cumsum(start, out=start)
        index, owner = np.empty(int(start[-1]), np.int32), np.empty(int(start[-1]) if which == LATER else 0, np.int32)
        if len(index):
            self._share(list_neighbours, points, x, y, slots, which, self._queue, start, index, owner)
        return start, index, owner


def _require(fits: object, name: str, what: str, value: object) -> None:
    if not fits:
        raise ValueError(f"{name}: must be {what}, not {value!r:.60}")


def _number(name: str, value: float) -> float:
    _require(isinstance(value, int | float | np.number) and 0 < value < math.inf, name,
             "a finite number above 0", value)
    return float(value)


def _column(name: str, values: Reals) -> Reals:
    """Return contiguous coordinates. Raises ValueError unless they are float32[n] or float64[n]."""
    column = np.ascontiguousarray(values)
    if column.dtype not in (np.float32, np.float64) or np.ndim(values) != 1:
        raise ValueError(f"{name}: must be float32[n] or float64[n], not {column.dtype}{list(np.shape(values))}")
    return column


def _refuse(name: str, column: Reals, low: float, high: float) -> None:
    """Raise ValueError for the first element that is not finite, or not in a range, if there is one."""
    if len(wrong := np.flatnonzero(~(np.isfinite(column) & (column >= low) & (column <= high)))):
        must = f"from {low:g} to {high:g}" if np.isfinite(column[wrong[0]]) else "finite"
        raise ValueError(f"{name}[{wrong[0]}]: must be {must}, not {column[wrong[0]]:g}")
