"""Numbers in the window, by real events: their section, sliders, typed values, presets, and what they leave behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pygame
import pytest
from driven import Driven

from crowd_demo.app import window_events
from crowd_demo.app.copying import copy
from crowd_demo.app.screen.window import close_window
from crowd_demo.config.loader import load_config
from crowd_demo.config.numbers import value_of
from crowd_demo.render.hud.canvas import Target
from crowd_demo.render.hud.status import Hovered
from crowd_demo.render.hud.text_panels import tip_of
from crowd_demo.sim.tuning import SetNumbers, Tune

CTRL = pygame.KMOD_LCTRL


class Window(Driven):
    """A flock whose section of numbers is open."""

    def __init__(self, *settings: str, config: str = "20k-flock") -> None:
        super().__init__("window.width=1280", "window.height=720", "agents=100", *settings, config=config)
        self.frames(2)
        self.press("n", CTRL)

    def place_of(self, kind: str, path: str, share: float = 0.5) -> tuple[int, int]:
        """The pixel at that share of a target, from its left edge."""
        hud = self.loop.presenter.hud
        panel, at = hud.panels[0], hud._gap
        rect = next(region.rect for region in panel.targets if region.target == Target(kind, path))
        return round(at + rect.left + share * (rect.width - 1)), at + rect.centery

    def move(self, to: tuple[int, int], held: bool = False) -> None:
        self.post(pygame.MOUSEMOTION, pos=to, rel=(0, 0), buttons=(int(held), 0, 0))

    def drag(self, path: str, *shares: float, release: bool = True) -> None:
        """Press on a slider at the first share, and go to the others."""
        self.post(pygame.MOUSEBUTTONDOWN, pos=self.place_of("slider", path, shares[0]), button=1)
        for share in shares[1:]:
            self.move(self.place_of("slider", path, share), held=True)
        if release:
            self.post(pygame.MOUSEBUTTONUP, pos=self.place_of("slider", path, shares[-1]), button=1)
        self.frames(3)

    def click(self, to: tuple[int, int]) -> None:
        self.post(pygame.MOUSEBUTTONDOWN, pos=to, button=1)
        self.post(pygame.MOUSEBUTTONUP, pos=to, button=1)

    def type(self, text: str) -> None:
        for key in text:
            self.press(key)
        self.press("return")
        self.frames(2)

    def value(self, path: str) -> float:
        return value_of(self.program.sim.settings, path)

    @property
    def tunes(self) -> list[tuple[int, Tune]]:
        return [(tick, action) for tick, action in self.program.sim.history if isinstance(action, Tune)]


@pytest.fixture(autouse=True)
def patient_clicks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two clicks are a double click however slow the machine is."""
    monkeypatch.setattr(window_events, "DOUBLE_S", 600.0)


@pytest.fixture
def window() -> Iterator[Window]:
    yield Window()
    close_window()


LIVE = ["speed_min", "speed_max", "follow_nearest", "blind", "sight", "separation", "align", "cohere", "separate", "crowding",
        "wander", "roost", "roost_radius", "border", "margin"]


def test_the_section_opens_and_folds_by_its_key(window: Window) -> None:
    hud = window.loop.presenter.hud
    assert not hud.sections()["numbers"] and window.status().numbers
    assert [row.number.key for row in window.status().numbers] == LIVE
    window.press("n", CTRL)
    assert hud.sections()["numbers"] and not window.status().numbers
    window.click((hud._gap + 20, next(hud._gap + region.rect.centery for region in hud.panels[0].targets
                                         if region.target == Target("unfold", "numbers"))))
    window.frames(2)
    assert not hud.sections()["numbers"]
    window.press("tab")
    window.press("n", CTRL)
    assert window.program.panels.now.hud == "full" and window.status().numbers


@pytest.mark.parametrize("key", LIVE)
def test_each_row_is_dragged_typed_and_reset(window: Window, key: str) -> None:
    path = f"flock.{key}"
    shipped = window.value(path)
    window.program.crowd.unpaced = True  # a step a frame
    low = {"speed_max": 0.65, "speed_min": 0.3}.get(key, 0.5)
    window.drag(path, low, low + 0.1, low + 0.15)
    dragged = window.value(path)
    assert dragged != shipped and window.tunes[-1][1] == Tune(path, dragged)
    at = window.place_of("slider", path, 0.9)
    window.click(at)
    window.click(at)
    window.frames(2)
    assert window.value(path) == shipped and not window.program.sim.tuned
    window.click(window.place_of("setting", path, 0.8))
    typed = round(shipped * 0.9) or 1
    window.type(f"{typed:g}")
    assert window.value(path) == typed and window.program.dialogs.top is None


def test_a_drag_is_one_action_a_tick_at_most(window: Window) -> None:
    window.drag("flock.align", *(0.3 + 0.01 * step for step in range(30)))
    window.frames(5)
    ticks = [tick for tick, _ in window.tunes]
    assert len(ticks) == len(set(ticks)) > 0
    assert window.value("flock.align") == window.tunes[-1][1].value > 2


def test_while_paused_a_drag_is_one_action(window: Window) -> None:
    window.press("space")
    window.drag("flock.align", 0.3, 0.5, 0.8, release=False)
    assert not window.tunes and window.status().numbers[LIVE.index("align")].value > 2  # as it will be
    window.post(pygame.MOUSEBUTTONUP, pos=window.place_of("slider", "flock.align", 0.8), button=1)
    window.frames(2)
    assert len(window.tunes) == 1 and window.value("flock.align") > 2


