"""Which command is meant, and its exit code; an exception costs one line and no traceback."""

from __future__ import annotations

import atexit
import os
import platform
import sys
import tempfile
import traceback
from argparse import Namespace
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NoReturn

from crowd_demo.cli.arguments import (
    COMMANDS,
    EXPERIMENTS,
    RUN,
    Command,
    collected,
    mistaken,
    parser_of,
    unwritable,
)
from crowd_demo.compute.numba_settings import SettingError
from crowd_demo.config.memory import TooManyError
from crowd_demo.host.system import (
    FAILED,
    INTERRUPTED,
    OK,
    STDOUT,
    USAGE_ERROR,
    Interrupted,
    OutputError,
    discard_output,
    end_process,
    interruptible,
    raise_interrupted,
    say_not_written,
    signals_to,
    standard_streams,
)
from crowd_demo.registry.plugins import raised_by
from crowd_demo.registry.texts import error_line, reason, say
from crowd_demo.version import __version__

FILES = ("screenshot", "report", "trace")  # options that name a file to be written


def command() -> NoReturn:
    """The command: run the program, and end the process without taking Numba's kernels apart, which takes up to a second."""
    code = main()
    atexit._run_exitfuncs()
    end_process(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code (argparse leaves with SystemExit, of the same codes)."""
    return exit_code(lambda: _main(list(sys.argv[1:] if argv is None else argv)))


def _main(arguments: Sequence[str]) -> int:
    words = 0 if not arguments or arguments[0].startswith("-") else 2 if " ".join(arguments[:2]) in EXPERIMENTS else 1
    name, rest = " ".join(arguments[:words]) or RUN, arguments[words:]
    if name not in COMMANDS | EXPERIMENTS:
        from crowd_demo.config.resources import list_configs, without_suffix
        from crowd_demo.config.section import close_to

        config = without_suffix(name)
        meant = f" (did you mean --config {config}?)" if config in list_configs() else close_to(name, COMMANDS)
        return mistaken(f"crowd-demo: unknown command {name[:40]!r}{meant}; commands: {', '.join(COMMANDS)};"
                        " see crowd-demo --help")
    named = load_command(name)
    args = parser_of(name, named).parse_args(rest, Namespace(words=rest))
    try:
        report = getattr(args, "report", None)
        mistakes = [*unwritable("--report", report)] if report and report != STDOUT else []
        read = collected(mistakes, lambda: named.read(args))
        if mistakes:
            return mistaken(*mistakes)
        if named.in_thread:
            return interruptible(lambda: named.run(args, read), {"--report": report})
        return named.run(args, read)
    except KeyboardInterrupt:  # before the program proper, which listens to signals itself
        say_not_written("before loading", {f"--{option}": getattr(args, option, None) for option in FILES})
        raise


def load_command(name: str) -> Command:
    """Import the module of a command: what only prints then starts at once."""
    return getattr(import_module(f"crowd_demo.{(COMMANDS | EXPERIMENTS)[name][0]}"), name.split()[-1].upper())


# --- how it ends -----------------------------------------------------------------------------------------------------

def exit_code(run: Callable[[], int]) -> int:
    """Run; return its exit code, or the one for its exception, which costs one line and no traceback."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # its greeting would be part of piped output
    with standard_streams(), signals_to(raise_interrupted):
        code = OK
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
            say(f"cannot write to standard output: {reason(error)}")
            return code or FAILED
        except (SettingError, TooManyError) as error:
            say(str(error))
            return USAGE_ERROR
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
