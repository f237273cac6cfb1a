"""Storages are as large as their formulas say, the sparse set by its generations more; and both layouts add up the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crowd_demo.extras.lab.claims.experiments.memory import (
    CANDIDATES,
    COMPONENTS,
    SHARES,
    STORAGES,
    layout,
    layouts,
    make_linear,
    make_sparse,
    measure,
    measured_bytes,
    members_of,
    memory,
)

OBJECTS = 1024  # bytes at most of what Python puts around the arrays
CASES = [(entities, component, used) for entities in (1000, 200_000) for component in COMPONENTS for used in SHARES]
quick = pytest.mark.quick


@quick
@pytest.mark.parametrize("case", CASES)
def test_arrays_are_as_large_as_the_formulas(case: tuple[int, int, float]) -> None:
    entities, _, used = case
    members, data = make_sparse(*case)
    assert sum(array.nbytes for array in make_linear(*case)) == STORAGES["linear"].formula(*case)
    assert len(members) == len(data) == round(entities * used)


@quick
def test_nothing_else_of_size_is_allocated() -> None:
    case = 200_000, 32, 0.5
    for storage, extra in zip(STORAGES.values(), (0, 4 * case[0]), strict=True):
        measured_bytes(storage, *case)  # what is imported or remembered at the first time is not the storage's
        assert 0 <= measured_bytes(storage, *case) - storage.formula(*case) - extra < OBJECTS


@quick
def test_the_published_table_but_for_its_error() -> None:
    linear, sparse = (storage.formula for storage in STORAGES.values())
    assert [sparse(1000, 8, 0.1), sparse(1000, 24, 0.5), sparse(1000, 128, 1.0)] == [8800, 20000, 136000]
    assert [linear(1000, 8, 1), linear(1000, 24, 1), linear(1000, 128, 1)] == [8125, 24125, 128125]


@quick
def test_members_are_spread_over_all() -> None:
    assert members_of(10, 0.5).tolist() == [0, 2, 4, 6, 8]
    assert members_of(10, 0).tolist() == [] and np.array_equal(members_of(10, 1), np.arange(10))


@quick
def test_the_table_says_who_is_smaller(capsys: pytest.CaptureFixture[str]) -> None:
    memory(1000)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[8] for row in rows] == ["linear"] * 3 + ["sparse", "sparse", "linear"] * 2


# --- columns and records add up the same -----------------------------------------------------------------------------

@pytest.mark.parametrize("scattered", [False, True])
def test_columns_and_records_give_the_same_sums(scattered: bool) -> None:
    launches = layouts(200, scattered, workers=2)
    assert min(measure(launches, rounds=1).values()) > 0
    arguments: Any = launches["columns"].args
    _, x, y, vx, vy, order, sums = arguments
    for agent in range(200):
        near = order[agent:agent + CANDIDATES]
        dx, dy = x[near] - x[order[agent]], y[near] - y[order[agent]]
        seen = dx * dx + dy * dy < np.float32(24**2)
        wanted = (seen.sum(), *((v[seen] * np.float32(256)).astype(np.int32).sum() for v in (dx, dy, vx[near], vy[near])))
        assert tuple(column[agent] for column in sums) == wanted
    for launch in launches.values():
        found: Any = launch.args[-1]
        for got, same in zip(found, sums, strict=True):
            assert np.array_equal(got, same)


def test_the_table_names_both_orders_and_all_layouts(capsys: pytest.CaptureFixture[str]) -> None:
    layout(100)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["sorted"] * 3 + ["scattered"] * 3
    assert "records of 68 bytes" in lines[-1]
