"""The process that runs the whole program without a window tells what is asked of it."""

from __future__ import annotations

from targets import asked

from crowd_demo.registry.built_in import COLOURS, OVERLAYS


def test_keys_are_pressed_and_each_answer_is_timed() -> None:
    found = asked("keys", "1k", "agents=50", frames=120)
    assert len(found["frame_ms"]) == 120
    assert found["waited_ms"] and min(found["waited_ms"]) > 0


def test_each_colour_mode_and_each_overlay_takes_its_turn() -> None:
    modes = asked("colours", "1k", "agents=50", frames=16)
    overlays = asked("overlays", "1k", "agents=50", frames=16)
    assert set(modes) == {"", *COLOURS} - {"looks"} and set(overlays) == {"", *OVERLAYS}
    assert all(len(blocks) == 2 and min(blocks) > 0 for blocks in (*modes.values(), *overlays.values()))
