"""Processes that the program starts run its own package, whatever lies in the working folder or earlier in the path."""

import gc
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from crowd_demo.config.loader import load_config
from crowd_demo.extras.ensemble.executors import Process
from crowd_demo.extras.ensemble.plan import make_plan
from crowd_demo.host import child
from crowd_demo.host.compiling import helpers
from crowd_demo.host.compiling.helpers import CompilerSource, ForkingSource, Helper
from crowd_demo.host.streams import ERASE, REDRAW_EVERY_S, ProgressLine
from crowd_demo.host.system import importing

SOURCES = [CompilerSource, *[ForkingSource] * helpers.CAN_FORK]


def set_traps(folder: Path, names: Iterable[str]) -> Path:
    """Write modules of these names that leave a mark when they are executed; return the mark."""
    mark = folder / "executed"
    for name in names:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"open({str(mark)!r}, 'w', encoding='utf-8').close()\nraise ImportError('a trap')\n", "utf-8")
    return mark


def row_of_a_worker() -> str:
    """The error of a small run in a worker of an ensemble."""
    plan = make_plan("1k", overrides={"agents": 20}, steps=1, every=1)
    worker = Process()
    try:
        row = worker.carry_out(plan.job(plan.runs[0]))
    finally:
        worker.close()
    return row.error if row else worker.how_it_died()


@pytest.mark.parametrize("kind", SOURCES)
def test_a_process_that_compiles_executes_nothing_of_the_working_folder(
        kind: type[CompilerSource], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = set_traps(tmp_path, ["crowd_demo/__init__.py", "pydantic.py", "json.py"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYGAME_HIDE_SUPPORT_PROMPT", raising=False)  # its greeting is no answer
    config = load_config("1k")
    with closing(kind(config)) as source, closing(Helper(source)) as helper:
        assert (helper.compile("unknown", config.optimizations), mark.exists()) == (True, False)


def test_a_worker_of_an_ensemble_executes_nothing_of_the_working_folder(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = set_traps(tmp_path, ["crowd_demo/__init__.py", "pydantic.py", "json.py"])
    monkeypatch.chdir(tmp_path)
    assert (row_of_a_worker(), mark.exists()) == ("", False)


def test_a_package_of_the_same_name_earlier_in_the_path_is_not_executed(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = set_traps(tmp_path, ["crowd_demo/__init__.py"])
    monkeypatch.syspath_prepend(str(tmp_path))
    assert (row_of_a_worker(), mark.exists()) == ("", False)


@pytest.mark.quick
def test_a_child_searches_where_its_parent_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a folder with a name that no locale has; and it gets its arguments."""
    folder = tmp_path / "Ωé \" '"
    folder.mkdir()
    (folder / "found.py").write_text("def main(*words):\n    print(*words, 'ü', sep='|')\n", "utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    with child.start("found", "a b", "c", stdout=subprocess.PIPE) as process:
        assert process.communicate()[0] == "a b|c|ü\n" and process.returncode == 0


# --- A line that tells how far something is --------------------------------------------------------------------------

@pytest.mark.quick
@pytest.mark.parametrize(("terminal", "every_s"), [(True, REDRAW_EVERY_S), (False, 60.0)])
def test_a_terminal_has_one_line_and_others_get_one_now_and_then(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool, every_s: float) -> None:
    clock = [0.0]
    monkeypatch.setattr("crowd_demo.host.streams.time.monotonic", lambda: clock[0])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    with ProgressLine("ensemble", 60.0) as line:
        for _ in range(100):
            clock[0] += every_s / 20
            line.show("so far")
    said = capsys.readouterr().err
    lines = said.count("ensemble: so far")
    assert lines in (4, 5, 6) and said.count("\n") == (0 if terminal else lines)
    assert said.endswith(ERASE) == terminal


@pytest.mark.quick
def test_a_line_is_no_wider_than_the_terminal(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "20")
    with ProgressLine("sweep") as line:
        line.show("x" * 100)
    assert capsys.readouterr().err == f"{ERASE}sweep: {'x' * 12}{ERASE}"


# --- what Python's collector of garbage looks at ---------------------------------------------------------------------

FIRST = """
import gc
from crowd_demo.host.system import importing
with importing():
    assert not gc.isenabled()
    import numba
assert gc.isenabled() and gc.get_freeze_count() > 1000
"""


@pytest.mark.quick
def test_what_a_start_imports_is_never_looked_at() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr


@pytest.mark.quick
def test_what_was_made_since_is_looked_at() -> None:
    frozen = gc.get_freeze_count()
    with importing():
        assert gc.isenabled()
    assert gc.get_freeze_count() == frozen
