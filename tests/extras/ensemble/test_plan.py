"""The plan of an ensemble: which runs there are, in which order, and what their keys depend on. No kernel runs."""

import ast
import csv
import errno
import io
import json
import os
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from damages import damages, mistakes_in

from crowd_demo import Simulation, ensemble, load_config
from crowd_demo.config.memory import PROGRAM
from crowd_demo.config.resources import PACKAGE
from crowd_demo.config.yaml12 import dump
from crowd_demo.extras.ensemble import plan as plans
from crowd_demo.extras.ensemble import running
from crowd_demo.extras.ensemble.executors import Process
from crowd_demo.extras.ensemble.plan import (
    Job,
    Plan,
    RunRow,
    carry_out,
    code_fingerprint,
    make_plan,
    own_sources,
    parse_varied,
    run_key,
    seeds_of,
)
from crowd_demo.extras.ensemble.running import (
    MANIFEST,
    RowFile,
    _what_decides,
    capacity,
    executor_of,
    read_rows,
    run_bytes,
    write_manifest,
)
from crowd_demo.extras.ensemble.table import COLOURS, Table, groups_of, make_table, parquet, plot
from crowd_demo.host.files import sealed_line
from crowd_demo.host.system import duration

MEASURES = ["population"]


def lines_of(**what) -> list[str]:
    return mistakes_in(make_plan, what.pop("config", "1k"), **what)


@pytest.mark.quick
def test_values_multiply_and_the_seed_changes_fastest() -> None:
    plan = make_plan("1k", seeds="1-3", vary={"crowd.radius": [20, 40.5], "behaviour": ["crowd", "flock"]}, measures=MEASURES)
    assert [(*run.settings, run.seed) for run in plan.runs] == [
        (radius, behaviour, seed) for radius in (20, 40.5) for behaviour in ("crowd", "flock") for seed in (1, 2, 3)]
    assert all((run.config.crowd.radius, run.config.behaviour, run.config.seed) == (*run.settings, run.seed)
               for run in plan.runs)
    assert {run.config.optimizations.threads for run in plan.runs} == {1}
    assert len({run.key for run in plan.runs}) == 12 and plan.name(plan.runs[4]) == "crowd.radius=20, behaviour=flock, seed 2"


@pytest.mark.quick
def test_a_job_goes_as_a_line_and_comes_back() -> None:
    plan = make_plan("1k", measures=MEASURES)
    job = plan.job(plan.runs[0])
    line = job.model_dump_json()
    assert Job.model_validate_json(line) == job and "\n" not in line


@pytest.mark.quick
@pytest.mark.parametrize(("text", "seeds"), [
    ("1-3", [1, 2, 3]), ("7", [7]), ("1,5, 9-11,5", [1, 5, 9, 10, 11]), (4, [4]), (range(2, 4), [2, 3]), ("0", [0])])
def test_seeds_are_ranges_and_lists(text, seeds) -> None:
    assert seeds_of(text) == seeds


@pytest.mark.quick
@pytest.mark.parametrize("text", ["", "3-1", "-1", "a", "1-", "1,,2", "1.5", "9999999999999999999999"])
def test_what_is_no_seed_is_one_line(text) -> None:
    assert mistakes_in(seeds_of, text) == [f"--seeds: must be whole numbers such as 1-100 or 1,5,9, not {text!r}"]


@pytest.mark.quick
def test_varied_values_are_yaml_scalars() -> None:
    found = parse_varied(["crowd.radius=20,40.5", "map=null,hall", "optimizations.simd=true,false", "spawn.pattern='clump'",
                          "measure.areas.door=[0,0,1,1],[0,0,2,2]"])
    assert found == {"crowd.radius": [20, 40.5], "map": [None, "hall"], "optimizations.simd": [True, False],
                     "spawn.pattern": ["clump"], "measure.areas.door": [[0, 0, 1, 1], [0, 0, 2, 2]]}


