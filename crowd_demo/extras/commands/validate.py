"""`crowd-demo validate`: people held against the literature."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from crowd_demo.cli.arguments import (
    NO_TABLE,
    Command,
    count,
    file_path,
    has_matplotlib,
    option,
    refuse,
    report_option,
    unwritable_report,
)
from crowd_demo.cli.measuring import Tell, kernels, show, watched
from crowd_demo.host.shutdown import FAILED, OK
from crowd_demo.host.streams import STDOUT

if TYPE_CHECKING:
    from crowd_demo.extras.lab.validate.validation import Validation

DOCS = Path("docs")
SEEDS = 5
MAX_PROCESSES = 4  # unless asked


def _read(args: argparse.Namespace) -> None:
    if not args.list:
        refuse(_mistakes(args))


def _mistakes(args: argparse.Namespace) -> Iterator[str]:
    from crowd_demo.config.explain import close_to
    from crowd_demo.extras.lab.validate.experiments import EXPERIMENTS

    for name in args.names:
        if name not in EXPERIMENTS:
            yield f"validate: unknown experiment {name!r}{close_to(name, EXPERIMENTS)}; there are {', '.join(EXPERIMENTS)}"
    if args.out and args.out.exists() and not args.out.is_dir():
        yield f"--out: {args.out} is not a folder"
    if args.out and not has_matplotlib():
        yield '--out: its pictures need matplotlib: pip install "crowd-demo[validation]"'
    yield from unwritable_report(args)


def experiment_of(tell: Tell, args: argparse.Namespace) -> Validation:
    from crowd_demo.config.model import Config

    compile_for = kernels(Config.model_validate({}), tell, render=False)
    from crowd_demo.extras.lab.validate.experiments import EXPERIMENTS
    from crowd_demo.extras.lab.validate.jupedsim_walk import jupedsim_walkers
    from crowd_demo.extras.lab.validate.validation import MODELS, Validation
    from crowd_demo.extras.lab.validate.walkers import pedpy_measures

    chosen = [EXPERIMENTS[name] for name in dict.fromkeys(args.names)] or list(EXPERIMENTS.values())
    seeds = args.seeds or (1 if args.short else SEEDS)
    return Validation(chosen, [*MODELS, *jupedsim_walkers()], args.short, compile_for, pedpy_measures(), seeds, args.processes)


def _run(args: argparse.Namespace, _: None) -> int:
    if args.list:
        from crowd_demo.extras.lab.validate.experiments import EXPERIMENTS

        print(*(f"{experiment.name:12} {experiment.title}" for experiment in EXPERIMENTS.values()), sep="\n")
        return OK
    return watched("validate", lambda tell: experiment_of(tell, args), lambda validation: _concluded(validation, args))


def _concluded(validation: Validation, args: argparse.Namespace) -> int:
    from crowd_demo.extras.lab.validate.page import as_data, terminal, write_page
    from crowd_demo.measure.experiment import header

    record = {**header("validation"), "complete": validation.done, "short": args.short, "seeds": list(validation.seeds),
              "experiments": as_data(validation)}
    written = show(terminal(validation) or "nothing was measured", record, args.report)
    whole = not args.names and not args.short and DOCS.is_dir() and has_matplotlib()
    folder = args.out or (DOCS if whole else None)
    if folder and validation.done:
        write_page(validation, folder)
        if args.report != STDOUT:
            print(f"\n{folder / 'validation.md'} written")
    errors = any(result.errors for result in validation.results)
    return written or (FAILED if errors or (args.strict and validation.failed) else OK)


VALIDATE = Command(
    _run, _read, epilog="crowd-demo validate --list names the experiments", about="""\
Let people walk the scenes of the literature (corridors, bottlenecks, doors, ...) and compare the measurements with
published values: a table with a verdict for each number. Each is walked with several seeds; the table shows the median with
the least and the most, and a number passes only with every seed. All experiments in full also make docs/validation.md.

With the extra `validation` (pip install "crowd-demo[validation]") PedPy measures the same trajectories, and pictures are
drawn; where JuPedSim is installed (pip install jupedsim) its people walk the same scenes, with the first seed. The exit
code is 1 if something could not be computed, and with --strict also if one of this program's models fails a number. Ctrl-C
prints what was found so far.""",
    options=[
        option("names", metavar="EXPERIMENT", nargs="*", default=[], help="only these (default: all)"),
        option("--list", action="store_true", help="list the experiments"),
        option("--short", action="store_true", help="smaller scenes, seconds each"),
        option("--seeds", metavar="N", type=count, help=f"seeds 1 to N (default: {SEEDS}, short 1)"),
        option("--processes", metavar="N", type=count, default=min(os.cpu_count() or 1, MAX_PROCESSES),
               help="number of scenes at a time (default: %(default)s)"),
        option("--strict", action="store_true", help="exit code 1 also if a number fails"),
        option("--out", metavar="DIR", type=file_path, help="write validation.md and its pictures there (default: docs,"
               " where there is such a folder and all experiments run in full)"),
        report_option(f"all that was measured{NO_TABLE}")])
