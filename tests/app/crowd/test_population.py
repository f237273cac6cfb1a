"""Many agents come and leave in slices between frames, and the hawk is under the pointer."""

from typing import Any

import numpy as np
import pygame
import pytest
from driven import Driven

from crowd_demo.app import controls
from crowd_demo.app.screen import close_window
from crowd_demo.config import memory
from crowd_demo.sim.actions import Place, Populate


@pytest.fixture
def sliced(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> Driven:
    monkeypatch.setattr(controls, "SLICE", 40)
    monkeypatch.setattr(controls, "SLICE_S", 0.0)  # the machine is slow: the least slice, of 10
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
    sliced.press("z", 64, frames=3)
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


# --- The hawk under the pointer --------------------------------------------------------------------------------------

HUNT = ("behaviour=hunt", "hunt.predators=1", "hunt.predator_speed_max=100", "world.width=640", "world.height=360")


@pytest.fixture
def hunting() -> Any:
    yield Driven(*HUNT)
    close_window()


def test_it_is_where_the_pointer_is_until_it_hunts_by_itself_again(hunting: Driven) -> None:
    program = hunting.program
    hunting.press("h", pygame.KMOD_LCTRL)
    for pixel in ((200, 100), (400, 300)):
        hunting.post(pygame.MOUSEMOTION, pos=pixel, rel=(0, 0), buttons=(0, 0, 0))
        hunting.frames(3)
        hawk: Any = program.sim.agents.by_id()
        assert (hawk.x[0], hawk.y[0]) == pytest.approx(program.camera.screen_to_world(*pixel), abs=2)
    assert "the hawk follows the pointer" in hunting.status().notices
    hunting.press("h", pygame.KMOD_LCTRL)
    led = len(program.sim.history)
    hunting.frames(30)
    assert len(program.sim.history) == led and isinstance(program.sim.history[-1][1], Place)


def test_without_predators_it_says_so(driven: Driven) -> None:
    driven.press("h", pygame.KMOD_LCTRL, frames=3)
    assert "there is no hawk here: F2 opens murmuration" in driven.status().notices
    assert not driven.program.sim.history
