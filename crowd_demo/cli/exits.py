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
    except KeyboardInterrupt as error:
        return error.code if isinstance(error, Interrupted) else INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        discard_output()
        return code
    except OutputError as error:
        discard_output()
        _say(f"cannot write to standard output: {error.strerror}")
        return code or FAILED
    except Exception as error:
        if os.environ.get("CROWD_DEMO_DEBUG"):
            raise
        _say(f"crashed: {_first_line(error)} ({'; '.join([_log(), *getattr(error, '__notes__', ())])})")
        return FAILED


def _say(text: str) -> None:
    print_error(f"crowd-demo: {text}")


def _log() -> str:
    """Write the present traceback to a file; return the words that say where."""
    versions = f"crowd-demo {__version__}, Python {sys.version}, {platform.platform()}"
    try:
        with tempfile.NamedTemporaryFile("wb", prefix="crowd-demo-", suffix=".log", delete=False) as file:
            file.write(f"{versions}\n{traceback.format_exc()}".encode(errors="backslashreplace"))
        return f"details in {file.name}"
    except OSError:
        return "no log could be written; CROWD_DEMO_DEBUG=1 shows the traceback"


def _first_line(error: Exception) -> str:
    return " ".join([f"{type(error).__name__}:", *str(error).splitlines()[:1]]).rstrip(":")
