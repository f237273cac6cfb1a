"""Contact: who overlaps whom, and what that adds up to (docs/model.md, "Contact"; contact.py has the passes)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Int, Mask
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import any_set, bits_xor, chance, no_sum, root, scramble, select, splat, to_float, to_int, wrap32
from crowd_demo.compute.simd_memory import load, store, take
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import Seen, Strip, Sums
from crowd_demo.sim.store.columns import Columns

FIXED = 4096  # steps of a unit in the sums


class ContactRules(NamedTuple):
    """Constants of contact; lengths in world units."""

    reach: np.float32  # 2 * body: people nearer than this overlap
    reach_sq: np.float32
    relax: np.float32
    longest: np.float32  # shift in one pass


@implements(pairwise.copy_to_strip, ContactRules)
def copy_to_strip(rules: ContactRules, columns: Columns, slots: Int, strip: Strip, at: int) -> None:
    floats, ints = strip
    store(floats[0], at, take(columns.x, slots))
    store(floats[1], at, take(columns.y, slots))
    store(ints[0], at, take(columns.id, slots))


@implements(pairwise.read_columns, ContactRules)
def read_columns(rules: ContactRules, columns: Columns, slot: Int) -> Seen:
    return columns.x[slot], columns.y[slot], columns.id[slot]


@implements(pairwise.read_strip, ContactRules)
def read_strip(rules: ContactRules, strip: Strip, at: Int) -> Seen:
    floats, ints = strip
    return floats[0, at], floats[1, at], ints[0, at]


@implements(pairwise.load_register, ContactRules)
def load_register(rules: ContactRules, strip: Strip, at: Int) -> Seen:
    floats, ints = strip
    return load(floats[0], at), load(floats[1], at), load(ints[0], at)


@implements(pairwise.no_sums, ContactRules)
def no_sums(rules: ContactRules, like: Float) -> Sums:
    none = no_sum(like)
    return none, none, none


@device
def touches(rules: ContactRules, me: Seen, other: Seen) -> Mask:
    """Return whether two agents overlap."""
    dx, dy = me[0] - other[0], me[1] - other[1]
    return (dx * dx + dy * dy < rules.reach_sq) & (me[2] != other[2])


@implements(pairwise.accumulate, ContactRules)
def accumulate(rules: ContactRules, me: Seen, other: Seen, sums: Sums) -> Sums:
    x, y, identity = me
    dx, dy = x - other[0], y - other[1]
    distance_sq = dx * dx + dy * dy
    overlaps = touches(rules, me, other)
    if any_set(overlaps):  # seldom: most candidates are far away
        count, sum_x, sum_y = sums
        apart = overlaps & (distance_sq > np.float32(0))
        distance = root(select(apart, distance_sq, splat(np.float32(1), x)))
        weight = (rules.reach - distance) / distance * np.float32(FIXED / 2)
        none = splat(np.int32(0), x)
        term_x, term_y = select(apart, to_int(weight * dx), none), select(apart, to_int(weight * dy), none)
        same = overlaps & (distance_sq <= np.float32(0))
        if any_set(same):  # on the very same spot: in a direction drawn for the pair, opposite for the two
            key = scramble(bits_xor(identity, other[2]))
            half = select(identity < other[2], splat(-rules.longest, x), splat(rules.longest, x)) * np.float32(FIXED)
            term_x = select(same, to_int(half * chance(key, np.int32(1))), term_x)
            term_y = select(same, to_int(half * chance(key, np.int32(2))), term_y)
        sums = count + select(overlaps, splat(np.int32(1), x), none), sum_x + term_x, sum_y + term_y
    return sums


@implements(pairwise.finish, ContactRules)
def finish(rules: ContactRules, me: Seen, sums: Sums) -> tuple[Float, Float, Int]:
    count, sum_x, sum_y = sums
    met = wrap32(count)
    one = np.float32(1)
    further = to_float(met) - one
    scale = np.float32(1 / FIXED) / (one + rules.relax * select(further > np.float32(0), further, splat(np.float32(0), me[0])))
    x, y = to_float(wrap32(sum_x)) * scale, to_float(wrap32(sum_y)) * scale
    length = root(x * x + y * y)
    far = length > rules.longest
    return select(far, x * (rules.longest / length), x), select(far, y * (rules.longest / length), y), met
