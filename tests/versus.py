"""Results of comparisons that nobody measured, for experiments that compile nothing."""

from collections.abc import Iterator

from crowd_demo.config.model import Optimizations
from crowd_demo.measure.ablation import Crowd, Versus
from crowd_demo.measure.comparison import Comparison
from crowd_demo.measure.statistics import Interval, verdict

QUIET = Interval(1, 0.99, 1.01)


def about(value: float) -> Interval:
    return Interval(value, value * 0.95, value * 1.05)


def pair(present_ms: float, factor: float, spread: float = 0.05) -> Comparison:
    ratio = Interval(factor, factor * (1 - spread), factor * (1 + spread))
    return Comparison(about(present_ms), about(present_ms * factor), ratio, QUIET, verdict(ratio))


def versus(factor: float, crowd: Crowd = "same") -> Versus:
    """A step of 2 ms and a frame of 4; without the technique they take so many times as long."""
    return Versus(60, pair(2, factor), pair(4, factor), crowd)


def no_compiling(options: Optimizations) -> Iterator[str]:
    """The first step will compile what it needs."""
    yield from ()
