"""Ways: areas and flow fields follow an edit of the walls at a fixed number of tiles a step (docs/model.md, "Ways").

A *round* takes the walls as they are in its first step. In each of its steps TILES_A_STEP tiles of work are done: first the
areas are claimed, row by row; once that is done they hold, and then one field after the other goes by the new walls. Until its
turn a field stays as it was. Walls that change meanwhile wait for the next round. So what a field goes by follows from the
walls before the round, those of the round and its age: all that a snapshot needs. While nobody edits there is no round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Bytes, Floats
from crowd_demo.compute.jit import Launch
from crowd_demo.sim.state_part import EMPTY, PartState
from crowd_demo.sim.terrain.areas import Areas, Layout
from crowd_demo.sim.terrain.crowding import Prices
from crowd_demo.sim.terrain.flow_fields import FlowFields
from crowd_demo.sim.terrain.tiles import Terrain

TILES_A_STEP = 65_536  # a tile of a field takes about 30 ns, so this is 2 ms; and whole small maps follow in one step
CLAIMED = 4  # to test this many destinations for a tile takes as long as a tile of a field


class Ways:
    """A part of the state: the walls that areas and fields go by. `new` takes the place of `old`; mostly they are one."""

    name = "ways"

    def __init__(self, terrain: Terrain, fields: FlowFields, radius_sq: Floats) -> None:
        self.fields = fields
        self._terrain, self._radius_sq = terrain, radius_sq
        self.old = self.new = self._begun = self._layout(terrain.blocked).finished()
        self.age = 0  # steps of the round so far
        self._seen = terrain.version  # whose walls were those of `new`

    # --- the rule ----------------------------------------------------------------------------------------------------

    @property
    def waits(self) -> bool:
        """Is there anything that does not go by the present walls yet?"""
        if self.new is self.old and self._seen != self._terrain.version and self.new.is_of(self._terrain.blocked):
            self._seen = self._terrain.version
        return self.new is not self.old or self._seen != self._terrain.version

    @property
    def areas(self) -> Areas:
        """Those that hold."""
        return (self.new if self._rows(self.age) == self._terrain.rows else self.old).areas

    @property
    def following(self) -> int:
        """How many fields go by the walls of the round."""
        count, tiles, _ = self._sizes
        return min(max(self.age * TILES_A_STEP - self._area_work, 0) // tiles, count)

    @property
    def _sizes(self) -> tuple[int, int, int]:
        """Fields, tiles, and the work of a row of the areas."""
        count, columns = len(self.fields.made), self._terrain.columns
        return count, self._terrain.rows * columns, max(columns * count // CLAIMED, 1)

    @property
    def _area_work(self) -> int:
        return self._terrain.rows * self._sizes[2]

    @property
    def steps(self) -> int:
        """How many a round takes."""
        count, tiles, _ = self._sizes
        return -(-(self._area_work + count * tiles) // TILES_A_STEP)

    def _rows(self, age: int) -> int:
        """How many rows of the round's areas are claimed."""
        return min(age * TILES_A_STEP // self._sizes[2], self._terrain.rows)

    # --- a step ------------------------------------------------------------------------------------------------------

    def launches(self) -> tuple[Launch, ...]:
        """Return what does the work of a step, if something waits; then call `advance`."""
        self._begun = self._layout(self._terrain.blocked) if self.new is self.old else self.new
        return self._begun.launches(self._rows(self.age), self._rows(self.age + 1))

    def advance(self) -> None:
        """Call after it has run."""
        if self.new is self.old:
            self._seen = self._terrain.version
        self.new, self.age = self._begun, self.age + 1
        self.new.claimed = max(self.new.claimed, self._rows(self.age))
        self._turn_fields()
        if self.age >= self.steps:
            self.old, self.age = self.new, 0
            self.fields.chosen[:] = 0

    def launches_of_fields(self, prices: Prices, workers: int) -> tuple[Launch, ...]:
        """Return the kernels that make the fields that are asked for; without a round one."""
        layouts = (self.old,) if self.new is self.old else (self.old, self.new)
        return self.fields.launches([(layout.targets, layout.steps) for layout in layouts], prices, workers)

    def _turn_fields(self) -> None:
        """Have the first fields go by the new walls; those that change are made again when they are asked for."""
        turned = np.arange(len(self.fields.chosen)) < self.following
        self.fields.made[turned != self.fields.chosen] = 0
        self.fields.chosen[:] = turned

    # --- a part of the state -----------------------------------------------------------------------------------------

    def state(self) -> PartState:
        if not self.waits:
            return EMPTY
        values: Mapping[str, object] = {"age": self.age}
        return PartState(values, {"old": self.old.bits} | ({"new": self.new.bits} if self.age else {}))

    def restore(self, state: PartState) -> None:
        terrain, kept = self._terrain, (self.old, self.new)
        walls = {name: self._known(self._unpacked(bits), kept) for name, bits in state.arrays.items()}
        old = walls["old"] if walls else self._known(terrain.blocked, kept)
        new, age = walls.get("new", old), state.values.get("age", 0)
        if new is not self.new:
            self.fields.made[:] = 0
        elif old is not self.old:
            self.fields.made[self.fields.chosen == 0] = 0
        self.old, self.new, self.age = old, new, age if isinstance(age, int) else 0
        self._seen = terrain.version if state.is_empty else -1
        self._turn_fields()

    def check(self, state: PartState) -> None:
        age, bits = state.values.get("age"), -(-self._terrain.blocked.size // 8)
        names = ["old", "new"] if age else ["old"]
        if not state.is_empty and not (
                set(state.values) == {"age"} and type(age) is int and 0 <= age < self.steps and list(state.arrays) == names
                and all(array.dtype == np.uint8 and array.shape == (bits,) for array in state.arrays.values())):
            raise ValueError("not those of this map")

    def _known(self, blocked: Bytes, kept: Sequence[Layout]) -> Layout:
        """A layout of these walls, one of those at hand if possible."""
        return next((layout for layout in kept if layout.is_of(blocked)), self._layout(blocked)).finished()

    def _unpacked(self, bits: NDArray[np.generic]) -> Bytes:
        blocked = self._terrain.blocked
        return np.unpackbits(bits.view(np.uint8), count=blocked.size).reshape(blocked.shape)

    def _layout(self, blocked: Bytes) -> Layout:
        return Layout(self._terrain, blocked, self._radius_sq)
