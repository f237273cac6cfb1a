"""`crowd-demo sweep`: one technique at each of its values."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crowd_demo.app.process.exit_codes import FAILED, FINE
from crowd_demo.app.process.quitting import interruptible
from crowd_demo.app.process.streams import STDOUT
from crowd_demo.cli.arguments import Parser, add_crowd, add_report, count, crowd_config, parser_of, unwritable_report
from crowd_demo.cli.exits import mistaken
from crowd_demo.registry.techniques import BY_PATH

if TYPE_CHECKING:
    from crowd_demo.config.model import Config
    from crowd_demo.lab.sweep_runs import Swept
    from crowd_demo.registry.entries import Technique, Value

ABOUT = """\
Measure one technique at each of its values, in turns: what it costs, what it does, and that the crowd stays the same. The
default is always measured, and twice. The exit code is 1 if exact values gave different crowds; approximate values
and other models may."""


def parser() -> Parser:
    made = parser_of("sweep", ABOUT, "PATH is one of\n  " + "\n  ".join(BY_PATH))
    made.add_argument("path", metavar="PATH", help="technique of the registry, such as cell_size or reorder.every")
    made.add_argument("values", metavar="VALUE", nargs="*", default=[], help="legal values (default: its choices)")
    add_crowd(made)
    made.add_argument("--steps", metavar="N", type=count, default=120, help="timed steps of each value (default: %(default)s)")
    add_report(made, "all that was measured")
    return made


def run(args: argparse.Namespace) -> int:
    try:
        config, technique, values = asked_for(args)
    except ValueError as error:
        return mistaken(str(error))
    return interruptible(lambda: _sweep(args, config, technique, values), {"--report": args.report})


def asked_for(args: argparse.Namespace) -> tuple[Config, Technique, Sequence[Value]]:
    """Raises ValueError with a line for each mistake; ConfigError is one."""
    from crowd_demo.config.yaml12 import scalar

    config = crowd_config(args)
    trial = config.optimizations.model_copy(deep=True)
    trial.get(args.path)  # raises for an unknown path
    values = []
    for text in args.values:
        trial.set(args.path, scalar(text))  # type: ignore[arg-type]  # null gets the same message as other illegal values
        values.append(trial.get(args.path))
    for line in unwritable_report(args):
        raise ValueError(line)
    return config, BY_PATH[args.path], values or BY_PATH[args.path].choices


def _sweep(args: argparse.Namespace, config: Config, technique: Technique, values: Sequence[Value]) -> int:
    from crowd_demo.lab.sweep_runs import contenders, expectations, measure, results
    from crowd_demo.lab.sweep_table import NOTE, conclusion, one_crowd, table

    rivals = contenders(config, technique, values)
    for line in expectations(technique, rivals, args.steps):
        print(f"sweep: {line}", file=sys.stderr)
    found = results(technique, rivals, measure(rivals, args.steps))
    if args.report:
        _write(args.report, config, technique, found, args.steps)
    if args.report != STDOUT:
        print(f"{args.config}: {config.agents:,} agents, {args.steps} steps each, in turns\n")
        print(table(technique, found), NOTE, conclusion(found), sep="\n\n")
    return FINE if one_crowd(found) else FAILED


def _write(path: Path, config: Config, technique: Technique, results: Sequence[Swept], steps: int) -> None:
    from crowd_demo.app.output.report import write_report
    from crowd_demo.lab.sweep_runs import WARM_UP
    from crowd_demo.lab.sweep_table import one_crowd
    from crowd_demo.measure.record import header, result_json

    found = [{"value": each.value, "crowd": each.kind.name, "measures": each.measures,
              "picture_hash": each.picture_hash, **result_json(each.result)} for each in results]
    write_report({**header("sweep"), "technique": technique.path, "default": technique.default, "agents": config.agents,
                  "seed": config.seed, "steps": steps, "warmup_steps": WARM_UP, "one_crowd": one_crowd(results),
                  "results": found}, path)