@pytest.mark.quick
@pytest.mark.parametrize(("text", "line"), [
    ("crowd.radius", "--vary:1: crowd.radius: must be key.path=value,value, not 'crowd.radius'"),
    ("crowd.radius=", "--vary:1: crowd.radius: must be key.path=value,value, not 'crowd.radius='"),
    ("=5", "--vary:1: ?: must be key.path=value,value, not '=5'"),
])
def test_what_is_no_list_of_values_is_one_line(text, line) -> None:
    assert mistakes_in(parse_varied, [text]) == [line]


@pytest.mark.quick
@pytest.mark.parametrize(("what", "lines"), [
    ({"vary": {"crowd.radus": [20]}}, ["--vary:1: crowd.radus: unknown key (did you mean radius?)"]),
    ({"vary": {"crowd.radius": [20, "wide"]}},
     ['--vary:1: crowd.radius: must be a number from 0 to 4096 or text such as "0.46 m", not \'wide\'']),
    ({"vary": {"seed": [1, 2]}}, ["--vary: seed: give --seeds"]),
    ({"vary": {"agents": [5, 5]}}, ["--vary: agents: a value is given twice"]),
    ({"vary": {"optimizations.threads": [1, 2]}}, ["--vary: optimizations.threads: every run has one thread"]),
    ({"vary": {"crowd.radius": list(range(1000)), "agents": list(range(1000))}}, ["--vary: 1,000,000 runs; at most 100,000"]),
    ({"seeds": [-1]}, [f"--seeds: must be whole numbers from 0 to {2**63 - 1}"]),
    ({"seeds": []}, ["--seeds: none are given"]),
    ({"measures": ["stuk"]}, ["--measure: no measure 'stuk' (did you mean stuck?)"]),
    ({"measures": ["flow"]},
     ["--measure: flow: the configuration names no lines; --set measure.lines.NAME=[x, y, x, y] names one"]),
    ({"config": "20k-flock", "measures": ["stuck"]}, ["--measure: stuck: only for crowd, not for flock"]),
    ({"steps": 5, "every": 6}, ["--every: must be from 1 to the number of steps, 5, not 6"]),
    ({"config": "nowhere"}, ["nowhere: no such file, nor a shipped configuration (there are: "]),
])
def test_a_mistake_is_one_line(what, lines) -> None:
    found = lines_of(**what)
    assert len(found) == len(lines) and all(line.startswith(start) for line, start in zip(found, lines, strict=True))


@pytest.mark.quick
def test_a_measure_of_one_of_several_behaviours_is_asked_of_that() -> None:
    plan = make_plan("1k", vary={"behaviour": ["crowd", "flock"]}, measures=["stuck"])
    assert plan.columns == ("stuck",)


@pytest.mark.quick
def test_places_give_a_column_each() -> None:
    plan = make_plan("1k", overrides={"measure.areas": {"door": [0, 0, 5, 5], "hall": [5, 5, 9, 9]},
                                      "measure.lines.exit": [0, 0, 1, 1]}, measures=["density", "flow", "population"])
    assert plan.columns == ("density.door", "density.hall", "flow.exit", "population")


def key(measures=("population",), steps=10, every=5, code="c", **settings) -> str:
    return run_key(load_config("1k", settings), steps, every, measures, code)


@pytest.mark.quick
@pytest.mark.parametrize("same", [
    {"window.width": 64}, {"camera.zoom": 2}, {"time.speed": 2}, {"time.catch_up": 9}, {"scene.ground": "grass"}, {"keys": {}},
    {"measures": ("population",)}])
def test_a_key_does_not_depend_on_what_no_step_reads(same) -> None:
    assert key(**same) == key()


@pytest.mark.quick
@pytest.mark.parametrize("other", [
    {"seed": 2}, {"agents": 5}, {"crowd.radius": 5}, {"time.step_hz": 30}, {"map": "maze"},
    {"optimizations.neighbour_limit": "nearest"}, {"measures": ("stuck",)}, {"steps": 11}, {"every": 1},
    {"code": "d"}, {"measure.areas.a": [0, 0, 1, 1]}])