def test_a_bad_value_is_not_taken(window: Window) -> None:
    window.click(window.place_of("setting", "flock.crowding", 0.8))
    window.type("2.5")
    assert window.program.dialogs.top is not None
    assert "must be a whole number from 1 to 10000" in window.program.dialogs.top.view().hint
    window.press("escape")
    window.click(window.place_of("setting", "flock.speed_min", 0.8))
    window.type("500")
    assert any("must not be above" in notice for notice in window.status().notices) and not window.program.sim.tuned


def test_rewinding_goes_back_over_a_change_and_forward_again(window: Window) -> None:
    window.program.crowd.unpaced = True
    window.frames(10)
    before = window.program.sim.tick
    window.frames(3)
    window.drag("flock.align", 0.8)
    window.frames(10)
    after, tuned = window.program.sim.tick, dict(window.program.sim.tuned)
    hashed = window.program.sim.state_hash()
    window.program.controls.seek(before)
    window.frames(3)
    assert window.program.sim.tick == before and not window.program.sim.tuned
    window.program.controls.seek(after)
    window.frames(30)
    assert (window.program.sim.state_hash(), window.program.sim.tuned) == (hashed, tuned)


def test_a_restart_keeps_the_numbers_and_copy_has_them(window: Window) -> None:
    window.drag("flock.align", 0.8)
    tuned, value = dict(window.program.sim.tuned), window.value("flock.align")
    window.press("r")
    window.frames(2)
    assert window.program.sim.tuned == tuned and window.value("flock.align") == value
    assert f"--set flock.align={value:g}" in copy(window.program._on_screen(), "20k-flock").text
    text = copy(window.program._on_screen(), None).text
    assert f"align: {value:g}" in text and "Tune" not in text


def test_the_copied_configuration_is_the_crowd_that_a_restart_makes(window: Window, tmp_path: Path) -> None:
    window.drag("flock.speed_max", 0.8)
    window.press("r")
    window.press("space")
    window.frames(2)
    path = tmp_path / "copied.yaml"
    path.write_text(copy(window.program._on_screen(), None, as_yaml=True).text, "utf-8")
    from crowd_demo.sim.simulation import Simulation

    copied = Simulation(load_config(path))
    sim = window.program.sim
    copied.step(sim.tick)
    assert copied.state_hash() == sim.state_hash() and not copied.tuned and sim.tuned


def test_presets(window: Window) -> None:
    window.drag("flock.align", 0.8)
    window.program.act("reset_numbers")
    window.frames(2)
    assert not window.program.sim.tuned and isinstance(window.program.sim.history[-1][1], SetNumbers)
    window.drag("flock.align", 0.8)
    at = next(region.rect.center for region in window.loop.presenter.hud.panels[0].targets
              if region.target == Target("action", "reset_numbers"))
    margin = window.loop.presenter.hud._gap
    window.click((at[0] + margin, at[1] + margin))
    window.frames(2)
    assert not window.program.sim.tuned


def test_shipped_numbers_are_those_of_the_program() -> None:
    window = Window("flock.align=7")
    window.program.act("shipped_numbers")
    window.frames(2)
    assert window.value("flock.align") == 2.0 and window.program.sim.tuned["flock.align"] == 2.0
    close_window()


def test_people_have_more_rows_than_fit_and_the_wheel_scrolls() -> None:
    window = Window(config="1k")
    hud = window.loop.presenter.hud
    window.move(window.place_of("slider", "crowd.radius"))
    window.post(pygame.MOUSEWHEEL, x=0, y=-3, precise_y=-3.0)
    window.frames(2)
    shown = [region.target.name for region in hud.panels[0].targets if region.target.kind == "slider"]
    assert shown[0] == "crowd.speed_max"
    for _ in range(40):
        window.post(pygame.MOUSEWHEEL, x=0, y=-1, precise_y=-1.0)
    fixed = window.place_of("setting", "crowd.exits", 0.8)
    window.click(fixed)
    window.frames(2)
    assert any("crowd.exits cannot be changed" in notice for notice in window.status().notices)
    assert window.program.dialogs.top is None
    window.program.numbers.reset("crowd.speed_max")
    assert window.program.camera.zoom == window.program._configured_view((1280, 720)).zoom
    close_window()


def test_what_is_drawn_at_birth_says_so() -> None:
    window = Window(config="1k")
    window.drag("crowd.speed_max", 0.8)
    assert any("for who is born from now on" in notice for notice in window.status().notices)
    close_window()


def test_tooltips_tell_what_a_number_is_and_where_it_stands(window: Window) -> None:
    status = window.status()._replace(hovered=Hovered(Target("slider", "flock.align"), (5, 5)))
    tip = tip_of(Target("slider", "flock.align"), window.program.sim, status)
    assert tip and tip.title == "flock.align"
    text = " ".join(text for text, _ in tip.paragraphs)
    assert "align * match_x" in text and "next step" in text and "1/s" in text
    assert tip_of(Target("setting", "flock.nothing"), window.program.sim, status) is None


def test_rows_of_links_and_limits() -> None:
    window = Window(config="cloth")
    keys = [row.number.path for row in window.status().numbers]
    assert "links.gravity" in keys and "flock.limit_kept" not in keys
    window.drag("links.gravity", 0.9) if window.loop.presenter.hud._numbers.shown == len(keys) else None
    window.press("k")
    window.settle()
    assert "flock.limit_kept" in [row.number.path for row in window.status().numbers]
    close_window()


def test_a_folded_section_asks_for_nothing(window: Window) -> None:
    window.press("n", CTRL)
    assert window.program.numbers.rows() == () and window.status().numbers == () and window.program.numbers.asked is None
    assert not window.program.crowd.changes
