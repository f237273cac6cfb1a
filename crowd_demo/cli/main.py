"""Which command is meant, and its exit code."""

from __future__ import annotations

import argparse
import atexit
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NoReturn, Protocol, cast

from crowd_demo.app.process.exit_codes import MISTAKEN
from crowd_demo.app.process.quitting import end_process, say_not_written
from crowd_demo.cli.arguments import Parser
from crowd_demo.cli.commands import COMMANDS, RUN, module_of
from crowd_demo.cli.exits import exit_code

FILES = ("screenshot", "report", "trace")  # options that name a file to be written


class Command(Protocol):
    """The module of a command."""

    parser: Callable[[], Parser]
    run: Callable[[argparse.Namespace], int]


def command() -> NoReturn:
    """The command: run the program, and end the process without taking Numba's kernels apart, which takes up to a second."""
    code = main()
    atexit._run_exitfuncs()
    end_process(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code (argparse leaves with SystemExit, of the same codes)."""
    return exit_code(lambda: _main(list(sys.argv[1:] if argv is None else argv)))


def _main(arguments: Sequence[str]) -> int:
    name, rest = _named(arguments)
    if name not in COMMANDS:
        print(f"crowd-demo: {_unknown(name)}; see crowd-demo --help", file=sys.stderr)
        return MISTAKEN
    module = cast(Command, import_module(module_of(name)))
    args = module.parser().parse_args(rest)
    try:
        return module.run(args)
    except KeyboardInterrupt:  # before the program proper, which listens to signals itself
        say_not_written("before loading", {f"--{option}": getattr(args, option, None) for option in FILES})
        raise


def _named(arguments: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The name of the command, and its arguments."""
    if not arguments or arguments[0].startswith("-"):
        return RUN, arguments
    return arguments[0], arguments[1:]


def _unknown(name: str) -> str:
    from crowd_demo.config.explain import close_to
    from crowd_demo.config.resources import list_configs

    config = name.removesuffix(".yaml")
    meant = f" (did you mean --config {config}?)" if config in list_configs() else close_to(name, COMMANDS)
    return f"unknown command {name[:40]!r}{meant}; commands: {', '.join(COMMANDS)}"
