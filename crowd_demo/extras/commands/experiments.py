"""The command `sweep`, and experiments of the lab with options of their own: `flocks`, `motion`, `columns`, `memory`."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from crowd_demo.cli.arguments import (
    NO_TABLE,
    Command,
    Option,
    count,
    crowd_config,
    crowd_options,
    option,
    refuse,
    report_option,
    tick,
    unwritable_report,
)
from crowd_demo.cli.measuring import MEASURED, PATHS, checked_config, show
from crowd_demo.config.memory import shortage
from crowd_demo.host.shutdown import FAILED, OK
from crowd_demo.host.streams import ProgressLine
from crowd_demo.registry.entries import load
from crowd_demo.registry.techniques import BY_PATH

if TYPE_CHECKING:
    from crowd_demo.config.model import Config
    from crowd_demo.registry.entries import Technique, Value


# --- techniques --------------------------------------------------------------------------------------------------------

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


# --- crowds ----------------------------------------------------------------------------------------------------------

def _read_flocks(args: argparse.Namespace) -> Config:
    def mistakes(config: Config) -> Iterable[str]:
        predators = config.hunt.predators if config.behaviour == "hunt" else 0
        if config.behaviour not in ("flock", "hunt"):
            yield f"lab flocks: {args.config} has no birds, its behaviour is {config.behaviour}"
        elif config.agents < predators + 2 or config.life.births_per_s or config.life.deaths_per_s:
            yield f"lab flocks: {args.config} must have two birds that stay"
        if args.steps < (second := math.ceil(config.time.step_hz)):
            yield f"--steps: must be at least {second}, a second, not {args.steps}"

    return checked_config(args, mistakes)


def _flocks(args: argparse.Namespace, config: Config) -> int:
    from crowd_demo.extras.lab.flocks import table, watch
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
            yield f"lab motion: {args.config} has no people, its behaviour is {config.behaviour}"
        if not config.agents:
            yield f"lab motion: {args.config} has no agents"

    return checked_config(args, mistakes)


def _motion(args: argparse.Namespace, config: Config) -> int:
    from crowd_demo.extras.lab.motion import motion_of, table
    from crowd_demo.sim.simulation import Simulation

    if args.flow:
        from crowd_demo.extras.lab.flow import REPORTED, flow_of, flow_table

        with ProgressLine("motion") as line:
            found = flow_of(config, lambda tick: line.show(f"step {tick:,} of {REPORTED[-1]:,}"))
        flows = {tick: {**each._asdict(), "gaps": [gap._asdict() for gap in each.gaps]} for tick, each in found.items()}
        return _show_crowd("motion", "people", flow_table(found), args, config, {"flow": flows})
    print(f"motion: {args.steps:,} steps of {config.agents:,} people", file=sys.stderr)
    sim = Simulation(config)
    sim.step(args.steps)
    figures, watched = motion_of(sim, watched=not args.at_once)
    return _show_crowd("motion", f"people after {args.steps:,} steps", table(figures, watched), args, config,
                       {"figures": {**figures, "watched": watched}})


# --- memory ----------------------------------------------------------------------------------------------------------

def _of_a_number(name: str, bytes_each: int, about: str, number: Option) -> Command:
    """Return the command of a function of memory.py that gets one number and needs about `bytes_each` for each."""
    what = number[0]

    def read(args: argparse.Namespace) -> int:
        wanted: int = getattr(args, what)
        if short := shortage(wanted * bytes_each):
            raise ValueError(f"{what}: {short}")
        return wanted

    def run(args: argparse.Namespace, wanted: int) -> int:
        load(f"crowd_demo.extras.lab.claims.experiments.memory:{name}")(wanted)
        return OK

    return Command(run, read, about, [number], in_thread=True)


# --- the commands ----------------------------------------------------------------------------------------------------

SWEEP = Command(
    _sweep, _read_sweep, in_thread=True, epilog=PATHS, about="""\
Measure one technique at each of its values, interleaved: time, effect, and whether the crowd is identical. The
default is always measured, and twice. The exit code is 1 if exact values gave different crowds; approximate values
and other models may.""",
    options=[
        *crowd_options(),
        option("path", metavar="PATH", help="technique of the registry, such as cell_size or reorder.every"),
        option("values", metavar="VALUE", nargs="*", default=[], help="legal values (default: its choices)"),
        option("--steps", metavar="N", type=count, default=120, help="timed steps of each value (default: %(default)s)"),
        report_option(f"all that was measured{NO_TABLE}")])

FLOCKS = Command(
    _flocks, _read_flocks, in_thread=True, about="""\
Measure how birds, or prey, keep together while they fly: how alike neighbours fly, how much of the sky they leave empty, how
sharp the edges of flocks are, and how often flocks come apart and together. It looks once a second of the crowd's own time.\
""", options=[
        *crowd_options("murmuration"),
        option("--steps", metavar="N", type=count, default=10_000, help="number of steps (default: %(default)s)"),
        report_option(f"every look{NO_TABLE}")])

MOTION = Command(
    _motion, _read_motion, in_thread=True, about="""\
Measure how people move after N steps: distances, density, how often they turn, and
the share that is stuck. The crowd is stepped for 26 seconds of its own time more; what is measured changes nothing.""",
    options=[
        *crowd_options(),
        option("--steps", metavar="N", type=tick, default=3000, help="steps before measuring (default: %(default)s)"),
        option("--at-once", action="store_true", help="only what one second shows"),
        option("--flow", action="store_true", help="flow instead: people who hardly move, arrivals and the busiest gaps,"
               " after 4,000 and 12,000 steps"),
        MEASURED])

COLUMNS = _of_a_number(
    "layout", 200, about="""\
Measure the flock's inner loop over columns (a structure of arrays) and over records (an array of structures), with candidates
in the order of memory and scattered. crowd_demo/extras/lab/claims/experiments/memory.py says more.""",
    number=option("agents", nargs="?", type=count, default=250_000, help="how many (default: %(default)s)"))

MEMORY = _of_a_number(
    "memory", 100, about="""\
Compare two ways to store a component that only a part of all entities has, by id and in a sparse set: bytes that were
allocated, and the formulas. crowd_demo/extras/lab/claims/experiments/memory.py says more.""",
    number=option("entities", nargs="?", type=count, default=1_000_000, help="how many at most (default: %(default)s)"))
