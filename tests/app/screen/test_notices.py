"""Notices are shown for a while, however long a frame takes."""

from __future__ import annotations

import pytest
from driven import Driven

from crowd_demo.app.screen.notices import NOTICE_S, Notices

pytestmark = pytest.mark.quick


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set."""
    now = [1000.0]
    monkeypatch.setattr("crowd_demo.app.screen.notices.time.monotonic", lambda: now[0])
    return now


def test_the_time_of_a_notice_begins_when_it_is_first_presented_or_replaced(clock: list[float]) -> None:
    notices = Notices()
    notices.add("paused", "pause")
    notices.add("saved")
    clock[0] += 100  # a frame that takes long
    assert notices.present() == ["paused", "saved"]
    clock[0] += NOTICE_S - 0.1
    notices.add("goes on", "pause")
    assert notices.present() == ["saved", "goes on"], "its time is not begun again"
    clock[0] += 0.2
    assert notices.present() == ["goes on"]


def test_a_notice_about_a_state_goes_with_it_and_does_not_go_over_to_another_crowd(clock: list[float]) -> None:
    notices, holds = Notices(), [True]
    notices.add("speed x2", "speed", holds=lambda: holds[0])
    notices.add("saved")
    assert notices.present() == ["speed x2", "saved"]
    (other := Notices()).take_over(notices)
    assert other.present() == ["saved"]
    holds[0] = False
    assert notices.present() == ["saved"]
    holds[0] = True
    assert notices.present() == ["saved"], "and does not come back"


@pytest.mark.parametrize(("says", "ends"), [
    ("faster", "slower"), ("fit", "colours"), ("record", "record"), ("card", "cull"), ("more", "fewer"), ("hawk", "")])
def test_a_notice_about_a_state_goes_with_it(driven: Driven, says: str, ends: str) -> None:
    program = driven.program
    program.cards.on = True
    program.act(says)
    if ends == "colours":
        program.seeing.show_colours("looks")
    driven.frames(2)
    said, = driven.status().notices
    if ends:
        program.act(ends)
        driven.settle()
        driven.frames(2)
    else:
        driven.open("1k")
    assert said not in driven.status().notices
