"""The schedule of staggering: which agents are due, that is, interact with their neighbours in this step.

Avoidance is staggered by *place*, *tile* or *id*. By place, the world is cut into bands of Y, and band b is due at the ticks t
with (t + b) % period == 0, so that the rows of cells which SIMD works on are full of agents that are due. By tile, it is cut
into squares with a hash for b, so that each step's work is spread over the world. By id, b = id: the interval never changes,
but only a share of each register works. An agent stores the tick at which it is due again; one that walks into another band is
due once more at the old time and then follows the new band, so no agent waits longer than the period, even when agents are
sorted or the rule is changed. Sight and paths are staggered by *id*, because they are computed one agent at a time. Nothing
depends on the slot, so sorting changes nothing.

`next_update` packs that tick and the wait until then, 16 * tick + wait - 1, from which the last time follows. It overflows
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
from crowd_demo.sim.store.state import Columns

BAND_RADII = 8  # usual height of a band in radii of perception: in higher ones fewer agents change bands, shares are coarser
BANDS = 1024  # most along a side
LONGEST = 16  # period


class UpdateSchedule(NamedTuple):
    due_below: int  # packed: agents below are due now, or overdue
    due_above: int  # and so are those that would be due later than a period from now
    period: int
    inv_period: int  # 2^32 / period, rounded up
    by_id: bool
    inv_band: np.float32  # 1 / side of a band or tile, in world units
    inv_column: np.float32  # the same along x; 0 for bands, which are as wide as the world
    columns: int
    next_update: Ints  # [bands, tiles or period]: packed, when each band, tile or phase of ids is due next


@lru_cache
def phases(by: str, places: int, period: int) -> Ints:
    """Return the phase of each band (in turn) or tile (by a hash), int32[places]."""
    numbers = np.arange(places, dtype=np.uint32)
    return ((scramble(numbers) if by == "tile" else numbers) % np.uint32(period)).astype(np.int32)


@lru_cache(maxsize=4)  # every stage of a step asks for it
def update_schedule(tick: int, period: int, by: str, width: float, height: float, band: float) -> UpdateSchedule:
    """Return the schedule of a step in a world of `width` x `height` units, with bands or tiles `band` units high."""
    longest = max(width, height) if by == "tile" else height
    band = max(band, longest / BANDS)
    columns = int(width / band) + 2 if by == "tile" else 1
    waits = [period - (tick + phase) % period for phase in range(period)]
    inv_band = np.float32(1 / band)
    times = np.array([(tick + wait) * LONGEST + wait - 1 for wait in waits], np.int32)
    next_update = times if by == "id" else times.take(phases(by, (int(height / band) + 2) * columns, period))
    return UpdateSchedule((tick + 1) * LONGEST, (tick + period + 1) * LONGEST - 1, period, -(-(1 << 32) // period),
                          by == "id", inv_band,
                          inv_band if by == "tile" else np.float32(0), columns, next_update)


def everybody_due(schedule: UpdateSchedule) -> UpdateSchedule:
    return schedule._replace(due_below=(1 << 31) - 1)


@device
def update_due(schedule: UpdateSchedule, next_update: Int) -> Mask:
    """Return whether an agent, or each of sixteen, is due; also right after the period was shortened."""
    return (next_update < schedule.due_below) | (next_update > schedule.due_above)


@device
def next_update_of(schedule: UpdateSchedule, columns: Columns, slot: Int) -> int:
    """Return the next `next_update` of the agent in a slot, after it was due."""
    if schedule.by_id:
        # by a product: LLVM hoists a division out of this branch, 30 ns for every agent
        return schedule.next_update[np.uintp(modulo(columns.id[slot], schedule.period, schedule.inv_period))]
    row, column = int(columns.y[slot] * schedule.inv_band), int(columns.x[slot] * schedule.inv_column)
    return schedule.next_update[np.uintp(row * schedule.columns + column)]


@device
def next_updates_of(schedule: UpdateSchedule, columns: Columns, slots: Int, x: Float, y: Float, wanted: Mask) -> Int:
    """Return the next `next_update` of sixteen agents at these positions; anything for lanes that are not wanted."""
    if schedule.period == 1:  # everywhere the same
        return splat(schedule.next_update[0], x)
    if schedule.by_id:
        index = modulo(gather(columns.id, slots), schedule.period, schedule.inv_period)
    else:
        index = to_int(y * schedule.inv_band) * schedule.columns + to_int(x * schedule.inv_column)
    return gather(schedule.next_update, select(wanted, index, 0))


class IdSchedule(NamedTuple):
    """The schedule of one step by id: agents with (tick + id) % period == 0 are due."""

    period: int
    inv_period: int  # 2^32 / period, rounded up
    phase: int  # of the ids that are due


def id_schedule(tick: int, period: int) -> IdSchedule:
    return IdSchedule(period, -(-(1 << 32) // period), -tick % period)


@device
def update_due_by_id(identity: Int, schedule: IdSchedule) -> Mask:
    return modulo(identity, schedule.period, schedule.inv_period) == schedule.phase


@device
def count_due_of_sixteen(next_update: Ints, order: Ints, first: int, end: int, schedule: UpdateSchedule) -> int:
    """Return how many of the agents order[first:first + 16], or fewer up to `end`, are due."""
    hits = update_due(schedule, gather(next_update, onward(order, first)))
    return count_set(hits & (lane_numbers() < end - first))


@device
def count_due(next_update: Ints, order: Ints, first: int, end: int, schedule: UpdateSchedule) -> int:
    count = 0
    for k in range(first, end, LANES):
        count += count_due_of_sixteen(next_update, order, k, end, schedule)
    return count
