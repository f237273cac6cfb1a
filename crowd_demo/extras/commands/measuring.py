"""The commands that measure: `ablate`, `largest`, `why`, `sweep`, `lab` with its experiments that have options of their
own, and `validate`; and what they share.

Ctrl-C stops an experiment, and its results so far are printed.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait
from contextlib import closing
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from crowd_demo.cli.arguments import (
    EXPERIMENTS,
    Command,
    collected,
    count,
    crowd_config,
    crowd_options,
    file_path,
    found,
    mistaken,
    option,
    print_error,
    refuse,
    report_option,
    seconds,
    tick,
)
from crowd_demo.config.memory import AGENT, shortage
from crowd_demo.config.model import known, with_values
from crowd_demo.host.system import FAILED, OK, STDOUT, Interrupted, ProgressLine, duration, in_thread
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.registry.texts import reason

if TYPE_CHECKING:
    from rich.console import Console

    from crowd_demo.config.model import Config
    from crowd_demo.extras.lab.claims.claim import Claim
    from crowd_demo.extras.lab.claims.results import Results
    from crowd_demo.extras.lab.validate.validation import Validation, ValidationExperiment
    from crowd_demo.measure.ablation import Ablation
    from crowd_demo.measure.experiment import Compile, Experiment, InSlices
    from crowd_demo.measure.largest import Largest
    from crowd_demo.registry.entries import Technique, Value

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
        return Ablation(Simulation(config).snapshot(), compile_for, args.render, Limits(args.seconds, args.steps),
                        chosen)

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
    record = {name: [each._asdict() for each in figures] for name, figures in found.items()}
    return show(as_table(found), record, args.report)


# --- the commands ----------------------------------------------------------------------------------------------------

ABLATE = Command(
    _ablate, lambda args: (crowd_config(args), [BY_PATH[known(path)] for path in args.paths or BY_PATH]),
    epilog=PATHS, about="""\
Measure every technique by turning it off: step and frame with it and without, the speedup with its interval, and
whether the crowd is identical. Techniques that cost more than they gain are in the table too. Off means brute
force, no lanes, no order, a period of 1 or one thread. Ctrl-C prints the results so far. The exit code is 1 if an
exact technique changed the crowd.""",
    options=[
        *crowd_options(),
        option("paths", metavar="PATH", nargs="*", default=[], help="only these techniques (default: all that are on)"),
        option("--seconds", metavar="S", type=seconds, default=4.0, help="seconds for each technique (default: %(default)s)"),
        option("--steps", metavar="N", type=count, help="timed steps with each technique, instead of seconds"),
        option("--no-render", action="store_false", dest="render", help="steps only, no pictures"),
        MEASURED])

LARGEST = Command(
    _largest, crowd_config, about="""\
Search for the largest crowd whose frame takes at most 16.7 ms on this machine: a step, and drawing it at the
window's size. The world grows with the crowd at constant density. --ladder repeats the search for each rung from
brute force to all techniques. Ctrl-C prints the results so far.""",
    options=[
        *crowd_options(),
        option("--ladder", action="store_true", help="also add techniques one by one, from everything off"),
        MEASURED])

WHY = Command(
    _why, lambda args: (crowd_config(args), BY_PATH[known(args.without)] if args.without else None),
    in_thread=True, epilog=PATHS, about="""\
Explain the time of a stage: pairs tested, the hot loop in machine code, its share of vector work, and the
processor's counters if the system has them. --without compares with a technique turned off.""",
    options=[
        *crowd_options(),
        option("stage", metavar="STAGE", nargs="?", help="stage (default: that of the technique, or interaction)"),
        option("--without", metavar="PATH", help="compare with this technique turned off"),
        option("--steps", metavar="N", type=count, default=60, help="timed steps (default: %(default)s)"),
        MEASURED])


# --- one technique at each of its values ------------------------------------------------------------------------------

