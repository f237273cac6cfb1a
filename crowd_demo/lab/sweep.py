"""One technique at each of its values: what it costs, what it does, and that the crowd stays the same.

    python -m crowd_demo.lab.sweep [--config NAME] [--set KEY.PATH=VALUE]... PATH [VALUE...]

PATH is one of the registry (`cell_size`, `reorder.every`); without values its choices are taken, and the default is always
added. Each value gets a simulation of its own, and the default two; they take turns (lab/sweep_runs.py says what is measured,
docs/design/measuring.md how). The state after the last step is that of `crowd-demo --headless --frames` with 10 more frames
than `--steps`. The exit code is 1 if exact values gave different crowds; approximate values may.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crowd_demo.app.options import STDOUT
from crowd_demo.app.quitting import interruptible
from crowd_demo.cli import CRASHED, DEFAULT_CONFIG, FINE, MISTAKEN, Parser, count, exit_code, unwritable
from crowd_demo.config.loader import Location, Override, Source, parse_overrides
from crowd_demo.config.model import Config
from crowd_demo.config.yaml12 import scalar
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import BY_PATH

if TYPE_CHECKING:
    from crowd_demo.lab.sweep_runs import Contender, Swept

SLOW_S = 10.0  # brute force that takes longer is announced
PAIR_NS = {True: 0.1, False: 1.0}  # brute force, with lanes and without: it took 36 and 390 ms for 20k birds


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
    from crowd_demo.lab.sweep_runs import contenders, measure, results
    from crowd_demo.lab.sweep_table import NOTE, conclusion, one_crowd, table

    rivals = contenders(config, technique, values)
    for line in expectations(technique, rivals, args.steps):
        print(f"sweep: {line}", file=sys.stderr)
    found = results(technique, rivals, measure(rivals, args.steps))
    if args.json:
        _write(args.json, config, technique, found, args.steps)
    if args.json != STDOUT:
        print(f"{args.config}: {config.agents:,} agents, {args.steps} steps each, in turns\n")
        print(table(technique, found), NOTE, conclusion(found), sep="\n\n")
    return FINE if one_crowd(found) else CRASHED


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


def expectations(technique: Technique, contenders: Mapping[str, Contender], steps: int) -> Iterator[str]:
    """Lines to print before the sweep starts."""
    from crowd_demo.lab.sweep_runs import REPEAT, WARM_UP
    from crowd_demo.lab.sweep_table import shown
    from crowd_demo.sim.inactive import inactive

    if all(technique.path in inactive(each.arm.sim) for each in contenders.values()):
        yield f"{technique.path} is inactive here: another technique or the behaviour leaves it no work"
    for name, (value, arm) in contenders.items():
        pairs = arm.sim.agents.count**2 if arm.sim.optimizations.neighbours == "none" else 0
        seconds = pairs * (steps + WARM_UP) * PAIR_NS[arm.sim.optimizations.simd] * 1e-9
        if seconds > SLOW_S and name != REPEAT:
            yield f"{technique.path}={shown(value)}: all pairs are tested, which may take {seconds:,.0f} s"


def _write(path: Path, config: Config, technique: Technique, results: Sequence[Swept], steps: int) -> None:
    from crowd_demo.app.report import write_report
    from crowd_demo.lab.sweep_runs import WARM_UP
    from crowd_demo.lab.sweep_table import one_crowd
    from crowd_demo.measure.record import header, result_json

    found = [{"value": each.value, "approximate": each.approximate, "measures": each.measures,
              "picture_hash": each.picture_hash, **result_json(each.result)} for each in results]
    write_report({**header("sweep"), "technique": technique.path, "default": technique.default, "agents": config.agents,
                  "seed": config.seed, "steps": steps, "warmup_steps": WARM_UP, "one_crowd": one_crowd(results),
                  "results": found}, path)


if __name__ == "__main__":
    sys.exit(main())
