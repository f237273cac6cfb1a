"""The schedule of staggering: which agents are due, that is, interact with their neighbours in this step.

Avoidance is staggered by *place*, *tile* or *id*. By place, the world is cut into bands of Y, and band b is due at the ticks t
with (t + b) % period == 0, so that the rows of cells which SIMD works on are full of agents that are due. By tile, it is cut
into squares with a hash for b, so that each step's work is spread over the world. By id, b = id: the interval never changes,
but only a share of each register works. An agent stores the tick at which it is due again; one that walks into another band is
due once more at the old time and then follows the new band, so no agent waits longer than the period, even when agents are
sorted or the rule is changed. Sight and paths are staggered by *id*, because they are computed one agent at a time. Nothing
depends on the slot, so sorting changes nothing.

`look_at` packs that tick and the wait until then, 16 * tick + wait - 1, from which the last time can be derived. It overflows
after 2^27 ticks, 26 days at 60 Hz.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Int, Ints, Mask
from crowd_demo.compute.hashing import scramble
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import LANES, count_set, lane_numbers, modulo, select, splat, to_int
from crowd_demo.compute.simd_memory import gather, onward
from crowd_demo.sim.store.columns import Columns

BAND_RADII = 8  # usual height of a band in radii of perception: in higher ones fewer agents change bands, shares are coarser
BANDS = 1024  # most along a side
LONGEST = 16  # period


class Turn(NamedTuple):
    """The schedule of one step."""

    due_below: int  # packed: agents below are due now, or overdue
    due_above: int  # and so are those that would be due later than a period from now
    period: int
    inv_period: int  # 2^32 / period, rounded up
    by_id: bool
    inv_band: np.float32  # 1 / side of a band or tile, in world units
    inv_column: np.float32  # the same along x; 0 for bands, which are as wide as the world
    columns: int
    next_look: Ints  # [bands, tiles or period]: packed, when each band, tile or phase of ids is due next


@lru_cache
def phases(by: str, places: int, period: int) -> Ints:
    """Return the phase of each band (in turn) or tile (by a hash), int32[places]."""
    numbers = np.arange(places, dtype=np.uint32)
    return ((scramble(numbers) if by == "tile" else numbers) % np.uint32(period)).astype(np.int32)


@lru_cache(maxsize=4)  # every stage of a step asks for it
def turn(tick: int, period: int, by: str, width: float, height: float, band: float) -> Turn:
    """Return the schedule of a step in a world of `width` x `height` units, with bands or tiles `band` units high."""
    longest = max(width, height) if by == "tile" else height
    band = max(band, longest / BANDS)
    columns = int(width / band) + 2 if by == "tile" else 1
    waits = [period - (tick + phase) % period for phase in range(period)]
    inv_band = np.float32(1 / band)
    times = np.array([(tick + wait) * LONGEST + wait - 1 for wait in waits], np.int32)
    next_look = times if by == "id" else times[phases(by, (int(height / band) + 2) * columns, period)]
    return Turn((tick + 1) * LONGEST, (tick + period + 1) * LONGEST - 1, period, -(-(1 << 32) // period),
                by == "id", inv_band,
                inv_band if by == "tile" else np.float32(0), columns, next_look)


def everybody_due(turn: Turn) -> Turn:
    return turn._replace(due_below=(1 << 31) - 1)


@device
def due(turn: Turn, look_at: Int) -> Mask:
    """Return whether an agent, or each of sixteen, is due; also right after the period was shortened."""
    return (look_at < turn.due_below) | (look_at > turn.due_above)


@device
def next_look(turn: Turn, columns: Columns, slot: Int) -> int:
    """Return the next `look_at` of the agent in a slot, after it was due."""
    if turn.by_id:
        # by a product: LLVM hoists a division out of this branch, 30 ns for every agent
        return turn.next_look[np.uintp(modulo(columns.id[slot], turn.period, turn.inv_period))]
    row, column = int(columns.y[slot] * turn.inv_band), int(columns.x[slot] * turn.inv_column)
    return turn.next_look[np.uintp(row * turn.columns + column)]


@device
def next_looks(turn: Turn, columns: Columns, slots: Int, x: Float, y: Float, wanted: Mask) -> Int:
    """Return the next `look_at` of sixteen agents at these positions; anything for lanes that are not wanted."""
    nowhere = splat(np.int32(0), x)
    if turn.period == 1:  # everywhere the same
        return nowhere + turn.next_look[0]
    if turn.by_id:
        index = modulo(gather(columns.id, slots), turn.period, turn.inv_period)
    else:
        index = to_int(y * turn.inv_band) * turn.columns + to_int(x * turn.inv_column)
    return gather(turn.next_look, select(wanted, index, nowhere))


class IdTurn(NamedTuple):
    """The schedule of one step by id: agents with (tick + id) % period == 0 are due."""

    period: int
    inv_period: int  # 2^32 / period, rounded up
    phase: int  # of the ids that are due


def id_turn(tick: int, period: int) -> IdTurn:
    return IdTurn(period, -(-(1 << 32) // period), -tick % period)


@device
def due_by_id(identity: Int, turn: IdTurn) -> Mask:
    return modulo(identity, turn.period, turn.inv_period) == turn.phase


@device
def due_of_sixteen(look_at: Ints, order: Ints, first: int, end: int, turn: Turn) -> int:
    """Return how many of the agents order[first:first + 16], or fewer up to `end`, are due."""
    hits = due(turn, gather(look_at, onward(order, first)))
    return count_set(hits & (lane_numbers() < end - first))


@device
def due_among(look_at: Ints, order: Ints, first: int, end: int, turn: Turn) -> int:
    """Return how many of the agents order[first:end] are due."""
    count = 0
    for k in range(first, end, LANES):
        count += due_of_sixteen(look_at, order, k, end, turn)
    return count
