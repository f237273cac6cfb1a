"""Who is due this step.

Avoidance is staggered by *place*: the world is cut into bands of Y, and band b looks around at the ticks t with
(t + b) % period == 0, so that the rows of cells which SIMD works on are full of agents that are due. An agent keeps the
tick at which it looks again; whoever walks into another band looks once when its old turn comes and falls into step with
the new band, so nobody waits longer than the period. Sight and paths are staggered by *id*: they are work of one agent
alone. Neither depends on the slot, so re-sorting changes nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..jit import device

BAND_RADII = 6  # height of a band in radii of perception: higher ones have fewer walkers between them but coarser shares


class Turn(NamedTuple):
    """The present step as staggering sees it."""

    tick: int
    period: int
    inv_band: np.float32  # 1 / height of a band, in world units
    next_look: Any  # int32[bands]: the next tick, 1..period from now, at which each band looks around


def turn(tick: int, period: int, height: float, radius: float) -> Turn:
    """The turn of a step in a world of `height` units."""
    band = max(BAND_RADII * radius, height / 1024)
    phase = (tick + np.arange(int(height / band) + 2)) % period
    return Turn(tick, period, np.float32(1 / band), (tick + period - phase).astype(np.int32))


@device
def due(turn: Any, look_at: Any) -> Any:
    """True when an agent's tick has come, also after the period was shortened; for one or for sixteen."""
    return (look_at < turn.tick + 1) | (look_at > turn.tick + turn.period)


@device
def next_look(turn: Any, y: Any) -> int:
    return turn.next_look[np.uintp(y * turn.inv_band)]


@device
def due_by_id(identity: int, tick: int, period: int) -> bool:
    return (tick + identity) % period == 0
