"""The estimate of memory against what the arrays of a simulation take at most, while it is built and makes a step."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from crowds import simulation
from terrains import all_fields

from crowd_demo.config.maps import FLOOR, MapData
from crowd_demo.config.memory import AGENT, FIELD_TILE, MAKING_TILE, TILE
from crowd_demo.sim.terrain.flow_fields import FlowFields
from crowd_demo.sim.terrain.ground import WallField, ground_of
from crowd_demo.sim.terrain.tiles import Terrain


@pytest.mark.parametrize("name", ["1k", "20k-flock", "crates"])
def test_agents_take_what_is_estimated(name: str) -> None:
    side = {"map": "null", "world__width": 6000, "world__height": 6000}
    simulation(name, agents=10, **side).step()  # compiled now
    tracemalloc.start()
    simulation(name, agents=200_000, **side).step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert AGENT / 2 < peak / 200_000 < AGENT


def test_tiles_and_fields_take_what_is_estimated() -> None:
    side, workers = 512, 3
    data = MapData(np.full((side, side), FLOOR, np.uint8), np.full((side, side), -1, np.int16), "")
    all_fields(Terrain(data, 512, 512, count=1))  # compiled now
    tracemalloc.start()
    terrain = Terrain(data, 512, 512, count=5)
    field = WallField(terrain, 10)
    field.rebuild(terrain)
    ground = ground_of(terrain, 1.0, field)
    peak, before = tracemalloc.get_traced_memory()[1], tracemalloc.get_traced_memory()[0]
    fields = FlowFields(terrain, workers)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert ground.columns == side and not fields.made.all()
    assert TILE / 2 < peak / side**2 < TILE * 1.3
    assert after - before == pytest.approx((5 * FIELD_TILE + workers * MAKING_TILE) * side**2, rel=0.02)
