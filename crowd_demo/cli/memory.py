"""`crowd-demo memory`: what storage costs."""

from __future__ import annotations

import argparse

from crowd_demo.app.process.exit_codes import FINE
from crowd_demo.app.process.quitting import interruptible
from crowd_demo.cli.arguments import Parser, count, parser_of
from crowd_demo.cli.exits import mistaken
from crowd_demo.config.memory import shortage

ABOUT = """\
Compare two ways to store a component that only a part of all entities has, by id and in a sparse set: bytes that were
allocated, and the formulas. crowd_demo/lab/memory.py says more."""

ENTITY_BYTES = 100  # about, at most at a time


def parser() -> Parser:
    made = parser_of("memory", ABOUT)
    made.add_argument("entities", nargs="?", type=count, default=1_000_000, help="how many at most (default: %(default)s)")
    return made


def run(args: argparse.Namespace) -> int:
    if short := shortage(args.entities * ENTITY_BYTES):
        return mistaken(f"entities: {short}")
    from crowd_demo.lab import memory

    interruptible(lambda: memory.main(args.entities))
    return FINE
