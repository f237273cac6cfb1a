"""The card of the last switch: what it bought, and whether the crowd is the same. Its records; its drawing is below."""

from __future__ import annotations

from typing import Literal, NamedTuple

Outcome = Literal["faster", "slower", "no difference", "unknown"]


class Span(NamedTuple):
    """Times of one thing before and after, milliseconds; nan where it did not run, or nothing was measured."""

    name: str
    before_ms: float
    after_ms: float
    factor: float  # how many times as fast it is now
    low: float  # of the factor, with a confidence of 95 %
    high: float
    outcome: Outcome


class Count(NamedTuple):
    """A counter that explains it, as texts."""

    name: str
    before: str
    after: str


class Proof(NamedTuple):
    """Whether it is the same crowd; the kinds are those of `measure.proof.finding`."""

    kind: Literal["running", "same", "differs", "apart", "sample"]
    text: str


class Card(NamedTuple):
    """`spans` are the technique's stage, the step and the frame."""

    title: str  # SIMD lanes
    change: str  # off -> on
    exact: bool
    spans: tuple[Span, ...]
    counts: tuple[Count, ...]
    proof: Proof
    state: str  # how long it was measured, and why no longer
    left: float  # share of its time that is left
    frame: int  # number of the frame in which the value took effect
