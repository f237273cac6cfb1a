"""What is put to the test: a claim, the cases in which it is tried, and what was found in each of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Protocol

from pydantic import Field

from crowd_demo.measure.experiment import Slice
from crowd_demo.measure.statistics import Interval

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
