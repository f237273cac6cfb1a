"""Colours by state: walking, waiting, stuck, queuing; predators and prey; one colour where agents have no states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Call
from crowd_demo.compute.simd import splat
from crowd_demo.compute.simd_memory import take
from crowd_demo.config.resources import assets_folder
from crowd_demo.render.colours.base import CATEGORIES, RGB, ColourMode, Legend
from crowd_demo.render.figures.sprites import load_manifest, state_colours
from crowd_demo.render.numbering import number_of, numbering
from crowd_demo.sim.simulation import Simulation

KINDS = "prey", "predator"


class States(NamedTuple):
    """A column by slot."""

    state: Ints


class OneState(NamedTuple):
    """Of agents that have no states."""

    number: np.int32


@implements(number_of, States)
def number_states(mode: States, slots: Int, register: Register) -> Register:
    return take(mode.state, slots)


@implements(number_of, OneState)
def number_alike(mode: OneState, slots: Int, register: Register) -> Register:
    return splat(mode.number, register)


class StateColours(ColourMode):
    """People have the colours that the HUD counts them by."""

    def __init__(self) -> None:
        self._known = state_colours(load_manifest(assets_folder()))

    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return [self._known.get(name, CATEGORIES[number]) for number, name in enumerate(_names(sim))]

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        columns = sim.agents.columns
        state: Ints | None = getattr(columns, "state", getattr(columns, "kind", None))
        mode = OneState(np.int32(0)) if state is None else States(state)
        return (numbering(sim.world.workers, slots, mode, number),)

    def legend(self, sim: Simulation) -> Legend:
        return Legend("state", tuple(self.colours(sim)), _names(sim))


def _names(sim: Simulation) -> tuple[str, ...]:
    return sim.behaviour.states or (KINDS if hasattr(sim.agents.columns, "kind") else ("agents without states",))
