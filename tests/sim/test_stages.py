"""The list of stages: what runs in a step, and what a picture needs beforehand."""

from __future__ import annotations

import gc
import weakref

import pytest
from crowds import BIRTHS_AND_DEATHS, CROWD, CROWDS, FLOCK, ROPE, simulation

from crowd_demo.compute.jit import compile_launches, is_compiled


def test_a_stale_grid_is_rebuilt_before_a_picture_only_where_cells_are_culled() -> None:
    sim = simulation(**FLOCK)
    sim.grid.outdated()
    sim.optimizations.cull = "agents"
    sim.prepare_picture()
    assert not sim.grid.fresh
    sim.optimizations.cull = "grid"
    sim.prepare_picture()
    assert sim.grid.fresh


def test_the_ends_of_links_are_looked_up_before_a_picture() -> None:
    sim = simulation(**ROPE)
    sim.step()
    sim.populate(100)
    assert not sim.links.fresh
    sim.prepare_picture()
    assert sim.links.fresh


def test_the_calls_of_a_twin_are_those_of_a_step() -> None:
    twin, sim = simulation(**CROWD), simulation(**CROWD)
    launches = list(twin.launches_to_compile())
    compile_launches(launches)
    sim.step()
    assert all(is_compiled(launch) for launch in launches)
    assert {"interact_lanes", "move_lanes", "check_sight", "take_headings"} <= {launch.name for launch in launches}


# --- a crowd that nobody refers to -----------------------------------------------------------------------------------

EACH = {**CROWDS, "rope": ROPE, "births and deaths": {**FLOCK, **BIRTHS_AND_DEATHS}}


@pytest.mark.parametrize("name", EACH)
def test_a_crowd_goes_with_its_last_reference(name: str) -> None:
    sim = simulation(**EACH[name])
    sim.step()
    sim.prepare_picture()
    gc.disable()
    try:
        left = [weakref.ref(each) for each in (sim, sim, sim.agents, sim.agents.front)]
        del sim
        assert [each() for each in left] == [None] * len(left)
    finally:
        gc.enable()
