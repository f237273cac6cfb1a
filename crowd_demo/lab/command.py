"""The command line of an experiment that takes one number."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

from crowd_demo.app.quitting import interruptible
from crowd_demo.cli import Parser, count, exit_code


def run(experiment: Callable[[int], None], module: str, what: str, default: int) -> NoReturn:
    """Run it with the number of the command line; a mistake of the user is one line, and exit code 2."""
    parser = Parser(prog=f"python -m {module}", allow_abbrev=False, description=sys.modules["__main__"].__doc__)
    parser.add_argument(what, nargs="?", type=count, default=default, help=f"how many, {default:,} if not given")

    def go() -> int:
        number = getattr(parser.parse_args(), what)
        interruptible(lambda: experiment(number))
        return 0
    sys.exit(exit_code(go))
