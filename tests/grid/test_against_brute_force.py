"""Points of a program of one's own: the grid against brute force, and inside a program."""

import os
import pickle
import re
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

import crowd_demo.grid
from crowd_demo.grid import Grid, neighbour_grid, pair_rule, root, rules, select
from crowd_demo.grid.rules import name_of, rule_of

RADIUS, SIDE = 10.0, (80.0, 50.0)
STEPS = 4  # parts of the radius: many points share a place, a border of cells, or a distance of exactly the radius


@pytest.fixture(autouse=True, scope="module")
def few_points_for_many_threads() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbour_grid, "POINTS_PER_THREAD", 1)
        for kind, around in product((np.float32, np.float64), (False, True)):  # compiled before examples are drawn
            Grid(RADIUS, ((0, 0), SIDE), periodic=(around, around)).update(*np.zeros((2, 1), kind))
        yield


class Case(NamedTuple):
    """Points, and the grid that they are put in."""

    x: Any
    y: Any
    grid: Grid
    periodic: tuple[bool, bool]


@st.composite
def cases(draw: st.DrawFn, periodic: bool | None = None) -> Case:
    kind = draw(st.sampled_from([np.float32, np.float64]))
    sides = draw(st.tuples(st.booleans(), st.booleans())) if periodic is None else (periodic, periodic)
    n, seed = draw(st.integers(0, 90)), draw(st.integers(0, 2**32 - 1))
    form, rng = draw(st.sampled_from(["lattice", "uniform", "one place", "one cell", "outside"])), np.random.default_rng(seed)
    low, high = (-30, 60) if form == "outside" and not any(sides) else (0, 1)
    points = rng.uniform(0, 1, (2, n)) * np.array([SIDE]).T
    if form == "lattice":
        points = rng.integers(0, 8 * STEPS, (2, n)) * (RADIUS / STEPS) % np.array([SIDE]).T
    elif form == "one place":
        points = np.repeat(rng.uniform(0, 50, (2, 1)), n, axis=1)
    elif form == "one cell":
        points = rng.uniform(21, 29, (2, n))
    elif low:
        points = rng.uniform(low, high, (2, n))
    x, y = points.astype(kind)
    grid = Grid(RADIUS, ((0, 0), SIDE), threads=draw(st.integers(1, 16)), periodic=sides,
                cell_size=draw(st.sampled_from(["auto", 2.5, 3.3, 5.0, 10.0, 17.0, 200.0])))
    for places in (rng.uniform(0, 50, (2, n)).astype(kind), (x, y)):  # each sort shares the next one among the threads
        grid.update(*places)
    return Case(x, y, grid, sides)


def ways(case: Case) -> tuple[Any, Any]:
    """The ways from point i to point j, or to its nearest image, in the type of the coordinates: [n, n]."""
    found = []
    for column, side, around in zip((case.x, case.y), SIDE, case.periodic, strict=True):
        way, side = column[None, :] - column[:, None], column.dtype.type(side)
        found.append(np.where(way * 2 > side, way - side, np.where(way * 2 < -side, way + side, way)) if around else way)
    return found[0], found[1]


def near(case: Case) -> Any:
    dx, dy = ways(case)
    radius = case.x.dtype.type(RADIUS)
    return (dx * dx + dy * dy <= radius * radius) & ~np.eye(len(case.x), dtype=bool)


def as_sets(start: Any, index: Any) -> list[set[int]]:
    rows = [index[a:b].tolist() for a, b in pairwise(start.tolist())]
    assert all(len(row) == len(set(row)) for row in rows)
    return list(map(set, rows))


@settings(max_examples=150, deadline=None)
@given(case=cases())
def test_counts_pairs_and_neighbours(case: Case) -> None:
    expected = near(case)
    counts = case.grid.counts()
    assert counts.dtype == np.int32 and np.array_equal(counts, expected.sum(axis=1))
    i, j = case.grid.pairs()
    assert i.dtype == j.dtype == np.int32 and (i < j).all() and len(set(zip(i.tolist(), j.tolist(), strict=True))) == len(i)
    assert set(zip(i.tolist(), j.tolist(), strict=True)) == set(map(tuple, np.argwhere(np.triu(expected)).tolist()))
    start, index = case.grid.neighbours()
    assert start.dtype == np.int64 and index.dtype == np.int32
    assert as_sets(start, index) == [set(np.flatnonzero(row).tolist()) for row in expected]


