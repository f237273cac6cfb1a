"""Crowding: what it costs to step into a tile, by how many people are on it; so ways to a destination lead around crowds.

Now and then everybody is counted by tiles, which makes a new set of prices, and the one before is kept. Fields change over to
the new set in turn, spread over the time until the next count, so no single step has to make them all. Which set a field goes
by follows from the tick. So the two sets are all that a crowd has to remember: a snapshot has them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bools, Bytes, Floats, Ints
from crowd_demo.compute.jit import Launch, device, launch
from crowd_demo.config.section import UNITS_A_METRE
from crowd_demo.sim.terrain.tiles import Terrain, Walls, tile_at

PLAIN = 8  # the price of an empty tile
DEAREST = 255
STRAIGHT, DIAGONAL = 5, 7  # times the price of the tile that a step leads to
LONGEST = DIAGONAL * DEAREST  # the most that a step costs
TILES_A_STEP = 8192  # of flow fields: so many are made again in a step, on the mean
OLD, NEW = range(2)


class Prices(NamedTuple):
    """What flow fields go by, for kernels."""

    tiles: Bytes  # [2, H, W]: of the count before the last one, and of the last one
    chosen: Bytes  # [D]: OLD or NEW


class Crowding:
    """The prices of a terrain's tiles. In each step, run `launches`, then `keep`."""

    def __init__(self, terrain: Terrain, detour: float = 0.0, every: int = 1) -> None:
        """`detour` is for one person to a square metre; `every` is in steps, and longer where the fields are large."""
        fields, tiles, walls = len(terrain.destinations), terrain.blocked.size, terrain.walls
        self.active = detour > 0
        self.every = max(every, math.ceil(fields * tiles / TILES_A_STEP), 1)
        self._turns = self._first_turns = np.arange(fields) * self.every // max(fields, 1)  # steps after a count
        self._density = (UNITS_A_METRE / float(walls.tile)) * (UNITS_A_METRE / float(walls.tile))  # of one person on a tile
        self.set_detour(detour)
        self.most = np.float32(min(DEAREST, (2**31 - 1) // (DIAGONAL * tiles)) - PLAIN)  # no way costs 2^31
        self._tiles = self._next = np.full((2, terrain.rows, terrain.columns), PLAIN, np.uint8)
        self._began_empty = True
        self.counts = np.zeros(tiles if self.active else 0, np.int32)  # people of each tile, before prices are set; else 0

    def resize(self, fields: int) -> None:
        """Have so many fields; those beyond the first ones go by a count at once."""
        first = self._first_turns[:fields]
        self._turns = np.concatenate((first, np.zeros(fields - len(first), first.dtype)))

    def set_detour(self, detour: float) -> None:
        """Price crowds by another detour from the next count on; whether there is any is decided at the start."""
        self.dearer = np.float32(PLAIN * detour * (self._density * self._density))

    @property
    def state(self) -> Bytes:
        """What later steps depend on; nobody writes into it."""
        return self._tiles if self.active else self._tiles[:0]

    @state.setter
    def state(self, tiles: Bytes) -> None:
        if self.active:
            self._tiles = self._next = np.require(tiles, requirements="W")  # kernels are compiled for such arrays
            self._began_empty = bool((tiles == PLAIN).all())

    def allows(self, state: Bytes) -> bool:
        return state.shape == self.state.shape and bool(((state >= PLAIN) & (state <= PLAIN + self.most)).all())

    def prices(self, tick: int) -> Prices:
        return Prices(self._tiles, (tick % self.every >= self._turns).view(np.uint8))

    def empty(self, tick: int) -> int:
        """Return how many sets of prices, OLD first, are those of an empty world."""
        return int(self._began_empty and tick < self.every) if self.active else 2

    def outdated(self, tick: int) -> Bools:
        """Which fields change over to the new prices in this step."""
        changes: Bools = self._turns == tick % self.every
        return changes

    def next_outdated(self, tick: int) -> int | None:
        """Return the next field to take the prices of the last count; None if another count comes before."""
        return next((goal for goal, turn in enumerate(self._turns.tolist()) if turn >= (tick % self.every or math.inf)), None)

    def is_due(self, tick: int) -> bool:
        return tick % self.every == 0

    def launches(self, tick: int, x: Floats, y: Floats, agents: int, walls: Walls) -> tuple[Launch, ...]:
        """Return the function that counts and sets new prices, when it is time; it adds to what `counts` has already."""
        due = self.is_due(tick)
        if due:
            self._next = np.stack([self._tiles[NEW], self._tiles[NEW]])
        return (launch(set_prices, due, x, y, agents, walls, self.dearer, self.most, self.counts, self._next),)

    def keep(self) -> None:
        self._tiles = self._next


@device
def set_prices(due: bool, x: Floats, y: Floats, agents: int, walls: Walls, dearer: np.float32, most: np.float32, counts: Ints,
               tiles: Bytes) -> None:
    """Set the new prices, tiles[NEW], if it is due; counts int32[H * W] is 0 before and after."""
    if not due:
        return
    columns, prices = tiles.shape[2], tiles[NEW].reshape(-1)
    for slot in range(agents):
        column, row = tile_at(walls, x[slot], y[slot])
        counts[row * columns + column] += 1
    for tile in range(counts.size):
        people = np.float32(counts[tile])
        prices[tile] = PLAIN + int(min(people * people * dearer, most))
        counts[tile] = 0
