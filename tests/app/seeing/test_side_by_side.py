"""Two crowds side by side in the program: the line, what is right of it, and that the first crowd stays as it is."""

import math

import pygame
import pytest
from crowds import CROWDS, simulation
from driven import Driven

from crowd_demo.app.side_by_side import SecondCrowd, other_value
from crowd_demo.measure.proof import short
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.hud.canvas import Target
from crowd_demo.render.hud.frame_sections import Rates
from crowd_demo.sim.simulation import Simulation

CTRL, SHIFT = pygame.KMOD_LCTRL, pygame.KMOD_LSHIFT


def split_with(driven: Driven, technique: str = "stagger.avoidance") -> SecondCrowd:
    """Split the window by a technique, and wait until the kernels of the second crowd are there."""
    driven.program.techniques.touched = technique
    driven.press("\\")
    second = driven.program.split.second
    assert second
    driven.until(lambda: second.sim)
    return second


def wanted(driven: Driven) -> object:
    """The value that is asked for on the right."""
    request = driven.program.split.request
    return request and request.value


def labels(driven: Driven) -> list[pygame.Rect]:
    """Where the labels of the left and of the right half are."""
    split, placed = driven.program.split, driven.program.hud._placed
    assert split.halves
    targets = [Target("number", half.target) for half in (split.halves.left, split.halves.right)]
    return [next(each.area for each in placed if (target, each.surface.get_rect()) in each.targets)
            for target in targets]


def values(driven: Driven) -> tuple[object, object]:
    """What is on the left and on the right."""
    second = driven.program.split.second
    assert second and second.sim
    return driven.program.sim.optimizations.get(second.path), second.sim.optimizations.get(second.path)


