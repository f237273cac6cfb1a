"""The table of what this program should reach, measured: each line with its target, what was found, and the verdict.

    python benchmarks/table.py [NAME]... [--list] [--quick] [--json PATH]

`--quick` takes fewer blocks and leaves out what is large. A line that cannot be measured here says why. The exit code is 1 if
a target was missed. Steps against C, by size and by thread are claims of `crowd-demo lab`; `compare.py` measures against
another commit.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from installs import InstallError
from targets import TARGETS, Found, SkippedError, Target
from variants import ChildError

from crowd_demo.cli.arguments import Parser, mistaken, unwritable
from crowd_demo.cli.main import exit_code
from crowd_demo.host.shutdown import FAILED, OK
from crowd_demo.measure.experiment import header


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit code: 0 fine, 1 a target was missed, 2 a mistake of the user."""
    return exit_code(lambda: _main(_parser().parse_args(argv)))


def _parser() -> Parser:
    made = Parser(prog="benchmarks/table.py", allow_abbrev=False, description=str(__doc__).partition("\n")[0])
    made.add_argument("names", metavar="NAME", nargs="*", help="lines to measure (all)")
    made.add_argument("--list", action="store_true", help="say what there is, and measure nothing")
    made.add_argument("--quick", action="store_true", help="fewer blocks, and nothing large")
    made.add_argument("--json", metavar="PATH", type=Path, help="write all that was measured")
    return made


def _main(args: argparse.Namespace) -> int:
    known = {target.name: target for target in TARGETS}
    if unknown := [name for name in args.names if name not in known]:
        return mistaken(f"{unknown[0]}: no such line; there are {', '.join(known)}")
    if lines := [*unwritable("--json", args.json)] if args.json else []:
        return mistaken(*lines)
    chosen = [known[name] for name in args.names or known]
    if args.list:
        print(*listed(chosen), sep="\n")
        return OK
    print(head())
    results = {target.name: measured(target, args.quick) for target in chosen}
    if args.json:
        from crowd_demo.host.report import write_report

        write_report(to_json(args.quick, results), args.json)
    return FAILED if any(found.verdict == "missed" for founds in results.values() if not isinstance(founds, str)
                          for found in founds) else OK


def measured(target: Target, quick: bool) -> list[Found] | str:
    """What was found, once printed, or why it could not be measured."""
    founds: list[Found] = []
    try:
        for found in target.measure(quick):
            founds.append(found)
            print(row(target.name, found), flush=True)
    except (SkippedError, ChildError, InstallError) as error:
        print(f"{target.name:13}{'skipped' if isinstance(error, SkippedError) else 'failed'}: {error}", flush=True)
        return founds or str(error)
    return founds


def head() -> str:
    return f"{'':13}{'':52}{'found':>9}  {'95 %':13}{'target':>8}"


def row(name: str, found: Found) -> str:
    interval = f"{found.interval.low:.2f}-{found.interval.high:.2f}" if found.interval.known else ""
    bound = f"{'>=' if found.at_least else '<='} {found.bound:g}"
    return f"{name:13}{found.what:52}{found.value:9.3g}  {interval:13}{bound:>8}  {found.verdict}"


def listed(targets: Sequence[Target]) -> Iterator[str]:
    for target in targets:
        yield f"{target.name:13}{target.what}: {target.target}"
        yield f"{'':13}{target.how}"


def to_json(quick: bool, results: dict[str, list[Found] | str]) -> dict[str, object]:
    return {**header("table"), "quick": quick, "lines": {
        name: {"skipped": founds} if isinstance(founds, str) else {"found": [found.to_json() for found in founds]}
        for name, founds in results.items()}}


if __name__ == "__main__":
    sys.exit(main())
