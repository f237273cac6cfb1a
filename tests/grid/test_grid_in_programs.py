"""What a program may rely on: errors, threads, memory, what importing changes, and rules of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import crowd_demo.grid
from crowd_demo.grid import Grid, pair_rule, root, select
from crowd_demo.grid.rules import name_of

BOUNDS = (0, 0), (100, 60)
RULE = """
import sys
from crowd_demo.grid import pair_rule
from crowd_demo.grid.rules import name_of
FACTOR = {factor}
@pair_rule
def half(dx): return dx * FACTOR
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


@pytest.mark.parametrize(("x", "y", "said"), [
    (NAN, Y, "x[7]: must be finite, not nan"),
    (X, NAN * np.inf, "y[0]: must be finite, not inf"),
    (FAR, Y, "x[3]: must be from 0 to 100, not 101"),
    (X, Y[:-1], "y: must be float64[20] like x, not float64[19]"),
    (X, Y.astype(np.float32), "y: must be float64[20] like x, not float32[20]"),
    (np.arange(20), Y, "x: must be float32[n] or float64[n], not int64[20]"),
    (X, Y.reshape(4, 5), "y: must be float32[n] or float64[n], not float64[4, 5]"),
    (5.0, Y, "x: must be float32[n] or float64[n], not float64[]"),
])
def test_an_update_names_the_element(x: np.ndarray, y: np.ndarray, said: str) -> None:
    grid = Grid(5, BOUNDS, outside="refuse")
    grid.update(X, Y)
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        grid.update(x, y)
    assert grid.count in (0, 20) and len(grid.counts()) == grid.count
    grid.update(X, Y)
    assert len(grid.counts()) == 20


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
    assert Path(crowd_demo.__file__).with_name("py.typed").exists()
    public = {name for name in vars(Grid) if not name.startswith("_")}
    assert public == {"update", "counts", "sum", "pairs", "neighbours", "query", "nearest", "order", "cell_start", "shape"}
    assert all(getattr(Grid, name).__doc__ for name in public)


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
