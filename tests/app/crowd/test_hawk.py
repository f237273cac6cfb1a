"""The hawk under the pointer."""

from __future__ import annotations

from typing import Any

import pygame
import pytest
from driven import Driven

from crowd_demo.app.screen.window import close_window
from crowd_demo.sim.actions import Place

HUNT = ("behaviour=hunt", "hunt.predators=1", "hunt.predator_speed_max=100", "world.width=640", "world.height=360")


@pytest.fixture
def hunting() -> Any:
    yield Driven(*HUNT)
    close_window()


def place_of_the_hawk(driven: Driven) -> tuple[float, float]:
    agents: Any = driven.program.sim.agents.by_id()
    return float(agents.x[0]), float(agents.y[0])


def test_it_is_where_the_pointer_is_until_it_hunts_by_itself_again(hunting: Driven) -> None:
    program = hunting.program
    hunting.press("h", pygame.KMOD_LCTRL)
    for pixel in ((200, 100), (400, 300)):
        hunting.post(pygame.MOUSEMOTION, pos=pixel, rel=(0, 0), buttons=(0, 0, 0))
        hunting.frames(3)
        assert place_of_the_hawk(hunting) == pytest.approx(program.camera.screen_to_world(*pixel), abs=2)
    assert "the hawk follows the pointer" in hunting.status().notices
    hunting.press("h", pygame.KMOD_LCTRL)
    led = len(program.sim.history)
    hunting.frames(30)
    assert len(program.sim.history) == led and isinstance(program.sim.history[-1][1], Place)


def test_it_stays_where_it_is_while_time_stands_still_and_in_the_past_it_flies_as_it_did(hunting: Driven) -> None:
    program = hunting.program
    hunting.press("space")
    hunting.press("h", pygame.KMOD_LCTRL)
    hunting.frames(3)
    assert not program.sim.history
    hunting.press("space")
    hunting.frames(10)
    newest, program.crowd.paused = program.sim.tick, True
    hunting.press("backspace")
    hunting.press("backspace")
    assert program.sim.tick == newest - 2
    hunting.press("space")
    assert program.crowd.timeline.newest == newest and program.sim.tick == newest - 1


def test_without_predators_it_says_so(driven: Driven) -> None:
    driven.press("h", pygame.KMOD_LCTRL)
    driven.frames(2)
    assert "there is no hawk here: F2 opens murmuration" in driven.status().notices
    assert not driven.program.sim.history
