"""This repository against another commit of it: frames, steps, pictures and every stage, in interleaved blocks.

    python benchmarks/compare.py --against COMMIT [--config NAME]... [--set KEY.PATH=VALUE]... [--here KEY.PATH=VALUE]...

Each of the two runs in a process of its own, in the present environment; the other commit runs twice, and what lies within the
difference of its two copies is no difference. The exit code is 1 if the crowds differ. `--cold` measures the first start
instead, with an empty kernel cache, and `--warm` a later one: wall and CPU seconds of all processes until one frame has been
drawn.
"""

import argparse
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from variants import HERE, ChildError, ChildVariant, Install, StartVariant, at_commit

from crowd_demo.cli.arguments import Parser, count
from crowd_demo.cli.main import exit_code
from crowd_demo.config.loader import ConfigError, parse_overrides
from crowd_demo.host.system import FAILED, OK, USAGE_ERROR, ProgressLine
from crowd_demo.measure.comparison import (
    BlockTimes,
    Comparison,
    TimedBlock,
    VariantResult,
    compare,
    interleave,
)
from crowd_demo.measure.experiment import Result, Slice, mapped, result_of
from crowd_demo.measure.statistics import Interval
from crowd_demo.profile import HISTORY

WARM_UP = 64  # frames: each kernel runs once, also that of a sort every 60 steps
Pair = tuple[Install, Install]  # the base, and the other
Overrides = tuple[Mapping[str, object], Mapping[str, object]]  # of each of the two
Blocks = dict[str, list[TimedBlock]]


class Compared(NamedTuple):
    """The results of all variants; `base` and `repeat` name two of them."""

    base: str
    repeat: str
    blocks: int
    results: dict[str, VariantResult]

    @property
    def noise(self) -> Interval:
        """The ratio of the repeat to the base."""
        return self.results[self.repeat].step.ratio

    def differing(self) -> list[str]:
        """The variants whose state is not that of the base."""
        wanted = self.results[self.base].state_hash
        return [name for name, result in self.results.items() if result.state_hash != wanted]


