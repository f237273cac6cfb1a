"""Two crowds side by side in the program: the line, what is right of it, and that the first crowd stays as it is."""

from __future__ import annotations

import pygame
from driven import Driven

from crowd_demo.app.seeing.side_by_side import other_value
from crowd_demo.registry.techniques import BY_PATH


def test_a_key_splits_the_window_and_the_crowd_is_what_it_would_be_alone() -> None:
    hashes = []
    for split in (False, True):
        driven = Driven()
        driven.program.techniques.touched = "stagger.avoidance"
        if split:
            driven.press("\\")
        driven.frames(12 - driven.program.sim.tick)
        hashes.append(driven.program.sim.state_hash())
        if split:
            second = driven.program.split.second
            assert second and second.sim and second.sim.tick == driven.program.sim.tick == 12
            assert second.sim.optimizations.stagger.avoidance != driven.program.sim.optimizations.stagger.avoidance
            driven.press("\\")
            assert driven.program.split.second is None
    assert hashes[0] == hashes[1]


def test_the_line_follows_the_mouse_and_the_ground_does_not(driven: Driven) -> None:
    driven.press("tab")
    driven.press("tab")
    driven.press("\\")
    camera, split = driven.program.camera, driven.program.split
    before = camera.x, camera.y
    driven.post(pygame.MOUSEBUTTONDOWN, button=1, pos=(split.line_px, 100))
    driven.post(pygame.MOUSEMOTION, pos=(500, 100), rel=(180, 0), buttons=(1, 0, 0))
    driven.post(pygame.MOUSEBUTTONUP, button=1, pos=(500, 100))
    assert split.line_px == 500 and (camera.x, camera.y) == before
    split.move(-100)
    assert split.line_px == 20


def test_it_begins_again_after_a_restart_and_a_step_back(driven: Driven) -> None:
    driven.press("\\")
    driven.frames(4)
    for key in ("r", "space", "backspace", ".", "="):
        driven.press(key)
        driven.frames(2)
        second = driven.program.split.second
        assert second and second.sim
        assert (second.sim.tick, second.sim.agents.count) == (driven.program.sim.tick, driven.program.sim.agents.count)


def test_the_other_value_is_the_baseline_or_what_is_farthest_from_it() -> None:
    cap, simd = BY_PATH["cap"], BY_PATH["simd"]
    assert other_value(cap, "nearest") == cap.baseline and other_value(cap, cap.baseline) == cap.choices[-1]
    assert other_value(simd, True) is False and other_value(simd, False) is True