def _read_sweep(args: argparse.Namespace) -> tuple[Config, Technique, Sequence[Value]]:
    from crowd_demo.config.yaml12 import scalar

    config = crowd_config(args)
    path, values, trial = known(args.path), [], config.optimizations.model_copy(deep=True)
    for text in args.values:
        trial.set(path, scalar(text))  # type: ignore[arg-type]  # null gets the same message as other illegal values
        values.append(trial.get(path))
    return config, BY_PATH[path], values or BY_PATH[path].choices


def _sweep(args: argparse.Namespace, asked: tuple[Config, Technique, Sequence[Value]]) -> int:
    from crowd_demo.extras.lab.sweep import NOTE, conclusion, expectations, one_crowd, record_of, sweep, table, variants_of

    config, technique, values = asked
    variants = variants_of(config, technique, values)
    for line in expectations(technique, variants, args.steps):
        print(f"sweep: {line}", file=sys.stderr)
    results = sweep(technique, variants, args.steps)
    head = f"{args.config}: {config.agents:,} agents, {args.steps} steps each, interleaved"
    text = "\n\n".join([head, table(technique, results), NOTE, conclusion(results)])
    written = show(text, record_of(config, technique, results, args.steps), args.report)
    return written or (OK if one_crowd(results) else FAILED)


# --- crowds ----------------------------------------------------------------------------------------------------------

def _read_flocks(args: argparse.Namespace) -> Config:
    config = crowd_config(args)
    has_birds, second = config.behaviour in ("flock", "hunt"), math.ceil(config.time.step_hz)
    birds = config.agents - (config.hunt.predators if config.behaviour == "hunt" else 0)
    refuse(found(
        (not has_birds, f"lab flocks: {args.config} has no birds, its behaviour is {config.behaviour}"),
        (has_birds and (birds < 2 or config.life.births_per_s or config.life.deaths_per_s),
         f"lab flocks: {args.config} must have two birds that stay"),
        (args.steps < second, f"--steps: must be at least {second}, a second, not {args.steps}")))
    return config


def _flocks(args: argparse.Namespace, config: Config) -> int:
    from crowd_demo.extras.lab.flocks import table, watch
    from crowd_demo.sim.simulation import Simulation

    print(f"flocks: {args.steps:,} steps of {config.agents:,} agents", file=sys.stderr)
    sim = Simulation(config)
    with ProgressLine("flocks") as line:
        looks, splits, merges = watch(sim, args.steps, lambda done: line.show(f"step {done:,} of {args.steps:,}"))
    return _show_crowd("flocks", f"agents over {args.steps:,} steps", table(looks, splits, merges), args, config, {
        "state_hash": sim.state_hash(), "looks": looks, "splits": splits, "merges": merges})


def _show_crowd(kind: str, after: str, table: str, args: argparse.Namespace, config: Config,
                figures: Mapping[str, object]) -> int:
    from crowd_demo.measure.experiment import header

    record = {**header(kind), "agents": config.agents, "seed": config.seed, "steps": args.steps, **figures}
    return show(f"{args.config}: {config.agents:,} {after}\n\n{table}", record, args.report)


def _read_motion(args: argparse.Namespace) -> Config:
    config = crowd_config(args)
    refuse(found(
        (config.behaviour != "crowd", f"lab motion: {args.config} has no people, its behaviour is {config.behaviour}"),
        (not config.agents, f"lab motion: {args.config} has no agents")))
    return config


