"""What the command and the Python face share: how many runs fit, how far they are, one run, and its row on disk."""

import errno
import os
import re
from contextlib import closing
from pathlib import Path

import pytest
from damages import damages

from crowd_demo import Simulation, ensemble, load_config
from crowd_demo.config.memory import PROGRAM
from crowd_demo.extras.ensemble import running
from crowd_demo.extras.ensemble.executors import Process
from crowd_demo.extras.ensemble.plan import RunRow, carry_out, make_plan
from crowd_demo.extras.ensemble.running import (
    RowFile,
    _what_decides,
    capacity,
    executor_of,
    read_rows,
    run_bytes,
)
from crowd_demo.host.files import sealed_line
from crowd_demo.host.system import duration

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


def test_the_code_of_the_page_runs_and_an_iterator_gives_rows(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
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
    whole = b"".join(line_of(row) for row in rows(3))
    (tmp_path / "a.rows").write_bytes(whole[:-7])
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
