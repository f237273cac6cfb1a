"""Numbers in the window, by real events: their section, sliders, typed values, presets, and what they leave behind."""

from pathlib import Path

import pygame
import pytest
from driven import Driven

from crowd_demo.app import window_events
from crowd_demo.app.copying import copy
from crowd_demo.config.loader import load_config
from crowd_demo.config.model import value_of
from crowd_demo.render.hud.canvas import Target
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.tuning import SetNumbers, Tune

CTRL = pygame.KMOD_LCTRL


class Window(Driven):
    """A flock whose section of numbers is open."""

    def __init__(self, *settings: str, config: str = "20k-flock") -> None:
        super().__init__("window.width=1280", "window.height=800", "agents=100", *settings, config=config)
        self.frames(2)
        self.press("n", CTRL)

    def place_of(self, kind: str, path: str, share: float = 0.5) -> tuple[int, int]:
        """The pixel at that share of a target, from its left edge."""
        hud = self.program.hud
        panel, at = hud.panels[0], hud._gap
        rect = next(region.rect for region in panel.targets if region.target == Target(kind, path))
        return round(at + rect.left + share * (rect.width - 1)), at + rect.centery

    def slide(self, path: str, *shares: float, release: bool = True) -> None:
        """Press on a slider at the first share, and go to the others."""
        self.drag(*(self.place_of("slider", path, share) for share in shares), release=release)
        self.frames(3)

    def enter(self, path: str, text: str) -> None:
        """Click on a value, and type another one."""
        self.drag(self.place_of("setting", path, 0.8))
        self.keys(*text, "return")
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
def window() -> Window:
    return Window()


LIVE = ["speed_min", "speed_max", "follow_nearest", "blind", "sight", "separation", "align", "cohere", "separate", "crowding",
        "wander", "roost", "roost_radius", "border", "margin"]


def test_the_section_opens_and_folds_by_its_key(window: Window) -> None:
    hud = window.program.hud
    assert not hud.sections()["parameters"] and window.status().numbers
    assert [row.number.key for row in window.status().numbers] == LIVE
    window.press("n", CTRL)
    assert hud.sections()["parameters"] and not window.status().numbers
    window.drag(window.find("unfold", "parameters"), frames=3)
    assert not hud.sections()["parameters"]
    window.press("tab")
    window.press("n", CTRL)
    assert window.program.panels.now.hud == "full" and window.status().numbers


def test_each_row_is_dragged_typed_and_reset(window: Window) -> None:
    window.program.crowd.unpaced = True  # a step a frame
    for key in LIVE:
        path, low = f"flock.{key}", {"speed_max": 0.65, "speed_min": 0.2}.get(key, 0.5)
        shipped = window.value(path)
        window.slide(path, low, low + 0.6, low + 1.2)
        dragged = window.value(path)
        assert dragged != shipped and window.tunes[-1][1] == Tune(path, dragged)
        typed = round(shipped * 0.9) or 1
        window.enter(path, f"{typed:g}")
        assert window.value(path) == typed and window.program.dialogs.top is None
        for _ in range(2):
            window.drag(window.place_of("slider", path, 0.9))
        window.frames(2)
        assert window.value(path) == shipped and not window.program.sim.numbers.values, "two clicks reset it"


def test_a_drag_is_one_action_a_tick_at_most(window: Window) -> None:
    window.slide("flock.align", *(0.6 + 0.01 * step for step in range(30)))
    window.frames(5)
    ticks = [tick for tick, _ in window.tunes]
    assert len(ticks) == len(set(ticks)) > 0
    assert window.value("flock.align") == window.tunes[-1][1].value > 2


def test_while_paused_a_drag_is_one_action(window: Window) -> None:
    window.press("space")
    window.slide("flock.align", 0.6, 0.7, 0.8, release=False)
    assert not window.tunes and window.status().numbers[LIVE.index("align")].value > 2  # as it will be
    window.post(pygame.MOUSEBUTTONUP, pos=window.place_of("slider", "flock.align", 0.8), button=1)
    window.frames(2)
    assert len(window.tunes) == 1 and window.value("flock.align") > 2


def test_a_bad_value_is_not_taken(window: Window) -> None:
    window.enter("flock.crowding", "2.5")
    assert window.program.dialogs.top is not None
    assert "must be a whole number from 1 to 10000" in window.program.dialogs.top.view().hint
    window.press("escape")
    window.enter("flock.speed_min", "500")
    assert any("must not be above" in notice for notice in window.status().notices) and not window.program.sim.numbers.values


def test_a_restart_keeps_the_numbers_and_a_copy_makes_the_same_crowd(window: Window, tmp_path: Path) -> None:
    window.slide("flock.align", 0.8)
    window.slide("flock.speed_max", 0.8)
    sim, value = window.program.sim, window.value("flock.align")
    window.keys("r", "space", frames=3)
    assert window.program.sim.numbers.values == sim.numbers.values and window.value("flock.align") == value
    sim, shown = window.program.sim, window.program._on_screen()
    assert f"--set flock.align={value:g}" in copy(shown, "20k-flock")[0]
    text = copy(shown, None, as_yaml=True)[0]
    assert f"align: {value:g}" in text and "Tune" not in text
    (tmp_path / "copied.yaml").write_text(text, "utf-8")
    copied = Simulation(load_config(tmp_path / "copied.yaml"))
    copied.step(sim.tick)
    assert copied.state_hash() == sim.state_hash() and not copied.numbers.values and sim.numbers.values


def test_presets(window: Window) -> None:
    window.slide("flock.align", 0.8)
    window.program.act("reset_parameters")
    window.frames(2)
    assert not window.program.sim.numbers.values and isinstance(window.program.sim.history[-1][1], SetNumbers)
    window.slide("flock.align", 0.8)
    window.drag(window.find("action", "reset_parameters"), frames=3)
    assert not window.program.sim.numbers.values
    window = Window("flock.align=7")
    window.program.act("default_parameters")
    window.frames(2)
    assert window.value("flock.align") == 2.0 and window.program.sim.numbers.values["flock.align"] == 2.0


def test_people_have_more_rows_than_fit_and_the_wheel_scrolls() -> None:
    window = Window(config="1k")
    hud = window.program.hud
    window.move(window.place_of("slider", "crowd.radius"))
    window.wheel(-3)
    window.frames(2)
    shown = [region.target.name for region in hud.panels[0].targets if region.target.kind == "slider"]
    assert shown[0] == "crowd.speed_max"
    for _ in range(40):
        window.wheel(-1)
    window.drag(window.place_of("setting", "crowd.exits", 0.8), frames=3)
    assert any("crowd.exits cannot be changed" in notice for notice in window.status().notices)
    assert window.program.dialogs.top is None
    window.program.numbers.reset("crowd.speed_max")
    for _ in range(40):
        window.wheel(1)
    window.slide("crowd.speed_max", 0.8)
    assert any("for who is born from now on" in notice for notice in window.status().notices)
    assert window.program.camera.zoom == window.program._configured_view((1280, 800)).zoom