@settings(max_examples=60, deadline=None)
@given(case=cases())
def test_the_sort(case: Case) -> None:
    order, start = case.grid.order, case.grid.cell_start
    rows, columns = case.grid.shape
    assert sorted(order.tolist()) == list(range(len(case.x))) and len(start) == rows * columns + 1
    assert start[0] == 0 and start[-1] == len(case.x) and (np.diff(start) >= 0).all()
    for first, end in pairwise(start.tolist()):
        assert (np.diff(order[first:end]) > 0).all()


@pair_rule
def pull(dx, dy, me, other):
    """In lanes: a float, a whole number and a truth value."""
    nearness = 1 - root(dx * dx + dy * dy) * 0.1
    return nearness * other[0] * me[2], select(other[1] > me[1], 1, 0), dx > 0


@pair_rule
def steep_pull(dx, dy, me, other):
    """The same first value with an `if`, which only works for one point at a time."""
    if dx * dx + dy * dy > 100000:
        return 0 * dx
    return (1 - root(dx * dx + dy * dy) * 0.1) * other[0] * me[2]


def added_one_by_one(case: Case, weight: Any, number: Any) -> Any:
    """The sums of `pull`, each term added in the order of the cells."""
    kind, met, (dx, dy) = case.x.dtype.type, near(case), ways(case)
    order = case.grid.order.tolist()
    sums = np.zeros((3, len(case.x)), kind)
    for me in range(len(case.x)):
        for other in (other for other in runs(case, me, order) if met[me, other]):
            way, across = dx[me, other], dy[me, other]
            nearness = kind(1) - np.sqrt(way * way + across * across) * kind(0.1)
            sums[0, me] += nearness * weight[other] * kind(3)
            sums[1, me] += number[other] > number[me]
            sums[2, me] += way > 0
    return sums


def runs(case: Case, me: int, order: list[int]) -> list[int]:
    """Return the other points in the order in which `sum` adds them: by row of cells, then by column, with periodic copies."""
    columns, keys = case.grid.shape[1], np.empty(len(order), np.int64)
    keys[order] = np.repeat(np.arange(len(case.grid.cell_start) - 1), np.diff(case.grid.cell_start))
    place = {other: at for at, other in enumerate(order)}

    def image(column: Any, side: float, around: bool, other: int) -> int:
        way = float(column[other]) - float(column[me])
        return (way * 2 < -side) - (way * 2 > side) if around else 0

    def rank(other: int) -> tuple[int, int, int, int]:
        return (image(case.y, SIDE[1], case.periodic[1], other), int(keys[other]) // columns,
                image(case.x, SIDE[0], case.periodic[0], other), place[other])
    return sorted(order, key=rank)


@settings(max_examples=80, deadline=None)
@given(case=cases(), seed=st.integers(0, 99))
def test_sums_have_the_bits_of_terms_added_in_cell_order(case: Case, seed: int) -> None:
    """Whether in lanes or one by one, for any number of threads."""
    rng, n = np.random.default_rng(seed), len(case.x)
    weight, number = rng.uniform(-1, 1, n), rng.integers(0, 5, n).astype(np.int32)
    weight = weight.astype(case.x.dtype)
    expected = added_one_by_one(case, weight, number)
    sums = case.grid.sum(pull, weight, number, 3)
    assert sums.dtype == case.x.dtype and sums.tobytes() == expected.tobytes()
    assert case.grid.sum(steep_pull, weight, number, 3).tobytes() == expected[0].tobytes()


@settings(max_examples=60, deadline=None)
@given(case=cases(), k=st.integers(0, 12))
def test_nearest(case: Case, k: int) -> None:
    (dx, dy), met = ways(case), near(case)
    squares = dx * dx + dy * dy
    index, distance = case.grid.nearest(k)
    assert index.shape == distance.shape == (len(case.x), k) and distance.dtype == case.x.dtype
    for me, row in enumerate(met):
        expected = sorted(np.flatnonzero(row).tolist(), key=lambda other: (squares[me, other], other))[:k]
        assert index[me].tolist() == expected + [-1] * (k - len(expected))
        assert np.array_equal(distance[me, :len(expected)], np.sqrt(squares[me, expected]))
        assert np.isinf(distance[me, len(expected):]).all()


