"""Both layouts add up the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crowd_demo.extras.lab.storage import CANDIDATES, layout, layouts, measure


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
