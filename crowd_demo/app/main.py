"""From a configuration to an exit code: open the window, load behind a progress bar, run, report.

The window opens before the compiler is imported: that happens in the worker's thread, and what needs it is imported late.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pygame

from crowd_demo.app.input import Input
from crowd_demo.app.loading import Loaded, Progress, eager_threads, load, show_progress, tell_progress
from crowd_demo.app.options import RunOptions
from crowd_demo.app.startup import seconds_since_start
from crowd_demo.app.window import NoDisplayError, close_window, open_window, screen
from crowd_demo.app.worker import Worker
from crowd_demo.config.keys import bindings
from crowd_demo.config.model import Config

if TYPE_CHECKING:
    from crowd_demo.app.loop import Loop
    from crowd_demo.app.switching import Switcher

FINE, FAILED, NO_DISPLAY, INTERRUPTED = 0, 1, 3, 130
LAST_KERNEL_S = 10.0  # the longest that a crash waits for the compiler to finish what it is at


def run(config: Config, options: RunOptions) -> int:
    """Run until it is over; returns the exit code, and raises whatever crashes."""
    if options.render:
        try:
            open_window(config.window, options.headless)
        except NoDisplayError as error:
            print(f"crowd-demo: no window can be opened ({error}); --headless runs without one", file=sys.stderr)
            return NO_DISPLAY
    session = Session(config, options)
    try:
        return session.leave(session.run())
    except KeyboardInterrupt:
        return session.leave(INTERRUPTED)
    except BaseException:
        session.finish_compiling()
        raise


class Session:
    """One run, and the threads that it has to answer for."""

    def __init__(self, config: Config, options: RunOptions) -> None:
        self.config = config
        self.options = options
        self.worker = Worker()
        self.switcher: Switcher | None = None

    def run(self) -> int:
        """Returns the exit code."""
        loaded = self._load()
        if not loaded:
            return FINE
        from crowd_demo.app.loop import Loop
        from crowd_demo.app.program import Program

        program = Program(self.config, loaded)
        self.switcher = program.switcher
        loop = Loop(self.config, self.options, program, self.worker)
        loop.frame()
        startup_s = {"import": loaded.import_s, "compile": loaded.compile_s, "first_frame": seconds_since_start()}
        loop.run()
        if not (self.options.report or self.options.screenshot):
            return FINE
        if loop.abandoned:
            print("crowd-demo: left in the middle of a step: nothing was written", file=sys.stderr)
            return FAILED
        return self._hand_in(loop, startup_s)

    def leave(self, code: int) -> int:
        """Return the code; or end the process here, when a thread is inside a kernel or the compiler and will not stop."""
        if self.switcher:
            self.switcher.close()
        if self.worker.busy or (self.switcher and self.switcher.busy):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        close_window()
        return code

    def finish_compiling(self) -> None:
        """After a crash, so that the interpreter can end in good order."""
        if self.switcher:
            self.switcher.close(LAST_KERNEL_S)

    def _load(self) -> Loaded | None:
        """None when somebody closed the window meanwhile."""
        progress = Progress()
        job = self.worker.submit(lambda: load(self.config, self.options.render, progress))
        with eager_threads():
            if self.options.headless:
                tell_progress(job, progress)
            else:
                events = Input(bindings(self.config.keys), pygame.display.get_window_size())
                if not show_progress(job, progress, events.quits):
                    return None
        return job.result()

    def _hand_in(self, loop: Loop, startup_s: dict[str, float]) -> int:
        """What the command line asked for; what cannot be written is one line and takes nothing else with it."""
        from crowd_demo.app.pictures import save_picture
        from crowd_demo.app.report import report, write_report

        code = FINE
        if self.options.report:
            content = report(self.config, loop.program.sim, loop.recorder, loop.warmup, startup_s)
            code = max(code, _written("--report", self.options.report, lambda path: write_report(content, path)))
        if self.options.screenshot:
            code = max(code, _written("--screenshot", self.options.screenshot, lambda path: save_picture(screen(), path)))
        return code


def _written(option: str, path: Path, write: Callable[[Path], None]) -> int:
    """The exit code of writing a file."""
    try:
        write(path)
    except BrokenPipeError:  # who reads standard output has seen enough
        raise
    except OSError as error:
        print(f"crowd-demo: {option}: cannot write {path}: {error.strerror or error}", file=sys.stderr)
        return FAILED
    return FINE
