"""What a behaviour defines for the interaction: what others can observe of an agent, and what it makes of its neighbours.

There are two contracts: order-free sums over all neighbours, here, and the k nearest in a fixed order (nearest.py). The type
of `rules` chooses the behaviour (compute/dispatch.py), which implements these functions:

    observe      the record that others can observe of an agent, from columns; by default its position
    no_sums      the sums over no neighbours; by default a count and a vector
    accumulate   the sums with one candidate added
    finish       the avoidance that follows from the sums
    perceive     whether a candidate is a neighbour, and its distance, for limits and for behaviours with k nearest

`me` and `other` are such records, of one agent or of sixteen: `me.x`, `other.lightness`. Between columns and registers
they are kept in a strip, in the order of the structure.
"""

# Generic functions have no body of their own.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import Any, NamedTuple

from crowd_demo.compute.arrays import Float, Int, Ints, Mask, Rules
from crowd_demo.compute.dispatch import generic, implements
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import no_sum
from crowd_demo.compute.simd_memory import gather, load_record
from crowd_demo.sim.store.state import Columns

Observed = Any  # a behaviour's record of what others can observe: x and y, then fields of its own
Sums = tuple[Int, ...]  # what an agent, or each of sixteen, has added up over its neighbours


class Position(NamedTuple):
    """What others can observe of agents whose behaviour does not implement `observe`."""

    x: Float
    y: Float


class Strip(NamedTuple):
    """What others can observe of consecutive agents of an order."""

    rows: Ints  # int32[MAX_FIELDS, capacity]: a row for each field; float32 keep their bits
    base: Int  # the index in the order of the first agent


# --- what a behaviour defines ----------------------------------------------------------------------------------------

@generic
def observe(rules: Rules, columns: Columns, slots: Int) -> Observed:
    """Return what others can observe of the agent in a slot, or of sixteen: `gather` reads a column for either."""


@generic
def no_sums(rules: Rules, like: Float) -> Sums:
    """Return the sums over no neighbours, by default three: a count, and sums along x and y. `like` gives the width."""


@generic
def accumulate(rules: Rules, me: Observed, other: Observed, sums: Sums) -> Sums:
    """Return the sums with `other` added. It may be the agent itself: `finish` subtracts what that adds."""


@generic
def finish(rules: Rules, me: Observed, sums: Sums) -> tuple[Float, Float, Int]:
    """Return (avoidance_x, avoidance_y, number of neighbours) from the sums."""


@generic
def perceive(rules: Rules, me: Observed, other: Observed) -> tuple[Mask, Float]:
    """Return (whether `other` is a neighbour, a measure of its distance by which neighbours are put in order).

    Only one agent at a time: for limits, and for behaviours that gather their nearest (nearest.py).
    """


# --- what it may define besides, and defaults ------------------------------------------------------------------------

@generic
def sum_capacity(rules: Rules) -> Int:
    """Return how many candidates the sums of a register have room for before they must be settled."""


@generic
def settle(rules: Rules, me: Observed, sums: Sums) -> Sums:
    """Return the sums of a register with room for as many again."""


@implements(observe, object)
def _position(rules: Rules, columns: Columns, slots: Int) -> Position:
    return Position(gather(columns.x, slots), gather(columns.y, slots))


@implements(no_sums, object)
def _count_and_vector(rules: Rules, like: Float) -> Sums:
    return no_sum(like), no_sum(like), no_sum(like)


@implements(sum_capacity, object)
def _enough_for_all(rules: Rules) -> int:
    return 2**31


@implements(settle, object)
def _as_they_are(rules: Rules, me: Observed, sums: Sums) -> Sums:
    return sums


# --- strips ----------------------------------------------------------------------------------------------------------

@device
def read_strip(rules: Rules, columns: Columns, rows: Ints, at: Int) -> Observed:
    """Return what `observe` gave of the agent at an index of a strip, or of sixteen: contiguous, or at indices in an array."""
    return load_record(observe, rules, columns, rows, at)
