"""Run an experiment in the terminal: tell how far it is; Ctrl-C stops it, and its results so far are printed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from crowd_demo.app.process.exit_codes import FAILED, FINE
from crowd_demo.app.process.progress_line import ProgressLine
from crowd_demo.app.process.quitting import Interrupted
from crowd_demo.app.process.streams import STDOUT
from crowd_demo.app.process.worker import carry_out
from crowd_demo.cli.exits import print_error

if TYPE_CHECKING:
    from crowd_demo.config.model import Config
    from crowd_demo.measure.experiment import Compile, Experiment

    Kind = TypeVar("Kind", bound=Experiment)
else:
    Kind = TypeVar("Kind")

LOOK_EVERY_S = 0.2


class Watched(Generic[Kind]):
    """An experiment that runs in a thread of its own, so that a signal is heard while a kernel runs."""

    def __init__(self, name: str, make: Callable[[Watched[Kind]], Kind]) -> None:
        """`make` prepares the experiment, and says in `doing` what takes long."""
        self.experiment: Kind | None = None
        self.doing: object = "starting"  # as text: what is done at present
        self._name, self._make = name, make
        self._stopped = False

    def watch(self) -> int:
        """Run it to its end or to a signal; return the exit code. Raises what it raises."""
        future: Future[None] = Future()
        threading.Thread(target=carry_out, args=(self._run, future), daemon=True).start()
        try:
            self._tell_until(future)
        except Interrupted as interrupted:
            self._stopped = True
            return interrupted.code
        future.result()
        return FINE

    def _run(self) -> None:
        self.experiment = self._make(self)
        for progress in self.experiment.run():
            self.doing = progress
            if self._stopped:
                break

    def _tell_until(self, future: Future[None]) -> None:
        with ProgressLine(self._name) as line:
            while not wait((future,), timeout=LOOK_EVERY_S).done:
                line.tell(self.doing)


def kernels(config: Config, watched: Watched[Kind], render: bool = True) -> Compile:
    """Compile what the configuration needs, for pictures too; return what compiles for other techniques."""
    from functools import partial

    from crowd_demo.app.compiling.loading import Progress

    watched.doing = progress = Progress()
    progress.say("importing the compiler")
    from crowd_demo.app.compiling.ahead import Ahead, compile_missing
    from crowd_demo.app.compiling.compilers import Compilers

    ahead = Ahead(config, render)
    with Compilers(config) as compilers:
        compilers.compile_first(ahead.missing(config.optimizations), config.optimizations, progress.compiling)
    return partial(compile_missing, ahead)


def show(text: str, record: Mapping[str, object], path: Path | None) -> int:
    """Print the text, unless the record goes to standard output, and write the record if `path` asks for that."""
    from crowd_demo.app.output.report import write_report

    if path != STDOUT:
        print(text)
    try:
        if path:
            write_report(record, path)
    except OSError as error:
        if path == STDOUT:
            raise
        print_error(f"crowd-demo: --report: cannot write {path}: {error.strerror or error}")
        return FAILED
    return FINE
