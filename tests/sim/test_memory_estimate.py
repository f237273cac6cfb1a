"""The estimate of memory against what the arrays of a simulation take at most; and that nothing adds more agents than fit."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from crowds import open_world, simulation
from terrains import all_fields

from crowd_demo.config import memory
from crowd_demo.config.maps import FLOOR, MapData
from crowd_demo.config.memory import AGENT, FIELD_TILE, MAKING_TILE, TILE, agent_bytes
from crowd_demo.registry import texts
from crowd_demo.sim.actions import Populate
from crowd_demo.sim.edits import BringIn, PutBack
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.flow_fields import FlowFields
from crowd_demo.sim.terrain.ground import WallField, ground_of
from crowd_demo.sim.terrain.tiles import Terrain


@pytest.mark.parametrize("name", ["1k", "20k-flock", "crates", "rope", "cloth", "column"])
def test_agents_take_what_is_estimated(name: str) -> None:
    side = {"map": "null", "world__width": 6000, "world__height": 6000}
    simulation(name, agents=10, **side).step()  # compiled now
    tracemalloc.start()
    sim = simulation(name, agents=200_000, **side, steps=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert AGENT / 2 < peak / 200_000 < agent_bytes(sim.config)


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


ADDED: dict[str, Callable[[Simulation, int], object]] = {
    "populate": lambda sim, count: sim.populate(count),
    "action": lambda sim, count: sim.apply(Populate(count)),
    "bring_in": lambda sim, count: sim.apply(BringIn(count, 250.0, 200.0, 90.0)),
    "put_back": lambda sim, count: sim.apply(PutBack(count, "", ())),
    "crowd": lambda sim, count: Simulation(sim.config.model_copy(update={"agents": count})),
}


@pytest.mark.parametrize("way", ADDED)
def test_no_more_agents_come_than_there_may_be_or_than_fit_into_memory(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sim = simulation("rope", agents=50, links__length=5, **open_world(500, 400))
    before = sim.state_hash()
    for count in (32_000_001, 2**31, 10**12):
        with pytest.raises(ValueError, match=r"agents are too many: at most 32,000,000|from 0 to 32000000, not "):
            ADDED[way](sim, count)
    monkeypatch.setattr(memory, "available_bytes", lambda: 2000 * AGENT)  # enough without links
    with pytest.raises(ValueError, match=r"^1,[89]\d\d agents: needs about 0 MB of memory, and 0 MB are free$"):
        ADDED[way](sim, 1850)
    assert sim.state_hash() == before and sim.agents.count == 50 and not sim.history


def test_births_stop_where_memory_ends(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(texts, "_said", set())
    sim = simulation("20k-flock", agents=20, life__births_per_s=600)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1)
    room = sim.agents.capacity
    sim.populate(room)
    sim.step(3)
    assert sim.agents.count == room
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"crowd-demo: births stop: {room + 10} agents: needs about 0 MB")
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    sim.step()
    assert sim.agents.count == room + 10


def test_the_part_of_an_event_that_does_not_fit_is_left_out_and_said(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(texts, "_said", set())
    sim = simulation("20k-flock", agents=20, events="[{tick: 1, do: {agents: 5000000, set: {flock.sight: 9}}}]")
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 30)
    assert sim.play(3) == 3 and sim.agents.count == 20 and sim.settings.flock.sight == 9
    said = "5,000,000 agents: needs about 1,668 MB of memory, and 1,024 MB are free"
    assert sim.events.impossible == [said]
    assert capsys.readouterr().err == f"crowd-demo: events.0: a part was left out: {said}\n"
