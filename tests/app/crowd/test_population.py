"""Many agents come and leave in slices between frames, with progress; Esc stops, and memory is estimated first."""

from __future__ import annotations

import numpy as np
import pytest
from driven import Driven

from crowd_demo.app.crowd import crowd_controls
from crowd_demo.config import memory
from crowd_demo.sim.actions import Populate


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