Found = dict[str, Compared]  # by what was compared


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit code: 0 fine, 1 the crowds differ, 2 a mistake of the user."""
    return exit_code(lambda: _main(_parser().parse_args(argv)))


def _parser() -> Parser:
    made = Parser(prog="benchmarks/compare.py", allow_abbrev=False, description=str(__doc__).partition("\n")[0])
    made.add_argument("--against", metavar="COMMIT", required=True, help="the commit to compare with")
    made.add_argument("--config", metavar="NAME|PATH", action="append", dest="configs", help="one or several (20k)")
    made.add_argument("--set", metavar="KEY.PATH=VALUE", action="append", default=[], dest="overrides", help="as crowd-demo's")
    made.add_argument("--here", metavar="KEY.PATH=VALUE", action="append", default=[], dest="own_overrides",
                      help="the same of this repository alone, for what the other commit does not know")
    made.add_argument("--blocks", metavar="N", type=count, default=12, help="blocks of each (default: %(default)s)")
    made.add_argument("--frames", metavar="N", type=count, default=40, help="frames of a block (default: %(default)s)")
    made.add_argument("--no-picture", action="store_true", help="steps only")
    made.add_argument("--cold", action="store_true", help="the first start instead")
    made.add_argument("--warm", action="store_true", help="a start with all kernels in the cache instead")
    return made


def _main(args: argparse.Namespace) -> int:
    configs = [str(Path(name).resolve()) if Path(name).is_file() else name for name in args.configs or ["20k"]]
    try:
        shared, own = _by_path(args.overrides, "--set"), _by_path(args.own_overrides, "--here")
        if args.frames >= HISTORY:
            raise ChildError(f"--frames: a block has at most {HISTORY - 1}, not {args.frames}")
        installs = at_commit(args.against), HERE
        measure = measured_starts if args.cold or args.warm else measured
        found = {config: measure(args, installs, config, (shared, {**shared, **own})) for config in configs}
    except (ConfigError, ChildError) as error:
        print(error, file=sys.stderr)
        return USAGE_ERROR
    return FAILED if any(each.differing() for kinds in found.values() for each in kinds.values()) else OK


def _by_path(overrides: Sequence[str], option: str) -> dict[str, object]:
    return {".".join(map(str, each.path)): each.value for each in parse_overrides(overrides, option)}


def measured(args: argparse.Namespace, installs: Pair, config: str, overrides: Overrides) -> Found:
    """Frames and stages, once printed. Raises ChildError."""
    base, other = installs
    repeat = f"{base.name} again"
    with ExitStack() as running:
        variants = {name: running.enter_context(closing(ChildVariant(install, config, overrides[which], not args.no_picture)))
                for name, install, which in ((base.name, base, 0), (repeat, base, 0), (other.name, other, 1))}
        timed = watched(interleave(variants, [args.frames] * args.blocks, WARM_UP), config)
        ends = {name: variant.end() for name, variant in variants.items()}
    found = compared(timed, {name: state_hash for name, (state_hash, _) in ends.items()}, base.name, repeat)
    layers = ", ".join(f"{name} {layer}" for name, (_, layer) in ends.items())
    print(f"{config}: {args.blocks} blocks of {args.frames} frames each; threads: {layers}")
    print(*table(found, other.name), "", sep="\n")
    return found


def compared(timed: Mapping[str, Sequence[BlockTimes]], hashes: Mapping[str, str], base: str, repeat: str) -> Found:
    """By `frame` and by `stages`."""
    frames: Blocks = {name: [each.frame for each in of_variant] for name, of_variant in timed.items()}
    stages: Blocks = {name: [each.stages for each in of_variant] for name, of_variant in timed.items()}
    return {kind: Compared(base, repeat, len(blocks[base]), compare(blocks, hashes, base, repeat))
            for kind, blocks in (("frame", frames), ("stages", stages))}


def measured_starts(args: argparse.Namespace, installs: Pair, config: str, overrides: Overrides) -> Found:
    """First or later starts, once printed. Raises ChildError."""
    base, other = installs
    with ExitStack() as kept:
        variants = {install.name: StartVariant(install, config, own,
                                               kept.enter_context(TemporaryDirectory()) if args.warm else "")
                    for install, own in zip(installs, overrides, strict=True)}
        starts = watched(interleave(variants, [1] * args.blocks, int(args.warm)), config)  # the first compiles what is kept
    by_kind = {kind: {name: [each[kind] for each in of_variant] for name, of_variant in starts.items()}
               for kind in ("wall", "cpu")}
    found = {kind: Compared(base.name, base.name, len(starts[base.name]),
                              compare(blocks, dict.fromkeys(variants, ""), base.name, base.name))
             for kind, blocks in by_kind.items()}
    rows = (row(f"{kind} s", results[base.name].step, results[other.name].step, 1e-3)
            for kind, (_, _, _, results) in found.items())
    print(f"{config}: {args.blocks} starts each, to one frame", head(base.name, other.name), *rows, "", sep="\n")
    return found


def watched(turns: Generator[Slice, None, Result], what: str) -> Result:
    """Run all turns; standard error says how much is done."""
    with ProgressLine(what) as line:
        return result_of(mapped(turns, line.show))


# --- text ------------------------------------------------------------------------------------------------------------

def table(found: Found, other: str) -> Iterator[str]:
    """Lines: the frame and its parts, the stages that either has, the noise, and whether the crowds are the same."""
    frame, stages = found["frame"], found["stages"]
    before, now = frame.results[frame.base], frame.results[other]
    yield head(frame.base, other)
    if len(now.stages) > 1:
        yield row("frame ms", before.step, now.step)
    yield from (row(f"{name} ms", before.stages[name], now.stages[name]) for name in now.stages)
    old, new = stages.results[stages.base].stages, stages.results[other].stages
    yield from (row(f"  {name} ms", old.get(name), new.get(name)) for name in dict.fromkeys((*old, *new)))
    yield f"noise: {frame.base} against itself {interval(frame.noise)}"
    yield verdict(frame)


def head(base: str, other: str) -> str:
    return f"{'':14}{base:>9} {other:>9}    ratio, 95 %"


def row(name: str, before: Comparison | None, now: Comparison | None, scale: float = 1.0) -> str:
    cells = [f"{found.b.value * scale:9.3f}" if found else f"{'-':>9}" for found in (before, now)]
    return " ".join([f"{name:13}", *cells, f"  {conclusion(now)}" if before and now else ""]).rstrip()


def conclusion(found: Comparison) -> str:
    """The ratio to the base and what follows from it."""
    if not found.ratio.known:
        return f"{found.ratio.value:.3f}  too few blocks"
    return f"{interval(found.ratio)}  {found.verdict}" if found.noise.known else interval(found.ratio)


def interval(of: Interval) -> str:
    return f"{of.value:.3f}  {of.low:.3f}-{of.high:.3f}"


def verdict(comparison: Compared) -> str:
    wanted = comparison.results[comparison.base].state_hash
    differing = ", ".join(f"{name} {comparison.results[name].state_hash}" for name in comparison.differing())
    return f"THE CROWDS DIFFER: {comparison.base} {wanted}, {differing}" if differing else f"one state hash: {wanted}"


if __name__ == "__main__":
    sys.exit(main())
