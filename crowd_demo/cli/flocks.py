"""`crowd-demo flocks`: how birds keep together."""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING

from crowd_demo.app.process.progress_line import ProgressLine
from crowd_demo.app.process.quitting import interruptible
from crowd_demo.cli.arguments import Parser, add_crowd, add_report, count, crowd_config, parser_of, unwritable_report
from crowd_demo.cli.exits import mistaken
from crowd_demo.cli.experiments import show

if TYPE_CHECKING:
    from crowd_demo.config.model import Config

ABOUT = """\
Measure how birds, or prey, keep together while they fly: how alike neighbours fly, how much of the sky they leave empty, how
sharp the edges of flocks are, and how often flocks come apart and together. It looks once a second of the crowd's own time."""
CONFIG = "murmuration"


def parser() -> Parser:
    made = parser_of("flocks", ABOUT)
    add_crowd(made)
    made.set_defaults(config=CONFIG)
    made.add_argument("--steps", metavar="N", type=count, default=10_000, help="for so many steps (default: %(default)s)")
    add_report(made, "every look")
    return made


def run(args: argparse.Namespace) -> int:
    try:
        config, mistakes = crowd_config(args), list(unwritable_report(args))
    except ValueError as error:
        return mistaken(str(error))
    predators = config.hunt.predators if config.behaviour == "hunt" else 0
    if config.behaviour not in ("flock", "hunt"):
        mistakes.append(f"flocks: {args.config} has no birds, its behaviour is {config.behaviour}")
    elif config.agents < predators + 2 or config.life.births_per_s or config.life.deaths_per_s:
        mistakes.append(f"flocks: {args.config} must have two birds that stay")
    if args.steps < (second := math.ceil(config.time.step_hz)):
        mistakes.append(f"--steps: must be at least {second}, a second, not {args.steps}")
    if mistakes:
        return mistaken(*mistakes)
    return interruptible(lambda: _measure(args, config), {"--report": args.report})


def _measure(args: argparse.Namespace, config: Config) -> int:
    from crowd_demo.measure.flocks import table, watch
    from crowd_demo.measure.record import header
    from crowd_demo.sim.simulation import Simulation

    print(f"flocks: {args.steps:,} steps of {config.agents:,} agents", file=sys.stderr)
    sim = Simulation(config)
    with ProgressLine("flocks") as line:
        flight = watch(sim, args.steps, lambda done: line.tell(f"step {done:,} of {args.steps:,}"))
    record = {**header("flocks"), "agents": config.agents, "seed": config.seed, "steps": args.steps,
              "state_hash": sim.state_hash(), "looks": [look._asdict() for look in flight.looks],
              "splits": flight.splits, "merges": flight.merges}
    return show(f"{args.config}: {config.agents:,} agents over {args.steps:,} steps\n\n{table(flight)}", record, args.report)
