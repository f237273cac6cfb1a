"""A claim, the cases that test it, the results of each case, and the verdict.

A warning about the ratio of an arm to the first one, block by block, widens its interval to all of its blocks: what would be
decided by a trend or by one of two modes then is unclear.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from pydantic import Field

from crowd_demo.compute.arrays import Doubles
from crowd_demo.config.loader import load_config
from crowd_demo.config.memory import AGENT, shortage
from crowd_demo.config.model import Config, with_values
from crowd_demo.extras.why import FEW_STEPS, figures
from crowd_demo.host.compiling.loading import LoadingProgress, load_program
from crowd_demo.measure.comparison import TimedBlock, costs_of, counters_of, interleave
from crowd_demo.measure.experiment import Slice
from crowd_demo.measure.largest import crowd_of
from crowd_demo.measure.proof import CrowdVariant, Picture, picture_hash
from crowd_demo.measure.statistics import LEAST_BLOCKS, UNKNOWN, Interval, ratio_interval
from crowd_demo.registry.entries import Value
from crowd_demo.registry.stages import text_of
from crowd_demo.sim.metrics.locality import locality

Axes = Any  # of matplotlib, which is optional
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
    why: Mapping[str, Sequence[Mapping[str, str]]] = {}  # by arm: what explains the stage in which the arms differ most

    @property
    def arms(self) -> list[str]:
        return [name for name in (self.blocks_ms or self.figures) if not name.endswith(AGAIN)]

    @property
    def one_hash(self) -> bool:
        return len({self.hashes[name] for name in self.same if name in self.hashes}) <= 1


def by_size(*sizes: int, of_size: Callable[[int], Sequence[Case]]) -> Callable[[LabScale], Sequence[Case]]:
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
    if not (ratio.known and any(suspicious(others / mine))):
        return ratio
    return Interval(ratio.value, float((others / mine).min()), float((others / mine).max()))


def faster(found: Found, arm: str, over: str | None = None, times: float = 1.0, stage: str = "") -> Answer:
    """Return whether an arm is at least this many times as fast as another: unclear where exact hashes differ."""
    ratio = speed_up(found, arm, over, stage)
    same = speed_up(found, next(iter(found.blocks_ms), "") + AGAIN, stage=stage)
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
    return "yes" if found.high < limit else "no" if found.low > limit else "unclear"


def blocks_of(found: Found, arm: str, stage: str = "") -> Doubles:
    """float64[blocks]: milliseconds of a step, or of a stage; 0 where that did not run."""
    blocks = found.blocks_ms[arm]
    return np.asarray(found.stages_ms[arm].get(stage, [0.0] * len(blocks)) if stage else blocks, np.float64)


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
        return NOT + f" (in {answers.count('yes')} of {len(answers)} cases it does)" * ("yes" in answers)
    return UNCLEAR


# --- warnings --------------------------------------------------------------------------------------------------------

def warnings(found: Found) -> Iterator[str]:
    """Yield a line for each reason to distrust the result."""
    if not found.one_hash:
        yield "THE CROWDS DIFFER: " + ", ".join(f"{name} {found.hashes[name][:8]}" for name in found.same
                                                if name in found.hashes)
    if (few := min(map(len, found.blocks_ms.values()), default=LEAST_BLOCKS)) < LEAST_BLOCKS:
        yield f"only {few} blocks: too few for an interval"
    first = next(iter(found.blocks_ms), "")
    for arm in found.blocks_ms:
        own = blocks_of(found, arm)
        for what in suspicious(own / blocks_of(found, first) if arm != first else own):
            yield f"{arm}: {what}" + (f", beside {first}" if arm != first else THROTTLED * what.startswith("slower"))
    if found.load > BUSY * (cores := os.cpu_count() or 1):
        yield f"others kept {found.load:.1f} of {cores} cores busy"
    yield from (f"{arm}: left out: {why}" for arm, why in found.left_out.items())


def suspicious(values: Doubles) -> Iterator[str]:
    """A trend over the turns, or two modes, in float64[blocks]."""
    if len(values) < LEAST_BLOCKS:
        return
    if change := trend(values):
        yield f"{'slower' if change > 0 else 'faster'} by {abs(change):.0%} from the first to the last turn"
    elif gap := two_modes(values):
        yield f"two modes, {gap:.0%} apart"


def trend(values: Doubles) -> float:
    """By how much of their median values grow from the first to the last; 0 where that is little, or no trend.

    The slope is the median of those of all pairs (Theil 1950, Sen 1968).
    """
    ranks = np.argsort(np.argsort(values, kind="stable"))
    first, second = np.triu_indices(len(values), 1)
    slope = float(np.median((values[second] - values[first]) / (second - first)))
    change = slope * (len(values) - 1) / float(np.median(values))
    correlated = abs(float(np.corrcoef(np.arange(len(values)), ranks)[0, 1])) >= CORRELATED
    return change if correlated and abs(change) >= MATTERS else 0.0


def two_modes(values: Doubles) -> float:
    """How far apart two groups of values lie, of the median; 0 where there is one group, or they lie near each other."""
    ordered, least = np.sort(values), math.ceil(MODE * len(values))
    steps = np.diff(ordered)[least - 1:len(ordered) - least]
    if not len(steps):
        return 0.0
    low, high = np.split(ordered, [least + int(np.argmax(steps))])
    gap, wide = float(high[0] - low[-1]), max(float(np.ptp(low)), float(np.ptp(high)))
    return gap / float(np.median(ordered)) if gap > APART * wide / 2 and gap >= MATTERS * np.median(ordered) else 0.0


# --- cases whose arms take turns: crowds that differ in techniques, and functions ------------------------------------

WARM_UP = 8  # steps
WHY_SLOWEST_MS = 50.0  # of a step that is explained
NEIGHBOURS = 12.6
READ = ("candidates_per_agent", "neighbours_per_agent")  # counters that stand before others
Values = Mapping[str, Value]  # techniques by path


class Arm(Protocol):
    def run(self, steps: int) -> TimedBlock: ...

    def result(self) -> str:
        """A hash of what it has computed so far: what arms that do the same work must agree on."""

    def figures(self) -> Figures:
        """Exact counters, of which tables have a column each."""


class CallArm:
    """A function as an arm: each step is one call. Untimed, `before` makes what it gets, and `after` an array of what it
    returned, by which its work is held against that of others.
    """

    def __init__(self, call: Callable[..., object], before: Callable[[], object] = lambda: None,
                 after: Callable[..., npt.ArrayLike] = np.asarray, figures: Figures | None = None) -> None:
        self._call, self._before, self._after, self._figures = call, before, after, figures or {}
        self._digest = hashlib.blake2b(digest_size=8)

    def run(self, steps: int) -> TimedBlock:
        times_ms = np.zeros(steps, np.float32)
        for step in range(steps):
            given, began = self._before(), time.perf_counter()
            made = self._call(given)
            times_ms[step] = (time.perf_counter() - began) * 1e3
            self._digest.update(np.ascontiguousarray(self._after(made)).tobytes())
        return TimedBlock(steps, {"call": times_ms})

    def result(self) -> str:
        return self._digest.hexdigest()

    def figures(self) -> Figures:
        return self._figures


class CrowdArm:
    """A crowd as an arm, with its kernels compiled; with `picture` it is also drawn after each step, and then its picture
    counts for the hash. `measure` returns figures of the last state, which stand before the counters.
    """

    def __init__(self, config: Config, picture: bool = False, measure: Callable[[CrowdArm], Figures] | None = None) -> None:
        loaded = load_program(config, picture, LoadingProgress())
        self.sim = loaded.sim
        self.variant = CrowdVariant(self.sim, Picture(self.sim, loaded.scene) if loaded.scene else None)
        self._counters: list[Mapping[str, float]] = []
        self._measure = measure

    def run(self, steps: int) -> TimedBlock:
        block = self.variant.run(steps).stages
        self._counters += block.counters
        return block

    def result(self) -> str:
        return self.sim.state_hash() + (picture_hash(self.variant.picture) if self.variant.picture else "")

    def figures(self) -> Figures:
        counters = {name: counted for name, counted in counters_of(self._counters).items() if counted}
        read = {name: counters[name] for name in READ if name in counters}
        return {**(self._measure(self) if self._measure else {}), **read, **counters, "workers": self.sim.workers}


def memory_order(crowd: CrowdArm) -> Figures:
    """How well neighbours lie in memory: shares of the reads of a sample of agents."""
    found = locality(crowd.sim)
    return {"near_reads": found.same_or_next_line, "l1_misses": found.miss_rate}


class TimedCase(NamedTuple):
    """A case that is timed, in about so many seconds: interleaved arms, block by block, the first one twice.

    `arms` make them, one after the other.
    `same` are those that must have one hash: all if None. An arm that raises ValueError while it is made is left out. A case
    that needs more memory than there is is refused.
    """

    name: str
    size: int
    arms: Mapping[str, Callable[[], Arm]]
    steps: int = 10  # of a block
    seconds: float = 10.0
    same: Sequence[str] | None = None
    workers: int = os.cpu_count() or 1
    bytes_each: int = AGENT  # an agent and arm
    warm_up: int = WARM_UP

    def run(self, blocks: int) -> Generator[Slice, None, Found]:
        if short := shortage(self.size * self.bytes_each * (len(self.arms) + 1)):
            raise ValueError(short)
        load_before = max(os.getloadavg()[0] - 1, 0.0) if hasattr(os, "getloadavg") else 0.0  # without this process
        first = next(iter(self.arms))
        made, left_out = dict[str, Arm](), dict[str, str]()
        for name, make in {**self.arms, first + AGAIN: self.arms[first]}.items():
            yield Slice(f"{name}: getting ready", 0)
            try:
                made[name] = make()
            except ValueError as why:
                left_out[name] = str(why)
        if first not in made or len(made) < 3:
            raise ValueError("; ".join(f"{name}: {why}" for name, why in left_out.items()))
        measured = yield from interleave(made, [self.steps] * blocks, self.warm_up)
        costs = {name: costs_of(of_arm) for name, of_arm in measured.items()}
        found = Found(
            self.name, self.size, self.workers, self.steps,
            {name: np.sum([cost.ms for cost in of_arm.values()], axis=0).tolist() for name, of_arm in costs.items()},
            {name: [np.sum([*block.times_ms.values()], axis=0).astype(float).round(5).tolist() for block in of_arm]
             for name, of_arm in measured.items()},
            {name: {stage: cost.ms.tolist() for stage, cost in of_arm.items()} for name, of_arm in costs.items()},
            {name: arm.figures() for name, arm in made.items()}, {name: arm.result() for name, arm in made.items()},
            [*self.arms, first + AGAIN] if self.same is None else self.same, load_before, left_out)
        yield Slice("finding out why", 0)
        return found._replace(why=explained(found, made))


def explained(found: Found, made: Mapping[str, Arm]) -> dict[str, list[dict[str, str]]]:
    """Return by arm what explains the stage in which crowds without a picture differ most; not for slow ones."""
    median_ms = {name: {stage: float(np.median(ms)) for stage, ms in found.stages_ms[name].items()}
                 for name in found.arms}
    crowds = {name: arm for name, arm in made.items() if name in found.arms and isinstance(arm, CrowdArm)
              and not (arm.variant.picture or arm.sim.on_gpu) and sum(median_ms[name].values()) <= WHY_SLOWEST_MS}
    stages = {stage for name in crowds for stage in median_ms[name] if text_of(stage).part == "step"}
    if len(crowds) < 2 or not stages:
        return {}
    stage = max(sorted(stages), key=lambda stage: np.ptp([median_ms[name].get(stage, 0.0) for name in crowds]))
    told = {name: figures(arm.sim, stage, FEW_STEPS) for name, arm in crowds.items()}
    return {name: [figure._asdict() for figure in each if figure] for name, each in told.items()}


class CountedCase(NamedTuple):
    """A case that is counted, not timed: `counted` returns the figures of each arm."""

    name: str
    size: int
    counted: Callable[[], Generator[Slice, None, Mapping[str, Figures]]]
    seconds: float = 1.0

    def run(self, blocks: int) -> Generator[Slice, None, Found]:
        return Found(self.name, self.size, 1, 0, figures=(yield from self.counted()))


Case = TimedCase | CountedCase
"""One size or setting in which a claim is tried. `run` raises ValueError with the reason if it cannot be done here."""


# --- crowds ----------------------------------------------------------------------------------------------------------

def side_of(agents: int, radius: float = 24.0) -> float:
    """Return the side of a square world in which a bird has `NEIGHBOURS` within a radius."""
    return math.sqrt(agents * math.pi * radius**2 / NEIGHBOURS)


def configured(name: str, agents: int, values: Values | None = None, **settings: object) -> Config:
    """A shipped configuration with so many agents at its own density, and its world and view as large as they need.

    `settings` are other keys, with `__` for a dot.
    """
    config = crowd_of(load_config(name, {path.replace("__", "."): value for path, value in settings.items()}), agents)
    return config.model_copy(update={"optimizations": with_values(config.optimizations, values or {})})


def crowds(name: str, agents: int, arms: Mapping[str, Values], picture: bool = False,
           measure: Callable[[CrowdArm], Figures] | None = None, **settings: object) -> dict[str, Callable[[], Arm]]:
    def make(values: Values) -> Arm:
        return CrowdArm(configured(name, agents, values, **settings), picture, measure)

    return {arm: partial(make, values) for arm, values in arms.items()}