def _motion(args: argparse.Namespace, config: Config) -> int:
    from crowd_demo.extras.lab.motion import REPORTED, flow_of, flow_table, motion_of, table
    from crowd_demo.sim.simulation import Simulation

    if args.flow:
        with ProgressLine("motion") as line:
            flows = flow_of(config, lambda tick: line.show(f"step {tick:,} of {REPORTED[-1]:,}"))
        return _show_crowd("motion", "people", flow_table(flows), args, config,
                           {"flow": {tick: {**figures, "gaps": gaps} for tick, (figures, gaps) in flows.items()}})
    print(f"motion: {args.steps:,} steps of {config.agents:,} people", file=sys.stderr)
    sim = Simulation(config)
    sim.step(args.steps)
    figures, watched = motion_of(sim, watched=not args.at_once)
    return _show_crowd("motion", f"people after {args.steps:,} steps", table(figures, watched), args, config,
                       {"figures": {**figures, "watched": watched}})


# --- the commands ----------------------------------------------------------------------------------------------------

SWEEP = Command(
    _sweep, _read_sweep, in_thread=True, epilog=PATHS, about="""\
Measure one technique at each of its values, interleaved: time, effect, and whether the crowd is identical. The
default is always measured, twice. The exit code is 1 if exact values gave different crowds. Approximate values and
other models may differ.""",
    options=[
        *crowd_options(),
        option("path", metavar="PATH", help="technique, such as cell_size or reorder.every"),
        option("values", metavar="VALUE", nargs="*", default=[], help="legal values (default: its choices)"),
        option("--steps", metavar="N", type=count, default=120, help="timed steps of each value (default: %(default)s)"),
        MEASURED])

FLOCKS = Command(
    _flocks, _read_flocks, in_thread=True, about="""\
Measure how birds, or prey, keep together: how alike neighbours fly, how much of the sky is empty, how sharp the
edges of flocks are, and how often flocks split and merge. It measures once per simulated second.\
""", options=[
        *crowd_options("murmuration"),
        option("--steps", metavar="N", type=count, default=10_000, help="number of steps (default: %(default)s)"),
        MEASURED])

MOTION = Command(
    _motion, _read_motion, in_thread=True, about="""\
Measure how people move after N steps: distances, density, how often they turn, and the share of stuck people. This
takes 26 more simulated seconds, and does not change the crowd.""",
    options=[
        *crowd_options(),
        option("--steps", metavar="N", type=tick, default=3000, help="steps before measuring (default: %(default)s)"),
        option("--at-once", action="store_true", help="measure one second only"),
        option("--flow", action="store_true", help="people who hardly move, arrivals and the busiest gaps instead,"
               " after 4,000 and 12,000 steps"),
        MEASURED])


COMPARE, MERGE = "compare", "merge"
OUT = Path("lab-report")
BAR = 30  # characters
DOCS = Path("docs")
SEEDS = 5
MAX_PROCESSES = 4  # unless asked


def _read(args: argparse.Namespace) -> list[Claim] | list[Results]:
    """The claims to test, or the results to compare or merge. Raises ValueError with a line for each mistake."""
    if args.names[:1] in ([COMPARE], [MERGE]):
        from crowd_demo.extras.lab.claims.results import read

        paths = args.names[1:]
        refuse(found(
            (args.names[0] == COMPARE and len(paths) != 2,
             f"lab compare: takes two files, not {len(paths)}: crowd-demo lab compare A.json B.json"),
            (args.names[0] == MERGE and not paths,
             "lab merge: name the files: crowd-demo lab merge A.json B.json ...")))
        mistakes = list[str]()
        results = [collected(mistakes, partial(read, Path(path))) for path in paths]
        refuse(mistakes)
        return [each for each in results if each]
    from crowd_demo.extras.lab.claims.results import CLAIMS

    short = shortage((args.agents or 0) * AGENT)
    refuse([*_mistakes(args, "lab: unknown claim", CLAIMS, COMPARE, MERGE), *found((short, f"--agents: {short}"))])
    return [CLAIMS[name] for name in dict.fromkeys(args.names)] or list(CLAIMS.values())


