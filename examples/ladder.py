"""Six versions of one loop, each faster than the one before: how many neighbours has each point, and where are they?

    python examples/ladder.py                  # all versions, with a plot
    python examples/ladder.py lanes            # one of them
    python examples/ladder.py --points 100000

Every version returns the same array, float32[3, points]: for each point the sums of dx and dy to its neighbours, and their
number. Positions are whole numbers, 256 of them per unit, and sums stay below 2^24. So float32 is exact, the order of
additions does not matter, and the versions can be compared bit by bit. The time includes building the grid.

Read it from top to bottom. Copy what you need: the last two versions import SIMD lanes, the others only NumPy and Numba.
"""

import argparse
import math
import re
import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np
from numba import njit, prange

from crowd_demo.compute.simd import LANES, select, splat
from crowd_demo.compute.simd_memory import load, store

UNIT = 256  # whole numbers per unit of length
RADIUS = 10 * UNIT
RADIUS_SQ = np.float32(RADIUS * RADIUS)
ZERO, ONE = np.float32(0), np.float32(1)
NEIGHBOURS = 12.5  # per point on average; this sets the size of the world
SHARES = 64  # of the rows; threads take them one by one
compiled = njit(nogil=True, error_model="numpy")


def scattered(points: int) -> np.ndarray:
    """Random positions, float32[2, points], at a density that gives each point NEIGHBOURS neighbours."""
    side = math.sqrt(points * math.pi / NEIGHBOURS) * RADIUS
    return np.floor(np.random.default_rng(1).uniform(0, side, (2, points))).astype(np.float32)


def oracle(x, y):
    """Slow and obvious: NumPy compares each point with all points."""
    result = np.empty((3, len(x)), np.float32)
    for point in range(len(x)):
        dx, dy = x - x[point], y - y[point]
        near = dx * dx + dy * dy <= RADIUS_SQ
        result[:, point] = dx[near].sum(), dy[near].sum(), near.sum() - 1
    return result


# --- 1. brute force --------------------------------------------------------------------------------------------------
# The same in compiled code, without temporary arrays. Twice as many points cost four times as much:
# nearly all of the pairs that it tests are too far apart.

@compiled
def brute_force(x, y):
    result = np.zeros((3, len(x)), np.float32)
    for i in range(len(x)):
        for j in range(len(x)):
            add_if_near(result, i, x[i], y[i], x[j], y[j])
        result[2, i] -= 1  # itself
    return result


@compiled
def add_if_near(result, i, own_x, own_y, x, y):
    dx, dy = x - own_x, y - own_y
    if dx * dx + dy * dy <= RADIUS_SQ:
        result[0, i] += dx
        result[1, i] += dy
        result[2, i] += 1


# --- 2. a grid of lists ----------------------------------------------------------------------------------------------
# Cells are as wide as the radius, so all neighbours of a point are in nine of them: far fewer pairs.
# But each step along a list waits for memory, since the next point can be anywhere.

@compiled
def grid_of_lists(x, y):
    columns, rows = grid_size(x, y)
    first, following = np.full(columns * rows, -1, np.int32), np.empty(len(x), np.int32)
    for i in range(len(x)):
        cell = cell_of(x[i], y[i], columns)
        following[i], first[cell] = first[cell], i
    result = np.zeros((3, len(x)), np.float32)
    for i in range(len(x)):
        cell = cell_of(x[i], y[i], columns)
        for row in (-columns, 0, columns):
            for near in (cell + row - 1, cell + row, cell + row + 1):
                j = first[near]
                while j >= 0:
                    add_if_near(result, i, x[i], y[i], x[j], y[j])
                    j = following[j]
        result[2, i] -= 1
    return result


@compiled
def grid_size(x, y):
    return np.int64(x.max()) // RADIUS + 3, np.int64(y.max()) // RADIUS + 3  # with an empty border, so no cell needs a check


