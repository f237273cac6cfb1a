"""How birds keep together: order, crowding, edges of flocks, splits and merges (`crowd-demo lab flocks`).

Reads positions and velocities between steps and changes nothing. Predators do not count.

    order       how much a bird and its seven nearest fly alike: the length of their mean direction, 0 to 1, mean of the birds
    densest     share of the birds in the densest twentieth of the map's tiles
    strays      share of the birds whose seventh neighbour is twice as far away as the median, or more; few if edges are sharp
    flocks      those of at least a hundredth of the birds; birds in squares that touch, as wide as their sight, are together
    largest     share of the birds in the largest one
    splits      flocks from each of which two have come at the next look, a second later; merges: those that have come from two
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import cast

import numpy as np

from crowd_demo.compute.arrays import Doubles, Ints, Longs
from crowd_demo.config.behaviours import FlockSettings
from crowd_demo.config.maps import label_areas
from crowd_demo.measure.experiment import aligned
from crowd_demo.sim.behaviours.hunt import PREY, HuntColumns
from crowd_demo.sim.simulation import Simulation

NEAREST = 7
ASKED = 1000  # birds whose neighbours are looked for, evenly by id
AT_ONCE = 1 << 24  # distances that are computed together
DENSEST = 0.05
STRAY = 2.0  # at the edge of birds that are equally dense everywhere it is the root of 2
FLOCK = 0.01
LOOK_S = 1.0


Look = Mapping[str, float]  # what one moment shows


# --- a moment --------------------------------------------------------------------------------------------------------

def nearest_of(x: Doubles, y: Doubles, asked: Longs, most: int = NEAREST) -> Longs:
    """Return the nearest `most` others of each bird asked, the nearest first: int64[asked, most]."""
    most, found = min(most, len(x) - 1), []
    for some in np.array_split(asked, max(1, len(asked) * len(x) // AT_ONCE)):
        distance_sq = (x[some, None] - x) ** 2 + (y[some, None] - y) ** 2
        distance_sq[np.arange(len(some)), some] = np.inf
        found.append(np.argpartition(distance_sq, range(most), axis=1)[:, :most])
    return np.concatenate(found)


def order_of(vx: Doubles, vy: Doubles, groups: Longs) -> float:
    """Return the mean over groups, rows of birds, of the length of their mean direction."""
    speed = np.hypot(vx, vy)
    speed[speed == 0] = 1
    return float(np.hypot((vx / speed)[groups].mean(1), (vy / speed)[groups].mean(1)).mean())


def strays_of(x: Doubles, y: Doubles, asked: Longs, near: Longs) -> float:
    """Return the share of those asked whose last neighbour is more than STRAY times as far away as it usually is."""
    farthest = np.hypot(x[near[:, -1]] - x[asked], y[near[:, -1]] - y[asked])
    return float((farthest > STRAY * np.median(farthest)).mean())


def densest_share(x: Doubles, y: Doubles, tile: float, shape: tuple[int, int]) -> float:
    tiles = (y / tile).astype(np.int64) * shape[1] + (x / tile).astype(np.int64)
    count = np.sort(np.bincount(tiles, minlength=shape[0] * shape[1]))
    return float(count[-max(1, round(DENSEST * count.size)):].sum() / len(x))


def flocks_of(x: Doubles, y: Doubles, side: float) -> Ints:
    """Return the number of the flock of each bird: those whose squares touch, also by a corner, have the same."""
    row, column = ((coordinate / side).astype(np.int64) for coordinate in (y, x))
    taken = np.zeros((int(row.max()) + 1, int(column.max()) + 1), bool)
    taken[row, column] = True
    return label_areas(taken)[row, column]


def look(sim: Simulation, x: Doubles, y: Doubles, vx: Doubles, vy: Doubles, flock: Ints) -> Look:
    asked = np.unique(np.linspace(0, len(x) - 1, min(ASKED, len(x))).astype(np.int64))
    near = nearest_of(x, y, asked)
    members = np.unique(flock, return_counts=True)[1] / len(x)
    return {"tick": sim.tick, "order": order_of(vx, vy, np.column_stack((asked, near))),
            "densest": densest_share(x, y, float(sim.terrain.walls.tile), sim.terrain.kinds.shape),
            "strays": strays_of(x, y, asked, near),
            "flocks": int((members >= FLOCK).sum()), "largest": float(members.max())}


# --- from one moment to the next -------------------------------------------------------------------------------------

def splits_and_merges(before: Ints, now: Ints) -> tuple[int, int]:
    """Return how many flocks came apart and how many came together, from each bird's flock then and now."""
    pairs, count = np.unique(np.stack((before, now)), axis=1, return_counts=True)
    left, come = (np.unique(side, return_counts=True)[1] for side in pairs[:, count >= FLOCK * len(before)])
    return int((left > 1).sum()), int((come > 1).sum())


def watch(sim: Simulation, steps: int, tell: Callable[[int], None] = lambda done: None) -> tuple[list[Look], int, int]:
    """Run so many steps, and look each second of the crowd's own time; return the looks, and how many splits and merges.

    `tell` is called with the steps that were made.
    """
    settings = cast(FlockSettings, sim.config.behaviour_settings)
    every, looks, flocks = max(1, round(LOOK_S / sim.dt)), list[Look](), list[Ints]()
    for done in range(every, steps + 1, every):
        sim.step(every)
        c = sim.agents.by_id()
        birds = c.kind == PREY if isinstance(c, HuntColumns) else slice(None)
        x, y, vx, vy = (column[birds].astype(np.float64) for column in (c.x, c.y, c.vx, c.vy))
        flocks.append(flocks_of(x, y, settings.sight or float(sim.terrain.walls.tile)))
        looks.append(look(sim, x, y, vx, vy, flocks[-1]))
        tell(done)
    changes = [splits_and_merges(before, now) for before, now in pairwise(flocks) if len(before) == len(now)]
    return looks, sum(split for split, _ in changes), sum(merged for _, merged in changes)


def table(looks: Sequence[Look], splits: int, merges: int) -> str:
    """A line for each figure: mean, least and most of the looks."""
    def row(text: str, name: str, form: str) -> tuple[str, ...]:
        values = [look[name] for look in looks]
        return text, *(format(value, form) for value in (float(np.mean(values)), min(values), max(values)))
    rows = [("", "mean", "least", "most"), row("local order", "order", ".3f"),
            row(f"share of the birds in the densest {DENSEST:.0%} of the tiles", "densest", ".1%"),
            row("strays", "strays", ".1%"), row("flocks", "flocks", ".1f"),
            row("share of the birds in the largest", "largest", ".1%")]
    return f"{aligned(rows)}\n\nflocks that came apart: {splits}; that came together: {merges}"
