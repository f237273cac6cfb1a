"""Every answer of a grid against all pairs, for both types, open and periodic sides, any cells and threads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from crowd_demo.grid import Grid, pair_rule, root, select

RADIUS, SIDE = 10.0, (80.0, 50.0)
STEPS = 4  # parts of the radius: many points share a place, a border of cells, or a distance of exactly the radius


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
    grid = Grid(RADIUS, ((0, 0), SIDE), threads=draw(st.integers(1, 3)), periodic=sides,
                cell_size=draw(st.sampled_from(["auto", 2.5, 3.3, 5.0, 10.0, 17.0, 200.0])))
    grid.update(x, y)
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
