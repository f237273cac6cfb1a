"""The commands `ablate` and `largest`, and what commands that measure share.

Ctrl-C stops an experiment, and its results so far are printed.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import wait
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from crowd_demo.cli.arguments import (
    Command,
    count,
    crowd_config,
    crowd_options,
    mistaken,
    option,
    print_error,
    report_option,
    seconds,
)
from crowd_demo.config.optimizations import known, with_values
from crowd_demo.host.shutdown import FAILED, OK, Interrupted
from crowd_demo.host.streams import STDOUT, ProgressLine
from crowd_demo.host.system import in_thread
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.registry.texts import reason

if TYPE_CHECKING:
    from crowd_demo.config.model import Config
    from crowd_demo.measure.ablation import Ablation
    from crowd_demo.measure.experiment import Compile, Experiment, InSlices
    from crowd_demo.measure.largest import Largest
    from crowd_demo.registry.entries import Technique

Kind = TypeVar("Kind", bound="InSlices")
Result = TypeVar("Result")
Tell = Callable[[object], object]  # what is done at present, as text
LOOK_EVERY_S = 0.2
LEAVE_S = 2.0  # to end the present step, and to remove what is unfinished
MEASURED = report_option("all results; - instead of the table")
PATHS = "PATH is one of\n  " + "\n  ".join(BY_PATH)

# --- what they share -------------------------------------------------------------------------------------------------

def told(name: str, job: Callable[[Tell], Result], progress: Callable[[str], ProgressLine] = ProgressLine) -> Result:
    """Do a job in a thread of its own, so that a signal is heard while a kernel runs; show what it tells meanwhile.

    Raises Interrupted after a signal: the job ends where it tells the next thing, if that comes soon.
    """
    doing, stopped = list[object](["starting"]), threading.Event()

    def tell(what: object) -> None:
        doing[0] = what
        if stopped.is_set():
            sys.exit(FAILED)

    future = in_thread(partial(job, tell), name)
    try:
        with progress(name) as line:
            while not wait((future,), timeout=LOOK_EVERY_S).done:
                line.show(doing[0])
        return future.result()
    except Interrupted:
        stopped.set()
        wait((future,), LEAVE_S)
        raise


def watched(name: str, make: Callable[[Tell], Kind], conclude: Callable[[Kind], int],
            progress: Callable[[str], ProgressLine] = ProgressLine) -> int:
    """Run an experiment, and say how far it is.

    `make` prepares it, and tells what takes long. `conclude` shows what it has found, also if it was interrupted. A
    ValueError is the user's mistake.
    """
    made, code = list[Kind](), OK

    def run(tell: Tell) -> None:
        made.append(make(tell))
        for part in made[0].run():
            tell(part)

    try:
        told(name, run, progress)
    except Interrupted as interrupted:
        code = interrupted.code
    except ValueError as error:
        return mistaken(f"{name}: {error}")
    concluded = conclude(made[0]) if made else OK
    return code or concluded


def kernels(config: Config, tell: Tell, render: bool = True) -> Compile:
    """Compile what the configuration needs, for pictures too; return what compiles for other techniques."""
    from crowd_demo.host.compiling.loading import LoadingProgress

    progress = LoadingProgress()
    tell(progress)
    progress.say("importing the compiler")
    from crowd_demo.host.compiling.ahead import KernelFinder, compile_missing
    from crowd_demo.host.compiling.compilers import Compilers

    ahead = KernelFinder(config, render)
    with closing(Compilers(config)) as compilers:
        compilers.compile_first(ahead.missing(config.optimizations), config.optimizations, progress.compiling)
    return partial(compile_missing, ahead)


def show(text: str, record: Mapping[str, object], path: Path | None) -> int:
    """Print the text, unless the record goes to standard output, and write the record if `path` asks for that."""
    from crowd_demo.host.report import write_report

    if path != STDOUT:
        print(text)
    try:
        if path:
            write_report(record, path)
    except OSError as error:
        if path == STDOUT:
            raise
        print_error(f"crowd-demo: --report: cannot write {path}: {reason(error)}")
        return FAILED
    return OK


def show_experiment(experiment: Experiment, head: str, nothing: str, path: Path | None) -> int:
    table, (how_to_read, *notes) = experiment.table(), experiment.notes()
    left = "" if experiment.done else ", stopped before the end"
    body = [str(table), how_to_read] if table.rows else [nothing]
    return show("\n\n".join([f"{head}{left}", *body, *notes]).rstrip(), experiment.record(), path)


# --- techniques ------------------------------------------------------------------------------------------------------

def _ablate(args: argparse.Namespace, asked: tuple[Config, list[Technique]]) -> int:
    config, chosen = asked

    def make(tell: Tell) -> Ablation:
        compile_for = kernels(config, tell)
        from crowd_demo.measure.ablation import Ablation, Limits
        from crowd_demo.sim.simulation import Simulation

        tell(f"building a world of {config.agents:,} agents")
        start = Simulation(config).snapshot()
        return Ablation(start, compile_for, args.render, Limits(args.seconds, args.steps), chosen)

    def conclude(ablation: Ablation) -> int:
        written = show_experiment(ablation, f"{args.config}: {ablation.agents:,} agents", "nothing was measured", args.report)
        differing = [row.technique.path for row in ablation.rows if row.found.crowd == "DIFFERS"]
        if differing:
            print_error(f"THE CROWD DIFFERS without {', '.join(differing)}")
        return written or (FAILED if differing else OK)

    return watched("ablate", make, conclude)


def _largest(args: argparse.Namespace, config: Config) -> int:
    def make(tell: Tell) -> Largest:
        compile_for = kernels(config, tell)
        from crowd_demo.measure.largest import Largest, present_and_rungs

        return Largest(config, present_and_rungs(config.optimizations, args.ladder), compile_for)

    return watched("largest", make, lambda found: show_experiment(found, args.config, "nothing was found", args.report))


def _why(args: argparse.Namespace, asked: tuple[Config, Technique | None]) -> int:
    from crowd_demo.extras.why import as_table, why
    from crowd_demo.sim.simulation import Simulation

    config, technique = asked
    stage = args.stage or (technique.stage if technique else "interaction")
    sims = {args.config: Simulation(config)}
    if technique:
        options = with_values(config.optimizations, {technique.path: technique.baseline})
        sims[f"without {technique.label.strip()}"] = Simulation(config.model_copy(update={"optimizations": options}))
    try:
        found = why(sims, stage, args.steps)
    except ValueError as error:
        return mistaken(f"why: {error}")
    record = {name: [figure._asdict() for figure in figures] for name, figures in found.items()}
    return show(as_table(found), record, args.report)


# --- the commands ----------------------------------------------------------------------------------------------------

ABLATE = Command(
    _ablate, lambda args: (crowd_config(args), [BY_PATH[known(path)] for path in args.paths or BY_PATH]),
    epilog=PATHS, about="""\
