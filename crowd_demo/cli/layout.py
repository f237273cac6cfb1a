"""`crowd-demo layout`: columns against records."""

from __future__ import annotations

import argparse

from crowd_demo.app.process.exit_codes import FINE
from crowd_demo.app.process.quitting import interruptible
from crowd_demo.cli.arguments import Parser, count, parser_of
from crowd_demo.cli.exits import mistaken
from crowd_demo.config.memory import shortage

ABOUT = """\
Measure the flock's inner loop over columns (a structure of arrays) and over records (an array of structures), with candidates
in the order of memory and scattered. crowd_demo/lab/layout.py says more."""

AGENT_BYTES = 200  # about, at most at a time


def parser() -> Parser:
    made = parser_of("layout", ABOUT)
    made.add_argument("agents", nargs="?", type=count, default=250_000, help="how many (default: %(default)s)")
    return made


def run(args: argparse.Namespace) -> int:
    if short := shortage(args.agents * AGENT_BYTES):
        return mistaken(f"agents: {short}")
    from crowd_demo.lab import layout

    interruptible(lambda: layout.main(args.agents))
    return FINE
