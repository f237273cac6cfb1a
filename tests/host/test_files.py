"""Files, and child processes."""

import gc
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from damages import make_fifo

from crowd_demo.config.loader import load_config
from crowd_demo.extras.ensemble.executors import Process
from crowd_demo.extras.ensemble.plan import make_plan
from crowd_demo.host import child
from crowd_demo.host.compiling import helpers
from crowd_demo.host.compiling.helpers import CompilerSource, Helper
from crowd_demo.host.files import free_name, why_unwritable, write_file
from crowd_demo.host.system import ERASE, REDRAW_EVERY_S, ProgressLine, importing

BEGINS = """
import sys
from pathlib import Path
from crowd_demo.host.files import replacing

with replacing(Path(sys.argv[1])) as path:
    path.mkdir()
    print(flush=True)
    input()
"""
posix = pytest.mark.skipif(sys.platform == "win32", reason="FIFOs, devices and descriptors of POSIX")


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    make_fifo(tmp_path / "fifo.png")
    return tmp_path / "fifo.png"


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    os.close(read)
    os.close(write)


@pytest.mark.quick
def test_a_file_is_written_in_full_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    write_file(path, b"old")

    def fail(*_: object) -> None:
        raise OSError("full")

    for step in ("replace", "chmod"):
        with monkeypatch.context() as patch, pytest.raises(OSError, match="full"):
            patch.setattr(Path, step, fail)
            write_file(path, b"new")
        assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


@posix
@pytest.mark.quick
def test_what_a_killed_process_of_this_machine_left_is_removed_by_the_next_write(tmp_path: Path) -> None:
    command = [sys.executable, "-c", BEGINS, str(tmp_path / "new")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        (begun,) = tmp_path.iterdir()
        write_file(tmp_path / "one", b"x")
        assert begun.exists()  # it is still at work
        process.kill()
        process.wait()
        write_file(tmp_path / "two", b"x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


@posix
@pytest.mark.quick
def test_a_file_keeps_its_permissions_and_a_new_one_has_the_usual_ones(tmp_path: Path) -> None:
    old, new, usual = tmp_path / "old", tmp_path / "new", tmp_path / "usual"
    old.touch()
    old.chmod(0o600)
    usual.touch()
    write_file(old, b"x")
    write_file(new, b"x")
    assert stat.S_IMODE(old.stat().st_mode) == 0o600 and new.stat().st_mode == usual.stat().st_mode


@posix
@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.quick
def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path, exists: bool) -> None:
    (tmp_path / "there").mkdir()
    target, link, first = tmp_path / "there" / "a.json", tmp_path / "link", tmp_path / "first"
    link.symlink_to("there/a.json")
    first.symlink_to("link")
    if exists:
        target.touch()
    assert why_unwritable(first) is None and target.exists() == exists
    write_file(first, b"new")
    assert first.is_symlink() and link.is_symlink() and target.read_bytes() == b"new"


@posix
@pytest.mark.quick
def test_a_fifo_is_written_into_and_looking_at_it_does_not_wait(fifo: Path) -> None:
    assert why_unwritable(fifo) is None
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()))
    reader.start()
    write_file(fifo, b"new" * 50_000)
    reader.join(60)
    assert got == [b"new" * 50_000] and fifo.is_fifo()


@pytest.mark.skipif(sys.platform != "linux", reason="a device of Linux")
@pytest.mark.quick
def test_a_full_device_is_an_error_and_stays(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        write_file(Path("/dev/full"), b"x")
    assert Path("/dev/full").is_char_device()


@posix
@pytest.mark.quick
def test_an_open_descriptor_is_written_into(tmp_path: Path, pipe: tuple[int, int]) -> None:
    read, write = pipe
    for path in (Path(f"/dev/fd/{write}"), tmp_path / "link"):
        if not path.parent.samefile("/dev/fd"):
            path.symlink_to(f"/dev/fd/{write}")
        assert why_unwritable(path) is None
        write_file(path, b"new")
        assert os.read(read, 10) == b"new"


@posix
@pytest.mark.quick
def test_descriptors_that_cannot_be_written_are_told_beforehand(pipe: tuple[int, int]) -> None:
    assert why_unwritable(Path(f"/dev/fd/{pipe[0]}")) == f"/dev/fd/{pipe[0]} is not open for writing"
    assert why_unwritable(Path("/dev/fd/987654")) == "/dev/fd/987654 cannot be written: Bad file descriptor"


@posix
@pytest.mark.quick
def test_names_of_pictures_count_on_and_a_link_that_leads_nowhere_takes_one(tmp_path: Path) -> None:
    (tmp_path / "crowd-0001.png").touch()
    (tmp_path / "crowd-0002.png").symlink_to("nowhere")
    assert free_name(tmp_path, ".png").name == "crowd-0003.png"


# --- Processes run the package of the program, whatever lies in the working folder -----------------------------------

def set_traps(folder: Path, names: Iterable[str]) -> Path:
    """Write modules of these names that leave a mark when they are executed; return the mark."""
    mark = folder / "executed"
    for name in names:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"open({str(mark)!r}, 'w', encoding='utf-8').close()\nraise ImportError('a trap')\n", "utf-8")
    return mark


@pytest.mark.parametrize("forks", {False, helpers.CAN_FORK})
@pytest.mark.usefixtures("in_tmp_path")
def test_a_process_that_compiles_executes_nothing_of_the_working_folder(
        forks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = set_traps(tmp_path, ["crowd_demo/__init__.py", "pydantic.py", "json.py"])
    monkeypatch.delenv("PYGAME_HIDE_SUPPORT_PROMPT", raising=False)  # its greeting is no answer
    monkeypatch.setattr(helpers, "CAN_FORK", forks)
    config = load_config("1k")
    with closing(CompilerSource(config)) as source, closing(Helper(source)) as helper:
        assert (helper.compile("unknown", config.optimizations), mark.exists()) == (True, False)


@pytest.mark.parametrize("earlier", [False, True])
def test_a_worker_of_an_ensemble_executes_nothing_of_the_working_folder_nor_a_package_earlier_in_the_path(
        earlier: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = set_traps(tmp_path, ["crowd_demo/__init__.py", *["pydantic.py", "json.py"] * (not earlier)])
    (monkeypatch.syspath_prepend if earlier else monkeypatch.chdir)(str(tmp_path))
    plan = make_plan("1k", overrides={"agents": 20}, steps=1, every=1)
    with closing(Process()) as worker:
        row = worker.carry_out(plan.job(plan.runs[0]))
        assert (row.error if row else worker.how_it_died(), mark.exists()) == ("", False)


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
    monkeypatch.setattr("crowd_demo.host.system.time.monotonic", lambda: clock[0])
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
