"""Many agents come and leave in slices between frames, with progress; Esc stops, and memory is estimated first."""

from __future__ import annotations

import time

import numpy as np
import pytest
from driven import Driven

from crowd_demo.app.crowd import crowd_controls
from crowd_demo.config import memory
from crowd_demo.config.loader import load_config
from crowd_demo.sim.actions import Populate
from crowd_demo.sim.newcomers import _distinct
from crowd_demo.sim.simulation import Simulation


@pytest.fixture
def sliced(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> Driven:
    monkeypatch.setattr(crowd_controls, "SLICE", 40)
    monkeypatch.setattr(crowd_controls, "SLICE_S", 0.0)  # the machine is slow: the least slice, of 10
    driven.program.controls._slice = 40
    return driven


def type_agents(driven: Driven, text: str) -> None:
    driven.program.type_agents()
    driven.keys(*text, "return")


def test_agents_come_in_slices_with_progress_and_one_undo(sliced: Driven) -> None:
    type_agents(sliced, "300")
    seen = [sliced.program.sim.agents.count]
    while seen[-1] < 300:
        assert sliced.status().notices[-1] == f"{seen[-1]:,} of 300 agents: Esc stops" or seen[-1] == 200
        sliced.frames()
        seen.append(sliced.program.sim.agents.count)
    assert len(seen) > 6 and (np.diff(seen) <= 40).all()
    assert sliced.status().notices[-1] == "300 of 300 agents" and sliced.program.crowd.agents_asked == 300
    assert [action.count for _, action in sliced.program.sim.history if isinstance(action, Populate)][-1] == 300
    sliced.press("z", 64)
    sliced.frames(2)
    assert sliced.program.sim.agents.count == 200 == sliced.program.crowd.agents_asked
    type_agents(sliced, "0")
    sliced.frames(40)
    assert sliced.program.sim.agents.count == 0


def test_escape_stops_it_and_asks_nothing(sliced: Driven) -> None:
    type_agents(sliced, "3000")
    sliced.frames(3)
    sliced.press("escape")
    count = sliced.program.sim.agents.count
    sliced.frames(5)
    assert 200 < count < 300 and sliced.program.sim.agents.count == count == sliced.program.crowd.agents_asked
    assert sliced.program.dialogs.top is None and f"stopped at {count} agents" in sliced.status().notices
    sliced.press("escape")
    assert sliced.program.dialogs.top is not None, "nothing is left to stop"


def test_memory_is_estimated_before_anybody_comes(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 50 << 20)
    type_agents(driven, "3400000")
    driven.frames(3)
    assert driven.program.sim.agents.count == 200 == driven.program.crowd.agents_asked
    assert any("3,400,000 agents: needs about" in notice for notice in driven.status().notices)


def test_links_of_a_million_agents_are_sorted_in_seconds() -> None:
    """NumPy's hash table of ids in a row took minutes."""
    ids = np.arange(1_000_000, dtype=np.int32)
    start_s = time.perf_counter()
    found = _distinct(np.concatenate((ids, ids + np.int32(1))))
    assert time.perf_counter() - start_s < 30 and (found == np.arange(1_000_001)).all()
    config = load_config("rope", ["agents=400"])
    at_once, in_slices = Simulation(config), Simulation(config)
    at_once.populate(900)
    for count in range(450, 901, 50):
        in_slices.populate(count)
    order = [np.lexsort(sim.links.ends.T) for sim in (at_once, in_slices)]
    assert (at_once.links.ends[order[0]] == in_slices.links.ends[order[1]]).all()
    assert at_once.state_hash() == in_slices.state_hash()
