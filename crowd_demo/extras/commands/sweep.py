"""The command `sweep`: one technique at each of its values."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crowd_demo.cli.arguments import (
    NO_TABLE,
    Command,
    count,
    crowd_config,
    crowd_options,
    option,
    refuse,
    report_option,
    unwritable_report,
)
from crowd_demo.cli.measuring import PATHS, show
from crowd_demo.host.shutdown import FAILED, OK
from crowd_demo.registry.techniques import BY_PATH

if TYPE_CHECKING:
    from crowd_demo.config.model import Config
    from crowd_demo.registry.entries import Technique, Value


def _read_sweep(args: argparse.Namespace) -> tuple[Config, Technique, Sequence[Value]]:
    from crowd_demo.config.optimizations import known
    from crowd_demo.config.yaml12 import scalar

    config = crowd_config(args)
    path, values, trial = known(args.path), [], config.optimizations.model_copy(deep=True)
    for text in args.values:
        trial.set(path, scalar(text))  # type: ignore[arg-type]  # null gets the same message as other illegal values
        values.append(trial.get(path))
    refuse(unwritable_report(args))
    return config, BY_PATH[path], values or BY_PATH[path].choices


def _sweep(args: argparse.Namespace, asked: tuple[Config, Technique, Sequence[Value]]) -> int:
    from crowd_demo.extras.lab.sweep import NOTE, conclusion, expectations, one_crowd, record_of, sweep, table, variants_of

    config, technique, values = asked
    variants = variants_of(config, technique, values)
    for line in expectations(technique, variants, args.steps):
        print(f"sweep: {line}", file=sys.stderr)
    found = sweep(technique, variants, args.steps)
    head = f"{args.config}: {config.agents:,} agents, {args.steps} steps each, interleaved"
    text = "\n\n".join([head, table(technique, found), NOTE, conclusion(found)])
    written = show(text, record_of(config, technique, found, args.steps), args.report)
    return written or (OK if one_crowd(found) else FAILED)


SWEEP = Command(
    _sweep, _read_sweep, in_thread=True, epilog=PATHS, about="""\
Measure one technique at each of its values, interleaved: what it costs, what it does, and that the crowd stays the same. The
default is always measured, and twice. The exit code is 1 if exact values gave different crowds; approximate values
and other models may.""",
    options=[
        *crowd_options(),
        option("path", metavar="PATH", help="technique of the registry, such as cell_size or reorder.every"),
        option("values", metavar="VALUE", nargs="*", default=[], help="legal values (default: its choices)"),
        option("--steps", metavar="N", type=count, default=120, help="timed steps of each value (default: %(default)s)"),
        report_option(f"all that was measured{NO_TABLE}")])