def _mistakes(args: argparse.Namespace, unknown: str, known: Mapping[str, object], *others: str) -> list[str]:
    from crowd_demo.config.section import close_to

    lines = [f"{unknown} {name!r}{close_to(name, [*known, *others])}; there are {', '.join(known)}"
             for name in args.names if name not in known]
    return lines + [f"--out: {args.out} is not a folder"] * bool(args.out and args.out.exists() and not args.out.is_dir())


def _run(args: argparse.Namespace, read: list[Claim] | list[Results]) -> int:
    from crowd_demo.extras.lab.claims import results
    from crowd_demo.extras.lab.claims.claim import FULL, QUICK, Claim

    scale = QUICK if args.quick else FULL
    scale = scale._replace(most=args.agents, only=args.agents) if args.agents else scale
    claims = [each for each in read if isinstance(each, Claim)]
    if not claims:
        files = [each for each in read if isinstance(each, results.Results)]
        table = results.compared(*files) if args.names[0] == COMPARE else results.merged(files)
        print(table if table.rows else f"lab {args.names[0]}: they have nothing in common that was timed")
        return OK
    if args.list:
        for claim in claims:
            print(f"{claim.name:14} {claim.question}\n{'':14} {claim.claim} ({claim.source});"
                  f" about {duration(claim.seconds(scale))}")
        return OK
    return watched("lab", lambda tell: results.begun(claims, scale, args.out), lambda run: results.conclude(run, args.out),
                   progress_line)


class ProgressBar(ProgressLine):
    """A bar of rich. Its console writes to the terminal itself: standard error escapes control characters."""

    def __init__(self, name: str, console: Console) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
        from rich.table import Column

        super().__init__(name)
        text = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis"))
        self._progress = Progress(TextColumn(name), BarColumn(BAR), TaskProgressColumn(), text, console=console,
                                  transient=True, auto_refresh=False, redirect_stdout=False)
        self._task = self._progress.add_task("starting", total=1.0)
        self._progress.start()

    def show(self, what: object) -> None:
        """Show a text, and how much is done if `what` has a `part`, from 0 to 1."""
        part, text = getattr(what, "part", 0.0), getattr(what, "text", str(what))
        self._progress.update(self._task, completed=part, description=text, refresh=True)

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


def progress_line(name: str) -> ProgressLine:
    """A bar where rich is installed and standard error is a terminal with a cursor; plain lines otherwise."""
    if sys.stderr.isatty() and find_spec("rich"):
        from rich.console import Console

        console = Console(file=sys.__stderr__)
        if console.is_terminal and not console.is_dumb_terminal:
            return ProgressBar(name, console)
    return ProgressLine(name)


# --- people held against the literature ------------------------------------------------------------------------------

def _read_validate(args: argparse.Namespace) -> list[ValidationExperiment]:
    from crowd_demo.extras.lab.validate import EXPERIMENTS

    lines = _mistakes(args, "validate: unknown experiment", EXPERIMENTS) + found((
        args.out and not find_spec("matplotlib"),
        '--out: its pictures need matplotlib: pip install "crowd-demo[validation]"'))
    refuse([] if args.list else lines)
    return [EXPERIMENTS[name] for name in (not args.list and dict.fromkeys(args.names)) or EXPERIMENTS]


def experiment_of(tell: Tell, args: argparse.Namespace, chosen: Sequence[ValidationExperiment]) -> Validation:
    from crowd_demo.config.model import Config

    compile_for = kernels(Config.model_validate({}), tell, render=False)
    from crowd_demo.extras.lab.validate.scenes import jupedsim_walkers, pedpy_measures
    from crowd_demo.extras.lab.validate.validation import MODELS, Validation

    seeds = args.seeds or (1 if args.short else SEEDS)
    return Validation(chosen, [*MODELS, *jupedsim_walkers()], args.short, compile_for, pedpy_measures(), seeds, args.processes)


def _validate(args: argparse.Namespace, chosen: Sequence[ValidationExperiment]) -> int:
    if args.list:
        print(*(f"{experiment.name:12} {experiment.title}" for experiment in chosen), sep="\n")
        return OK
    return watched("validate", lambda tell: experiment_of(tell, args, chosen), lambda validation: _shown(validation, args))


