"""Two crowds side by side in the program: the line, what is right of it, and that the first crowd stays as it is."""

from __future__ import annotations

import pygame
from driven import Driven

from crowd_demo.app.screen.window import screen
from crowd_demo.app.seeing.side_by_side import SecondCrowd, other_value
from crowd_demo.registry.techniques import BY_PATH

CTRL, SHIFT = pygame.KMOD_LCTRL, pygame.KMOD_LSHIFT


def split_with(driven: Driven) -> SecondCrowd:
    """Split the window, and wait until the kernels of the second crowd are there."""
    driven.press("\\")
    second = driven.program.split.second
    assert second
    driven.until(lambda: second.sim)
    return second


def values(driven: Driven) -> tuple[object, object]:
    """What is on the left and on the right."""
    second = driven.program.split.second
    assert second and second.sim
    return driven.program.sim.optimizations.get(second.path), second.sim.optimizations.get(second.path)


def test_keys_choose_the_value_on_the_right_and_its_kernels_are_compiled_ahead(driven: Driven) -> None:
    driven.program.techniques.touched = "stagger.avoidance"
    second, split = split_with(driven), driven.program.split
    left = driven.program.sim.optimizations.stagger.avoidance
    seen = []
    for mod in (CTRL, CTRL, CTRL | SHIFT):
        driven.press("\\", mod)
        driven.until(lambda: second.value == split.value)
        driven.frames()
        assert values(driven) == (left, split.value) and split.value != left
        seen.append(split.value)
    assert len(set(seen[:2])) == 2 and seen[2] == seen[0]


def test_what_is_switched_meanwhile_is_compiled_for_both_sides_before_they_go_on(driven: Driven) -> None:
    driven.program.techniques.touched = "stagger.avoidance"
    second, split = split_with(driven), driven.program.split
    asked: list[object] = []
    for path, value in (("neighbour_limit", "first"), ("stagger.avoidance", 16)):
        driven.program.techniques.choose(BY_PATH[path], value)
        driven.settle()
        driven.until(lambda: second.sim and second.sim.tick == driven.program.sim.tick)
        asked.append(driven.program.sim.optimizations.get(path))
    assert asked == ["first", 16] and second.sim and second.sim.optimizations.neighbour_limit == "first"
    assert values(driven) == (16, split.value)


def test_the_mouse_chooses_either_value(driven: Driven) -> None:
    driven.press("tab")
    driven.press("tab")
    driven.program.techniques.touched = "stagger.avoidance"
    second, split = split_with(driven), driven.program.split
    before, (left, right) = split.value, (rect.center for _, rect in split._labels)
    driven.post(pygame.MOUSEBUTTONDOWN, button=1, pos=right)
    driven.post(pygame.MOUSEBUTTONUP, button=1, pos=right)
    clicked = split.value
    assert clicked != before
    driven.post(pygame.MOUSEBUTTONDOWN, button=1, pos=right)
    driven.post(pygame.MOUSEMOTION, pos=(right[0] + 20, right[1]), rel=(20, 0), buttons=(1, 0, 0))
    driven.post(pygame.MOUSEBUTTONUP, button=1, pos=(right[0] + 20, right[1]))
    assert split.value == int(clicked) + 2 and split.line_px == 320
    driven.until(lambda: second.value == split.value)
    driven.post(pygame.MOUSEBUTTONDOWN, button=1, pos=left)
    driven.post(pygame.MOUSEBUTTONUP, button=1, pos=left)
    assert driven.program.dialogs.top, "the choices of the crowd itself"


def test_a_key_splits_the_window_and_the_crowd_is_what_it_would_be_alone() -> None:
    hashes = []
    for split in (False, True):
        driven = Driven()
        driven.program.techniques.touched = "stagger.avoidance"
        if split:
            split_with(driven)
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
    split_with(driven)
    camera, split = driven.program.camera, driven.program.split
    before = camera.x, camera.y
    driven.post(pygame.MOUSEBUTTONDOWN, button=1, pos=(split.line_px, 100))
    driven.post(pygame.MOUSEMOTION, pos=(500, 100), rel=(180, 0), buttons=(1, 0, 0))
    driven.post(pygame.MOUSEBUTTONUP, button=1, pos=(500, 100))
    assert split.line_px == 500 and (camera.x, camera.y) == before
    split.move(-100)
    assert split.line_px == 20


def test_the_rectangle_that_is_inspected_is_framed_on_both_sides(driven: Driven) -> None:
    driven.press("tab")
    driven.press("tab")
    driven.press("space")
    driven.program.techniques.touched = "stagger.avoidance"
    split_with(driven)
    driven.frames(2)
    before = pygame.surfarray.array3d(screen())
    driven.program.inspector.select((200, 100), (440, 130))
    driven.frames(2)
    changed = (pygame.surfarray.array3d(screen()) != before).any(axis=2)
    line = driven.program.split.line_px
    for x in (200, 440):
        assert changed[x - 1:x + 2, 100:131].any(axis=0).mean() > 0.9, "its sides"
    for y in (100, 130):
        edge = changed[:, y - 1:y + 2].any(axis=1)
        assert edge[205:line - 3].mean() > 0.9 and edge[line + 4:435].mean() > 0.9, "its upper and its lower edge"


def test_it_begins_again_after_a_restart_and_a_step_back(driven: Driven) -> None:
    split_with(driven)
    driven.frames(4)
    for key in ("r", "space", "backspace", ".", "="):
        driven.press(key)
        driven.frames(2)
        second = driven.program.split.second
        assert second and second.sim
        assert (second.sim.tick, second.sim.agents.count) == (driven.program.sim.tick, driven.program.sim.agents.count)


def test_the_other_value_is_the_baseline_or_what_is_farthest_from_it() -> None:
    cap, simd = BY_PATH["neighbour_limit"], BY_PATH["simd"]
    assert other_value(cap, "nearest") == cap.baseline and other_value(cap, cap.baseline) == cap.choices[-1]
    assert other_value(simd, True) is False and other_value(simd, False) is True
    assert other_value(BY_PATH["neighbours"], "sorted") == "z_grid", "not all pairs, which are slow and the same"
