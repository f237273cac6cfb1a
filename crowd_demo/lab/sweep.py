"""One technique at each of its values: what it costs, what it does, and that the crowd stays the same.

    python -m crowd_demo.lab.sweep [--config NAME] [--set KEY.PATH=VALUE]... PATH [VALUE...]

PATH is one of the registry (`cell_size`, `reorder.every`); without values its choices are taken, and the default is always
added. Each value gets a simulation of its own, and they take turns (lab/contest.py says what is measured, and how). The
state after the last step is that of `crowd-demo --headless --frames` with 10 more frames than `--steps`. The exit code is 1
if exact values gave different crowds; approximate values may.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crowd_demo.app.options import STDOUT
from crowd_demo.app.quitting import interruptible
from crowd_demo.cli import CRASHED, DEFAULT_CONFIG, FINE, MISTAKEN, Parser, count, exit_code, unwritable
from crowd_demo.config.loader import Location, Override, Source, parse_overrides
from crowd_demo.config.model import Config
from crowd_demo.config.yaml12 import scalar
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import BY_PATH, word

if TYPE_CHECKING:
    from crowd_demo.lab.contest import Contender, Result

SLOW_S = 10.0  # brute force that takes longer is announced
PAIR_NS = {True: 0.1, False: 1.0}  # brute force, with lanes and without: it took 36 and 390 ms for 20k birds
SHOWN = ("candidates_per_agent", "neighbours_per_agent")  # counters that stand in every table


def main(argv: Sequence[str] | None = None) -> int:
    """Run the sweep; return the exit code: 0 fine, 1 an exact technique changed the crowd, 2 a mistake of the user."""
    return exit_code(lambda: _main(_parser().parse_args(argv)))


def _main(args: argparse.Namespace) -> int:
    try:
        config, technique, values = asked_for(args)
    except ValueError as error:
        print(error, file=sys.stderr)
        return MISTAKEN
    return interruptible(lambda: _sweep(args, config, technique, values), {"--json": args.json})


def _sweep(args: argparse.Namespace, config: Config, technique: Technique, values: Sequence[Value]) -> int:
    from crowd_demo.lab.contest import compete, contenders, result

    rivals = contenders(config, technique, dict.fromkeys((technique.default, *values)))
    for line in expectations(technique, rivals, args.steps):
        print(f"sweep: {line}", file=sys.stderr)
    compete(rivals, args.steps)
    results = [result(technique, each, args.steps) for each in rivals]
    if args.json:
        _write(args.json, config, technique, results, args.steps)
    if args.json != STDOUT:
        print(f"{args.config}: {config.agents:,} agents, {args.steps} steps each, in turns\n")
        print(table(technique, results), verdict(results), sep="\n\n")
    return FINE if one_crowd(results) else CRASHED


def _parser() -> Parser:
    made = Parser(prog="python -m crowd_demo.lab.sweep", allow_abbrev=False, description=str(__doc__).partition("\n")[0],
                  formatter_class=argparse.RawDescriptionHelpFormatter, epilog="PATH is one of\n  " + "\n  ".join(BY_PATH))
    made.add_argument("path", metavar="PATH", help="technique of the registry")
    made.add_argument("values", metavar="VALUE", nargs="*", default=[], help="legal values (default: its choices)")
    made.add_argument("--config", metavar="NAME|PATH", default=DEFAULT_CONFIG, help="as crowd-demo's (default: %(default)s)")
    made.add_argument("--set", metavar="KEY.PATH=VALUE", action="append", default=[], dest="overrides", help="as crowd-demo's")
    made.add_argument("--agents", metavar="N", help="size of the crowd")
    made.add_argument("--steps", metavar="N", type=count, default=120, help="timed steps of each value (default: %(default)s)")
    made.add_argument("--json", metavar="PATH|-", type=Path, help="write all that was measured; - instead of the table")
    return made


def asked_for(args: argparse.Namespace) -> tuple[Config, Technique, Sequence[Value]]:
    """Raises ValueError with a line for each mistake; ConfigError is one."""
    overrides = parse_overrides(args.overrides, "--set")
    if args.agents is not None:
        overrides.append(Override(Location("--agents"), ("agents",), scalar(args.agents)))
    config = Source.read(args.config, overrides).config
    trial = config.optimizations.model_copy(deep=True)
    trial.get(args.path)  # raises for an unknown path
    values = []
    for text in args.values:
        trial.set(args.path, scalar(text))  # type: ignore[arg-type]  # null gets the same message as other illegal values
        values.append(trial.get(args.path))
    for line in unwritable("--json", args.json) if args.json not in (None, STDOUT) else ():
        raise ValueError(line)
    return config, BY_PATH[args.path], values or BY_PATH[args.path].choices


def expectations(technique: Technique, contenders: Sequence[Contender], steps: int) -> Iterator[str]:
    """Lines to print before the sweep starts."""
    from crowd_demo.lab.contest import ROUND
    from crowd_demo.sim.inactive import inactive

    if all(technique.path in inactive(each.sim) for each in contenders):
        yield f"{technique.path} is inactive here: another technique or the behaviour leaves it no work"
    for value, sim, *_ in contenders:
        pairs = sim.agents.count**2 if sim.optimizations.neighbours == "none" else 0
        seconds = pairs * (steps + ROUND) * PAIR_NS[sim.optimizations.simd] * 1e-9
        if seconds > SLOW_S:
            yield f"{technique.path}={shown(value)}: all pairs are tested, which may take {seconds:,.0f} s"


# --- the results -----------------------------------------------------------------------------------------------------

def one_crowd(results: Iterable[Result]) -> bool:
    """Did all exact values give the same state?"""
    return len({each.state_hash for each in results if not each.approximate}) <= 1


def verdict(results: Sequence[Result]) -> str:
    exact = [each for each in results if not each.approximate]
    if not one_crowd(results):
        return "THE CROWD DIFFERS: " + ", ".join(f"{shown(each.value)} {each.state_hash}" for each in exact)
    if len(exact) < 2:
        return "approximate: each value may have a crowd of its own"
    return f"one state hash for all {len(exact)} exact values: {exact[0].state_hash}"


def table(technique: Technique, results: Sequence[Result]) -> str:
    """A column for each value, the default marked with *; a row for each measure that is always shown or differs."""
    rows = list(_rows(technique, results))
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    return "\n".join("  ".join([name.ljust(first), *(cell.rjust(width) for cell, width in zip(cells, others, strict=True))])
                     for name, *cells in rows)


def _rows(technique: Technique, results: Sequence[Result]) -> Iterator[list[str]]:
    yield [technique.path, *(shown(each.value) + "*" * (each.value == technique.default) for each in results)]
    yield ["frame ms" if results[0].picture_hash else "step ms", *(f"{each.step_ms:.3f}" for each in results)]
    yield ["of the default's", *(f"{each.step_ms / results[0].step_ms:.2f}" for each in results)]
    for stage in dict.fromkeys(stage for each in results for stage in each.stages_ms):
        cells = [f"{each.stages_ms.get(stage, 0):.3f}" for each in results]
        if set(cells) != {"0.000"}:
            yield [f"  {stage} ms", *cells]
    for name in dict.fromkeys((*SHOWN, *(name for each in results for name in each.measures))):
        numbers = [each.measures.get(name) for each in results]
        if name in SHOWN or len(set(numbers)) > 1:
            yield [name.replace("_", " "), *map(figure, numbers)]
    if any(each.picture_hash for each in results):
        yield ["picture", *(each.picture_hash[:8] for each in results)]
    yield ["state hash", *(each.state_hash[:8] for each in results)]
    yield ["crowd", *("approximate" if each.approximate else "exact" for each in results)]


def shown(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else word(value)


def figure(number: float | None) -> str:
    """Four digits, or all of a count."""
    return "-" if number is None else f"{number:,.0f}" if number == int(number) or number >= 1e4 else f"{number:,.4g}"


def _write(path: Path, config: Config, technique: Technique, results: Sequence[Result], steps: int) -> None:
    from crowd_demo.app.report import machine, write_report
    from crowd_demo.lab.contest import ROUND

    found: list[dict[str, object]] = [{**each._asdict(), "step_ms": each.step_ms} for each in results]
    write_report({"technique": technique.path, "default": technique.default, "agents": config.agents, "seed": config.seed,
                  "steps": steps, "warmup_steps": ROUND, "one_crowd": one_crowd(results), "results": found,
                  "machine": machine()}, path)


if __name__ == "__main__":
    sys.exit(main())
