"""The picture of a table."""

from __future__ import annotations

import io

import pytest

from crowd_demo.extras.ensemble.job import RunRow
from crowd_demo.extras.ensemble.plan import Plan, make_plan
from crowd_demo.extras.ensemble.table import COLOURS, Table, groups_of, make_table, plot

pytest.importorskip("matplotlib", reason="matplotlib is an extra")


def table_of(plan: Plan, failed: int = -1) -> Table:
    """Each run's number is its place in the plan."""
    return make_table(plan, [
        RunRow(key=run.key, error="no") if place == failed else
        RunRow(key=run.key, state_hash=f"{place:032}", values={"stuck": float(place)}) for place, run in enumerate(plan.runs)])


@pytest.mark.quick
def test_runs_are_grouped_by_the_other_settings() -> None:
    plan = make_plan("1k", seeds="1-2", vary={"crowd.radius": [20, 40], "map": [None, "maze"]}, measures=["stuck"])
    groups = groups_of(table_of(plan, failed=3), ["map"], "crowd.radius", "stuck")
    assert [(group.name, group.numbers) for group in groups] == [
        ("null", {20: [0.0, 1.0], 40: [4.0, 5.0]}), ("maze", {20: [2.0], 40: [6.0, 7.0]})]
    assert [group.colour for group in groups] == list(COLOURS[:2])


@pytest.mark.quick
def test_where_there_are_too_many_groups_there_is_one() -> None:
    plan = make_plan("1k", vary={"crowd.radius": list(range(1, 9)), "map": [None, "maze"]}, measures=["stuck"])
    (group,) = groups_of(table_of(plan), ["crowd.radius"], "map", "stuck")
    assert group.numbers == {None: [0, 2, 4, 6, 8, 10, 12, 14], "maze": [1, 3, 5, 7, 9, 11, 13, 15]}


@pytest.mark.parametrize("vary", [
    {}, {"crowd.radius": [20, 40]}, {"map": ["maze", None]}, {"crowd.radius": [20, 40], "optimizations.simd": [True, False]}])
def test_a_picture_has_a_panel_for_each_measure_and_setting(vary) -> None:
    from matplotlib.image import imread

    plan = make_plan("1k", seeds="1-3", vary=vary, measures=["stuck", "population"])
    height, width = imread(io.BytesIO(plot(plan, table_of(plan, failed=1)))).shape[:2]
    assert height > 400 and width >= 390 * max(len(vary), 1)