@settings(max_examples=60, deadline=None)
@given(case=cases(), m=st.integers(0, 20), seed=st.integers(0, 99))
def test_query(case: Case, m: int, seed: int) -> None:
    """Places anywhere in the world, and the points themselves, which are their own neighbours here."""
    places = np.random.default_rng(seed).uniform(0, 1, (m, 2)) * SIDE
    at = np.concatenate([places.astype(case.x.dtype), np.column_stack([case.x, case.y])[:5]])
    both = Case(np.concatenate([at[:, 0], case.x]), np.concatenate([at[:, 1], case.y]), case.grid, case.periodic)
    dx, dy = ways(both)
    radius = case.x.dtype.type(RADIUS)
    expected = (dx * dx + dy * dy <= radius * radius)[:len(at), len(at):]
    assert as_sets(*case.grid.query(at)) == [set(np.flatnonzero(row).tolist()) for row in expected]


@settings(max_examples=40, deadline=None)
@given(n=st.integers(0, 400), seed=st.integers(0, 99), radius=st.floats(0.5, 40), periodic=st.booleans())
@example(n=400, seed=1, radius=24.9, periodic=True)
def test_pairs_are_the_set_of_scipy(n: int, seed: int, radius: float, periodic: bool) -> None:
    if periodic and radius > 24.9:
        return
    x, y = np.random.default_rng(seed).uniform(0, 1, (2, n)) * np.array([SIDE]).T
    grid = Grid(radius, ((0, 0), SIDE), periodic=(periodic, periodic))
    grid.update(x, y)
    tree = cKDTree(np.column_stack([x, y]), boxsize=SIDE if periodic else None)
    expected = tree.query_pairs(radius, output_type="ndarray")
    assert set(zip(*(each.tolist() for each in grid.pairs()), strict=True)) == set(map(tuple, expected.tolist()))


@settings(max_examples=40, deadline=None)
@given(case=cases(), step=st.floats(0, 2), skin=st.floats(0.1, 4), seed=st.integers(0, 99))
def test_with_a_skin_lists_hold_all_neighbours_until_a_point_has_moved_half_of_it(
        case: Case, step: float, skin: float, seed: int) -> None:
    if len(case.x) == 0:
        return
    grid = Grid(RADIUS, ((0, 0), SIDE), skin=skin, periodic=case.periodic)
    grid.update(case.x, case.y)
    rng, first, before = np.random.default_rng(seed), case, grid.neighbours()
    moved = case
    for _ in range(6):
        x, y = (column + rng.uniform(-step, step, len(column)).astype(column.dtype) for column in (moved.x, moved.y))
        inside = [np.where(around, column % column.dtype.type(side), column).astype(column.dtype)
                  for column, side, around in zip((x, y), SIDE, case.periodic, strict=True)]
        moved = Case(inside[0], inside[1], grid, case.periodic)
        again = grid.update(moved.x, moved.y)
        start, index = grid.neighbours()
        assert again == (index is not before[1]) or not len(index)
        slack = near(moved)
        met = as_sets(start, index)
        assert all(set(np.flatnonzero(row).tolist()) <= found for row, found in zip(slack, met, strict=True))
        far = float(np.hypot(*(np.asarray(a, float) - b for a, b in zip(inside, (first.x, first.y), strict=True))).max())
        if not any(case.periodic):
            assert again or far <= skin / 2 * 1.001
        assert np.array_equal(grid.counts(), slack.sum(axis=1))
        i, j = grid.pairs()
        assert {(a, b) for a, b in zip(*np.nonzero(np.triu(slack)), strict=True)} <= set(zip(i, j, strict=True))
        if again:
            first, before = moved, (start, index)


# --- What a program may rely on: errors, threads, memory, what importing changes, and rules of its own ---------------

