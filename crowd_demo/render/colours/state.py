"""Colours by state: walking, waiting, stuck; predators and prey; one colour where agents have no states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowd_demo.compute.arrays import Bytes, Ints
from crowd_demo.compute.jit import Call, call, kernel
from crowd_demo.config.resources import assets_folder
from crowd_demo.render.colours.base import CATEGORIES, RGB, Legend
from crowd_demo.render.figures.sprites import load_manifest, state_colours
from crowd_demo.sim.simulation import Simulation

KINDS = "prey", "predator"
NO_STATE = np.zeros(0, np.int32)


@kernel
def number_states(worker: int, workers: int, slots: Ints, state: Ints, number: Bytes) -> None:
    """0 for all if there is no column."""
    listed = slots.shape[0]
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        number[k] = state[np.uintp(slots[k])] if state.shape[0] > 0 else 0


class StateColours:
    """People have the colours that the HUD counts them by."""

    def __init__(self) -> None:
        self._known = state_colours(load_manifest(assets_folder()))

    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return [self._known.get(name, CATEGORIES[number]) for number, name in enumerate(_names(sim))]

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        columns = sim.agents.columns
        state: Ints = getattr(columns, "state", getattr(columns, "kind", NO_STATE))
        return (call(number_states, sim.world.workers, slots, state, number),)

    def legend(self, sim: Simulation) -> Legend:
        return Legend("state", tuple(self.colours(sim)), _names(sim))


def _names(sim: Simulation) -> tuple[str, ...]:
    return sim.behaviour.states or (KINDS if hasattr(sim.agents.columns, "kind") else ("agents without states",))
