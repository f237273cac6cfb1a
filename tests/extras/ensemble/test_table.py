"""The table, a row for each run in the order of the plan, whoever made it; its check of state hashes, and its picture."""

from __future__ import annotations

import csv
import io
import json

import pytest

from crowd_demo.extras.ensemble.job import RunRow
from crowd_demo.extras.ensemble.plan import Plan, make_plan
from crowd_demo.extras.ensemble.running import MANIFEST, write_manifest
from crowd_demo.extras.ensemble.table import COLOURS, Table, finished_keys, groups_of, make_table, parquet, plot

quick = pytest.mark.quick


@pytest.fixture
def plan() -> Plan:
    return make_plan("1k", seeds="1-2", vary={"map": [None, "maze"]}, steps=20, measures=["step_ms", "stuck", "population"])


def row(plan: Plan, number: int, **what) -> RunRow:
    return RunRow(**{"key": plan.runs[number].key, "state_hash": f"{number:032}", "steps": 20, "worker": "a:1", "cpu": "x",
                  "values": {"stuck": 0.1 * number, "population": 7.0, "step_ms": 0.5}, **what})


@quick
def test_rows_stand_in_the_order_of_the_plan_and_circumstances_at_the_end(plan) -> None:
    table = make_table(plan, [row(plan, 2), row(plan, 0), RunRow(key="of another plan", state_hash="0" * 32)])
    assert table.columns == ("map", "seed", "stuck", "population", "steps", "state_hash", "error", "differs", "key",
                             "step_ms", "seconds", "worker", "cpu", "versions")
    assert [each["state_hash"] for each in table.rows] == [f"{0:032}", "", f"{2:032}", ""]
    assert [(each["steps"], each["seconds"]) for each in table.rows] == [(20, 0.0), (None, None)] * 2
    assert (table.finished, table.failed, table.missing) == (2, 0, 2)
    found = list(csv.DictReader(io.StringIO(table.csv())))
    assert [(each["map"], each["seed"], each["stuck"]) for each in found] == [
        ("", "1", "0.0"), ("", "2", ""), ("maze", "1", "0.2"), ("maze", "2", "")]
    assert table.csv(circumstances=False).splitlines()[0] == "map,seed,stuck,population,steps,state_hash,error,differs,key"


@quick
def test_what_finished_counts_more_than_what_failed(plan) -> None:
    failed = row(plan, 0, state_hash="", error="ValueError: no")
    for order in ([failed, row(plan, 0)], [row(plan, 0), failed]):
        table = make_table(plan, order)
        assert table.rows[0]["error"] == "" and table.finished == 1 and table.failed == 0
    assert make_table(plan, [failed]).failed == 1
    assert finished_keys([failed, row(plan, 1)]) == {plan.runs[1].key}


@quick
def test_a_key_that_was_made_twice_must_have_one_hash(plan) -> None:
    same = make_table(plan, [row(plan, 0), row(plan, 0, worker="b:2")])
    assert same.differences == () and same.rows[0]["differs"] == ""
    other = make_table(plan, [row(plan, 0), row(plan, 0, worker="b:2", state_hash="f" * 32), row(plan, 1)])
    (difference,) = other.differences
    assert difference.run == plan.runs[0] and str(difference) == f"{0:032} by a:1 on x; {'f' * 32} by b:2 on x"
    assert [each["differs"] for each in other.rows] == ["f" * 32, "", "", ""]


@quick
def test_a_key_that_was_made_twice_must_have_one_value_of_each_measure_but_times(plan) -> None:
    def measured(**values: float) -> RunRow:
        return row(plan, 0, worker="b:2", values={"stuck": 0.0, "population": 7.0, "step_ms": 0.5, **values})

    assert make_table(plan, [row(plan, 0), measured(step_ms=9.0)]).differences == ()
    other = make_table(plan, [row(plan, 0), measured(stuck=0.25)])
    (difference,) = other.differences
    assert (difference.column, str(difference)) == ("stuck", "0.0 by a:1 on x; 0.25 by b:2 on x")
    assert other.rows[0]["differs"] == "stuck" and other.rows[0]["stuck"] == 0.0
    (crowd,) = make_table(plan, [row(plan, 0), measured(stuck=0.25).model_copy(update={"state_hash": "f" * 32})]).differences
    assert crowd.column == "state_hash"  # where the crowd differs, so do measures


