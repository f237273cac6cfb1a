"""What is put to the test: a claim, the cases in which it is tried, what was found in each of them, and the verdict.

A warning about the ratio of an arm to the first one, block by block, widens its interval to all of its blocks: what would be
decided by a trend or by one of two modes then is unclear.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Protocol

import numpy as np
from pydantic import Field

from crowd_demo.compute.arrays import Doubles
from crowd_demo.measure.experiment import Slice
from crowd_demo.measure.statistics import LEAST_BLOCKS, UNKNOWN, Interval, ratio_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:
    Axes = object  # matplotlib is optional

Answer = Literal["yes", "no", "unclear"]
AGAIN = " again"  # behind the name of the first arm: its repeat, which shows the noise
Whole = Annotated[int, Field(ge=0, le=2**53)]
Number = Annotated[int | float, Field(ge=-1e300, le=1e300)]
Times = Sequence[Annotated[float, Field(ge=0, le=1e12)]]
Blocks = Annotated[Sequence[Annotated[float, Field(gt=0, le=1e12)]], Field(min_length=1, max_length=1000)]
Figures = Mapping[str, Number]

HOLDS, FROM, NOT, UNCLEAR = "holds", "holds from {} on", "does not hold", "unclear here"
MATTERS = 0.10  # a trend, or a gap between modes, of so much of the median is worth a warning
CORRELATED = 0.75  # rank correlation of times with turns from which they have a trend
MODE = 0.25  # the least share of the blocks in the smaller of two modes
APART = 3.0  # two modes lie so many times farther apart than each is wide
BUSY = 0.5  # others keep so much of the cores busy
THROTTLED = ": the clock rate fell, others began to work, or the crowd changed"  # where a trend of times may come from
LITTLE = 1.05  # what is faster by less is not called faster

# Who makes the claims: the documents that the program answers to, and itself.
NOTES = "Crowd Simulation Optimization Techniques, notes on a demo in C"
SORTING = "Sort for locality, exercises with NumPy"
COMPACTING = "Compacting components, an article on entities in C#"
TAY = "Cache-friendly space partitioning structures, of Tay, in C"
GRIDS = "Optimizing Grid Simulations with SIMD, boids in C++, 2021"
OWN = "this program"


class LabScale(NamedTuple):
    """How much is measured: so many agents at most, or `only` so many, in so many blocks that count."""

    most: int
    blocks: int
    only: int = 0

    def sizes(self, *wanted: int) -> list[int]:
        """Those that are not too large; the most if all of them are; or the only one."""
        return [size for size in wanted if size <= self.most and not self.only] or [self.most]


FULL, QUICK = LabScale(4_000_000, 20), LabScale(250_000, 8)


class Found(NamedTuple):
    """What was found in a case. `size` is how many agents there are, or whatever else is counted.

    The arms are compared in the order of their names here; the first one is also measured again, as the last. Where an arm
    has no times, only figures were found. All of it is what JSON can say.
    """

    case: str
    size: Whole
    workers: Whole
    steps: Whole  # of a block
    blocks_ms: Mapping[str, Blocks] = {}  # by arm: a step, in each block; stages that run seldom by their share
    samples_ms: Mapping[str, Sequence[Times]] = {}  # by arm, block and step
    stages_ms: Mapping[str, Mapping[str, Times]] = {}  # by arm and stage: a step, in each block
    figures: Mapping[str, Figures] = {}  # by arm: exact counters, and whatever else was computed
    hashes: Mapping[str, str] = {}  # by arm: of the state at the end, or of the result
    same: Sequence[str] = ()  # the arms that must have one hash
    load: Number = 0.0  # mean load of the machine when the case began
    left_out: Mapping[str, str] = {}  # arms that were not measured, and why

    @property
    def arms(self) -> list[str]:
        """Without the repeat."""
        return [name for name in (self.blocks_ms or self.figures) if not name.endswith(AGAIN)]

    @property
    def one_hash(self) -> bool:
        return len({self.hashes[name] for name in self.same if name in self.hashes}) <= 1


class Case(Protocol):
    """One size or setting in which a claim is tried; `seconds` is how long that takes about, with kernels compiled."""

    @property
    def name(self) -> str: ...

    @property
    def seconds(self) -> float: ...

    def run(self, blocks: int) -> Generator[Slice, None, Found]:
        """Measure in slices. Raises ValueError with the reason if it cannot be done here."""


def by_size(*sizes: int, of_size: Callable[[int], Sequence[Case]]) -> Callable[[LabScale], Sequence[Case]]:
    """Return what makes the cases of each of these sizes that a scale has."""
    return lambda scale: [case for size in scale.sizes(*sizes) for case in of_size(size)]


class Claim(NamedTuple):
    """A claim of a source. Where `by_size` holds the cases go from small to large, and it may hold from one of them on.

    `decide` says whether it holds in a case; `decided_by` says the same in words. A claim in which nobody expects a certain
    answer only has a `question`, and `decide` says whether what this program does holds.
    """

    name: str
    question: str
    claim: str  # with its author's numbers
    source: str
    decided_by: str
    cases: Callable[[LabScale], Sequence[Case]]
    decide: Callable[[Found], Answer]
    by_size: bool = True
    draw: Callable[[Axes, Sequence[Found]], None] | None = None  # one more picture, of all cases

    def seconds(self, scale: LabScale) -> float:
        return sum(case.seconds for case in self.cases(scale))


class CaseFinding(NamedTuple):
    """A case with its answer: `ratios` are how many times as fast as the first arm each one is, with the interval."""

    found: Found
    answer: Answer
    ratios: Mapping[str, Interval]
    warnings: Sequence[str]


def all_of(answers: Iterable[Answer]) -> Answer:
    """Yes if all are yes, no if one is no."""
    given = set(answers)
    return "no" if "no" in given else "unclear" if "unclear" in given or not given else "yes"


def is_true(condition: bool) -> Answer:
    """For what is counted exactly."""
    return "yes" if condition else "no"


# --- ratios ----------------------------------------------------------------------------------------------------------

def speed_up(found: Found, arm: str, over: str | None = None, stage: str = "") -> Interval:
    """How many times as fast an arm is as another one (the first if none is named), and where that lies with 95 %; the whole
    step, or a stage.

    `UNKNOWN` where one of them was not measured or blocks are few; all blocks where a warning stands.
    """
    over = over or next(iter(found.blocks_ms), "")
    if not {arm, over} <= found.blocks_ms.keys():
        return UNKNOWN
    mine, others = blocks_of(found, arm, stage), blocks_of(found, over, stage)
    ratio = ratio_interval(others, mine)
    if ratio.known and any(suspicious(others / mine)):
        ratios = others / mine
        return Interval(ratio.value, float(ratios.min()), float(ratios.max()))
    return ratio


def noise(found: Found, stage: str = "") -> Interval:
    """The ratio of the first arm to its repeat; `UNKNOWN` without one."""
    first = next(iter(found.blocks_ms), "")
    return speed_up(found, first + AGAIN, stage=stage)


def faster(found: Found, arm: str, over: str | None = None, times: float = 1.0, stage: str = "") -> Answer:
    """Return whether an arm is at least this many times as fast as another: unclear where exact hashes differ."""
    ratio, same = speed_up(found, arm, over, stage), noise(found, stage)
    if not (ratio.known and found.one_hash):
        return "unclear"
    least = max(times, same.high) if times == 1 and same.known else times
    if ratio.low > least:
        return "yes"
    return "no" if ratio.high < max(times, LITTLE if times == 1 else 0) else "unclear"


def is_faster(arm: str, *others: str, times: float = 1.0, stage: str = "") -> Callable[[Found], Answer]:
    """Return what decides a claim: whether an arm is at least so many times as fast as each of the others."""
    return lambda found: all_of(faster(found, arm, other, times, stage) for other in others)


def below(limit: float, found: Interval) -> Answer:
    """Return whether an interval lies below a limit."""
    return "yes" if found.high < limit else "no" if found.low > limit else "unclear"


def blocks_of(found: Found, arm: str, stage: str = "") -> Doubles:
    """float64[blocks]: milliseconds of a step, or of a stage; 0 where that did not run."""
    of_arm = found.stages_ms[arm].get(stage, [0.0] * len(found.blocks_ms[arm])) if stage else found.blocks_ms[arm]
    return np.asarray(of_arm, np.float64)


def pairs(found: Found, arm: str) -> float:
    """How many candidates all agents that are due in a step are tested with; 0 where that was not counted."""
    figures = found.figures.get(arm, {})
    return figures.get("candidates_per_agent", 0.0) * figures.get("due", found.size)


# --- verdicts --------------------------------------------------------------------------------------------------------

def judged(claim: Claim, found: Found) -> CaseFinding:
    answer = claim.decide(found) if found.one_hash else "unclear"
    return CaseFinding(found, answer, {arm: speed_up(found, arm) for arm in list(found.blocks_ms)[1:]}, list(warnings(found)))


def claim_verdict(claim: Claim, findings: Sequence[CaseFinding]) -> str:
    answers = [finding.answer for finding in findings]
    if not answers:
        return UNCLEAR
    if set(answers) == {"yes"}:
        return HOLDS
    since = len(answers) - next((number for number, answer in enumerate(reversed(answers)) if answer != "yes"), 0)
    if claim.by_size and since < len(answers):
        return FROM.format(findings[since].found.case)
    if "no" in answers and (answers[-1] == "no" or not claim.by_size):
        held = answers.count("yes")
        return NOT + f" (in {held} of {len(answers)} cases it does)" * bool(held)
    return UNCLEAR


# --- warnings --------------------------------------------------------------------------------------------------------

def warnings(found: Found) -> Iterator[str]:
    """What is not as it should be, in a line each."""
    if not found.one_hash:
        yield "THE CROWDS DIFFER: " + ", ".join(f"{name} {found.hashes[name][:8]}" for name in found.same
                                                if name in found.hashes)
    few = min(map(len, found.blocks_ms.values()), default=LEAST_BLOCKS)
    if few < LEAST_BLOCKS:
        yield f"only {few} blocks: too few for an interval"
    first = next(iter(found.blocks_ms), "")
    for arm in found.blocks_ms:
        own = blocks_of(found, arm)
        for what in suspicious(own / blocks_of(found, first) if arm != first else own):
            yield f"{arm}: {what}" + (f", beside {first}" if arm != first else THROTTLED * what.startswith("slower"))
    if found.load > BUSY * (cores := os.cpu_count() or 1):
        yield f"others kept {found.load:.1f} of {cores} cores busy"
    for arm, why in found.left_out.items():
        yield f"{arm}: left out: {why}"


def suspicious(values: Doubles) -> Iterator[str]:
    """A trend over the turns, or two modes, in float64[blocks]."""
    if len(values) < LEAST_BLOCKS:
        return
    change = trend(values)
    if change:
        yield f"{'slower' if change > 0 else 'faster'} by {abs(change):.0%} from the first to the last turn"
    elif gap := two_modes(values):
        yield f"two modes, {gap:.0%} apart"


def trend(values: Doubles) -> float:
    """By how much of their median values grow from the first to the last; 0 where that is little, or no trend.

    The slope is the median of those of all pairs (Theil 1950, Sen 1968).
    """
    count = len(values)
    turns = np.arange(count)
    ranks = np.argsort(np.argsort(values, kind="stable"))
    first, second = np.triu_indices(count, 1)
    slope = float(np.median((values[second] - values[first]) / (second - first)))
    change = slope * (count - 1) / float(np.median(values))
    correlated = abs(float(np.corrcoef(turns, ranks)[0, 1])) >= CORRELATED
    return change if correlated and abs(change) >= MATTERS else 0.0


def two_modes(values: Doubles) -> float:
    """How far apart two groups of values lie, of the median; 0 where there is one group, or they lie near each other."""
    ordered = np.sort(values)
    least = math.ceil(MODE * len(ordered))
    steps = np.diff(ordered)[least - 1:len(ordered) - least]
    if not len(steps):
        return 0.0
    cut = least + int(np.argmax(steps))
    low, high = ordered[:cut], ordered[cut:]
    gap = float(high[0] - low[-1])
    wide = max(float(np.ptp(low)), float(np.ptp(high)))
    return gap / float(np.median(ordered)) if gap > APART * wide / 2 and gap >= MATTERS * np.median(ordered) else 0.0
