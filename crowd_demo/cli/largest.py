"""`crowd-demo largest`: the largest crowd at 60 frames a second here."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from crowd_demo.cli.arguments import Parser, add_crowd, add_report, crowd_config, parser_of, unwritable_report
from crowd_demo.cli.exits import mistaken
from crowd_demo.cli.experiments import Watched, kernels, show

if TYPE_CHECKING:
    from crowd_demo.config.model import Config
    from crowd_demo.measure.largest import Largest

ABOUT = """\
Find the largest crowd of which a frame (its steps and a picture of the window's size) takes 16.7 ms here, by search. The world
grows with the crowd: as many agents share a unit of area as in the configuration. With --ladder also for each rung from brute
force to all techniques. Ctrl-C stops and prints the results so far."""


def parser() -> Parser:
    made = parser_of("largest", ABOUT)
    add_crowd(made)
    made.add_argument("--ladder", action="store_true", help="each rung from everything off to everything on, too")
    add_report(made, "all that was found")
    return made


def run(args: argparse.Namespace) -> int:
    try:
        config, mistakes = crowd_config(args), list(unwritable_report(args))
    except ValueError as error:
        return mistaken(str(error))
    if mistakes:
        return mistaken(*mistakes)
    watched = Watched("largest", lambda watched: experiment_of(watched, config, args.ladder))
    try:
        code = watched.watch()
    except ValueError as error:
        return mistaken(f"largest: {error}")
    return _concluded(watched.experiment, args, code) if watched.experiment else code


def experiment_of(watched: Watched[Largest], config: Config, ladder: bool) -> Largest:
    compile_for = kernels(config, watched)
    from crowd_demo.measure.ladder import present_and_rungs
    from crowd_demo.measure.largest import Largest

    return Largest(config, present_and_rungs(config.optimizations, ladder), compile_for)


def _concluded(experiment: Largest, args: argparse.Namespace, code: int) -> int:
    from crowd_demo.measure.record import largest_json
    from crowd_demo.measure.tables import LARGEST_NOTE, bounds, largest_table

    left = "" if experiment.done else ", stopped before the end"
    table = [str(largest_table(experiment)), LARGEST_NOTE] if experiment.answers else ["nothing was found"]
    text = "\n\n".join([f"{args.config}{left}", *table, *bounds(experiment)])
    written = show(text, largest_json(experiment), args.report)
    return code or written
