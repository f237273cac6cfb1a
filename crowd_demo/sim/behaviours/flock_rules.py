"""How neighbours influence a bird: alignment, cohesion, separation. The formulas are in flock.py.

Positions and velocities enter the sums in fixed point (1/256), so the result does not depend on the order of the neighbours.
The sums of x also count (compute/packed.py): in lanes each count would take an instruction of its own.

Rules are put together of parts; each is a record whose type chooses the bodies of functions when a kernel is compiled, so what
is not chosen costs nothing:

    AllAround     a bird follows everybody in sight
    AheadOnly     not those in a blind angle behind it
    ByContact     it is driven apart the more the nearer another is (Reynolds 1987)
    ByOffset      the more the farther away it is, and not at all at contact (Ihaa21's SIMD boids)

A bird may also follow its nearest neighbours alone, six or seven of them, however far away (Ballerini and others 2008). So a
flock keeps together where it is thin as well as where it is dense. A bird is pulled to its neighbours as far as these lie on
one side: hardly in the middle of a flock, strongly at its edge, which gets sharp (Hildenbrandt, Carere, Hemelrijk 2010).
The second contract of the interaction gathers the neighbours in a fixed order, so float32 sums are the same everywhere.
"""

# Generic functions have no body of their own.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Int, Ints, Mask
from crowd_demo.compute.dispatch import formula, generic, implements
from crowd_demo.compute.packed import CountingSum, counted, nothing_counted, settled
from crowd_demo.compute.simd import inverse_root, no_sum, root, select, to_float, to_int, wrap32
from crowd_demo.compute.simd_memory import gather
from crowd_demo.sim.interaction import nearest, pairwise
from crowd_demo.sim.interaction.pairwise import Observed, Sums
from crowd_demo.sim.store.state import Columns

FIXED = 256  # steps of a unit in the sums


# --- the parts -------------------------------------------------------------------------------------------------------

class AllAround(NamedTuple):
    """A bird follows everybody in sight."""


class AheadOnly(NamedTuple):
    """A bird follows nobody in a blind angle behind it."""

    behind: np.float32  # square of the cosine of half that angle


class ByContact(NamedTuple):
    """Separation that is strongest at contact."""

    reach: np.float32  # the distance at which it ends, in fixed point


class ByOffset(NamedTuple):
    """Separation by the offset, which is nothing at contact."""


Eyes = AllAround | AheadOnly
Apart = ByContact | ByOffset
Separation = tuple[Any, Int]  # what drives a bird apart along x, which may count, and along y


@generic
def follows(eyes: Eyes, me: Observed, dx: Float, dy: Float, distance_sq: Float, sight_sq: Float) -> Mask:
    """Return whether a bird follows one at that offset."""


@generic
def no_separation(apart: Apart, like: Float) -> Separation:
    """Return the separation from nobody; `like` is a number or a register, for the width."""


@generic
def add_separation(apart: Apart, near: Mask, dx: Float, dy: Float, distance_sq: Float, px: Int, py: Int,
               separation: Separation) -> Separation:
    """Return the separation with another bird added if it is near; its position is (px, py) in fixed point, px counted."""


@generic
def settle_separation(apart: Apart, px: Int, separation: Separation) -> Separation:
    """Return the separation with its counting sum settled, for a bird at px."""


@generic
def separation_of(apart: Apart, px: Int, py: Int, separation: Separation) -> tuple[Float, Float]:
    """Return the separation as a vector in world units, for a bird at (px, py)."""


@implements(follows, AllAround)
def _follows_all(eyes: AllAround, me: Observed, dx: Float, dy: Float, distance_sq: Float, sight_sq: Float) -> Mask:
    return distance_sq < sight_sq


@implements(follows, AheadOnly)
def _follows_ahead(eyes: AheadOnly, me: Observed, dx: Float, dy: Float, distance_sq: Float, sight_sq: Float) -> Mask:
    """Leave out those behind, which have dx*vx + dy*vy < -cosine * distance * speed."""
    vx, vy = to_float(me.vx), to_float(me.vy)
    limit = (vx * vx + vy * vy) * eyes.behind
    along = dx * vx + dy * vy
    ahead = (along >= 0) | (along * along <= distance_sq * limit)
    return (distance_sq < sight_sq) & ahead


@implements(no_separation, ByContact)
def _nobody_by_contact(apart: ByContact, like: Float) -> tuple[Int, Int]:
    return no_sum(like), no_sum(like)