def hashed(driven: Driven) -> tuple[str, str, str]:
    """Pause, and wait for the hashes of the present tick: what they are, and the texts of both labels."""
    split = driven.program.split
    driven.program.crowd.paused = True
    driven.until(lambda: split.second and split.second.hashed[0] == driven.program.sim.tick)
    driven.frames()
    assert split.halves and split.halves.left.state and split.halves.right.state
    assert split.halves.left.state.kind == split.halves.right.state.kind
    return split.halves.left.state.kind, split.halves.left.state.text, split.halves.right.state.text


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes are made as often as they can be."""
    monkeypatch.setattr("crowd_demo.app.side_by_side.HASH_EVERY_S", 0.0)


@pytest.fixture
def bare(driven: Driven) -> Driven:
    """Without panels."""
    driven.keys("tab", "tab")
    return driven


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """No frame has time for the steps of both."""
    monkeypatch.setattr("crowd_demo.app.side_by_side.FRAME_MS", 0.0)
    monkeypatch.setattr("crowd_demo.app.side_by_side.STILL_MS", 0.0)


def test_keys_choose_the_value_on_the_right_and_its_kernels_are_compiled_ahead(driven: Driven) -> None:
    second = split_with(driven)
    left = driven.program.sim.optimizations.stagger.avoidance
    seen = []
    for mod in (CTRL, CTRL, CTRL | SHIFT):
        driven.press("\\", mod)
        driven.until(lambda: second.value == wanted(driven))
        driven.frames()
        assert values(driven) == (left, wanted(driven)) and wanted(driven) != left
        seen.append(wanted(driven))
    assert len(set(seen[:2])) == 2 and seen[2] == seen[0]


def test_what_is_switched_meanwhile_is_compiled_for_both_sides_before_they_go_on(driven: Driven) -> None:
    second = split_with(driven)
    asked: list[object] = []
    for path, value in (("neighbour_limit", "first"), ("stagger.avoidance", 16)):
        driven.program.techniques.choose(BY_PATH[path], value)
        driven.settle()
        driven.until(lambda: second.sim and second.sim.tick == driven.program.sim.tick)
        asked.append(driven.program.sim.optimizations.get(path))
    assert asked == ["first", 16] and second.sim and second.sim.optimizations.neighbour_limit == "first"
    assert values(driven) == (16, wanted(driven))


def test_the_mouse_chooses_either_value(bare: Driven) -> None:
    driven = bare
    second, split = split_with(driven), driven.program.split
    before, (left, right) = wanted(driven), (rect.center for rect in labels(driven))
    driven.drag(right)
    clicked = wanted(driven)
    assert clicked != before
    driven.drag(right, (right[0] + 20, right[1]))
    assert wanted(driven) == int(str(clicked)) + 2 and split.line_px == 320
    driven.until(lambda: second.value == wanted(driven))
    driven.drag(left)
    assert driven.program.dialogs.top, "the choices of the crowd itself"


@pytest.mark.usefixtures("eager")
def test_hashes_copy_each_crowd_into_the_same_memory_and_rarely_where_that_takes_long(
        driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    second = split_with(driven)
    for _ in range(3):
        driven.program.crowd.paused = False
        driven.frames(3)
        assert hashed(driven)[1].startswith(f"hash {short(driven.program.sim.state_hash())}")
    assert second._memory.cache_info().misses == 2
    monkeypatch.setattr("crowd_demo.app.side_by_side.COPY_SHARE", 1e-9)
    paused_at, driven.program.crowd.paused = second.hashed[0], False
    driven.until(lambda: second.hashed[0] > paused_at)
    last = second.hashed
    driven.frames(20)
    assert second.hashed == last, "only once after that"


def test_it_begins_again_after_a_restart_and_a_step_back(driven: Driven) -> None:
    split_with(driven)
    driven.frames(4)
    for key in ("r", "space", "backspace", ".", "="):
        driven.press(key, frames=3)
        second = driven.program.split.second
        assert second and second.sim
        assert (second.sim.tick, second.sim.agents.count) == (driven.program.sim.tick, driven.program.sim.agents.count)


def test_the_other_value_is_the_baseline_or_what_is_farthest_from_it() -> None:
    limit, simd = BY_PATH["neighbour_limit"], BY_PATH["simd"]
    assert other_value(limit, "nearest") == limit.baseline and other_value(limit, limit.baseline) == limit.choices[-1]
    assert other_value(simd, True) is False and other_value(simd, False) is True
    assert other_value(BY_PATH["neighbours"], "sorted") == "z_grid", "not all pairs, which are slow and the same"


@pytest.mark.usefixtures("eager")
def test_both_labels_have_the_hash_of_one_tick_and_say_that_it_is_the_same(driven: Driven) -> None:
    second = split_with(driven, "simd")
    driven.frames(5)
    kind, left, right = hashed(driven)
    assert kind == "same" and left == right and "same at" in left
    halves = driven.program.split.halves
    assert halves and halves.right.notes[0].startswith("exact, copied at ")
    assert f"hash {short(driven.program.sim.state_hash())} " in left
    assert second.sim
    second.sim.agents.columns.x[3] += 1  # as a broken kernel might
    driven.program.crowd.paused = False
    driven.frames(5)
    kind, left, right = hashed(driven)
    assert kind == "differs" and "DIFFERS at" in left and left != right


@pytest.mark.usefixtures("eager")
def test_hashes_of_crowds_that_came_apart_differ_and_an_exact_value_does_not_make_them_the_same_again(driven: Driven) -> None:
    second, split = split_with(driven, "neighbour_limit"), driven.program.split
    split._choose("first")
    driven.until(lambda: second.value == "first")
    assert second.sim
    second.sim.agents.columns.x[3] += 1
    driven.frames(2)
    split._choose("none")
    driven.until(lambda: second.value == "none")
    driven.frames(2)
    kind, left, right = hashed(driven)
    assert kind == "apart" and f"hash {short(driven.program.sim.state_hash())} apart" in left
    assert f"hash {short(second.sim.state_hash())} apart" in right
    assert split.halves and split.halves.right.notes[0].startswith("copied at ")


def made_up(step_ms: float) -> Rates:
    return Rates(60.0, step_ms, 1.0, 1.0)


def test_a_frame_has_as_many_steps_as_there_is_time_for_those_of_both_crowds(driven: Driven) -> None:
    split = driven.program.split
    split._rates = made_up(10.0), made_up(15.0)
    assert split.fitting(4) == 4, "there is one crowd"
    split_with(driven)
    for left_ms, right_ms, steps in ((10.0, 15.0, 2), (1.0, 2.0, 4), (60.0, 90.0, 1), (5.0, math.nan, 4)):
        split._rates = made_up(left_ms), made_up(right_ms)
        assert split.fitting(4) == steps and split.fitting(0) == 0


@pytest.mark.usefixtures("eager", "turns")
def test_where_steps_take_long_the_crowds_step_in_alternate_frames_and_stay_comparable(
        driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    second, split, sim = split_with(driven, "simd"), driven.program.split, driven.program.sim
    driven.until(lambda: split.takes_turns and not split.is_behind)
    assert second.sim
    start, ticks, drawn = sim.tick, [], []
    for pan in (0, 0, 0, 0, 7, 7):
        before = second.sim.profile.frames
        driven.program.camera.pan(pan, 0)
        driven.frames()
        ticks.append((sim.tick - start, second.sim.tick - start))
        drawn.append(second.sim.profile.frames - before)
    assert ticks == [(1, 0), (1, 1), (2, 1), (2, 2), (3, 2), (3, 3)]
    assert drawn == [0, 1, 0, 1, 1, 1], "one that waits is drawn again only if the view changed"
    assert second.sim.state_hash() == sim.state_hash()
    assert split.halves and "steps every other frame" in split.halves.left.notes
    assert "steps every other frame" in split.halves.right.notes
    driven.press(".")
    driven.press(".")  # it is the turn of the second crowd
    driven.frames(2)
    assert sim.tick == second.sim.tick == start + 5
    assert hashed(driven)[0] == "same"
    for bound in ("STILL_MS", "FRAME_MS"):
        monkeypatch.setattr(f"crowd_demo.app.side_by_side.{bound}", 1e9)
    driven.program.crowd.paused = False
    driven.until(lambda: not split.takes_turns)
    for _ in range(3):
        driven.frames()
        assert second.sim.tick == sim.tick, "once steps are short"
    assert not split.halves.left.notes


# --- The second crowd: the same steps with another setting, and the first one does not notice ------------------------

def test_it_takes_the_steps_that_a_crowd_with_that_setting_would_and_leaves_the_first_one_alone() -> None:
    sim, alone = simulation(**CROWDS["crowd"]), simulation(**CROWDS["crowd"])
    sim.step(5)
    snapshot = sim.snapshot()
    second = SecondCrowd("stagger.avoidance", 8)
    second.keep_up(sim)
    for _ in range(6):
        sim.step(2)
        second.keep_up(sim)
    other = Simulation.from_snapshot(snapshot)
    other.optimizations.set("stagger.avoidance", 8)
    other.step(12)
    alone.step(17)
    assert second.sim and second.begun_at == 5
    assert second.sim.state_hash() == other.state_hash() != sim.state_hash() == alone.state_hash()


def test_a_jump_that_would_take_too_long_to_follow_is_a_new_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    sim, second = simulation(**CROWDS["crowd"]), SecondCrowd("stagger.avoidance", 8)
    second.keep_up(sim)
    sim.step(9)
    second.keep_up(sim)
    assert second.sim and second.begun_at == 0 and second.sim.state_hash() != sim.state_hash()
    replica = second.sim
    monkeypatch.setattr("crowd_demo.app.side_by_side.CATCH_UP_S", 0.0)
    sim.step(9)
    second.keep_up(sim)
    assert second.sim is replica and second.begun_at == sim.tick == 18 and replica.state_hash() == sim.state_hash()
    assert replica.optimizations.get("stagger.avoidance") == 8
