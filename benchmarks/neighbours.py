"""The neighbour grid beside other libraries, and beside a plain grid in Numba: times in Markdown.

    python benchmarks/neighbours.py [--points N...] [--neighbours N...] [--shapes uniform clumped] [--rounds N] [--quick]
                                    [--libraries NAME...]

Each library that is installed makes its structure and finds what is within a radius, in float64, on one thread. The libraries
are interleaved: each round measures all of them once, and a factor is the median of the rounds' ratios. Peers are
`pip install scipy scikit-learn vesin matscipy freud-analysis pykdtree numba-kdtree`; what is missing is left out.

Each library runs in a child process of its own. The table says which of them crashed, needed more than 12 GB or took more than
60 s for a call. They are left out of the rest of that case.

2D points are unfavourable for libraries made for 3D (vesin, matscipy, freud): they search 27 cells instead of 9.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from multiprocessing.connection import Connection
from statistics import median
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # of peers; the threads of the grid are Numba's
os.environ["NUMBA_NUM_THREADS"] = "2"

import numba
import numpy as np

from crowd_demo.grid import Grid, pair_rule

SIDE = 1000.0
TASKS = "counts", "sum", "pairs", "neighbours"
OWN, OWN_TWO, OWN_32, PLAIN = "crowd_demo.grid", "crowd_demo.grid, 2 threads", "crowd_demo.grid, float32", "plain Numba grid"
WARMED_S, QUICK_S = 0.1, 3.0  # calls up to this are warmed up in each round; a call that takes longer is measured once
LIMIT_S, LIMIT_BYTES = 60, 12 << 30
Task = Callable[[], object]


class Points(NamedTuple):
    """Points in a square of SIDE, and a radius within which each has so many neighbours on average."""

    x: Any
    y: Any
    radius: float

    @property
    def table(self) -> Any:
        return np.column_stack([self.x, self.y])

    @property
    def solid(self) -> Any:
        return np.column_stack([self.x, self.y, np.zeros(len(self.x))])


def points(n: int, neighbours: float, shape: str) -> Points:
    """Uniform points, or nine tenths of them in a hundred clumps."""
    rng = np.random.default_rng(n)
    x, y = rng.uniform(0, SIDE, (2, n))
    radius = float(np.sqrt(neighbours / np.pi / n)) * SIDE
    if shape == "clumped":
        members = rng.random(n) < 0.9
        middles, spread = rng.uniform(0, SIDE, (2, 100)), SIDE / 25
        which = rng.integers(0, 100, members.sum())
        for column, middle in zip((x, y), middles, strict=True):
            column[members] = np.clip(middle[which] + rng.normal(0, spread, members.sum()), 0, np.nextafter(SIDE, 0))
    return Points(x, y, radius)


# --- what is added up: a pull to each neighbour, weaker with the square of the distance  ------------------

@pair_rule
def pull(dx: Any, dy: Any, me: Any, other: Any) -> Any:
    strength = 1 - (dx * dx + dy * dy) * me[0]
    return dx * strength, dy * strength


def pulls(found: Points, i: Any, j: Any) -> Any:
    """The same from half of all pairs, with NumPy."""
    dx, dy = found.x[j] - found.x[i], found.y[j] - found.y[i]
    strength = 1 - (dx * dx + dy * dy) / found.radius**2
    n = len(found.x)
    return [np.bincount(i, way * strength, n) - np.bincount(j, way * strength, n) for way in (dx, dy)]


# --- libraries: each returns the tasks that it has, by name -------------------------------------------------------------

def own(found: Points, threads: int = 1, kind: type = np.float64) -> dict[str, Task]:
    grid = Grid(found.radius, ((0, 0), (SIDE, SIDE)), threads=threads)
    x, y = found.x.astype(kind), found.y.astype(kind)

    def after_update(call: Task) -> Task:
        return lambda: (grid.update(x, y), call())[1]
    calls = {"counts": grid.counts, "sum": lambda: grid.sum(pull, found.radius**-2), "pairs": grid.pairs,
             "neighbours": grid.neighbours}
    return {task: after_update(call) for task, call in calls.items()}


def scipy(found: Points) -> dict[str, Task]:
    from scipy.spatial import cKDTree

    table, radius = found.table, found.radius
    return {"counts": lambda: cKDTree(table).query_ball_point(table, radius, return_length=True),
            "pairs": lambda: cKDTree(table).query_pairs(radius, output_type="ndarray"),
            "sum": lambda: pulls(found, *cKDTree(table).query_pairs(radius, output_type="ndarray").T),
            "neighbours": lambda: cKDTree(table).query_ball_point(table, radius)}


def scipy_two(found: Points) -> dict[str, Task]:
    from scipy.spatial import cKDTree

    table, radius = found.table, found.radius
    return {"counts": lambda: cKDTree(table).query_ball_point(table, radius, return_length=True, workers=2),
            "neighbours": lambda: cKDTree(table).query_ball_point(table, radius, workers=2)}


def sklearn(found: Points) -> dict[str, Task]:
    from sklearn.neighbors import KDTree

    table, radius = found.table, found.radius
    return {"counts": lambda: KDTree(table).query_radius(table, radius, count_only=True),
            "neighbours": lambda: KDTree(table).query_radius(table, radius)}


def vesin(found: Points) -> dict[str, Task]:
    from vesin import NeighborList

    def listed(full: bool) -> Any:
        return NeighborList(cutoff=found.radius, full_list=full).compute(solid, np.eye(3) * SIDE, False, "ij")
    solid = found.solid
    return {"counts": lambda: np.bincount(listed(True)[0].astype(np.int64), minlength=len(found.x)),
            "sum": lambda: pulls(found, *(each.astype(np.int64) for each in listed(False))),
            "pairs": lambda: listed(False), "neighbours": lambda: listed(True)}


def matscipy(found: Points) -> dict[str, Task]:
    from matscipy.neighbours import neighbour_list

    def listed() -> Any:
        return neighbour_list("ij", positions=solid, cutoff=found.radius, cell=np.diag([SIDE, SIDE, found.radius]),
                              pbc=[False] * 3)
    solid = found.solid
    return {"counts": lambda: np.bincount(listed()[0], minlength=len(found.x)), "neighbours": listed}


def freud(found: Points) -> dict[str, Task]:
    import freud

    freud.parallel.set_num_threads(1)
    box, centred = freud.box.Box(2 * SIDE, 2 * SIDE, is2D=True), (found.solid - [SIDE / 2, SIDE / 2, 0]).astype(np.float32)

    def listed() -> Any:
        return freud.locality.AABBQuery(box, centred).query(
            centred, {"r_max": found.radius, "exclude_ii": True}).toNeighborList()
    return {"counts": lambda: listed().neighbor_counts, "neighbours": listed}


def pykdtree(found: Points) -> dict[str, Task]:
    """It has no search within a radius: the most neighbours of all points are asked for."""
    from pykdtree.kdtree import KDTree
    from scipy.spatial import cKDTree

    most = int(cKDTree(found.table).query_ball_point(found.table, found.radius, return_length=True).max()) + 1
    table = found.table
    return {"neighbours": lambda: KDTree(table).query(table, k=most, distance_upper_bound=found.radius)} if most < 200 else {}


def numba_kdtree(found: Points) -> dict[str, Task]:
    from numba_kdtree import KDTree

    table, radius = found.table, found.radius
    return {"neighbours": lambda: KDTree(table).query_radius(table, radius)}


# --- a plain grid in Numba: a counting sort, and loops over nine cells -------------------------------------------------

@numba.njit(cache=True)
def plain_sort(x: Any, y: Any, cell: float, columns: int) -> Any:
    n = len(x)
    key, start, order = np.empty(n, np.int32), np.zeros(columns * columns + 1, np.int32), np.empty(n, np.int32)
    for k in range(n):
        key[k] = min(int(y[k] / cell), columns - 1) * columns + min(int(x[k] / cell), columns - 1)
        start[key[k] + 1] += 1
    for c in range(columns * columns):
        start[c + 1] += start[c]
    cursor = start[:-1].copy()
    for k in range(n):
        order[cursor[key[k]]] = k
        cursor[key[k]] += 1
    return key, start, order


@numba.njit(cache=True)
def plain_counts(x: Any, y: Any, radius: float, columns: int) -> Any:
    key, start, order = plain_sort(x, y, SIDE / columns, columns)
    counts, limit = np.zeros(len(x), np.int32), radius * radius
    for k in range(len(x)):
        row, column = divmod(key[k], columns)
        for near in range(max(row - 1, 0), min(row + 2, columns)):
            first, last = near * columns + max(column - 1, 0), near * columns + min(column + 1, columns - 1)
            for at in range(start[first], start[last + 1]):
                dx, dy = x[order[at]] - x[k], y[order[at]] - y[k]
                counts[k] += dx * dx + dy * dy <= limit
        counts[k] -= 1
    return counts


@numba.njit(cache=True)
def plain_sum(x: Any, y: Any, radius: float, columns: int) -> Any:
    key, start, order = plain_sort(x, y, SIDE / columns, columns)
    sums, limit = np.zeros((2, len(x))), radius * radius
    for k in range(len(x)):
        row, column = divmod(key[k], columns)
        for near in range(max(row - 1, 0), min(row + 2, columns)):
            first, last = near * columns + max(column - 1, 0), near * columns + min(column + 1, columns - 1)
            for at in range(start[first], start[last + 1]):
                dx, dy = x[order[at]] - x[k], y[order[at]] - y[k]
                square = dx * dx + dy * dy
                if square <= limit:
                    strength = 1 - square / limit
                    sums[0, k] += dx * strength
                    sums[1, k] += dy * strength
    return sums


@numba.njit(cache=True)
def plain_list(x: Any, y: Any, radius: float, columns: int, half: bool) -> Any:
    key, start, order = plain_sort(x, y, SIDE / columns, columns)
    limit, ends, listed = radius * radius, np.zeros(len(x) + 1, np.int64), np.empty(len(x) * 8, np.int32)
    found = 0
    for k in range(len(x)):
        row, column = divmod(key[k], columns)
        for near in range(max(row - 1, 0), min(row + 2, columns)):
            first, last = near * columns + max(column - 1, 0), near * columns + min(column + 1, columns - 1)
            for at in range(start[first], start[last + 1]):
                other = order[at]
                dx, dy = x[other] - x[k], y[other] - y[k]
                if dx * dx + dy * dy <= limit and (other > k if half else other != k):
                    if found == len(listed):
                        listed = np.concatenate((listed, np.empty_like(listed)))
                    listed[found] = other
                    found += 1
        ends[k + 1] = found
    return ends, listed[:found]


def plain(found: Points) -> dict[str, Task]:
    x, y, radius = found.x, found.y, found.radius
    columns = max(int(SIDE / radius), 1)
    return {"counts": lambda: plain_counts(x, y, radius, columns), "sum": lambda: plain_sum(x, y, radius, columns),
            "pairs": lambda: plain_list(x, y, radius, columns, True),
            "neighbours": lambda: plain_list(x, y, radius, columns, False)}


LIBRARIES: dict[str, tuple[str, Callable[[Points], dict[str, Task]]]] = {
    OWN: ("numba", own), OWN_TWO: ("numba", lambda found: own(found, 2)),
    OWN_32: ("numba", lambda found: own(found, 1, np.float32)), PLAIN: ("numba", plain),
    "SciPy cKDTree": ("scipy", scipy), "SciPy cKDTree, 2 workers": ("scipy", scipy_two),
    "scikit-learn KDTree": ("sklearn", sklearn), "vesin": ("vesin", vesin), "matscipy": ("matscipy", matscipy),
    "freud AABBQuery": ("freud", freud), "pykdtree": ("pykdtree", pykdtree), "numba-kdtree": ("numba_kdtree", numba_kdtree)}


def installed() -> Iterator[str]:
    """Yield the names of libraries that can be imported; say which cannot."""
    for name, (module, _) in LIBRARIES.items():
        try:
            importlib.import_module(module)
            yield name
        except ImportError as error:
            print(f"{name} is left out: {error}")


# --- measuring: each library in a child process ------------------------------------------------------------------------

Case = tuple[int, float, str]  # arguments of `points`


def timed(call: Task) -> float:
    gc.disable()
    begin = time.perf_counter()
    call()
    taken = time.perf_counter() - begin
    gc.enable()
    return taken


def serve(name: str, pipe: Connection) -> None:
    """Answer each (case, task, warm) with the seconds of one call, None where the library lacks it, or what went wrong."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    made: dict[Case, dict[str, Task]] = {}
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            case, task, warm = pipe.recv()
            try:
                if case not in made:
                    made = {case: LIBRARIES[name][1](points(*case))}
                call = made[case].get(task)
                if call and warm:
                    call()  # whatever ran before has left caches of its own
                pipe.send(call and timed(call))
            except MemoryError:
                pipe.send(f"over {LIMIT_BYTES >> 30} GB")


