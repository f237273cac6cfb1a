"""What the tests of ensembles share: a plugin whose measures get a run into trouble, and a watch for processes left behind."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TROUBLE = ROOT / "tests/extras/ensemble/trouble"  # a fixed place: compiled kernels are kept for it

Started = Callable[..., "subprocess.Popen[str]"]
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One with the plugin, and with a mark by which the processes of the test are found."""
    site = tmp_path / "site"
    info = site / "trouble-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: trouble\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[crowd_demo]\ntrouble = trouble:PLUGIN\n", "utf-8")
    marks = tmp_path / "marks"
    marks.mkdir()
    paths = [str(site), str(TROUBLE), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TROUBLE": str(marks), "MARK": uuid.uuid4().hex}


def hear_interrupts() -> None:
    """What a shell runs in the background ignores Ctrl-C, and so would all that the tests start there."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def start(environment: dict[str, str]) -> Iterator[Started]:
    """Start `crowd-demo ensemble`; whatever becomes of it, no process of the test may be left at the end."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object, **more: str) -> subprocess.Popen[str]:
        process = subprocess.Popen([sys.executable, "-m", "crowd_demo", "ensemble", *map(str, arguments)], encoding="utf-8",
                                   env={**environment, **more}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=hear_interrupts)
        started.append(process)
        return process

    try:
        yield start
        assert not left_behind(environment["MARK"])
    finally:
        for process in started:
            process.kill()
            process.communicate()


@pytest.fixture
def ensemble(start: Started) -> Command:
    """Run it to its end."""
    def run(*arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
        process = start(*arguments, **more)
        out, err = process.communicate()
        err = "".join(line for line in err.splitlines(keepends=True) if not line.startswith("ensemble: compiling "))
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    return run


def left_behind(mark: str, wait_s: float = 20.0) -> list[int]:
    """The processes that have the mark in their environment, after waiting for their end."""
    end = time.monotonic() + wait_s
    while (found := _marked(mark)) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def _marked(mark: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                found.append(int(path.parent.name))
        except OSError:  # it has just ended, or is somebody else's
            continue
    return found
