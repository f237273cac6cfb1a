"""Esc closes what is open, then asks once; what answers, and what never asks."""

from __future__ import annotations

import pygame
import pytest
from driven import Driven

from crowd_demo.app.dialogs.dialog import PATIENCE_S, Question


def is_asking(driven: Driven) -> bool:
    """Is there a question to which Esc says yes?"""
    return isinstance(driven.program.dialogs.top, Question)


@pytest.mark.parametrize("answer", ["escape", "return", "enter"])
def test_esc_closes_what_is_open_then_asks_and_esc_or_enter_leave(driven: Driven, answer: str) -> None:
    driven.keys("f1", "escape")
    assert not driven.program.dialogs.top
    driven.keys("f6", "escape")
    assert not driven.program.inspector.active and not driven.program.dialogs.top
    driven.press("escape")
    assert is_asking(driven) and driven.program.running
    driven.press(answer)
    assert not driven.program.running


def test_another_key_goes_on_and_does_nothing_else(driven: Driven) -> None:
    driven.keys("escape", "left shift")
    assert is_asking(driven)
    driven.press("space")
    assert driven.program.running and not is_asking(driven) and not driven.program.crowd.paused
    driven.press("escape")
    assert is_asking(driven)


@pytest.mark.parametrize(("row", "leaves"), [("0", True), ("1", False), ("", False)])
def test_a_click_on_an_answer_gives_it_and_one_elsewhere_goes_on(driven: Driven, row: str, leaves: bool) -> None:
    driven.press("escape")
    driven.drag(driven.find("row", row) if row else driven.find())
    assert not is_asking(driven) and driven.program.running is not leaves


def test_a_question_without_an_answer_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("crowd_demo.app.dialogs.dialog.time.monotonic", lambda: now)
    question = Question("Leave?", ("leave", "go on"), lambda: None)
    question.view()
    now += PATIENCE_S * 0.9
    question.view()
    assert not question.closed
    now += PATIENCE_S * 0.2
    question.view()
    assert question.closed


@pytest.mark.parametrize("key", ["`", "ctrl+u"])
def test_another_key_for_quitting_asks_and_confirms_too(key: str) -> None:
    driven = Driven(f"keys.quit={key}")
    mod = pygame.KMOD_LCTRL if "+" in key else 0
    driven.press(key[-1], mod)
    assert is_asking(driven)
    driven.press(key[-1], mod)
    assert not driven.program.running


def test_a_run_of_a_number_of_frames_never_asks() -> None:
    driven = Driven(frames=100)
    driven.press("escape")
    assert not driven.program.running
