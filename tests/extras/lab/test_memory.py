"""Both storages are as large as their formulas say; the sparse set by its generations more."""

from __future__ import annotations

import numpy as np
import pytest

from crowd_demo.extras.lab.storage import (
    COMPONENTS,
    SHARES,
    STORAGES,
    make_linear,
    make_sparse,
    measured_bytes,
    members_of,
    memory,
)

OBJECTS = 1024  # bytes at most of what Python puts around the arrays
CASES = [(entities, component, used) for entities in (1000, 200_000) for component in COMPONENTS for used in SHARES]
pytestmark = pytest.mark.quick


@pytest.mark.parametrize("case", CASES)
def test_arrays_are_as_large_as_the_formulas(case: tuple[int, int, float]) -> None:
    entities, _, used = case
    members, data = make_sparse(*case)
    assert sum(array.nbytes for array in make_linear(*case)) == STORAGES["linear"].formula(*case)
    assert len(members) == len(data) == round(entities * used)


def test_nothing_else_of_size_is_allocated() -> None:
    case = 200_000, 32, 0.5
    for storage, extra in zip(STORAGES.values(), (0, 4 * case[0]), strict=True):
        measured_bytes(storage, *case)  # what is imported or remembered at the first time is not the storage's
        assert 0 <= measured_bytes(storage, *case) - storage.formula(*case) - extra < OBJECTS


def test_the_published_table_but_for_its_error() -> None:
    linear, sparse = (storage.formula for storage in STORAGES.values())
    assert [sparse(1000, 8, 0.1), sparse(1000, 24, 0.5), sparse(1000, 128, 1.0)] == [8800, 20000, 136000]
    assert [linear(1000, 8, 1), linear(1000, 24, 1), linear(1000, 128, 1)] == [8125, 24125, 128125]


def test_members_are_spread_over_all() -> None:
    assert members_of(10, 0.5).tolist() == [0, 2, 4, 6, 8]
    assert members_of(10, 0).tolist() == [] and np.array_equal(members_of(10, 1), np.arange(10))


def test_the_table_says_who_is_smaller(capsys: pytest.CaptureFixture[str]) -> None:
    memory(1000)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[8] for row in rows] == ["linear"] * 3 + ["sparse", "sparse", "linear"] * 2