@implements(add_separation, ByContact)
def _meet_by_contact(apart: ByContact, near: Mask, dx: Float, dy: Float, distance_sq: Float, px: Int, py: Int,
                     separation: tuple[Int, Int]) -> tuple[Int, Int]:
    """Add the offset times (reach / distance - 1): as long as the bird would have to go to be out of reach."""
    weight = apart.reach * inverse_root(distance_sq) - FIXED
    return separation[0] + select(near, to_int(weight * dx), 0), separation[1] + select(near, to_int(weight * dy), 0)


@implements(settle_separation, ByContact)
def _settle_by_contact(apart: ByContact, px: Int, separation: tuple[Int, Int]) -> tuple[Int, Int]:
    return separation


@implements(separation_of, ByContact)
def _drive_by_contact(apart: ByContact, px: Int, py: Int, separation: tuple[Int, Int]) -> tuple[Float, Float]:
    return to_float(wrap32(separation[0])) * (-1 / FIXED), to_float(wrap32(separation[1])) * (-1 / FIXED)


@implements(no_separation, ByOffset)
def _nobody_by_offset(apart: ByOffset, like: Float) -> tuple[CountingSum, Int]:
    return nothing_counted(like), no_sum(like)


@implements(add_separation, ByOffset)
def _meet_by_offset(apart: ByOffset, near: Mask, dx: Float, dy: Float, distance_sq: Float, px: Int, py: Int,
                    separation: tuple[CountingSum, Int]) -> tuple[CountingSum, Int]:
    """Add positions, from which the bird's own are subtracted once, in `separation_of`."""
    (total, close, offset), sum_y = separation
    return (total + select(near, px, 0), close, offset), sum_y + select(near, py, 0)


@implements(settle_separation, ByOffset)
def _settle_by_offset(apart: ByOffset, px: Int, separation: tuple[CountingSum, Int]) -> tuple[CountingSum, Int]:
    return settled(separation[0], px), separation[1]


@implements(separation_of, ByOffset)
def _drive_by_offset(apart: ByOffset, px: Int, py: Int, separation: tuple[CountingSum, Int]) -> tuple[Float, Float]:
    _, close, offset = settled(separation[0], px)
    return to_float(wrap32(0 - offset)) * (1 / FIXED), to_float(wrap32(close * py - separation[1])) * (1 / FIXED)


# --- constants, and what others can observe --------------------------------------------------------------------------

@formula
def fixed(value: Float) -> Int:
    """Return a number in fixed point."""
    return to_int(value * FIXED)


@formula
def counted_fixed(value: Float) -> Int:
    """Return a number in fixed point, for a sum that also counts."""
    return counted(to_int(value * FIXED))


class Bird(NamedTuple):
    """What others can observe of a bird; px, py, vx and vy are in fixed point, px counted."""

    x: Float
    y: Float
    px: Int
    py: Int
    vx: Int
    vy: Int


class FlockRules(NamedTuple):
    """Constants of one step; weights in 1/s and 1/s^2, lengths in world units."""

    eyes: Eyes  # whom it follows
    apart: Apart  # how it keeps away
    sight_sq: np.float32
    separation_sq: np.float32
    align: np.float32
    cohere: np.float32
    separate: np.float32
    inv_crowding: np.float32
    wander: np.float32
    roost: np.float32
    roost_radius: np.float32
    border: np.float32
    inv_margin: np.float32
    speed_min: np.float32
    speed_max: np.float32
    dt: np.float32
    width: np.float32
    height: np.float32
    wander_key_x: np.int32
    wander_key_y: np.int32
    sum_capacity: np.int32  # how many candidates a register's sums can count before they are settled


# --- order-free sums over all neighbours -----------------------------------------------------------------------------

@implements(pairwise.observe, FlockRules)
def observe(rules: FlockRules, columns: Columns, slots: Int) -> Bird:
    x, y = gather(columns.x, slots), gather(columns.y, slots)
    return Bird(x, y, counted_fixed(x), fixed(y), fixed(gather(columns.vx, slots)), fixed(gather(columns.vy, slots)))


@implements(pairwise.no_sums, FlockRules)
def no_sums(rules: FlockRules, like: Float) -> Sums:
    none = no_sum(like)
    return nothing_counted(like), none, none, none, no_separation(rules.apart, like)


@implements(pairwise.accumulate, FlockRules)
def accumulate(rules: FlockRules, me: Bird, other: Bird, sums: Sums) -> Sums:
    (sum_px, count, offset), sum_py, sum_vx, sum_vy, apart = sums
    dx, dy = other.x - me.x, other.y - me.y
    distance_sq = dx * dx + dy * dy
    followed = follows(rules.eyes, me, dx, dy, distance_sq, rules.sight_sq)
    near = distance_sq < rules.separation_sq
    return ((sum_px + select(followed, other.px, 0), count, offset), sum_py + select(followed, other.py, 0),
            sum_vx + select(followed, other.vx, 0), sum_vy + select(followed, other.vy, 0),
            add_separation(rules.apart, near, dx, dy, distance_sq, other.px, other.py, apart))