BOUNDS = (0, 0), (100, 60)
RULE = """
import sys
from crowd_demo.grid import pair_rule, root, select
from crowd_demo.grid.rules import name_of
FACTOR = {factor}
@pair_rule
def half(dx): return select(dx > 1, root(dx) * FACTOR, 0)
@pair_rule
def rule(dx, dy, me, other): return half(dx)
print(name_of(rule))
"""
UNCHANGED = """
import sys, numpy as np
def state():
    import numba
    from numba.core.registry import cpu_target
    @numba.njit
    def smaller(a, b, c):
        out = np.zeros(3, a.dtype)
        for k in range(3):
            out[k] = min(a[k], max(b[k], c)) + abs(a[k])
        return out
    nan = np.array([np.nan, 1, -0.0], np.float32)
    results = [smaller(nan, nan[::-1].copy(), value).tobytes() for value in (np.float32(0), np.float64(0), 1, np.nan)]
    kinds = [str(signature.return_type) for signature in smaller.nopython_signatures]
    settings = {name: repr(value) for name, value in vars(numba.config).items() if name.isupper()}
    return results, kinds, settings, numba.get_num_threads()
before = state()
import crowd_demo.grid
assert state() == before
print("pygame" in sys.modules)
"""
THREADS = """
import threading, numpy as np
from crowd_demo.grid import Grid
def work(seed):
    grid = Grid(5.0, ((0, 0), (300, 300)), threads=2)
    for k in range(10):
        grid.update(*np.random.default_rng(seed + k).uniform(0, 300, (2, 20000)))
        counts[seed, k] = int(grid.counts().sum())
counts = {}
threads = [threading.Thread(target=work, args=(seed,)) for seed in (0, 100)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert len(counts) == 20
print("fine")
"""