def test_a_key_depends_on_all_else(other) -> None:
    assert key(**other) != key()


@pytest.mark.quick
def test_a_key_depends_on_what_is_in_a_map_and_not_on_where_it_lies(tmp_path: Path) -> None:
    keys = []
    for folder, text in (("a", "..\n.@\n"), ("b", "..\n.@\n"), ("c", "..\n@.\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "my.map").write_text(f"type octile\nheight 2\nwidth 2\nmap\n{text}", "utf-8")
        (tmp_path / folder / "my.yaml").write_text(dump({"agents": 5, "map": "my.map"}), "utf-8")
        keys.append(make_plan(tmp_path / folder / "my.yaml").runs[0].key)
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.quick
def test_the_fingerprint_is_that_of_the_model_and_of_the_measures(monkeypatch, tmp_path: Path) -> None:
    before = code_fingerprint()
    assert code_fingerprint() == before
    monkeypatch.setattr(plans, "MAKERS", ("compute", "config", "registry", "sim", "ensemble"))
    assert code_fingerprint() != before


@pytest.mark.quick
def test_all_that_a_run_imports_is_in_the_fingerprint() -> None:
    """What a plan and measures import, and what that imports of the same floors."""
    made_by, waiting = set[Path](), [PACKAGE / "extras/ensemble/plan.py", PACKAGE / "extras/ensemble/measures.py"]
    while waiting:
        path = waiting.pop()
        if path not in made_by:
            made_by.add(path)
            if path.relative_to(PACKAGE).parts[0] in ("extras", "measure"):
                waiting += imported_by(path)
    assert {PACKAGE / "extras/walking.py", PACKAGE / "extras/trajectories.py"} < made_by
    passing_on = {PACKAGE / name for name in ("__init__.py", "api.py", "version.py")}  # which decide nothing
    assert made_by <= {*own_sources(), *passing_on}


def imported_by(path: Path) -> Iterator[Path]:
    """The program's own files that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            inside = PACKAGE.parent.joinpath(*name.split("."))
            yield from (file for file in (inside.with_suffix(".py"), inside / "__init__.py")
                        if file.is_file() and file.is_relative_to(PACKAGE))


@pytest.mark.quick
@pytest.mark.parametrize(("vary", "line"), [
    ({"window.width": [640, 800]}, "window.width: no run depends on it"),
    ({"crowd.radius": [20, 30], "time.speed": [1, 2], "agents": [5, 6]}, "time.speed: no run depends on it"),
    ({"crowd.radius": [20, 20.0]}, "crowd.radius: 20 and 20.0 are the same"),
    ({"agents": [5, 6], "crowd.radius": [20, 30, 20.0]}, "crowd.radius: 20 and 20.0 are the same")])
def test_values_that_make_no_other_run_are_a_mistake(vary, line) -> None:
    assert lines_of(vary=vary, seeds="1-3") == [f"--vary: {line}"]


# --- the table, a row for each run in the order of the plan, whoever made it -----------------------------------------


@pytest.fixture
def plan() -> Plan:
    return make_plan("1k", seeds="1-2", vary={"map": [None, "maze"]}, steps=20, measures=["step_ms", "stuck", "population"])


def row(plan: Plan, number: int, **what) -> RunRow:
    return RunRow(**{"key": plan.runs[number].key, "state_hash": f"{number:032}", "steps": 20, "worker": "a:1", "cpu": "x",
                  "values": {"stuck": 0.1 * number, "population": 7.0, "step_ms": 0.5}, **what})


@pytest.mark.quick
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


@pytest.mark.quick
def test_what_finished_counts_more_than_what_failed(plan) -> None:
    failed = row(plan, 0, state_hash="", error="ValueError: no")
    for order in ([failed, row(plan, 0)], [row(plan, 0), failed]):
        table = make_table(plan, order)
        assert table.rows[0]["error"] == "" and table.finished == 1 and table.failed == 0
    assert make_table(plan, [failed]).failed == 1


@pytest.mark.quick
def test_a_key_that_was_made_twice_must_have_one_hash(plan) -> None:
    same = make_table(plan, [row(plan, 0), row(plan, 0, worker="b:2")])
    assert same.differences == () and same.rows[0]["differs"] == ""
    other = make_table(plan, [row(plan, 0), row(plan, 0, worker="b:2", state_hash="f" * 32), row(plan, 1)])
    (difference,) = other.differences
    assert difference.run == plan.runs[0] and str(difference) == f"{0:032} by a:1 on x; {'f' * 32} by b:2 on x"
    assert [each["differs"] for each in other.rows] == ["f" * 32, "", "", ""]


@pytest.mark.quick
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


@pytest.mark.quick
def test_the_row_that_finished_first_counts_wherever_its_file_stands(plan) -> None:
    rows = [row(plan, 0, worker="a:1", finished=9.0), row(plan, 0, worker="z:1", finished=5.0)]
    assert make_table(plan, rows).rows[0]["worker"] == "z:1"
    failed = [row(plan, 0, state_hash="", error=error, finished=at) for error, at in (("last", 3.0), ("first", 2.0))]
    assert make_table(plan, failed).rows[0]["error"] == "last"


@pytest.mark.quick
def test_parquet_has_the_same_table(plan) -> None:
    parquet_files = pytest.importorskip("pyarrow.parquet", reason="pyarrow is an extra")
    import pyarrow

    table = make_table(plan, [row(plan, number) for number in range(4)])
    content = parquet(table)
    assert content is not None
    assert parquet_files.read_table(pyarrow.BufferReader(content)).to_pylist() == list(table.rows)


@pytest.mark.quick
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


@pytest.mark.quick
def test_runs_are_grouped_by_the_other_settings() -> None:
    plan = make_plan("1k", seeds="1-2", vary={"crowd.radius": [20, 40], "map": [None, "maze"]}, measures=["stuck"])
    groups = groups_of(table_of(plan, failed=3), ["map"], "crowd.radius", "stuck")
    assert [(group.name, group.numbers) for group in groups] == [
        ("null", {20: [0.0, 1.0], 40: [4.0, 5.0]}), ("maze", {20: [2.0], 40: [6.0, 7.0]})]
    assert [group.colour for group in groups] == list(COLOURS[:2])


@pytest.mark.parametrize("vary", [
    {}, {"crowd.radius": [20, 40]}, {"map": ["maze", None]}, {"crowd.radius": [20, 40], "optimizations.simd": [True, False]}])
def test_a_picture_has_a_panel_for_each_measure_and_setting(vary) -> None:
    image = pytest.importorskip("matplotlib.image", reason="matplotlib is an extra")
    plan = make_plan("1k", seeds="1-3", vary=vary, measures=["stuck", "population"])
    height, width = image.imread(io.BytesIO(plot(plan, table_of(plan, failed=1)))).shape[:2]
    assert height > 400 and width >= 390 * max(len(vary), 1)


# --- Running a plan --------------------------------------------------------------------------------------------------

PAGE = Path(__file__).parents[3] / "docs/ensemble.md"


@pytest.mark.quick
def test_no_more_runs_at_a_time_than_fit_into_memory(monkeypatch) -> None:
    plan = make_plan("1k", vary={"agents": [10, 1_000_000]})
    needed = run_bytes(plan.runs[1].config)
    assert needed > PROGRAM + 300 * 1_000_000 and run_bytes(plan.runs[0].config) < needed
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    for free, fit, asked, workers in ((needed * 3.5, 3, None, 3), (needed * 3.5, 3, 2, 2), (needed * 3.5, 3, 20, 3),
                                      (needed * 100, 100, None, 8), (needed / 2, 1, None, 1)):
        monkeypatch.setattr(running, "available_bytes", lambda free=free: int(free))
        assert capacity(plan.configs) == (needed, 8, fit)
        with closing(executor_of(plan, (), asked, None)) as executor:
            assert executor.workers == workers
    monkeypatch.setattr(running, "available_bytes", lambda: None)
    for asked, workers in ((None, 8), (30, 30)):
        with closing(executor_of(plan, (), asked, None)) as executor:
            assert executor.workers == workers


@pytest.mark.quick
@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0.4 s"), (0.0, "0.01 s"), (99, "99 s"), (120, "2 min"), (5900, "98 min"),
                                               (6000, "1 h 40 min"), (360_000, "100 h 0 min")])
def test_durations_are_told_in_words(seconds, text) -> None:
    assert duration(seconds) == text


@pytest.mark.quick
def test_numbers_do_not_decide_which_kernels_there_are() -> None:
    def decides(**settings) -> str:
        return _what_decides(load_config("1k", {name.replace("__", "."): value for name, value in settings.items()}))

    assert decides(agents=5) == decides(agents=7) == decides(crowd__radius=7) == decides(measure__areas__a=[0, 0, 1, 1])
    for other in ({"behaviour": "flock"}, {"optimizations__neighbour_limit": "nearest"}, {"life__births_per_s": 5},
                  {"links__pattern": "rope"}):
        assert decides(**other) != decides()


def test_a_process_that_ends_says_how() -> None:
    process = Process()
    try:
        plan = make_plan("1k", overrides={"agents": 20}, steps=5, every=5)
        row = process.carry_out(plan.job(plan.runs[0]))
        assert row and row.key == plan.runs[0].key and row.state_hash and not row.error
        other = process.carry_out(plan.job(plan.runs[0]).model_copy(update={"code": "another"}))
        assert other and other.error == "RuntimeError: this worker has another version of the program or of its plugins"
        process.close()
        assert process.carry_out(plan.job(plan.runs[0])) is None and process.how_it_died() == "killed by SIGKILL"
    finally:
        process.close()


@pytest.mark.usefixtures("in_tmp_path")
def test_the_code_of_the_page_runs_and_an_iterator_gives_rows(tmp_path: Path, capsys) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(block, "docs/ensemble.md", "exec"), names)
    table = names["table"]
    assert isinstance(table, ensemble.Table) and table.finished == 4 and len(capsys.readouterr().out.splitlines()) == 5
    assert (tmp_path / "radii/table.csv").read_text("utf-8") == table.csv()
    plan = names["plan"]
    assert isinstance(plan, ensemble.Plan) and list(ensemble.run(plan, "radii")) == []


def test_whoever_stops_reading_rows_keeps_what_is_finished(tmp_path: Path) -> None:
    plan = make_plan("1k", seeds="1-30", overrides={"agents": 50}, steps=200)
    rows = ensemble.run(plan, tmp_path, workers=2)
    first = [next(rows), next(rows)]
    rows.close()
    table = ensemble.table(plan, tmp_path)
    assert 2 <= table.finished < 30 and table.missing == 30 - table.finished
    assert {row["key"] for row in first} <= {row["key"] for row in table.rows if row["state_hash"]}


# --- one run ---------------------------------------------------------------------------------------------------------

SMALL = {"agents": 30, "map": None, "world.width": 200, "world.height": 200}


def test_a_row_says_what_came_of_a_run_and_who_made_it() -> None:
    plan = make_plan("1k", seeds=7, overrides=SMALL, steps=25, every=10, measures=["population", "stuck", "step_ms"])
    row = carry_out(plan.job(plan.runs[0]))
    sim = Simulation(load_config("1k", {**SMALL, "seed": 7}))
    sim.step(25)
    assert (row.key, row.steps, row.state_hash, row.error) == (plan.runs[0].key, 25, sim.state_hash(), "")
    assert row.values["population"] == 30 and set(row.values) == {"population", "stuck", "step_ms"}
    assert row.worker.endswith(f":{os.getpid()}") and row.cpu and "numba" in row.versions and row.seconds > 0


@pytest.mark.parametrize("what", [{"code": "another"}, {"config": "{}x"}, {"measures": ("nothing",)}])
def test_a_run_that_cannot_be_made_is_a_row_with_one_line(what) -> None:
    plan = make_plan("1k", overrides=SMALL, steps=5, every=5)
    row = carry_out(plan.job(plan.runs[0]).model_copy(update=what), "somebody")
    assert row.key == plan.runs[0].key and not row.state_hash and row.worker == "somebody"
    assert row.error and "\n" not in row.error


@pytest.mark.quick
@pytest.mark.parametrize("error", [SystemExit(9), GeneratorExit(9)])
def test_a_run_that_wants_to_end_the_program_is_a_row_too(monkeypatch, error) -> None:
    def fail(job):
        raise error
    monkeypatch.setattr("crowd_demo.extras.ensemble.plan._run", fail)
    plan = make_plan("1k", overrides=SMALL, steps=5, every=5)
    assert carry_out(plan.job(plan.runs[0]), "somebody").error == f"{type(error).__name__}: 9"


# --- rows on disk ----------------------------------------------------------------------------------------------------


def rows(count: int, worker: str = "here:1") -> list[RunRow]:
    return [RunRow(key=f"{number:024}", values={"stuck": number / 3, "flow.a": None}, steps=5, state_hash=f"{number:032}",
                worker=worker) for number in range(count)]


def line_of(row: RunRow) -> bytes:
    return sealed_line(row.model_dump_json().encode())


@pytest.mark.quick
def test_rows_of_all_workers_come_back_as_they_were(tmp_path: Path) -> None:
    made = [*rows(3), *rows(2, "tcp://10.0.0.1:99")]
    with closing(RowFile(tmp_path / "rows")) as file:
        for row in made:
            file.append(row)
    assert read_rows(tmp_path / "rows") == (made, [])
    assert len(list((tmp_path / "rows").iterdir())) == 1


@pytest.mark.quick
def test_a_later_session_appends_to_files_of_its_own(tmp_path: Path) -> None:
    for row in rows(2):
        with closing(RowFile(tmp_path)) as file:
            file.append(row)
    assert len(read_rows(tmp_path)[0]) == len(list(tmp_path.iterdir())) == 2


@pytest.mark.quick
def test_a_damaged_row_is_skipped_and_named_and_no_other_is_lost(tmp_path: Path) -> None:
    lines = [line_of(row) for row in rows(3)]
    for damaged in damages(lines[1], seed=5, count=300):
        content = lines[0] + damaged.rstrip(b"\n") + b"\n" + lines[2]
        (tmp_path / "a.rows").write_bytes(content)
        found, skipped = read_rows(tmp_path)
        assert [row for row in found if row.key in (rows(3)[0].key, rows(3)[2].key)] == [rows(3)[0], rows(3)[2]]
        assert all(row in rows(3) for row in found)
        nothing_left = not damaged.strip(b"\n")
        assert skipped or lines[1] in content or nothing_left


@pytest.mark.quick
def test_a_line_that_was_cut_off_costs_that_row_alone(tmp_path: Path) -> None:
    (tmp_path / "a.rows").write_bytes(b"".join(line_of(row) for row in rows(3))[:-7])
    found, skipped = read_rows(tmp_path)
    assert found == rows(2) and skipped == [f"{tmp_path / 'a.rows'}:3"]


@pytest.mark.quick
def test_a_full_disk_leaves_no_part_of_a_row(tmp_path: Path, monkeypatch) -> None:
    first, second, third = rows(3)
    file = RowFile(tmp_path)
    file.append(first)
    write, room = os.write, [40]

    def write_little(number: int, content: bytes) -> int:
        if not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(number, content[:room.pop()])

    monkeypatch.setattr(os, "write", write_little)
    with pytest.raises(OSError, match="No space left on device") as caught:
        file.append(second)
    assert caught.value.filename.endswith(".rows")
    monkeypatch.undo()
    file.append(third)
    file.close()
    assert read_rows(tmp_path) == ([first, third], [])
