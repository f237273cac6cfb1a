"""The process that runs the whole program without a window tells what is asked of it."""

from __future__ import annotations

from targets.app import asked


def test_keys_are_pressed_and_each_answer_is_timed() -> None:
    found = asked("keys", "1k", "agents=50", frames=120)
    assert len(found["frame_ms"]) == 120
    assert found["waited_ms"] and min(found["waited_ms"]) > 0
