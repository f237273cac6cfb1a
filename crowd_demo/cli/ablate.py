"""`crowd-demo ablate`: each technique off in turn."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crowd_demo.app.process.exit_codes import FAILED
from crowd_demo.cli.arguments import Parser, add_crowd, add_report, count, crowd_config, parser_of, seconds, unwritable_report
from crowd_demo.cli.exits import mistaken, print_error
from crowd_demo.cli.experiments import Watched, kernels, show
from crowd_demo.registry.techniques import BY_PATH

if TYPE_CHECKING:
    from crowd_demo.config.model import Config
    from crowd_demo.measure.ablation import Ablation
    from crowd_demo.registry.entries import Technique

ABOUT = """\
Switch each technique off in turn and measure that against the present settings: step and frame with it and without, what it
buys with its interval, and whether the crowd stays the same; what costs more than it buys is in the table too. Off is the
baseline: brute force, no lanes, no order, a period of 1, one thread. Ctrl-C prints the results so far. The exit code is 1 if
an exact technique changed the crowd."""


def parser() -> Parser:
    made = parser_of("ablate", ABOUT, "PATH is one of\n  " + "\n  ".join(BY_PATH))
    made.add_argument("paths", metavar="PATH", nargs="*", default=[], help="only these techniques (default: all that are on)")
    add_crowd(made)
    made.add_argument("--seconds", metavar="S", type=seconds, default=4.0, help="about, for each (default: %(default)s)")
    made.add_argument("--steps", metavar="N", type=count, help="instead: timed steps with each technique")
    made.add_argument("--no-render", action="store_false", dest="render", help="steps only, no pictures")
    add_report(made, "all that was measured")
    return made


def run(args: argparse.Namespace) -> int:
    from crowd_demo.config.optimizations import known

    try:
        config, mistakes = crowd_config(args), list(unwritable_report(args))
        for path in args.paths:
            known(path)
    except ValueError as error:
        return mistaken(str(error))
    if mistakes:
        return mistaken(*mistakes)
    techniques = [BY_PATH[path] for path in args.paths or BY_PATH]
    watched = Watched("ablate", lambda watched: experiment_of(watched, config, techniques, args))
    try:
        code = watched.watch()
    except ValueError as error:
        return mistaken(f"ablate: {error}")
    return _concluded(watched.experiment, args, code) if watched.experiment else code


def experiment_of(watched: Watched[Ablation], config: Config, techniques: Sequence[Technique],
                  args: argparse.Namespace) -> Ablation:
    compile_for = kernels(config, watched)
    from crowd_demo.measure.ablation import Ablation
    from crowd_demo.measure.three_crowds import Limits
    from crowd_demo.sim.simulation import Simulation

    watched.doing = f"building a world of {config.agents:,} agents"
    start = Simulation(config).snapshot()
    return Ablation(start, compile_for, args.render, Limits(args.seconds, args.steps), techniques)


def _concluded(ablation: Ablation, args: argparse.Namespace, code: int) -> int:
    from crowd_demo.measure.record import ablation_json
    from crowd_demo.measure.tables import ablation_notes, ablation_table, left_out

    rows = ablation.rows
    head = f"{args.config}: {ablation.agents:,} agents{'' if ablation.done else ', stopped before the end'}"
    table = [str(ablation_table(ablation)), "\n".join(ablation_notes(ablation))] if rows else ["nothing was measured"]
    written = show("\n\n".join([head, *table, "\n".join(left_out(ablation))]).rstrip(), ablation_json(ablation), args.report)
    differing = [row.technique.path for row in rows if row.found.crowd == "DIFFERS"]
    if differing:
        print_error(f"THE CROWD DIFFERS without {', '.join(differing)}")
    return code or written or (FAILED if differing else 0)