Measure every technique by turning it off: step and frame with it and without, the speedup with its interval, and whether the
crowd is identical. Techniques that cost more than they gain are in the table too. Off means brute force, no lanes, no order, a
period of 1 or one thread. Ctrl-C prints the results so far. The exit code is 1 if an exact technique changed the crowd.""",
    options=[
        *crowd_options(),
        option("paths", metavar="PATH", nargs="*", default=[], help="only these techniques (default: all that are on)"),
        option("--seconds", metavar="S", type=seconds, default=4.0, help="seconds for each technique (default: %(default)s)"),
        option("--steps", metavar="N", type=count, help="timed steps with each technique, instead of seconds"),
        option("--no-render", action="store_false", dest="render", help="steps only, no pictures"),
        MEASURED])

LARGEST = Command(
    _largest, crowd_config, about="""\
Search for the largest crowd with a frame of 16.7 ms on this machine: its steps, and drawing at the window's size. The world
grows with the crowd at constant density. --ladder does the same for each rung from brute force to all techniques. Ctrl-C stops
and prints the results so far.""",
    options=[
        *crowd_options(),
        option("--ladder", action="store_true", help="also add techniques one by one, from everything off"),
        MEASURED])

WHY = Command(
    _why, lambda args: (crowd_config(args), BY_PATH[known(args.without)] if args.without else None),
    in_thread=True, epilog=PATHS, about="""\
Explain the time of a stage: pairs tested, the hot loop in machine code, how much of it is vector work, and what the processor
counted where the system allows that. --without compares with a technique turned off.""",
    options=[
        *crowd_options(),
        option("stage", metavar="STAGE", nargs="?", help="stage (default: that of the technique, or interaction)"),
        option("--without", metavar="PATH", help="compare with this technique turned off"),
        option("--steps", metavar="N", type=count, default=60, help="timed steps (default: %(default)s)"),
        MEASURED])
