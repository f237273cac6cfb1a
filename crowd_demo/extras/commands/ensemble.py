"""`crowd-demo ensemble`: many runs, one table."""

from __future__ import annotations

import argparse
from contextlib import closing
from importlib.util import find_spec
from typing import TYPE_CHECKING

from crowd_demo.cli.arguments import (
    Command,
    OptionGroup,
    collected,
    count,
    crowd_options,
    file_path,
    mistaken,
    option,
    overrides_of,
    parsed,
    print_error,
    refuse,
)
from crowd_demo.host.files import write_file
from crowd_demo.host.system import FAILED, OK, Interrupted, ProgressLine, duration
from crowd_demo.registry.built_in import MEASURES
from crowd_demo.registry.texts import reason

if TYPE_CHECKING:
    from crowd_demo.extras.ensemble.plan import Plan

NAME = "ensemble"
address = parsed(r"([a-z]+://)?([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}",  # of a scheduler
                 "an address such as tcp://10.0.0.1:8786", lambda match: match[0])
SAY_EVERY_S = 60.0  # where standard error is no terminal
MB = 1 << 20


def _read(args: argparse.Namespace) -> Plan:
    from crowd_demo.extras.ensemble.plan import DEFAULT_EVERY, parse_varied, plan_of, seeds_of

    lines = list[str]()
    seeds = collected(lines, lambda: seeds_of(args.seeds)) or []
    vary = collected(lines, lambda: parse_varied(args.vary)) or {}
    overrides = collected(lines, lambda: overrides_of(args, "agents")) or []
    if args.out.exists() and not args.out.is_dir():
        lines.append(f"--out: {args.out} is not a folder")
    refuse(lines)
    measures = [name for name in (part.strip() for part in args.measure.split(",")) if name]
    plan = plan_of(args.config, overrides, vary, seeds, args.steps, measures, args.every or min(DEFAULT_EVERY, args.steps))
    if args.plot and not find_spec("matplotlib"):
        raise ValueError("--plot: matplotlib is not installed: pip install crowd-demo[plot]")
    return plan


def _run(args: argparse.Namespace, plan: Plan) -> int:
    from crowd_demo.extras.ensemble.executors import ExecutorError

    try:
        return _dry_run(plan, args) if args.dry_run else _ensemble(plan, args)
    except ValueError as error:
        return mistaken(str(error))
    except ExecutorError as error:
        return _failed(str(error))
    except OSError as error:
        return _failed(f"--out: {f'{error.filename}: ' if error.filename else ''}{reason(error)}; what is finished is kept")


def _failed(text: str) -> int:
    print_error(f"crowd-demo: {text}")
    return FAILED


# --- the runs --------------------------------------------------------------------------------------------------------

def _ensemble(plan: Plan, args: argparse.Namespace) -> int:
    from crowd_demo.extras.ensemble.executors import ExecutorError
    from crowd_demo.extras.ensemble.running import Session, write_table
    from crowd_demo.extras.ensemble.table import PLOT, plot

    session, code = Session(plan, args.out, args.again), OK
    for row in session.damaged if session.missing else ():
        print_error(f"ensemble: {row} is damaged: skipped, and its run is made again unless it has been")
    try:
        with (ProgressLine(NAME, SAY_EVERY_S) as line,
              closing(session.make(args.workers, args.scheduler, line.show)) as rows):
            for number, _ in enumerate(rows):
                if not number and session.workers < (args.workers or 0):
                    print_error(f"ensemble: {session.workers} at a time: more do not fit into memory")
                line.show(session)
    except Interrupted as interrupted:
        code = interrupted.code
    except ExecutorError as error:
        code = _failed(str(error))
    table = write_table(plan, args.out)
    if args.plot and table.finished:
        write_file(args.out / PLOT, plot(plan, table))
    runs = f"of {len(table.rows):,} runs"
    if code:
        print_error(f"ensemble: {session.made:,} {runs} were made again; the same command begins with the first"
                    if args.again else
                    f"ensemble: {table.finished:,} {runs} are finished; the same command makes the others")
        return code
    print(f"{args.out}: {table.finished:,} {runs} have a row without an error")
    for run, cells in zip(plan.runs, table.rows, strict=True):  # one that failed now may have a row from before
        if why := session.errors.get(run.key) or cells["error"]:
            print_error(f"ensemble: {plan.name(run)}: {why}")
    for difference in table.differences:
        what = "THE CROWD" if difference.column == "state_hash" else f"THE MEASURE {difference.column}"
        print_error(f"ensemble: {what} DIFFERS with {plan.name(difference.run)}: {difference}")
    fine = table.finished == len(table.rows) and not table.differences and not session.errors
    return OK if fine else FAILED


