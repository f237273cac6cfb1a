"""The arms that start the whole program once for every step of a block: with a kept cache of kernels, or an empty one."""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
from child_arm import ArmError
from installs import Install

from crowd_demo.measure.arm import Block


class StartArm:
    """Runs `crowd-demo --headless --frames 1`, which waits for every kernel. Only where there is `os.wait4`."""

    def __init__(self, install: Install, config: str, overrides: Mapping[str, object], cache: str) -> None:
        """The kernels are kept in the folder `cache`."""
        self.install, self._cache = install, cache
        changes = [text for path, value in overrides.items() for text in ("--set", f"{path}={value}")]
        self._command = [*install.command, "-m", "crowd_demo", "--config", config, *changes, "--headless", "--frames", "1"]
        with redirect_stdout(StringIO()):  # a person has started Python before: what it compiles is no part of a first start
            compileall.compile_dir(install.package, quiet=2)

    def run(self, steps: int) -> dict[str, Block]:
        """Milliseconds of each start: `wall`, and `cpu` of all processes. Raises ArmError."""
        starts = np.array([self._start() for _ in range(steps)], np.float32)
        return {kind: Block(steps, {kind: starts[:, column]}) for column, kind in enumerate(("wall", "cpu"))}

    def _start(self) -> tuple[float, float]:
        if sys.platform == "win32":
            raise ArmError("only where there is os.wait4")
        with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
            begun = time.perf_counter()
            process = subprocess.Popen(self._command, env={**self.install.environment, "CROWD_DEMO_CACHE": self._cache},
                                       cwd=self.install.folder, stdout=subprocess.DEVNULL, stderr=errors)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                errors.seek(0)
                raise ArmError(f"{self.install.name}: {(errors.read().strip().splitlines() or ['no message'])[-1]}")
            return (time.perf_counter() - begun) * 1e3, (used.ru_utime + used.ru_stime) * 1e3


class ColdArm(StartArm):
    """The same with an empty cache in each start."""

    def __init__(self, install: Install, config: str, overrides: Mapping[str, object]) -> None:
        super().__init__(install, config, overrides, "")

    def _start(self) -> tuple[float, float]:
        with tempfile.TemporaryDirectory() as self._cache:
            return super()._start()