class Library:
    """A library in a child process; the process is started again after a crash."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._child: Any = None

    def ask(self, case: Case, task: str, warm: bool = False) -> float | str | None:
        """Return the seconds of one call, None where the library lacks it, or what went wrong."""
        if self._child is None:
            self._pipe, theirs = multiprocessing.Pipe()
            self._child = multiprocessing.get_context("spawn").Process(target=serve, args=(self._name, theirs), daemon=True)
            self._child.start()
            theirs.close()
        try:
            self._pipe.send((case, task, warm))
            if self._pipe.poll(LIMIT_S):
                answer: float | str | None = self._pipe.recv()
                return answer
            wrong = f"over {LIMIT_S} s"
        except (EOFError, ConnectionError):
            wrong = "crashed"
        self._child.kill()
        self._child.join()
        self._child = None
        return wrong


def measured(case: Case, libraries: dict[str, Library], rounds: int) -> dict[str, dict[str, list[float] | str]]:
    """Return the seconds of each round, or what went wrong, by task and library. First calls, which compile, are left out."""
    seconds: dict[str, dict[str, list[float] | str]] = {}
    left = dict(libraries)
    for task in TASKS:
        times = seconds[task] = {}
        quick: dict[str, float] = {}

        def note(name: str, answer: float | str | None, times: dict[str, Any] = times) -> None:
            if isinstance(answer, str):
                times[name] = answer
                left.pop(name)
            elif answer is not None:
                times.setdefault(name, []).append(answer)

        for name, library in list(left.items()):
            first = library.ask(case, task)
            answer = library.ask(case, task) if isinstance(first, float) else first
            if isinstance(answer, float) and answer <= QUICK_S:
                quick[name] = answer
            else:
                note(name, answer)
        for _ in range(rounds):
            for name in [name for name in quick if name in left]:
                note(name, left[name].ask(case, task, quick[name] <= WARMED_S))
    return seconds


def shown(times: dict[str, list[float] | str], name: str) -> str:
    """Return the median, and how many times as long a library takes: the median of the rounds' ratios."""
    found = times.get(name, "")
    if isinstance(found, str):
        return found
    factor = median(theirs / ours for theirs, ours in zip(found, times[OWN], strict=False))  # type: ignore[operator]
    return f"{1000 * median(found):.2f} ({factor:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, nargs="+", default=[1000, 20_000, 100_000, 1_000_000])
    parser.add_argument("--neighbours", type=float, nargs="+", default=[4, 12.5, 50])
    parser.add_argument("--shapes", nargs="+", choices=("uniform", "clumped"), default=["uniform", "clumped"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="uniform points only, 12.5 neighbours, up to 100,000")
    parser.add_argument("--libraries", nargs="+", default=[], help="only those whose names begin so; the grid is always there")
    args = parser.parse_args()
    if args.quick:
        args.points, args.neighbours, args.shapes = [n for n in args.points if n <= 100_000], [12.5], ["uniform"]
    libraries = {name: Library(name) for name in installed()
                 if not args.libraries or name.startswith((OWN, *args.libraries))}
    for shape, neighbours, n in product(args.shapes, args.neighbours, args.points):
        print(f"\n### {n:,} {shape} points, {neighbours:g} neighbours\n", flush=True)
        seconds = measured((n, neighbours, shape), libraries, args.rounds)
        print("| ms (times as long) | " + " | ".join(TASKS) + " |\n|---|" + "---|" * len(TASKS))
        for name in libraries:
            print(f"| {name} | " + " | ".join(shown(seconds[task], name) for task in TASKS) + " |")
        print()


if __name__ == "__main__":
    main()
