"""The one line that an exception costs, and the exit code."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress

from crowd_demo import __version__
from crowd_demo.app.process.exit_codes import FAILED, FINE, INTERRUPTED, MISTAKEN
from crowd_demo.app.process.quitting import Interrupted, raise_interrupted, signals_to
from crowd_demo.app.process.streams import OutputError, discard_output, standard_streams
from crowd_demo.registry.plugins import raised_by, say
from crowd_demo.texts import error_line


def exit_code(run: Callable[[], int]) -> int:
    """Run; return its exit code, or the one for its exception, which costs one line and no traceback."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # its greeting would be part of piped output
    with standard_streams(), signals_to(raise_interrupted):
        return _exit_code(run)


def print_error(*lines: str) -> None:
    with suppress(OSError):  # there is nowhere else to tell that standard error is full
        print(*lines, sep="\n", file=sys.stderr)


def mistaken(*lines: str) -> int:
    """Print a line for each mistake of the user; return the exit code."""
    print_error(*lines)
    return MISTAKEN


def _exit_code(run: Callable[[], int]) -> int:
    code = FINE
    try:
        try:
            code = run()
        except SystemExit:  # argparse has printed something
            sys.stdout.flush()
            raise
        sys.stdout.flush()
        return code
    except Interrupted as interrupted:
        return interrupted.code
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        discard_output()
        return code
    except OutputError as error:
        discard_output()
        say(f"cannot write to standard output: {error.strerror}")
        return code or FAILED
    except BaseException as error:
        plugin = raised_by(error)
        if isinstance(error, KeyboardInterrupt) and not plugin:
            return INTERRUPTED
        if (isinstance(error, SystemExit) and not plugin) or os.environ.get("CROWD_DEMO_DEBUG"):
            raise
        said = [f"in plugin {plugin}"] * bool(plugin) + [_log(), *getattr(error, "__notes__", ())]
        say(f"crashed: {error_line(error)} ({'; '.join(said)})")
        return FAILED


def _log() -> str:
    """Write the present traceback to a file; return the words that say where."""
    versions = f"crowd-demo {__version__}, Python {sys.version}, {platform.platform()}"
    try:
        with tempfile.NamedTemporaryFile("wb", prefix="crowd-demo-", suffix=".log", delete=False) as file:
            file.write(f"{versions}\n{traceback.format_exc()}".encode(errors="backslashreplace"))
        return f"details in {file.name}"
    except OSError:
        return "no log could be written; CROWD_DEMO_DEBUG=1 shows the traceback"
