"""`crowd-demo motion`: how believable people move."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from crowd_demo.app.process.quitting import interruptible
from crowd_demo.cli.arguments import Parser, add_crowd, add_report, crowd_config, parser_of, tick, unwritable_report
from crowd_demo.cli.exits import mistaken
from crowd_demo.cli.experiments import show

if TYPE_CHECKING:
    from crowd_demo.config.model import Config

ABOUT = """\
Measure how people move, after so many steps: how near they come to each other, how crowded it gets, how often they turn, and
who gets nowhere. The crowd is stepped for 25 seconds of its own time more; what is measured changes nothing."""


def parser() -> Parser:
    made = parser_of("motion", ABOUT)
    add_crowd(made)
    made.add_argument("--steps", metavar="N", type=tick, default=3000, help="steps before measuring (default: %(default)s)")
    made.add_argument("--at-once", action="store_true", help="only what one step shows")
    add_report(made, "all that was measured")
    return made


def run(args: argparse.Namespace) -> int:
    try:
        config, mistakes = crowd_config(args), list(unwritable_report(args))
    except ValueError as error:
        return mistaken(str(error))
    if config.behaviour != "crowd":
        mistakes.append(f"motion: {args.config} has no people, its behaviour is {config.behaviour}")
    if not config.agents:
        mistakes.append(f"motion: {args.config} has no agents")
    if mistakes:
        return mistaken(*mistakes)
    return interruptible(lambda: _measure(args, config), {"--report": args.report})


def _measure(args: argparse.Namespace, config: Config) -> int:
    from crowd_demo.measure.motion import measure, table
    from crowd_demo.measure.record import header
    from crowd_demo.sim.simulation import Simulation

    print(f"motion: {args.steps:,} steps of {config.agents:,} people", file=sys.stderr)
    sim = Simulation(config)
    sim.step(args.steps)
    figures = measure(sim, watched=not args.at_once)
    watched = figures.watched and figures.watched._asdict()
    record = {**header("motion"), "agents": config.agents, "seed": config.seed, "steps": args.steps,
              "figures": {**figures._asdict(), "watched": watched}}
    return show(f"{args.config}: {config.agents:,} people after {args.steps:,} steps\n\n{table(figures)}", record, args.report)