@implements(pairwise.sum_capacity, FlockRules)
def sum_capacity(rules: FlockRules) -> Int:
    return np.int64(rules.sum_capacity)


@implements(pairwise.settle, FlockRules)
def settle(rules: FlockRules, me: Bird, sums: Sums) -> Sums:
    sum_px, sum_py, sum_vx, sum_vy, apart = sums
    return settled(sum_px, me.px), sum_py, sum_vx, sum_vy, settle_separation(rules.apart, me.px, apart)


@implements(pairwise.finish, FlockRules)
def finish(rules: FlockRules, me: Bird, sums: Sums) -> tuple[Float, Float, Int]:
    sum_px, sum_py, sum_vx, sum_vy, apart = sums
    _, count, offset_x = settled(sum_px, me.px)
    neighbours = wrap32(count) - select(rules.sight_sq > 0, 1, 0)  # without itself, followed if sight > 0
    some = neighbours > 0
    inverse = (1 / FIXED) / select(some, to_float(wrap32(neighbours)), 1)
    uncrowded = 1 - to_float(wrap32(neighbours)) * rules.inv_crowding
    cohere = rules.cohere * max(-1, uncrowded)
    mean_x, mean_y = to_float(wrap32(offset_x)) * inverse, to_float(wrap32(sum_py - count * me.py)) * inverse
    match_x = to_float(wrap32(sum_vx - me.vx)) * inverse - to_float(me.vx) * (1 / FIXED)
    match_y = to_float(wrap32(sum_vy - me.vy)) * inverse - to_float(me.vy) * (1 / FIXED)
    flock_x, flock_y = rules.align * match_x + cohere * mean_x, rules.align * match_y + cohere * mean_y
    apart_x, apart_y = separation_of(rules.apart, me.px, me.py, apart)
    return (select(some, flock_x, 0) + rules.separate * apart_x, select(some, flock_y, 0) + rules.separate * apart_y,
            wrap32(neighbours))


@implements(pairwise.perceive, FlockRules)
def perceive(rules: FlockRules, me: Bird, other: Bird) -> tuple[Mask, Float]:
    dx, dy = other.x - me.x, other.y - me.y
    distance_sq = dx * dx + dy * dy
    return distance_sq < max(rules.sight_sq, rules.separation_sq), distance_sq


# --- the nearest alone -----------------------------------------------------------------------------------------------

class NearestRules(FlockRules):
    """The constants of a flock whose birds follow their nearest."""


@implements(pairwise.perceive, NearestRules)
def perceive_followed(rules: NearestRules, me: Bird, other: Bird) -> tuple[Mask, Float]:
    dx, dy = other.x - me.x, other.y - me.y
    distance_sq = dx * dx + dy * dy
    return follows(rules.eyes, me, dx, dy, distance_sq, rules.sight_sq), distance_sq


@implements(nearest.solve, NearestRules)
def solve(rules: NearestRules, columns: Columns, slot: int, near: Ints, size: int) -> tuple[Float, Float, Int]:
    if size == 0:
        return 0, 0, size
    x, y = columns.x[slot], columns.y[slot]
    sum_x, sum_y, sum_vx, sum_vy, distances = 0, 0, 0, 0, 0
    apart = no_separation(rules.apart, x)
    for k in range(size):
        other = np.uintp(near[k])
        dx, dy = columns.x[other] - x, columns.y[other] - y
        distance_sq = dx * dx + dy * dy
        sum_x, sum_y, distances = sum_x + dx, sum_y + dy, distances + root(distance_sq)
        sum_vx, sum_vy = sum_vx + columns.vx[other], sum_vy + columns.vy[other]
        apart = add_separation(rules.apart, distance_sq < rules.separation_sq, dx, dy, distance_sq,
                           counted_fixed(columns.x[other]), fixed(columns.y[other]), apart)
    apart_x, apart_y = separation_of(rules.apart, counted_fixed(x), fixed(y), apart)
    part = 1 / np.float32(size)
    mean_x, mean_y = sum_x * part, sum_y * part
    one_sided = root(mean_x * mean_x + mean_y * mean_y) / (distances * part) if distances > 0 else 0
    pull = rules.cohere * one_sided
    avoidance_x = rules.align * (sum_vx * part - columns.vx[slot]) + pull * mean_x + rules.separate * apart_x
    avoidance_y = rules.align * (sum_vy * part - columns.vy[slot]) + pull * mean_y + rules.separate * apart_y
    return avoidance_x, avoidance_y, size