@quick
def test_the_row_that_finished_first_counts_wherever_its_file_stands(plan) -> None:
    rows = [row(plan, 0, worker="a:1", finished=9.0), row(plan, 0, worker="z:1", finished=5.0)]
    assert make_table(plan, rows).rows[0]["worker"] == "z:1"
    failed = [row(plan, 0, state_hash="", error=error, finished=at) for error, at in (("last", 3.0), ("first", 2.0))]
    assert make_table(plan, failed).rows[0]["error"] == "last"


@quick
def test_parquet_has_the_same_table(plan) -> None:
    parquet_files = pytest.importorskip("pyarrow.parquet", reason="pyarrow is an extra")
    import pyarrow

    table = make_table(plan, [row(plan, number) for number in range(4)])
    content = parquet(table)
    assert content is not None
    assert parquet_files.read_table(pyarrow.BufferReader(content)).to_pylist() == list(table.rows)


@quick
def test_mixed_values_of_a_setting_are_texts_in_parquet() -> None:
    pytest.importorskip("pyarrow.parquet", reason="pyarrow is an extra")
    plan = make_plan("1k", vary={"optimizations.cell_size": ["auto", 64]}, measures=["population"])
    assert parquet(make_table(plan, []))


@quick
def test_the_manifest_says_what_was_asked_for_and_what_with(plan, tmp_path) -> None:
    write_manifest(plan, tmp_path)
    found = json.loads((tmp_path / MANIFEST).read_text("utf-8"))
    assert (found["kind"], found["runs"], found["varied"], found["seeds"]) == ("ensemble", 4, {"map": [None, "maze"]}, [1, 2])
    assert found["code"] == plan.code and found["config"]["agents"] == 1000 and "numba" in found["versions"]


# --- the picture -----------------------------------------------------------------------------------------------------

def table_of(plan: Plan, failed: int = -1) -> Table:
    """Each run's number is its place in the plan."""
    return make_table(plan, [
        RunRow(key=run.key, error="no") if place == failed else
        RunRow(key=run.key, state_hash=f"{place:032}", values={"stuck": float(place)}) for place, run in enumerate(plan.runs)])


@quick
def test_runs_are_grouped_by_the_other_settings() -> None:
    plan = make_plan("1k", seeds="1-2", vary={"crowd.radius": [20, 40], "map": [None, "maze"]}, measures=["stuck"])
    groups = groups_of(table_of(plan, failed=3), ["map"], "crowd.radius", "stuck")
    assert [(group.name, group.numbers) for group in groups] == [
        ("null", {20: [0.0, 1.0], 40: [4.0, 5.0]}), ("maze", {20: [2.0], 40: [6.0, 7.0]})]
    assert [group.colour for group in groups] == list(COLOURS[:2])


@quick
def test_where_there_are_too_many_groups_there_is_one() -> None:
    plan = make_plan("1k", vary={"crowd.radius": list(range(1, 9)), "map": [None, "maze"]}, measures=["stuck"])
    (group,) = groups_of(table_of(plan), ["crowd.radius"], "map", "stuck")
    assert group.numbers == {None: [0, 2, 4, 6, 8, 10, 12, 14], "maze": [1, 3, 5, 7, 9, 11, 13, 15]}


@pytest.mark.parametrize("vary", [
    {}, {"crowd.radius": [20, 40]}, {"map": ["maze", None]}, {"crowd.radius": [20, 40], "optimizations.simd": [True, False]}])
def test_a_picture_has_a_panel_for_each_measure_and_setting(vary) -> None:
    image = pytest.importorskip("matplotlib.image", reason="matplotlib is an extra")
    plan = make_plan("1k", seeds="1-3", vary=vary, measures=["stuck", "population"])
    height, width = image.imread(io.BytesIO(plot(plan, table_of(plan, failed=1)))).shape[:2]
    assert height > 400 and width >= 390 * max(len(vary), 1)
