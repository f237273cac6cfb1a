"""The commands that measure: techniques (`sweep`, `ablate`, `largest`), crowds (`flocks`, `motion`), `layout` and `memory`.

Ctrl-C stops `ablate` and `largest`, and their results so far are printed; the others end without any.
"""

from __future__ import annotations

import argparse
import math
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import wait
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from crowd_demo.app.process.quitting import FAILED, FINE, Interrupted
from crowd_demo.app.process.streams import STDOUT, ProgressLine
from crowd_demo.app.process.system import in_thread
from crowd_demo.cli.arguments import (
    NO_TABLE,
    Command,
    Option,
    count,
    crowd_config,
    crowd_options,
    mistaken,
    option,
    print_error,
    refuse,
    report_option,
    seconds,
    tick,
    unwritable_report,
)
from crowd_demo.config.memory import shortage
from crowd_demo.registry.entries import load
from crowd_demo.registry.techniques import BY_PATH

if TYPE_CHECKING:
    from crowd_demo.config.model import Config
    from crowd_demo.measure.ablation import Ablation
    from crowd_demo.measure.experiment import Compile, Experiment, InSlices
    from crowd_demo.measure.largest import Largest
    from crowd_demo.registry.entries import Technique, Value

Kind = TypeVar("Kind", bound="InSlices")
Tell = Callable[[object], object]  # what is done at present, as text
LOOK_EVERY_S = 0.2
MEASURED = report_option(f"all that was measured{NO_TABLE}")
PATHS = "PATH is one of\n  " + "\n  ".join(BY_PATH)

# --- what they share -------------------------------------------------------------------------------------------------

def watched(name: str, make: Callable[[Tell], Kind], conclude: Callable[[Kind], int],
            progress: Callable[[str], ProgressLine] = ProgressLine) -> int:
    """Run an experiment in a thread of its own, so that a signal is heard while a kernel runs; say how far it is.

    `make` prepares it, and tells what takes long. `conclude` shows what it has found, also if it was interrupted. A ValueError
    is the user's mistake.
    """
    doing: deque[object] = deque(["starting"], maxlen=1)
    made, stopped, code = list[Kind](), threading.Event(), FINE

    def run() -> None:
        made.append(make(doing.append))
        for progress in made[0].run():
            doing.append(progress)
            if stopped.is_set():
                break

    try:
        future = in_thread(run, name)
        with progress(name) as line:
            while not wait((future,), timeout=LOOK_EVERY_S).done:
                line.show(doing[0])
        future.result()
    except Interrupted as interrupted:
        stopped.set()
        code = interrupted.code
    except ValueError as error:
        return mistaken(f"{name}: {error}")
    concluded = conclude(made[0]) if made else FINE
    return code or concluded


def kernels(config: Config, tell: Tell, render: bool = True) -> Compile:
    """Compile what the configuration needs, for pictures too; return what compiles for other techniques."""
    from crowd_demo.app.compiling.loading import LoadingProgress

    progress = LoadingProgress()
    tell(progress)
    progress.say("importing the compiler")
    from crowd_demo.app.compiling.ahead import KernelFinder, compile_missing
    from crowd_demo.app.compiling.compilers import Compilers

    ahead = KernelFinder(config, render)
    with closing(Compilers(config)) as compilers:
        compilers.compile_first(ahead.missing(config.optimizations), config.optimizations, progress.compiling)
    return partial(compile_missing, ahead)


def show(text: str, record: Mapping[str, object], path: Path | None) -> int:
    """Print the text, unless the record goes to standard output, and write the record if `path` asks for that."""
    from crowd_demo.app.output.report import write_report

    if path != STDOUT:
        print(text)
    try:
        if path:
            write_report(record, path)
    except OSError as error:
        if path == STDOUT:
            raise
        print_error(f"crowd-demo: --report: cannot write {path}: {error.strerror or error}")
        return FAILED
    return FINE


def show_experiment(experiment: Experiment, head: str, nothing: str, path: Path | None) -> int:
    """Print the results so far and write the record."""
    table, (how_to_read, *notes) = experiment.table(), experiment.notes()
    left = "" if experiment.done else ", stopped before the end"
    body = [str(table), how_to_read] if table.rows else [nothing]
    return show("\n\n".join([f"{head}{left}", *body, *notes]).rstrip(), experiment.record(), path)


def checked_config(args: argparse.Namespace, mistakes_of: Callable[[Config], Iterable[str]] = lambda config: ()) -> Config:
    """The configuration, if the report can be written. Raises ValueError with a line for each mistake."""
    config = crowd_config(args)
    refuse([*unwritable_report(args), *mistakes_of(config)])
    return config


