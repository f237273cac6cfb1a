"""What is seen: the camera, the frozen view, screenshots, overlays, colours and the size of the window."""

from pathlib import Path

import numpy as np
import pygame
import pytest
from driven import Driven

from crowd_demo.registry.built_in import COLOURS


def test_panning_fitting_wheel_and_drag(driven: Driven) -> None:
    camera = driven.program.camera
    camera.look_at(500, 500, 2.0)
    driven.press("right", hold=True)
    driven.frames(2)
    driven.release("right")
    assert camera.x > 500 and camera.y == 500
    driven.press("home")
    assert camera.x == camera.world[0] / 2 and camera.view_rect().bottom > camera.world[1]
    camera.look_at(500, 500, 1.0)
    driven.move((600, 300))
    under = camera.screen_to_world(600, 300)
    driven.wheel(2)
    assert camera.zoom > 1 and camera.screen_to_world(600, 300) == pytest.approx(under)
    driven.drag((600, 300), (500, 300), button=3)
    assert camera.screen_to_world(500, 300) == pytest.approx(under)


def test_freezing_goes_on_to_cull_by_the_frozen_view(driven: Driven) -> None:
    driven.program.camera.look_at(500, 500, 4.0)
    driven.keys("space", "f")
    frozen = driven.program.overlays.frozen
    driven.press("home")
    assert driven.program.overlays.frozen == frozen
    assert driven.program.sim.profile.counters["drawn"] < 20  # a hundredth of the world, and a margin
    driven.press("f")
    assert driven.program.overlays.frozen is None and driven.program.sim.profile.counters["drawn"] == 200


def test_a_frozen_view_is_drawn_in_a_window_that_became_smaller(driven: Driven) -> None:
    driven.press("f")
    pygame.display.set_mode((252, 200), pygame.RESIZABLE, 32)
    driven.frames(2)
    assert driven.program.overlays.frozen and driven.program.camera.size == (252, 200)


def test_screenshots_are_numbered_show_the_picture_and_may_fail(
        driven: Driven, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driven.keys("f12", "f12")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crowd-0001.png", "crowd-0002.png"]
    picture = pygame.image.load(tmp_path / "crowd-0001.png")
    assert picture.get_size() == (640, 360)
    assert len({tuple(picture.get_at((x, y))) for x in range(0, 640, 8) for y in range(0, 360, 8)}) > 8
    (gone := tmp_path / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    driven.press("f12")
    assert any("cannot save" in notice for notice in driven.status().notices)


def test_a_key_goes_through_the_colour_modes_and_a_legend_explains_them(driven: Driven) -> None:
    program = driven.program
    seen = []
    program.sim.optimizations.stagger.avoidance, program.sim.optimizations.neighbours = 3, "sorted"
    assert program.crowd.scene
    telling = program.crowd.scene.telling_colours()
    for _ in telling:
        seen.append(program.seeing.colours)
        status = driven.status()
        assert (status.legend is None) == (program.seeing.colours == "looks")
        assert not any(text.startswith("colours: ") for text in status.notices), "the legend says so"
        driven.press("q")
    assert seen == telling and program.seeing.colours == "looks" and {"state", "age", "due", "cell"} <= set(seen)
    driven.press("q", pygame.KMOD_SHIFT)
    assert program.seeing.colours == telling[-1]
    driven.press("y")
    assert any("a command" in notice or "YAML" in notice for notice in driven.status().notices)


def test_the_key_skips_colours_that_tell_nothing_here_and_the_menu_says_so(driven: Driven) -> None:
    program, options = driven.program, driven.program.sim.optimizations
    options.stagger.avoidance, options.neighbours = 1, "none"
    driven.press("t")  # one thread
    driven.settle()
    seen = []
    for _ in COLOURS:
        driven.press("q")
        seen.append(program.seeing.colours)
    assert {"state", "heading", "speed", "density", "flow", "patience", "memory", "looks"} == set(seen)
    program.menus.open_colours()
    assert {row.text for row in driven.view().rows if row.detail == "nothing to show"} == set(COLOURS) - set(seen)
    driven.press("escape")
    program.seeing.show_colours("age")
    driven.press("q")
    assert program.seeing.colours == "looks", "the next one that tells something"
    assert not driven.status().legend and "colours: looks, agents as they look" in driven.status().notices


def seen_world(driven: Driven) -> tuple[float, float, float, float]:
    """Where the window has the whole world: left, top, right, bottom in pixels."""
    camera = driven.program.camera
    return *camera.world_to_screen(0, 0), *camera.world_to_screen(*camera.world)


def is_free(driven: Driven) -> bool:
    """Does no panel cover any of the world?"""
    left, top, right, bottom = seen_world(driven)
    hud = driven.program.hud
    return not any(hud.target_at(x, y) for x in np.linspace(left, right, 40) for y in np.linspace(top, bottom, 40))


@pytest.mark.parametrize(("hud", "name", "least", "most"), [("full", "queues", 300, 800), ("off", "rope", 1000, 1280)])
def test_another_scenario_opens_beside_the_panels_too_and_without_a_hud_in_all_of_the_window(
        hud: str, name: str, least: float, most: float) -> None:
    driven = Driven("window.width=1280", "window.height=720", f"window.hud={hud}")
    driven.open(name)
    left, _, right, _ = seen_world(driven)
    assert least < right - left <= most and (hud == "off" or is_free(driven))
