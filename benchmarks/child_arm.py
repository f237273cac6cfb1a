"""The arm that runs in a child process: child.py in an installation of the program."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from installs import Install

from crowd_demo.measure.arm import Block

CHILD = Path(__file__).with_name("child.py")


class ArmError(Exception):
    """The child has ended."""


class Timed(NamedTuple):
    """A block, timed in two ways."""

    frame: Block  # step and draw, which add up to the frame
    stages: Block


class ChildArm:
    """Start the child; it is ready when this returns. Raises ArmError.

    `config` is a shipped name or an absolute path, `overrides` are values by key path. The first steps compile the kernels.
    """

    def __init__(self, install: Install, config: str, overrides: Mapping[str, object], picture: bool) -> None:
        self.install = install
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  (closed with the child)
        self._process = subprocess.Popen(
            [*install.command, str(CHILD), config, json.dumps(overrides), *["picture"] * picture], encoding="utf-8",
            env=install.environment, cwd=install.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors)
        try:
            install.check(Path(self._answer()["package"]))
        except Exception:
            self.close()
            raise

    def run(self, steps: int) -> Timed:
        """Raises ArmError."""
        found = self._ask(str(steps))
        frame, stages = ({name: np.array(ms, np.float32) for name, ms in found[kind].items()} for kind in ("frame", "stages"))
        return Timed(Block(steps, frame), Block(steps, stages))

    def end(self) -> tuple[str, str]:
        """(state hash, threading layer). Raises ArmError."""
        found = self._ask("end")
        return found["state_hash"], found["layer"]

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

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
            last = (self._errors.read().strip().splitlines() or ["no message"])[-1]
            raise ArmError(f"{self.install.name}: ended with code {self._process.returncode}: {last}")
        return json.loads(line)
