"""Which flow fields a step makes: those that its agents read, when they first read them; and nothing depends on it."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from crowds import CROWD, simulation
from terrains import make_fields

from crowd_demo.sim.behaviours.wayfinding import MakeFlowFields
from crowd_demo.sim.simulation import Simulation

MANY = {**CROWD, "agents": 40, "crowd__destinations": 64}


def readers(sim: Simulation) -> tuple[set[int], set[int]]:
    """The destinations whose fields the next step reads at least, and at most: before *sight*, who might find its goal."""
    columns: Any = sim.agents.by_id()
    phase = columns.id + sim.tick
    blind = (phase % sim.optimizations.stagger.paths == 0) & (columns.sees == 0)
    looks = phase % sim.optimizations.stagger.sight == 0
    return set(columns.goal[blind & ~looks].tolist()), set(columns.goal[blind].tolist())


@pytest.mark.parametrize("threads", [1, 2, 64])
def test_a_step_makes_the_fields_that_are_read_and_no_others(threads: int) -> None:
    sim = simulation(**MANY, optimizations__threads=threads, optimizations__stagger__sight=16)
    made: set[int] = set()
    for _ in range(12):
        least, most = readers(sim)
        sim.step()
        before, made = made, set(np.flatnonzero(sim.world.flow_fields.made).tolist())
        assert before | least <= made <= before | most
    assert 1 < len(made) < 64


def test_it_does_not_matter_when_fields_are_made() -> None:
    sim = simulation(**CROWD)
    early, again = copy.deepcopy(sim), copy.deepcopy(sim)
    make_fields(early.world.flow_fields, early.terrain)
    for _ in range(40):
        again.world.flow_fields.made[:] = 0
        for each in (sim, early, again):
            each.step()
    assert sim.world.flow_fields.made.any()
    assert sim.state_hash() == early.state_hash() == again.state_hash()


def test_when_all_fields_are_made_nobody_is_asked_any_more() -> None:
    sim = simulation(**CROWD)
    make = next(stage for stage in sim.stages if isinstance(stage, MakeFlowFields))
    assert make.wanted(sim.world)
    make_fields(sim.world.flow_fields, sim.terrain)
    assert not make.wanted(sim.world)
    sim.set_walls((1, 1, 3, 2), True)
    assert make.wanted(sim.world)
