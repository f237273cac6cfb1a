"""Esc closes what is open, then asks once; what answers, and what never asks."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import pygame
import pytest
from driven import Driven

from crowd_demo.app.dialogs.dialog import PATIENCE_S, Question


def escape_later(after_s: float, times: int = 1) -> None:
    """Press Esc while a step takes long."""
    for _ in range(times):
        event = pygame.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE, mod=0)
        threading.Timer(after_s, pygame.event.post, (event,)).start()


def is_asking(driven: Driven) -> bool:
    """Is there a question to which Esc says yes?"""
    return isinstance(driven.program.dialogs.top, Question)


@pytest.mark.parametrize("answer", ["escape", "return", "enter"])
def test_esc_closes_what_is_open_then_asks_and_esc_or_enter_leave(driven: Driven, answer: str) -> None:
    driven.keys("f1", "escape")
    assert not driven.program.dialogs.top
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


@pytest.mark.parametrize("key", ["`", "ctrl+j"])
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


def test_in_a_long_step_one_esc_asks_at_once(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    may_go_on = threading.Event()
    monkeypatch.setattr(driven.program.sim, "step", lambda: may_go_on.wait(10))
    asked: list[bool] = []
    show = pygame.display.flip

    def flip() -> None:
        show()
        asked.append(is_asking(driven))
        may_go_on.set()
    monkeypatch.setattr(pygame.display, "flip", flip)
    escape_later(0.3)
    driven.frames()
    assert asked == [True, True], "in the middle of the step, and at the end of the frame"
    assert driven.program.running


def test_a_report_waits_for_the_frame_as_long_as_frames_take(
        driven: Driven, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a busy machine that may be seconds."""
    monkeypatch.setattr("crowd_demo.app.loop.GRACE_S", 0.01)
    monkeypatch.setattr(driven.program.sim, "step", lambda: time.sleep(0.6))
    driven.loop.options = replace(driven.loop.options, report=tmp_path / "report.json")
    driven.frames(2)
    escape_later(0.2, 2)
    driven.frames()
    assert not driven.program.running and not driven.loop.abandoned


@pytest.mark.parametrize("asked_before", [True, False])
def test_in_a_long_step_esc_confirms(driven: Driven, monkeypatch: pytest.MonkeyPatch, asked_before: bool) -> None:
    monkeypatch.setattr("crowd_demo.app.loop.GRACE_S", 0.1)
    if asked_before:
        driven.press("escape")
    may_go_on = threading.Event()
    monkeypatch.setattr(driven.program.sim, "step", lambda: may_go_on.wait(10))
    escape_later(0.3, 1 if asked_before else 2)
    driven.frames()
    assert driven.loop.abandoned and not driven.program.running
    may_go_on.set()