def made(n: int = 300, kind: type = np.float64, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    x, y = (np.random.default_rng(seed).uniform(0, 1, (2, n)) * [[100], [60]]).astype(kind)
    return x, y


def run(code: str, **settings: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", env={**os.environ, **settings})
    assert not done.returncode, done.stderr
    return done.stdout.strip()


# --- mistakes ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("wrong", "said"), [
    ({"radius": 0}, "radius: must be a finite number above 0, not 0"),
    ({"radius": float("nan")}, "radius: must be a finite number above 0, not nan"),
    ({"radius": "5"}, "radius: must be a finite number above 0, not '5'"),
    ({"bounds": ((0, 0), (10, -1))}, "bounds: must be ((left, top), (right, bottom)), finite and in this order, not ((0, "),
    ({"bounds": (0, 0, 10, 10)}, "bounds: must be ((left, top), (right, bottom)), finite and in this order, not (0, 0, 1"),
    ({"cell_size": -1}, "cell_size: must be a finite number above 0, not -1"),
    ({"threads": 0}, "threads: must be 'auto' or a whole number from 1 to 64, not 0"),
    ({"outside": "wrap"}, "outside: must be 'clamp' or 'refuse', not 'wrap'"),
    ({"skin": -1}, "skin: must be a finite number above 0, not -1"),
    ({"periodic": (True, True), "radius": 30}, "periodic: must be two truth values, and joined sides longer than 60, not "),
    ({"periodic": True}, "periodic: must be two truth values, and joined sides longer than 10, not True"),
])
def test_impossible_arguments(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
        Grid(**{"radius": 5.0, "bounds": BOUNDS, **wrong})  # type: ignore[arg-type]


X, Y = made(20)
NAN, FAR = X.copy(), X.copy()
NAN[7], FAR[3] = np.nan, 101


def test_columns_places_and_rules_are_checked() -> None:
    grid = Grid(5, BOUNDS)
    grid.update(X, Y)
    for call, said in (
            (lambda: grid.sum(len), "rule: must be a function under @pair_rule, not <built-in function len>"),
            (lambda: grid.sum(push, X[:3]), "column 0: must be float32, float64 or int32 [20], or a number, not 'float64[3]'"),
            (lambda: grid.sum(push, X, np.arange(20)), "column 1: must be float32, float64 or int32 [20], or a number, not"),
            (lambda: grid.sum(push, X, dtype=np.int8), "dtype: must be float32, float64 or int32, not dtype('int8')"),
            (lambda: grid.sum(push, X, dtype=np.int32), "rule: Numba cannot compile "),
            (lambda: grid.query([1, 2, 3]), "points: must be float[m, 2], not (3,)"),
            (lambda: grid.query(np.array([[1, 2], [3, np.nan]])), "points[:, 1][1]: must be finite, not nan"),
            (lambda: grid.nearest(-1), "k: must be a whole number from 0 on, not -1")):
        with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
            call()


@pytest.mark.parametrize("threads", [1, 3, 16])
@pytest.mark.parametrize(("x", "y", "said"), [
    (NAN, Y, "x[7]: must be finite, not nan"),
    (X, NAN * np.inf, "y[0]: must be finite, not inf"),
    (NAN.astype(np.float32), Y.astype(np.float32), "x[7]: must be finite, not nan"),
    (FAR, Y, "x[3]: must be from 0 to 100, not 101"),
    (X, -Y, "y[0]: must be from 0 to 60, not -"),
])
def test_after_a_refused_element_there_are_no_points(threads: int, x: Any, y: Any, said: str) -> None:
    grid, place = Grid(5, BOUNDS, outside="refuse", threads=threads), np.array([[X[7], Y[7]]])
    for _ in range(2):
        grid.update(X, Y)
        assert len(grid.counts()) == len(grid.order) == grid.cell_start[-1] == 20 and 7 in grid.query(place)[1]
        with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
            grid.update(x, y)
        assert [len(each) for each in (grid.counts(), grid.order, *grid.pairs(), *grid.query(place))] == [0, 0, 0, 0, 2, 0]
        assert grid.count == grid.cell_start[-1] == 0


@pytest.mark.parametrize(("x", "y", "said"), [
    (X, Y[:-1], "y: must be float64[20] like x, not float64[19]"),
    (X, Y.astype(np.float32), "y: must be float64[20] like x, not float32[20]"),
    (np.arange(20), Y, "x: must be float32[n] or float64[n], not int64[20]"),
    (X, Y.reshape(4, 5), "y: must be float32[n] or float64[n], not float64[4, 5]"),
    (5.0, Y, "x: must be float32[n] or float64[n], not float64[]"),
])
def test_columns_of_another_form_leave_the_points(x: Any, y: Any, said: str) -> None:
    grid = Grid(5, BOUNDS)
    grid.update(X, Y)
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        grid.update(x, y)
    assert len(grid.counts()) == 20


# --- sizes -------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1])
def test_no_point_and_one(n: int, kind: type) -> None:
    grid = Grid(5, BOUNDS)
    for _ in range(2):
        grid.update(*made(n, kind))
        assert grid.counts().tolist() == [0] * n and grid.sum(push, np.ones(n)).shape == (2, n)
        assert [len(each) for each in (*grid.pairs(), *grid.neighbours())] == [0, 0, n + 1, 0]
        assert grid.nearest(2)[0].tolist() == [[-1, -1]] * n


def test_n_and_the_type_may_change() -> None:
    grid = Grid(5, BOUNDS)
    for n, kind in ((50, np.float64), (3000, np.float32), (7, np.float32), (3000, np.float64), (50, np.float64)):
        x, y = made(n, kind)
        grid.update(x, y)
        near = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2 <= kind(25)
        assert np.array_equal(grid.counts(), near.sum(axis=1) - 1)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_three_million_points(kind: type) -> None:
    """A sample of them against all others; threads change nothing."""
    x, y = (np.random.default_rng(3).uniform(-500, 2500, (2, 3_000_000))).astype(kind)
    answers = []
    for threads in (1, 2):
        grid = Grid(2, ((-500, -500), (2500, 2500)), threads=threads)
        grid.update(x, y)
        answers.append(grid.counts())
    assert np.array_equal(answers[0], answers[1])
    start, index = grid.query(np.column_stack([x, y])[:40])
    for k in range(40):
        near = np.flatnonzero((x[k] - x) * (x[k] - x) + (y[k] - y) * (y[k] - y) <= kind(4))
        assert sorted(index[start[k]:start[k + 1]].tolist()) == near.tolist() and answers[0][k] == len(near) - 1
    i, j = grid.pairs()
    assert len(i) == answers[0].sum() // 2 and (i < j).all()
    assert np.array_equal(np.bincount(i, minlength=len(x)) + np.bincount(j, minlength=len(x)), answers[0])


def test_an_update_allocates_nothing_after_the_first() -> None:
    grid, (x, y) = Grid(5, BOUNDS, threads=2), made(50_000)
    grid.update(x, y)
    tracemalloc.start()
    for _ in range(5):
        grid.update(x, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000


@pytest.mark.parametrize("which", ["pairs", "neighbours"])
def test_lists_take_at_most_twice_the_memory_of_the_result(which: str) -> None:
    grid, (x, y) = Grid(2, BOUNDS), made(50_000)
    grid.update(x, y)
    getattr(grid, which)()
    tracemalloc.start()
    result = getattr(grid, which)()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= 2 * sum(each.nbytes for each in result)


# --- other threads, other programs -------------------------------------------------------------------------------------

def test_several_grids_in_several_threads() -> None:
    expected, found, grid = {}, {}, Grid(4, BOUNDS, threads=2)
    for n in range(4000, 4020):
        grid.update(*made(n))
        expected[n] = grid.counts().tolist()

    def work(first: int) -> None:
        own = Grid(4, BOUNDS, threads=2)
        for n in range(first, 4020, 4):
            own.update(*made(n))
            found[n] = own.counts().tolist()

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4000, 4004)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_threads_of_numbas_work_queue_wait_for_each_other() -> None:
    assert run(THREADS, NUMBA_THREADING_LAYER="workqueue", NUMBA_NUM_THREADS="2") == "fine"


def test_importing_it_imports_no_pygame_and_changes_nothing_in_numba() -> None:
    assert run(UNCHANGED) == "False"


def test_the_public_names() -> None:
    assert crowd_demo.grid.__all__ == ["Grid", "pair_rule", "root", "select"]
    assert all(getattr(crowd_demo.grid, name).__doc__ for name in crowd_demo.grid.__all__)
    assert all(value.__doc__ for name, value in vars(Grid).items() if name[0] != "_")


# --- rules -------------------------------------------------------------------------------------------------------------

@pair_rule
def push(dx, dy, me, other):
    far = root(dx * dx + dy * dy)
    return select(far > 0, dx / far, 0) * other[0], select(far > 0, dy / far, 0) * other[0]


@pair_rule
def twice(dx):
    return 2 * dx


@pair_rule
def nested(dx, dy, me, other):
    return twice(dx)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rules_may_call_rules_and_return_one_value(kind: type) -> None:
    grid, (x, y) = Grid(5, BOUNDS), made(200, kind)
    grid.update(x, y)
    total = grid.sum(nested)
    near = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2 <= kind(25)
    assert total.shape == (200,) and total.dtype == kind
    assert np.allclose(total, 2 * np.where(near, x[None, :] - x[:, None], 0).sum(axis=1), atol=1e-3)


def test_a_rule_may_get_more_columns_than_it_reads_and_then_fewer() -> None:
    grid, (x, y) = Grid(5, BOUNDS), made(50)
    grid.update(x, y)
    for columns in ((x, y), (x,), (), (x, y)):
        assert (grid.sum(nested, *columns) == grid.sum(nested)).all()


def test_a_closure_takes_its_values_along() -> None:
    def times(factor: float):
        @pair_rule
        def rule(dx, dy, me, other):
            return dx * factor
        return rule

    grid = Grid(5, BOUNDS)
    grid.update(*made(50))
    first, second = (grid.sum(times(factor)) for factor in (1.0, 3.0))
    assert np.allclose(3 * first, second) and first.any()


def test_the_name_of_a_rule_follows_all_that_it_depends_on(tmp_path: Path) -> None:
    def name(factor: int) -> str:
        file = tmp_path / "own.py"
        file.write_text(RULE.format(factor=factor), "utf-8")
        done = subprocess.run([sys.executable, str(file)], capture_output=True, encoding="utf-8", check=True,
                              env={**os.environ, "PYTHONPATH": str(Path(crowd_demo.__file__).parents[1])})
        return done.stdout

    assert name(2) == name(2) != name(3)
    assert name_of(push) != name_of(nested)


def test_what_is_kept_for_a_rule_can_be_read_by_other_programs() -> None:
    kept = pickle.dumps(numba.typeof(rule_of(push)))
    assert run(f"import pickle, crowd_demo.grid; print(pickle.loads({kept!r}))") == str(numba.typeof(rule_of(push)))
    assert not hasattr(rules, "other")
