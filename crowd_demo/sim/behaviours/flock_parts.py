"""The parts of which a bird's rules are put together: whom it follows, and how it keeps away from those too near.

    AllAround     it follows everybody in sight
    Ahead         not those in a blind angle behind it
    ByContact     it is driven apart the more the nearer another is (Reynolds 1987)
    ByOffset      the more the farther away it is, and not at all at contact (Ihaa21's SIMD boids)

Each part is a record, whose type chooses the bodies of the functions below when a kernel is compiled.
"""

# Generic functions have no body of their own.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Int, Mask
from crowd_demo.compute.dispatch import generic, implements
from crowd_demo.compute.packed import CountingSum, nothing_counted, settled
from crowd_demo.compute.simd import inverse_root, no_sum, select, splat, to_float, to_int, wrap32
from crowd_demo.sim.interaction.pairwise import Seen

FIXED = 256  # steps of a unit in the sums


class AllAround(NamedTuple):
    """A bird with eyes behind."""


class Ahead(NamedTuple):
    """A bird with a blind angle behind it."""

    behind: np.float32  # square of the cosine of half that angle


class ByContact(NamedTuple):
    """Separation that is strongest at contact."""

    reach: np.float32  # the distance at which it ends, in fixed point


class ByOffset(NamedTuple):
    """Separation by the offset, which is nothing at contact."""


Eyes = AllAround | Ahead
Apart = ByContact | ByOffset
Away = tuple[Any, Int]  # what drives it apart along x, which may count, and along y


@generic
def follows(eyes: Eyes, me: Seen, dx: Float, dy: Float, distance_sq: Float, sight_sq: Float) -> Mask:
    """Does a bird follow one at that offset? `me` begins with x, y and then, in fixed point, x (counted), y, vx, vy."""


@generic
def no_apart(apart: Apart, like: Float) -> Away:
    """Return the way out with nobody added."""


@generic
def meet_close(apart: Apart, near: Mask, dx: Float, dy: Float, distance_sq: Float, px: Int, py: Int, away: Away) -> Away:
    """Return it with another bird added if it is near; its position is (px, py) in fixed point, px counted."""


@generic
def settle_apart(apart: Apart, px: Int, away: Away) -> Away:
    """Return it with its counting sum settled, for a bird at px."""


@generic
def drive_apart(apart: Apart, px: Int, py: Int, away: Away) -> tuple[Float, Float]:
    """Return the way out, in world units, for a bird at (px, py)."""


# --- whom it follows -------------------------------------------------------------------------------------------------

@implements(follows, AllAround)
def _follows_all(eyes: AllAround, me: Seen, dx: Float, dy: Float, distance_sq: Float, sight_sq: Float) -> Mask:
    return distance_sq < sight_sq


@implements(follows, Ahead)
def _follows_ahead(eyes: Ahead, me: Seen, dx: Float, dy: Float, distance_sq: Float, sight_sq: Float) -> Mask:
    """Who is behind has dx*vx + dy*vy < -cosine * distance * speed."""
    vx, vy = to_float(me[4]), to_float(me[5])
    limit = (vx * vx + vy * vy) * eyes.behind
    along = dx * vx + dy * vy
    ahead = (along >= np.float32(0)) | (along * along <= distance_sq * limit)
    return (distance_sq < sight_sq) & ahead


# --- how it keeps away -----------------------------------------------------------------------------------------------

@implements(no_apart, ByContact)
def _nobody_by_contact(apart: ByContact, like: Float) -> tuple[Int, Int]:
    return no_sum(like), no_sum(like)


@implements(meet_close, ByContact)
def _meet_by_contact(apart: ByContact, near: Mask, dx: Float, dy: Float, distance_sq: Float, px: Int, py: Int,
                     away: tuple[Int, Int]) -> tuple[Int, Int]:
    """Add the offset times (reach / distance - 1): as long as the bird would have to go to be out of reach."""
    none = splat(np.int32(0), dx)
    weight = apart.reach * inverse_root(distance_sq) - np.float32(FIXED)
    return away[0] + select(near, to_int(weight * dx), none), away[1] + select(near, to_int(weight * dy), none)


@implements(settle_apart, ByContact)
def _settle_by_contact(apart: ByContact, px: Int, away: tuple[Int, Int]) -> tuple[Int, Int]:
    return away


@implements(drive_apart, ByContact)
def _drive_by_contact(apart: ByContact, px: Int, py: Int, away: tuple[Int, Int]) -> tuple[Float, Float]:
    unit = np.float32(-1 / FIXED)
    return to_float(wrap32(away[0])) * unit, to_float(wrap32(away[1])) * unit


@implements(no_apart, ByOffset)
def _nobody_by_offset(apart: ByOffset, like: Float) -> tuple[CountingSum, Int]:
    return nothing_counted(like), no_sum(like)


@implements(meet_close, ByOffset)
def _meet_by_offset(apart: ByOffset, near: Mask, dx: Float, dy: Float, distance_sq: Float, px: Int, py: Int,
                    away: tuple[CountingSum, Int]) -> tuple[CountingSum, Int]:
    """Add positions, from which the bird's own are subtracted once, in `drive_apart`."""
    none = splat(np.int32(0), dx)
    (total, close, offset), sum_y = away
    return (total + select(near, splat(px, dx), none), close, offset), sum_y + select(near, splat(py, dx), none)


@implements(settle_apart, ByOffset)
def _settle_by_offset(apart: ByOffset, px: Int, away: tuple[CountingSum, Int]) -> tuple[CountingSum, Int]:
    return settled(away[0], px), away[1]


@implements(drive_apart, ByOffset)
def _drive_by_offset(apart: ByOffset, px: Int, py: Int, away: tuple[CountingSum, Int]) -> tuple[Float, Float]:
    unit = np.float32(1 / FIXED)
    _, close, offset = settled(away[0], px)
    return to_float(wrap32(0 - offset)) * unit, to_float(wrap32(close * py - away[1])) * unit
