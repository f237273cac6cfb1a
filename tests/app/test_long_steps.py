"""What the window does while a step takes long."""

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest
from driven import Driven

from crowd_demo.app.controls import PANELS
from crowd_demo.app.dialog import Question
from crowd_demo.app.pace import CATCH_UP_S
from crowd_demo.app.screen import blit_scaled, screen


@pytest.fixture
def may_go_on(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """What each step waits for."""
    event = threading.Event()
    monkeypatch.setattr(driven.program.sim, "step", lambda: event.wait(10))
    monkeypatch.setattr("crowd_demo.app.loop.GRACE_S", 0.1)
    return event


def later(after_s: float, *keys: str) -> None:
    """Press keys while a step takes long."""
    for key in keys:
        event = pygame.Event(pygame.KEYDOWN, key=pygame.key.key_code(key), mod=0)
        threading.Timer(after_s, pygame.event.post, (event,)).start()


@pytest.mark.parametrize(("before", "then"), [((), ("f12", "escape", "escape")), (("escape",), ("escape",))])
def test_while_a_step_takes_long_keys_are_kept_and_esc_quits(
        driven: Driven, tmp_path: Path, may_go_on: threading.Event, before: tuple[str, ...], then: tuple[str, ...]) -> None:
    may_go_on.set()
    driven.keys(*before)
    may_go_on.clear()
    later(0.3, *then)
    driven.frames()
    assert driven.loop.abandoned and not driven.program.running
    may_go_on.set()
    driven.frames()
    assert bool(driven.program.picture_path or list(tmp_path.iterdir())) == ("f12" in then)


def test_in_a_long_step_one_esc_asks_at_once(
        driven: Driven, may_go_on: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    show = pygame.display.flip

    def flip() -> None:
        show()
        asked.append(isinstance(driven.program.dialogs.top, Question))
        may_go_on.set()

    monkeypatch.setattr(pygame.display, "flip", flip)
    later(0.3, "escape")
    driven.frames()
    assert asked == [True, True], "in the middle of the step, and at the end of the frame"
    assert driven.program.running


class Slow:
    """Makes steps take long. `seen` is what the window shows at the end of each, pressed are `keys` at its beginning."""

    def __init__(self, driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[pygame.Surface] = []
        self.keys: list[int] = []
        monkeypatch.setattr(driven.program.sim, "step", self.step)
        monkeypatch.setattr("crowd_demo.render.hud.hud.REFRESH_HZ", 1e-3)

    def step(self) -> None:
        for key in self.keys:
            pygame.event.post(pygame.Event(pygame.KEYDOWN, key=key, mod=0))
        time.sleep(0.3)
        self.seen.append(screen().copy())


def changed_rows(before: pygame.Surface, after: pygame.Surface) -> Any:
    """The rows of pixels that differ."""
    return (pygame.surfarray.array2d(before) != pygame.surfarray.array2d(after)).any(axis=0).nonzero()[0]


def test_while_a_step_takes_long_a_key_for_the_crowd_is_said_to_be_noted(
        driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    driven.press("tab", pygame.KMOD_LSHIFT)
    assert driven.program.panels.now.hud == "off"
    driven.program.notices.drop(PANELS)  # that they are hidden
    driven.frames()
    before, agents, slow = screen().copy(), driven.program.sim.agents.count, Slow(driven, monkeypatch)
    slow.keys = [pygame.K_MINUS, pygame.K_F1]
    driven.frames()
    changed = changed_rows(before, slow.seen[0])
    assert len(changed) and changed.min() > before.get_height() // 2, "near the lower edge, over the last picture"
    assert changed.max() - changed.min() < 40 and not driven.program.dialogs.top, "a key after it waits for its turn"
    slow.keys = []
    driven.frames(2)
    assert driven.program.sim.agents.count < agents and driven.program.dialogs.top, "and then both are carried out"


def test_while_a_step_takes_long_the_window_obeys_at_once(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    driven.frames()
    plain, slow = screen().copy(), Slow(driven, monkeypatch)
    driven.frames()
    assert not len(changed_rows(plain, slow.seen.pop()))
    slow.keys = [pygame.K_SPACE, pygame.K_RETURN, pygame.K_DOWN]
    driven.frames()
    assert driven.program.crowd.paused
    menu: Any = driven.program.dialogs.top
    assert menu.title == "Menu" and menu.selected == 1
    assert len(changed_rows(plain, slow.seen[0])) > plain.get_height() // 2, "the menu is shown in the middle of the step"
    driven.program.crowd.steps_asked, slow.keys = 1, []
    driven.press("escape")
    assert not driven.program.dialogs.top
    assert len(changed_rows(slow.seen[0], slow.seen[1])) > plain.get_height() // 2, "pressed before the step, as well"
    driven.press("return")
    menu = driven.program.dialogs.top
    driven.program.crowd.steps_asked, slow.keys = 1, [pygame.K_RETURN]
    driven.frames()
    assert driven.program.dialogs.top is menu, "what it would do may concern the crowd, so it waits"
    driven.program.crowd.steps_asked, slow.keys = 0, []
    driven.frames()
    assert driven.program.dialogs.top is not menu


def test_while_a_step_takes_long_the_picture_follows_the_camera(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    driven.press("tab", pygame.KMOD_LSHIFT)
    driven.program.notices.drop(PANELS)
    slow = Slow(driven, monkeypatch)
    driven.frames()
    plain, x = pygame.surfarray.array2d(screen()), driven.program.camera.x
    slow.keys = [pygame.K_RIGHT]
    driven.frames()
    moved = pygame.surfarray.array2d(slow.seen[-1])
    assert driven.program.camera.x > x
    assert any((moved[:-px] == plain[px:]).all() for px in range(20, len(plain) - 20)), "in the middle of the step"


@pytest.mark.quick
@pytest.mark.parametrize(("left", "top", "factor"), [(-2, 1, 1), (-4, -2, 2), (3, 2, 1), (50, 0, 1)])
def test_a_picture_is_scaled_around_its_corner(left: int, top: int, factor: float) -> None:
    on, picture = pygame.Surface((8, 6), depth=32), pygame.Surface((8, 6), depth=32)
    before = np.arange(1, 49).reshape(8, 6)
    pygame.surfarray.blit_array(picture, before)
    blit_scaled(on, picture, left, top, factor)
    for at in np.ndindex(8, 6):
        column, row = (int((place - corner) // factor) for place, corner in zip(at, (left, top), strict=True))
        inside = 0 <= column < 8 and 0 <= row < 6
        assert pygame.surfarray.array2d(on)[at] & 0xFFFFFF == (before[column, row] if inside else 0)


def test_before_the_first_frame_the_loading_screen_stays(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    screen().fill("red")
    loading, slow = screen().copy(), Slow(driven, monkeypatch)
    slow.keys, driven.program.crowd.steps_asked = [pygame.K_SPACE], 1
    driven.frames()
    assert not len(changed_rows(loading, slow.seen[0])) and driven.program.crowd.paused
    assert len(changed_rows(loading, screen()))


def test_a_long_step_is_all_that_a_frame_makes_and_told_in_the_title(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    titles: list[str] = []

    def step() -> None:
        time.sleep(max(0.4, CATCH_UP_S * 1.1))
        titles.append(pygame.display.get_caption()[0])

    monkeypatch.setattr(driven.program.sim, "step", step)
    driven.program.crowd.steps_asked = 5
    driven.frames()
    assert titles == [f"{driven.config.window.title} - a step takes long"]
    assert pygame.display.get_caption()[0] == driven.config.window.title