# --- techniques ------------------------------------------------------------------------------------------------------

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
    from crowd_demo.lab.sweep import NOTE, conclusion, expectations, one_crowd, record_of, sweep, table, variants_of

    config, technique, values = asked
    variants = variants_of(config, technique, values)
    for line in expectations(technique, variants, args.steps):
        print(f"sweep: {line}", file=sys.stderr)
    found = sweep(technique, variants, args.steps)
    head = f"{args.config}: {config.agents:,} agents, {args.steps} steps each, in turns"
    text = "\n\n".join([head, table(technique, found), NOTE, conclusion(found)])
    written = show(text, record_of(config, technique, found, args.steps), args.report)
    return written or (FINE if one_crowd(found) else FAILED)


def _read_ablate(args: argparse.Namespace) -> tuple[Config, list[Technique]]:
    from crowd_demo.config.optimizations import known

    config = crowd_config(args)
    chosen = [BY_PATH[known(path)] for path in args.paths or BY_PATH]
    refuse(unwritable_report(args))
    return config, chosen


def _ablate(args: argparse.Namespace, asked: tuple[Config, list[Technique]]) -> int:
    config, chosen = asked

    def make(tell: Tell) -> Ablation:
        compile_for = kernels(config, tell)
        from crowd_demo.measure.ablation import Ablation
        from crowd_demo.measure.three_crowds import Limits
        from crowd_demo.sim.simulation import Simulation

        tell(f"building a world of {config.agents:,} agents")
        start = Simulation(config).snapshot()
        return Ablation(start, compile_for, args.render, Limits(args.seconds, args.steps), chosen)

    def conclude(ablation: Ablation) -> int:
        written = show_experiment(ablation, f"{args.config}: {ablation.agents:,} agents", "nothing was measured", args.report)
        differing = [row.technique.path for row in ablation.rows if row.found.crowd == "DIFFERS"]
        if differing:
            print_error(f"THE CROWD DIFFERS without {', '.join(differing)}")
        return written or (FAILED if differing else FINE)

    return watched("ablate", make, conclude)


def _largest(args: argparse.Namespace, config: Config) -> int:
    def make(tell: Tell) -> Largest:
        compile_for = kernels(config, tell)
        from crowd_demo.measure.largest import Largest, present_and_rungs

        return Largest(config, present_and_rungs(config.optimizations, args.ladder), compile_for)

    return watched("largest", make, lambda found: show_experiment(found, args.config, "nothing was found", args.report))


# --- crowds ----------------------------------------------------------------------------------------------------------

def _read_flocks(args: argparse.Namespace) -> Config:
    def mistakes(config: Config) -> Iterable[str]:
        predators = config.hunt.predators if config.behaviour == "hunt" else 0
        if config.behaviour not in ("flock", "hunt"):
            yield f"flocks: {args.config} has no birds, its behaviour is {config.behaviour}"
        elif config.agents < predators + 2 or config.life.births_per_s or config.life.deaths_per_s:
            yield f"flocks: {args.config} must have two birds that stay"
        if args.steps < (second := math.ceil(config.time.step_hz)):
            yield f"--steps: must be at least {second}, a second, not {args.steps}"

    return checked_config(args, mistakes)


def _flocks(args: argparse.Namespace, config: Config) -> int:
    from crowd_demo.lab.flocks import table, watch
    from crowd_demo.sim.simulation import Simulation

    print(f"flocks: {args.steps:,} steps of {config.agents:,} agents", file=sys.stderr)
    sim = Simulation(config)
    with ProgressLine("flocks") as line:
        looks, splits, merges = watch(sim, args.steps, lambda done: line.show(f"step {done:,} of {args.steps:,}"))
    return _show_crowd("flocks", f"agents over {args.steps:,} steps", table(looks, splits, merges), args, config, {
        "state_hash": sim.state_hash(), "looks": [look._asdict() for look in looks], "splits": splits, "merges": merges})


def _show_crowd(kind: str, after: str, table: str, args: argparse.Namespace, config: Config,
                figures: Mapping[str, object]) -> int:
    from crowd_demo.measure.experiment import header

    record = {**header(kind), "agents": config.agents, "seed": config.seed, "steps": args.steps, **figures}
    return show(f"{args.config}: {config.agents:,} {after}\n\n{table}", record, args.report)


def _read_motion(args: argparse.Namespace) -> Config:
    def mistakes(config: Config) -> Iterable[str]:
        if config.behaviour != "crowd":
            yield f"motion: {args.config} has no people, its behaviour is {config.behaviour}"
        if not config.agents:
            yield f"motion: {args.config} has no agents"

    return checked_config(args, mistakes)


