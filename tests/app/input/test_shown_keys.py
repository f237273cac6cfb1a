"""The program shows the keys of the present layout, and does without any."""

from __future__ import annotations

import pygame
import pytest
from driven import Driven
from layouts import keyboard

from crowd_demo.app.screen.window import close_window
from crowd_demo.cli import main
from crowd_demo.config.keys import ACTIONS


def test_another_layout_changes_what_keys_are_called_and_how_they_are_shown(
        driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    assert driven.program.menus.keys["pan_up"] == ("w", "up")
    monkeypatch.setattr("crowd_demo.app.input.keyboard.present_layout", lambda: keyboard("fr").types)
    driven.post(pygame.KEYMAPCHANGED)
    assert driven.program.menus.keys["pan_up"] == driven.loop.presenter.hud.keys["pan_up"] == ("z", "up")
    driven.press("f1")
    view = driven.status().view
    assert view and ("move the camera up", "Z  Up") in [(row.text, row.detail) for row in view.rows]
    assert driven.loop.events.keys.keyboard.types == keyboard("fr").types


def test_nothing_needs_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    nothing = [f"keys.{action}=null" for action in ACTIONS]
    driven = Driven(*nothing)
    driven.program.menus.open_keys()
    driven.program.menus.open_main()
    for _ in range(2):
        driven.frames()
        driven.program.act("hud")
    assert not any(driven.program.menus.keys.values())
    close_window()
    assert main(["--list-keys", *(word for each in nothing for word in ("--set", each))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines if line.startswith(" ")} == {"-"}
