"""Who is due this step.

Avoidance is staggered by *place*, *tile* or *id*. By place the world is cut into bands of Y, and band b looks around at the
ticks t with (t + b) % period == 0, so that the rows of cells which SIMD works on are full of agents that are due. By tile it
is cut into squares with a hash for b, so that each step's work lies all over the world. By id it is b = id: nobody's turn ever
shifts, but only a share of each register works. An agent keeps the tick at which it looks again; whoever walks into another
band looks once when its old turn comes and falls into step with the new band, so nobody waits longer than the period, nor
when the agents are sorted or the rule is changed. Sight and paths are staggered by *id*: they are work of one agent alone.
Nothing depends on the slot, so re-sorting changes nothing.

`look_at` packs that tick and the wait until then, 16 * tick + wait - 1, which also tells when the agent last looked. That
serves 2^27 ticks, 26 days at 60 Hz.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Int, Ints, Mask
from crowd_demo.compute.hashing import scramble
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import LANES, count_set, gather, lane_numbers, load
from crowd_demo.sim.store.columns import Columns

BAND_RADII = 8  # usual height of a band in radii of perception: higher ones have fewer walkers between them, coarser shares
BANDS = 1024  # at most so many along a side
LONGEST = 16  # period


class Turn(NamedTuple):
    """The present step as staggering sees it."""

    due_below: int  # packed: who looks now or should have looked before
    due_above: int  # and who would look later than a period from now
    period: int
    inv_period: int  # 2^32 / period, rounded up
    by_id: bool
    inv_band: np.float32  # 1 / side of a band or tile, in world units
    inv_column: np.float32  # the same along x; 0 for bands, which are as wide as the world
    columns: int
    next_look: Ints  # [bands, tiles or period]: packed, the next time that each place, or phase of ids, looks around


@lru_cache
def phases(by: str, places: int, period: int) -> NDArray[np.int32]:
    """Of each band, in turn, or of each tile, at random."""
    numbers = np.arange(places, dtype=np.uint32)
    return ((scramble(numbers) if by == "tile" else numbers) % np.uint32(period)).astype(np.int32)


def turn(tick: int, period: int, by: str, width: float, height: float, band: float) -> Turn:
    """The turn of a step in a world of `width` x `height` units, whose bands or tiles are to be `band` units high."""
    longest = max(width, height) if by == "tile" else height
    band = max(band, longest / BANDS)
    columns = int(width / band) + 2 if by == "tile" else 1
    wait = period - (tick + np.arange(period)) % period
    inv_band = np.float32(1 / band)
    times = ((tick + wait) * LONGEST + wait - 1).astype(np.int32)
    next_look = times if by == "id" else times[phases(by, (int(height / band) + 2) * columns, period)]
    return Turn((tick + 1) * LONGEST, (tick + period + 1) * LONGEST - 1, period, -(-(1 << 32) // period),
                by == "id", inv_band,
                inv_band if by == "tile" else np.float32(0), columns, next_look)


def everybody_due(turn: Turn) -> Turn:
    return turn._replace(due_below=(1 << 31) - 1)


@device
def due(turn: Turn, look_at: Int) -> Mask:
    """True when an agent's tick has come, also after the period was shortened; for one or for sixteen."""
    return (look_at < turn.due_below) | (look_at > turn.due_above)


@device
def next_look(turn: Turn, columns: Columns, slot: Int) -> int:
    """What becomes of `look_at` when the agent in that slot has looked."""
    if turn.by_id:
        # id % period by a product, exact below 2^28: LLVM hoists a division out of this branch, 30 ns for every agent
        identity = np.int64(columns.id[slot])
        return turn.next_look[np.uintp(identity - (identity * turn.inv_period >> 32) * turn.period)]
    row, column = int(columns.y[slot] * turn.inv_band), int(columns.x[slot] * turn.inv_column)
    return turn.next_look[np.uintp(row * turn.columns + column)]


@device
def due_by_id(identity: int, tick: int, period: int) -> bool:
    return (tick + identity) % period == 0


@device
def due_of_sixteen(columns: Columns, order: Ints, first: int, end: int, turn: Turn) -> int:
    """How many of the next sixteen agents of the order, or fewer at its end, are due."""
    hits = due(turn, gather(columns.look_at, load(order, first)))
    return count_set(hits & (lane_numbers() < end - first))


@device
def due_among(columns: Columns, order: Ints, first: int, end: int, turn: Turn) -> int:
    """How many of the agents order[first:end] are due."""
    count = 0
    for k in range(first, end, LANES):
        count += due_of_sixteen(columns, order, k, end, turn)
    return count