def _shown(validation: Validation, args: argparse.Namespace) -> int:
    from crowd_demo.extras.lab.validate.validation import as_data, terminal, write_page
    from crowd_demo.measure.experiment import header

    record = {**header("validation"), "complete": validation.done, "short": args.short, "seeds": list(validation.seeds),
              "experiments": as_data(validation)}
    written = show(terminal(validation) or "nothing was measured", record, args.report)
    whole = not args.names and not args.short and DOCS.is_dir() and find_spec("matplotlib")
    folder = args.out or (DOCS if whole else None)
    if folder and validation.done:
        write_page(validation, folder)
        if args.report != STDOUT:
            print(f"\n{folder / 'validation.md'} written")
    errors = any(result.errors for result in validation.results)
    return written or (FAILED if errors or (args.strict and validation.failed) else OK)


# --- the commands ----------------------------------------------------------------------------------------------------

LAB = Command(
    _run, _read, epilog="""\
  crowd-demo lab --list                        the claims, their authors, and the time that each takes
  crowd-demo lab compare A.json B.json         two machines or commits, with intervals
  crowd-demo lab merge A.json B.json ...       nanoseconds per agent and core, one column per machine

experiments with options of their own (crowd-demo lab NAME --help):
""" + "".join(f"  {name.split()[1]:10}{about}\n" for name, (_, about) in EXPERIMENTS.items()), about="""\
Test published claims, and some of the program's own, on this machine. The report has a page for each: the time of
every block, factors with intervals, exact counters, hashes, and a verdict. Ctrl-C keeps the results so far, and the
same command continues from there. With the extra `lab` (pip install "crowd-demo[lab]") the report is one HTML file
with plots, otherwise text and JSON. The exit code is 1 if exact techniques gave different crowds.""",
    options=[
        option("names", metavar="CLAIM", nargs="*", default=[], help="only these (default: all)"),
        option("--list", action="store_true", help="list the claims"),
        option("--quick", action="store_true", help="at most 250,000 agents: about ten minutes for all"),
        option("--agents", metavar="N", type=count, help="only cases of this size"),
        option("--out", metavar="DIR", type=file_path, default=OUT, help="write the report there (default: %(default)s)")])

VALIDATE = Command(
    _validate, _read_validate, epilog="crowd-demo validate --list names the experiments", about="""\
Simulate the scenes of the literature (corridors, bottlenecks, doors, ...) and compare measurements with published
values: a table with a verdict for each number. Each scene runs with several seeds. The table shows the median, the
minimum and the maximum, and a number passes only if it passes with every seed. A full run of all experiments also
writes docs/validation.md.

With the extra `validation` (pip install "crowd-demo[validation]") PedPy measures the same trajectories, and plots
are drawn. If JuPedSim is installed (pip install jupedsim), its models run the same scenes with the first seed. The
exit code is 1 if something could not be computed, with --strict also if one of this program's models fails a
number. Ctrl-C prints the results so far.""",
    options=[
        option("names", metavar="EXPERIMENT", nargs="*", default=[], help="only these (default: all)"),
        option("--list", action="store_true", help="list the experiments"),
        option("--short", action="store_true", help="smaller scenes, seconds each"),
        option("--seeds", metavar="N", type=count, help=f"seeds 1 to N (default: {SEEDS}, short 1)"),
        option("--processes", metavar="N", type=count, default=min(os.cpu_count() or 1, MAX_PROCESSES),
               help="number of scenes at a time (default: %(default)s)"),
        option("--strict", action="store_true", help="exit code 1 also if a number fails"),
        option("--out", metavar="DIR", type=file_path, help="write validation.md and its pictures there (default: docs,"
               " if that exists and all experiments run in full)"),
        MEASURED])
