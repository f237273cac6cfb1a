"""The program of this repository and of another commit, and how it runs: as a child (child.py), which goes on from block to
block; and as a whole, started once for every step of a block, with a kept cache of kernels or an empty one.

The sources of a commit are unpacked under `build/benchmarks` and kept, for a commit does not change. Both run in the present
environment.
"""

import compileall
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, redirect_stdout, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crowd_demo.measure.comparison import BlockTimes, TimedBlock

CHILD = Path(__file__).with_name("child.py")
ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "benchmarks"


class ChildError(Exception):
    """A commit that is not there, or a process that failed; in one line."""


class Install(NamedTuple):
    """How to run the program of one commit: with the sources in `folder`, where it also runs."""

    name: str
    folder: Path
    command: Sequence[str] = (sys.executable,)

    @property
    def environment(self) -> dict[str, str]:
        """All variables of its processes."""
        return {**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": ""}


HERE = Install("here", ROOT)


def at_commit(commit: str) -> Install:
    """Another commit of this repository. Raises ChildError."""
    git = ["git", "-C", str(ROOT)]
    short = output_of([*git, "rev-parse", "--short", "--verify", f"{commit}^{{commit}}"], "git").strip().decode()
    folder = KEPT / short
    if not (folder / "sources").is_dir():
        with tarfile.open(fileobj=io.BytesIO(output_of([*git, "archive", short], "git"))) as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", None)  # since 3.11.4
            archive.extractall(folder / "unpacked")
        (folder / "unpacked").rename(folder / "sources")  # whole or not there
    return Install(short, folder / "sources")


def output_of(command: Sequence[str], name: str, **how: Any) -> bytes:
    """Return the output of a command, with arguments of `subprocess.run`. Raises ChildError with the last error line."""
    done = subprocess.run(command, capture_output=True, **how)
    if done.returncode:
        raise ChildError(f"{name}: {last_line(done.stderr.decode(errors='replace'))}")
    return done.stdout


def last_line(text: str) -> str:
    """The last line of what a process has said."""
    return (text.strip().splitlines() or ["no message"])[-1]


class ChildVariant:
    """Start the child; it is ready when this returns. Raises ChildError.

    `config` is a shipped name or an absolute path, `overrides` are values by key path. The first steps compile the kernels.
    """

    def __init__(self, install: Install, config: str, overrides: Mapping[str, object], picture: bool) -> None:
        self.install = install
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  (closed with the child)
        self._process = subprocess.Popen(
            [*install.command, str(CHILD), config, json.dumps(overrides), *["picture"] * picture], encoding="utf-8",
            env=install.environment, cwd=install.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors)
        try:
            self._answer()
        except ChildError:
            self.close()
            raise

    def run(self, steps: int) -> BlockTimes:
        """Raises ChildError."""
        found = self._ask(str(steps))
        frame, stages = ({name: np.array(ms, np.float32) for name, ms in found[kind].items()}
                         for kind in ("frame", "stages"))
        return BlockTimes(TimedBlock(steps, frame), TimedBlock(steps, stages))

    def end(self) -> tuple[str, str]:
        """(state hash, threading layer). Raises ChildError."""
        found = self._ask("end")
        return found["state_hash"], found["layer"]

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def _ask(self, line: str) -> Any:
        assert self._process.stdin
        with suppress(BrokenPipeError):  # `_answer` says why
            print(line, file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._errors.seek(0)
            last = last_line(self._errors.read())
            raise ChildError(f"{self.install.name}: ended with code {self._process.returncode}: {last}")
        return json.loads(line)


class StartVariant:
    """Runs `crowd-demo --headless --frames 1`, which waits for every kernel. Only where there is `os.wait4`."""

    def __init__(self, install: Install, config: str, overrides: Mapping[str, object], cache: str = "") -> None:
        """The kernels are kept in the folder `cache`; without one each start begins with an empty cache."""
        self.install, self._cache = install, cache
        changes = [text for path, value in overrides.items() for text in ("--set", f"{path}={value}")]
        self._command = [*install.command, "-m", "crowd_demo", "--config", config, *changes, "--headless", "--frames", "1"]
        with redirect_stdout(io.StringIO()):  # bytecode is made before, as for a program that was started once
            compileall.compile_dir(install.folder / "crowd_demo", quiet=2)

    def run(self, steps: int) -> dict[str, TimedBlock]:
        """Milliseconds of each start: `wall`, and `cpu` of all processes. Raises ChildError."""
        starts = np.array([self._start() for _ in range(steps)], np.float32)
        return {kind: TimedBlock(steps, {kind: starts[:, column]}) for column, kind in enumerate(("wall", "cpu"))}

    def _start(self) -> tuple[float, float]:
        if sys.platform == "win32":
            raise ChildError("only where there is os.wait4")
        with (tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
              nullcontext(self._cache) if self._cache else tempfile.TemporaryDirectory() as cache):
            begun = time.perf_counter()
            process = subprocess.Popen(self._command, env={**self.install.environment, "CROWD_DEMO_CACHE": cache},
                                       cwd=self.install.folder, stdout=subprocess.DEVNULL, stderr=errors)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                errors.seek(0)
                raise ChildError(f"{self.install.name}: {last_line(errors.read())}")
            return (time.perf_counter() - begun) * 1e3, (used.ru_utime + used.ru_stime) * 1e3
