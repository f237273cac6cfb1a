"""Processes that the program starts run its own package, whatever lies in the working folder or earlier in the path."""

from __future__ import annotations

import subprocess
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
