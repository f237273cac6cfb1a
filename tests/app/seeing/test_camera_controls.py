"""Zoom that glides, bookmarks, and the minimap."""

import threading
from types import SimpleNamespace
from typing import Any

import pygame
import pytest
from driven import Driven

from crowd_demo.app.screen import Notices
from crowd_demo.app.view_controls import CameraControls
from crowd_demo.config.model import Config
from crowd_demo.render.camera import Camera

pytestmark = pytest.mark.quick


def seeing(smooth: bool = True) -> tuple[CameraControls, Camera]:
    camera = Camera((4000.0, 3000.0), (800, 600))
    camera.look_at(2000, 1500, 0.5)
    return CameraControls(Config.model_validate({}), camera, None, None, Notices(), smooth), camera  # type: ignore[arg-type]


def test_a_zoom_glides_and_ends_exactly_where_a_jump_does() -> None:
    (gliding, slow), (jumping, fast) = seeing(), seeing(smooth=False)
    jumping.zoom(200, 150, 1.5)
    fixed = fast.screen_to_world(200, 150)
    assert fast.zoom == pytest.approx(0.75)
    gliding.zoom(200, 150, 1.5)
    zooms = [slow.zoom]
    for _ in range(60):
        gliding.glide(1 / 60)
        zooms.append(slow.zoom)
        assert slow.screen_to_world(200, 150) == pytest.approx(fixed), "what is under the cursor stays there"
    assert zooms == sorted(zooms) and len(set(zooms[:12])) > 8, "not in one step"
    assert slow.zoom == pytest.approx(fast.zoom) and (slow.x, slow.y) == pytest.approx((fast.x, fast.y))
    gliding.glide(1.0)
    assert slow.zoom == zooms[-1], "and then it rests"


def test_bookmarks_are_kept_and_come_back_by_keys_and_others_zoom_at_the_middle(driven: Driven) -> None:
    camera = driven.program.camera
    driven.press("1", pygame.KMOD_CTRL)
    assert any("no bookmark 1" in notice for notice in driven.status().notices)
    camera.look_at(300, 200, 2.0)
    driven.press("1", pygame.KMOD_CTRL | pygame.KMOD_SHIFT)
    assert "bookmark 1 is this view, 300,200,2: Ctrl+1 shows it" in driven.status().notices
    driven.press("home")
    assert camera.zoom != 2.0
    driven.press("1", pygame.KMOD_CTRL)
    assert (camera.x, camera.y, camera.zoom) == (300, 200, 2.0)
    camera.look_at(500, 300, 1.0)
    driven.press("up", pygame.KMOD_CTRL)
    assert camera.zoom == pytest.approx(1.15**2) and (camera.x, camera.y) == pytest.approx((500, 300))
    driven.press("down", pygame.KMOD_CTRL)
    assert camera.zoom == pytest.approx(1.0)


def test_a_key_shows_the_minimap_with_view_and_frozen_frustum(driven: Driven) -> None:
    assert driven.status().minimap is None
    driven.keys("space", "end", "f")
    driven.program.camera.look_at(200, 200, 4.0)
    driven.frames()
    looked = driven.status().minimap
    assert looked and looked.view == driven.program.camera.view_rect() and looked.frozen not in (None, looked.view)


def test_a_press_on_the_minimap_looks_there_and_a_drag_goes_along(driven: Driven) -> None:
    driven.keys("space", "end", frames=2)
    camera, hud = driven.program.camera, driven.program.hud
    camera.look_at(100, 100, 3.0)
    x, y = driven.find("minimap")
    corner = x + 20, y + 20
    driven.drag(corner, release=False)
    first = camera.x, camera.y
    assert first == hud.minimap.world_at(*corner) and first != (100, 100) and camera.zoom == 3.0
    driven.move((x + 30, y + 25), button=1)
    moved = camera.x - first[0], camera.y - first[1]
    assert moved[0] > 0 and moved[0] == pytest.approx(2 * moved[1])
    driven.move((0, 0), button=1)
    assert (camera.x, camera.y) == (0, 0), "beside it, the nearest place"
    driven.post(pygame.MOUSEBUTTONUP, pos=(0, 0), button=1)
    assert camera.zoom == 3.0 and not driven.program.inspector.active
    driven.press("f10")
    driven.drag(corner)
    assert not driven.program.dialogs.top and (camera.x, camera.y) == (0, 0), "a press only closes what is open"


def test_a_colour_mode_waits_for_its_kernels_and_frames_go_on(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first use of a mode once blocked for a second or two."""
    seeing, shown, begun = driven.program.seeing, driven.program.seeing.colours, threading.Event()
    switcher = driven.program.techniques.switcher
    wanted: list[Any] = [SimpleNamespace(signature=lambda: (), kernel=SimpleNamespace, name="")]
    compiled = threading.Event()
    monkeypatch.setattr(seeing, "smooth", True)
    monkeypatch.setattr(switcher._ahead, "missing_colours", lambda *names: [] if compiled.is_set() else wanted)
    monkeypatch.setattr(switcher.compilers, "want", lambda *given, **named: begun.set())
    monkeypatch.setattr(switcher.compilers, "work", lambda *given, **named: compiled.wait(60))
    seeing.show_colours("density")
    driven.frames(5)
    assert begun.is_set() and seeing.colours == shown and "compiling the colours: density" in driven.status().notices
    compiled.set()
    driven.until(lambda: seeing.colours == "density")
    assert not seeing.waits and not any("compiling the colours" in notice for notice in driven.status().notices)