def _motion(args: argparse.Namespace, config: Config) -> int:
    from crowd_demo.lab.motion import motion_of, table
    from crowd_demo.sim.simulation import Simulation

    print(f"motion: {args.steps:,} steps of {config.agents:,} people", file=sys.stderr)
    sim = Simulation(config)
    sim.step(args.steps)
    figures, watched = motion_of(sim, watched=not args.at_once)
    return _show_crowd("motion", f"people after {args.steps:,} steps", table(figures, watched), args, config,
                       {"figures": {**figures, "watched": watched}})


# --- memory ----------------------------------------------------------------------------------------------------------

def _of_a_number(name: str, bytes_each: int, about: str, number: Option) -> Command:
    """The command of a function of lab/storage.py that gets one number, and prints; it takes so many bytes for each, about."""
    what = number[0]

    def read(args: argparse.Namespace) -> int:
        wanted: int = getattr(args, what)
        if short := shortage(wanted * bytes_each):
            raise ValueError(f"{what}: {short}")
        return wanted

    def run(args: argparse.Namespace, wanted: int) -> int:
        load(f"crowd_demo.lab.storage:{name}")(wanted)
        return FINE

    return Command(run, read, about, [number], in_thread=True)


# --- the commands ----------------------------------------------------------------------------------------------------

SWEEP = Command(
    _sweep, _read_sweep, in_thread=True, epilog=PATHS, about="""\
Measure one technique at each of its values, in turns: what it costs, what it does, and that the crowd stays the same. The
default is always measured, and twice. The exit code is 1 if exact values gave different crowds; approximate values
and other models may.""",
    options=[
        *crowd_options(),
        option("path", metavar="PATH", help="technique of the registry, such as cell_size or reorder.every"),
        option("values", metavar="VALUE", nargs="*", default=[], help="legal values (default: its choices)"),
        option("--steps", metavar="N", type=count, default=120, help="timed steps of each value (default: %(default)s)"),
        MEASURED])

ABLATE = Command(
    _ablate, _read_ablate, epilog=PATHS, about="""\
Switch each technique off in turn and measure that against the present settings: step and frame with it and without, what it
buys with its interval, and whether the crowd stays the same; what costs more than it buys is in the table too. Off is the
baseline: brute force, no lanes, no order, a period of 1, one thread. Ctrl-C prints the results so far. The exit code is 1 if
an exact technique changed the crowd.""",
    options=[
        *crowd_options(),
        option("paths", metavar="PATH", nargs="*", default=[], help="only these techniques (default: all that are on)"),
        option("--seconds", metavar="S", type=seconds, default=4.0, help="about, for each (default: %(default)s)"),
        option("--steps", metavar="N", type=count, help="instead: timed steps with each technique"),
        option("--no-render", action="store_false", dest="render", help="steps only, no pictures"),
        MEASURED])

LARGEST = Command(
    _largest, checked_config, about="""\
Find the largest crowd of which a frame (its steps and a picture of the window's size) takes 16.7 ms here, by search. The world
grows with the crowd: as many agents share a unit of area as in the configuration. With --ladder also for each rung from brute
force to all techniques. Ctrl-C stops and prints the results so far.""",
    options=[
        *crowd_options(),
        option("--ladder", action="store_true", help="each rung from everything off to everything on, too"),
        report_option(f"all that was found{NO_TABLE}")])

FLOCKS = Command(
    _flocks, _read_flocks, in_thread=True, about="""\
Measure how birds, or prey, keep together while they fly: how alike neighbours fly, how much of the sky they leave empty, how
sharp the edges of flocks are, and how often flocks come apart and together. It looks once a second of the crowd's own time.\
""", options=[
        *crowd_options("murmuration"),
        option("--steps", metavar="N", type=count, default=10_000, help="for so many steps (default: %(default)s)"),
        report_option(f"every look{NO_TABLE}")])

MOTION = Command(
    _motion, _read_motion, in_thread=True, about="""\
Measure how people move, after so many steps: how near they come to each other, how crowded it gets, how often they turn, and
who gets nowhere. The crowd is stepped for 26 seconds of its own time more; what is measured changes nothing.""",
    options=[
        *crowd_options(),
        option("--steps", metavar="N", type=tick, default=3000, help="steps before measuring (default: %(default)s)"),
        option("--at-once", action="store_true", help="only what one second shows"),
        MEASURED])

LAYOUT = _of_a_number(
    "layout", 200, about="""\
Measure the flock's inner loop over columns (a structure of arrays) and over records (an array of structures), with candidates
in the order of memory and scattered. crowd_demo/lab/storage.py says more.""",
    number=option("agents", nargs="?", type=count, default=250_000, help="how many (default: %(default)s)"))

MEMORY = _of_a_number(
    "memory", 100, about="""\
Compare two ways to store a component that only a part of all entities has, by id and in a sparse set: bytes that were
allocated, and the formulas. crowd_demo/lab/storage.py says more.""",
    number=option("entities", nargs="?", type=count, default=1_000_000, help="how many at most (default: %(default)s)"))