# --- a dry run -------------------------------------------------------------------------------------------------------

def _dry_run(plan: Plan, args: argparse.Namespace) -> int:
    from crowd_demo.extras.ensemble.running import Session, capacity, executor_of, run_seconds, warm

    missing, (run_bytes, cores, fit) = Session(plan, args.out, args.again).missing, capacity(plan.configs)
    print(f"{_several(len(plan.runs), 'run')}, {len(plan.runs) - len(missing):,} of them finished")
    print(f"about {run_bytes // MB:,} MB per run, {min(cores, fit)} at a time on this machine")
    if missing:
        with ProgressLine(NAME, SAY_EVERY_S) as line:
            warm([missing[0].config], line.show)
            line.show("making one run")
            one = run_seconds(plan, missing[0])
        with closing(executor_of(plan, (), args.workers, args.scheduler)) as executor:
            workers = max(min(executor.workers, len(missing)), 1)
        # one after another, if a run takes as long as one of its agents does in the run that was timed
        whole = sum(one * max(run.config.agents, 1) / max(missing[0].config.agents, 1) for run in missing)
        print(f"about {duration(one)} for one run; about {duration(whole / workers)} for {_several(len(missing), 'run')} to"
              f" make with {_several(workers, 'worker')}")
    return OK


def _several(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'s' * (count != 1)}"


ENSEMBLE = Command(
    _run, _read, epilog="MEASURE is one of\n" + "\n".join(f"  {entry.name:12}{entry.why}" for entry in MEASURES.values()),
    about="""\
Simulate each combination of the varied values with each seed, and write one table. Runs that DIR has already are
not repeated: after an interruption the same command makes the missing ones, and Ctrl-C loses only unfinished runs.
The exit code is 0 only if every run has a row without an error, no run failed now, and repeated runs agree.""",
    options=[
        *crowd_options(),
        option("--seeds", metavar="1-100|1,2,5", default="1", help="a run with each (default: %(default)s)"),
        option("--vary", metavar="KEY.PATH=VALUE,VALUE", action="append", default=[],
               help="a run with each value; repeated: all combinations"),
        option("--steps", metavar="N", type=count, default=600, help="steps of each run (default: %(default)s)"),
        option("--every", metavar="K", type=count, help="steps between two measurements (default: 10)"),
        option("--measure", metavar="MEASURE,MEASURE", default="population,neighbours",
               help="what to measure (default: %(default)s)"),
        option("--out", metavar="DIR", type=file_path, required=True, help="output folder; an existing one is resumed"),
        OptionGroup(exclusive=True, options=[
            option("--workers", metavar="N", type=count,
                   help="processes of this machine (default: one per core if memory suffices)"),
            option("--scheduler", metavar="ADDRESS", type=address,
                   help="instead: a Dask cluster, such as tcp://10.0.0.1:8786")]),
        option("--again", action="store_true", help="make all runs again, and compare their state hashes"),
        option("--plot", action="store_true", help="also draw measures against varied settings (matplotlib)"),
        option("--dry-run", action="store_true", help="only estimate runs, time and memory")])