@compiled
def cell_of(x, y, columns):
    return (np.int64(y) // RADIUS + 1) * columns + np.int64(x) // RADIUS + 1


# --- 3. counting sort ------------------------------------------------------------------------------------------------
# Count the points of each cell, add up the counts (a prefix sum), and list all points by cell in one array.
# The three cells side by side are one run of that array, so nine lists become three loops without pointers.

@compiled
def counting_sort(x, y):
    columns, start, order = sorted_by_cell(x, y)
    result = np.zeros((3, len(x)), np.float32)
    for i in range(len(x)):
        cell = cell_of(x[i], y[i], columns)
        for row in (-columns, 0, columns):
            for slot in range(start[cell + row - 1], start[cell + row + 2]):
                add_if_near(result, i, x[i], y[i], x[order[slot]], y[order[slot]])
        result[2, i] -= 1
    return result


@compiled
def sorted_by_cell(x, y):
    """Return the columns of the grid, where each cell starts, and the points in cell order."""
    columns, rows = grid_size(x, y)
    start, order = np.zeros(columns * rows + 2, np.int32), np.empty(len(x), np.int32)
    for i in range(len(x)):
        start[cell_of(x[i], y[i], columns) + 2] += 1
    for cell in range(columns * rows):
        start[cell + 2] += start[cell + 1]
    for i in range(len(x)):
        cell = cell_of(x[i], y[i], columns) + 1
        order[start[cell]] = i
        start[cell] += 1
    return columns, start, order


# --- 4. points in cell order -----------------------------------------------------------------------------------------
# Copy the positions in cell order once. Then the inner loop reads memory from one end to the other,
# each cache line that it fetches is used in full, and the CPU fetches the next one ahead.

@compiled
def cell_order(x, y):
    columns, start, order = sorted_by_cell(x, y)
    x, y = x[order], y[order]
    result = np.empty((3, len(x)), np.float32)
    for i in range(len(x)):
        cell = cell_of(x[i], y[i], columns)
        sum_x, sum_y, count = ZERO, ZERO, -ONE
        for row in (-columns, 0, columns):
            for j in range(start[cell + row - 1], start[cell + row + 2]):
                dx, dy = x[j] - x[i], y[j] - y[i]
                if dx * dx + dy * dy <= RADIUS_SQ:
                    sum_x, sum_y, count = sum_x + dx, sum_y + dy, count + ONE
        result[0, order[i]], result[1, order[i]], result[2, order[i]] = sum_x, sum_y, count
    return result


# --- 5. SIMD lanes ---------------------------------------------------------------------------------------------------
# Sixteen points side by side in a row of cells share nearly all candidates. Each candidate is broadcast
# and compared with all sixteen in one instruction, without a branch that the CPU could predict wrongly.

def lanes(x, y):
    prepared = in_cell_order(x, y)
    result = np.empty((3, len(x)), np.float32)
    rows_in_lanes(*prepared, 1, prepared[0][1] - 1, result)
    return result


@compiled
def in_cell_order(x, y):
    """Return (columns, rows), where each cell starts, the points in cell order, and their positions, with room for 15 more."""
    columns, start, order = sorted_by_cell(x, y)
    sorted_x, sorted_y = np.zeros(len(x) + LANES, np.float32), np.zeros(len(x) + LANES, np.float32)
    for slot in range(len(x)):
        sorted_x[slot], sorted_y[slot] = x[order[slot]], y[order[slot]]
    return (columns, len(start) // columns), start, order, sorted_x, sorted_y


@compiled
def rows_in_lanes(size, start, order, x, y, first_row, end_row, result):
    columns, sums = size[0], np.empty((3, LANES), np.float32)
    for row in range(first_row, end_row):
        end = start[(row + 1) * columns]
        for i in range(start[row * columns], end, LANES):
            own_x, own_y, last = load(x, i), load(y, i), min(i + LANES, end) - 1
            sum_x, sum_y, count = splat(ZERO, own_x), splat(ZERO, own_x), splat(-ONE, own_x)
            left, right = cell_of(x[i], y[i], columns) - 1, cell_of(x[last], y[last], columns) + 2
            for beside in (-columns, 0, columns):
                for j in range(start[left + beside], start[right + beside]):
                    dx, dy = x[j] - own_x, y[j] - own_y
                    near = dx * dx + dy * dy <= RADIUS_SQ
                    sum_x, sum_y = sum_x + select(near, dx, ZERO), sum_y + select(near, dy, ZERO)
                    count = count + select(near, ONE, ZERO)
            store(sums[0], 0, sum_x)
            store(sums[1], 0, sum_y)
            store(sums[2], 0, count)
            for lane in range(last - i + 1):
                result[:, order[i + lane]] = sums[:, lane]


# --- 6. threads ------------------------------------------------------------------------------------------------------
# Rows of cells are independent: each thread takes some and writes only the results of its own points.
# The sort stays on one thread, so twice the threads give less than twice the speed.

def threads(x, y):
    prepared = in_cell_order(x, y)
    result = np.empty((3, len(x)), np.float32)
    all_rows(*prepared, result)
    return result


@njit(parallel=True)
def all_rows(size, start, order, x, y, result):
    rows = size[1] - 2
    for share in prange(SHARES):
        rows_in_lanes(size, start, order, x, y, 1 + rows * share // SHARES, 1 + rows * (share + 1) // SHARES, result)


# --- measuring -------------------------------------------------------------------------------------------------------

VERSIONS: dict[str, tuple[Callable, Callable]] = {  # and the compiled function that has the inner loop
    "brute_force": (brute_force, brute_force), "grid_of_lists": (grid_of_lists, grid_of_lists),
    "counting_sort": (counting_sort, counting_sort), "cell_order": (cell_order, cell_order),
    "lanes": (lanes, rows_in_lanes), "threads": (threads, rows_in_lanes),
}
PACKED = re.compile(r"v?(?:add|sub|mul)ps\s.*%([xyz])mm|f(?:add|sub|mul)\s+v\d+\.4s")  # of x86-64 and ARM
WIDTHS = {"x": 4, "y": 8, "z": 16, None: 4}


def tested_pairs(name: str, x: np.ndarray, y: np.ndarray) -> int:
    """How many pairs a version tests; lanes test for each of sixteen points the candidates of all sixteen."""
    if name == "brute_force":
        return len(x) ** 2
    columns, start, order = sorted_by_cell(x, y)
    cells = np.array([cell_of.py_func(x[point], y[point], columns) for point in order])
    firsts = lasts = np.arange(len(x))
    if name in ("lanes", "threads"):
        rows = zip(start[::columns], start[columns::columns], strict=False)
        firsts = np.concatenate([np.arange(*row, LANES) for row in rows])
        lasts = np.minimum(np.append(firsts[1:], len(x)), firsts + LANES) - 1
    tested = sum(start[cells[lasts] + row + 2] - start[cells[firsts] + row - 1] for row in (-columns, 0, columns))
    return int((tested * (lasts - firsts + 1)).sum())


def width(function: Callable) -> int:
    """How many numbers the widest float instructions of a compiled function take."""
    code = "\n".join(function.inspect_asm().values())
    return max((WIDTHS[found[1]] for found in PACKED.finditer(code)), default=1)


def main() -> int:
    parser = argparse.ArgumentParser(description="Six versions of a neighbour search, checked bit by bit and timed.")
    parser.add_argument("version", nargs="?", choices=list(VERSIONS), help="only this one")
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=7, help="the median of these interleaved rounds is printed")
    args = parser.parse_args()
    x, y = scattered(args.points)
    expected = oracle(x, y)
    chosen = [args.version] if args.version else list(VERSIONS)
    for name in chosen:
        if not np.array_equal(VERSIONS[name][0](x, y), expected):
            print(f"{name}: differs from the oracle")
            return 1
    times: dict[str, list[float]] = {name: [] for name in chosen}
    for _ in range(args.rounds):
        for name in chosen:
            begun = time.perf_counter()
            VERSIONS[name][0](x, y)
            times[name].append(time.perf_counter() - begun)
    print(f"{args.points:,} points, {expected[2].mean():.1f} neighbours each; all results identical bit by bit")
    print(f"{'version':14}{'ms':>9}{'pairs tested':>15}{'ns per pair':>13}{'GB/s':>7}{'width':>7}  4 marks per doubling")
    slowest = median(times[chosen[0]])
    for name in chosen:
        seconds, pairs = median(times[name]), tested_pairs(name, x, y)
        bar = "#" * (1 + round(4 * math.log2(max(slowest / seconds, 1))))
        print(f"{name:14}{seconds * 1e3:9.2f}{pairs:15,}{seconds / pairs * 1e9:13.3f}{8 * pairs / seconds / 1e9:7.1f}"
              f"{width(VERSIONS[name][1]):7}  {bar} {slowest / seconds:.1f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
