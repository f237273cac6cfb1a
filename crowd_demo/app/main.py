"""From a configuration to an exit code: open the window, load while a progress bar is shown, run, report.

The window opens before the compiler is imported: the worker's thread does that, and modules that need it are imported later.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pygame

from crowd_demo.app.input import Input
from crowd_demo.app.loading import Loaded, Progress, eager_threads, load, print_progress, show_progress
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
LAST_KERNEL_S = 10.0  # the longest time to wait after a crash for the compiler to finish its present kernel


def run(config: Config, options: RunOptions) -> int:
    """Run the program; return the exit code. Raises whatever crashes it."""
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
    """One run and its threads."""

    def __init__(self, config: Config, options: RunOptions) -> None:
        self.config = config
        self.options = options
        self.worker = Worker()
        self.switcher: Switcher | None = None

    def run(self) -> int:
        """Load and run; return the exit code."""
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
        return self._write_files(loop, startup_s)

    def leave(self, code: int) -> int:
        """Return the code; or end the process, if a thread is still inside a kernel or the compiler and cannot be stopped."""
        if self.switcher:
            self.switcher.close()
        if self.worker.busy or (self.switcher and self.switcher.busy):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        close_window()
        return code

    def finish_compiling(self) -> None:
        """Wait for the compiler after a crash, so that the interpreter can exit cleanly."""
        if self.switcher:
            self.switcher.close(LAST_KERNEL_S)

    def _load(self) -> Loaded | None:
        """Load; None if the user closed the window meanwhile."""
        progress = Progress()
        job = self.worker.submit(lambda: load(self.config, self.options.render, progress))
        with eager_threads():
            if self.options.headless:
                print_progress(job, progress)
            else:
                events = Input(bindings(self.config.keys), pygame.display.get_window_size())
                if not show_progress(job, progress, events.quits):
                    return None
        return job.result()

    def _write_files(self, loop: Loop, startup_s: dict[str, float]) -> int:
        """Write report and screenshot; one that cannot be written costs a line on standard error, not the other one."""
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
    """Write a file; return the exit code."""
    try:
        write(path)
    except BrokenPipeError:  # the reader of standard output has closed it; the command line handles that
        raise
    except OSError as error:
        print(f"crowd-demo: {option}: cannot write {path}: {error.strerror or error}", file=sys.stderr)
        return FAILED
    return FINE
