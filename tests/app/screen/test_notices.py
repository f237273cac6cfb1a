"""Notices, captions, panels and the window."""

from pathlib import Path

import pytest
from driven import Driven

from crowd_demo.app.controls import HIDDEN_S, SCALES, PanelControls
from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen import CAPTION_S, FADE_S, NOTICE_S, Notices, Preferences, ShownCaption, caption_of
from crowd_demo.config.keys import Keys
from crowd_demo.config.model import HudSettings
from crowd_demo.render.hud.card import Caption

pytestmark = pytest.mark.quick

@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set."""
    now = [1000.0]
    monkeypatch.setattr("crowd_demo.app.screen.time.monotonic", lambda: now[0])
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


# --- The caption of a scenario that has opened -----------------------------------------------------------------------

def test_it_stays_for_three_seconds_from_when_it_is_seen_and_then_fades(clock: list[float]) -> None:
    caption, shown = Caption("maze", "People walk."), ShownCaption()
    shown.show(caption)
    clock[0] += 100  # a frame that takes long
    assert shown.present() == caption
    clock[0] += CAPTION_S + FADE_S / 2
    fading = shown.present()
    assert fading and fading.alpha == pytest.approx(0.5)
    clock[0] += FADE_S
    assert shown.present() is None is shown.present()


@pytest.mark.usefixtures("in_tmp_path")
def test_its_key_is_the_one_of_the_configuration_and_without_a_key_or_a_file_there_is_no_hint(
        ) -> None:
    assert caption_of("murmuration", Keymap(Keys(), {})) == Caption(
        "murmuration", "The flock turns wherever the red hawk comes.", "ctrl+h", "lead the hawk with the pointer")
    unbound = caption_of("murmuration", Keymap(Keys.model_validate({"hawk": None}), {}))
    assert unbound and not unbound.key
    Path("mine.yaml").write_text("# Mine.\n# Try: fly, up\n", "utf-8")
    assert caption_of("mine", Keymap(Keys(), {})) == Caption("mine", "Mine.", "", "up")
    assert caption_of("gone", Keymap(Keys(), {})) is None is caption_of(None, Keymap(Keys(), {}))


@pytest.mark.parametrize("ends", [lambda driven: driven.press("q"), lambda driven: driven.drag((300, 200))])
def test_any_key_and_any_click_ends_it_and_does_what_it_does(driven: Driven, ends: object) -> None:
    driven.program.config_name = "maze"
    driven.program.show_caption()
    assert driven.status().caption
    colours = driven.program.seeing.colours
    ends(driven)  # type: ignore[operator]
    assert not driven.status().caption
    assert driven.program.seeing.colours != colours or driven.program.inspector


# --- How the user changes the HUD ------------------------------------------------------------------------------------

def panels_with(notices: Notices, is_wide: bool = True, **keys: object) -> PanelControls:
    keymap = Keymap(Keys.model_validate(keys), {})
    return PanelControls(Preferences(), HudSettings.model_validate({}), keymap, lambda: is_wide, notices)


@pytest.fixture
def panels() -> PanelControls:
    return panels_with(Notices())


def test_modes_themes_and_units_go_round(panels: PanelControls) -> None:
    modes = [panels.now.hud]
    for _ in range(3):
        panels.next_mode()
        modes.append(panels.now.hud)
    assert modes == ["compact", "full", "off", "compact"]
    panels.next_mode(backwards=True)
    assert panels.now.hud == "off"
    panels.go_on("theme")
    panels.go_on("units")
    assert (panels.now.theme, panels.now.units) == ("light", "ms")


def test_in_a_narrow_window_the_two_panels_are_shown_one_after_the_other() -> None:
    panels, modes = panels_with(Notices(), is_wide=False), []
    for backwards in (False, False, False, False, True, True):
        panels.next_mode(backwards)
        modes.append(panels.now.hud)
    assert modes == ["full", "right", "off", "compact", "off", "right"]


def test_sizes_have_a_least_and_a_most(panels: PanelControls) -> None:
    panels.resize(1)
    assert panels.now.scale == 1.1
    for direction, end in ((1, SCALES[-1]), (-1, SCALES[0])):
        for _ in range(30):
            panels.resize(direction)
        assert panels.now.scale == end
    panels.resize(0)
    assert panels.now.scale == 1.0


def test_while_the_panels_are_hidden_a_notice_says_how_to_get_them_back() -> None:
    panels = panels_with(notices := Notices())
    panels.next_mode()
    assert notices.present() == []
    panels.next_mode()
    assert notices.present() == ["the panels are hidden: Tab shows them again, F1 all keys"] and HIDDEN_S > NOTICE_S
    panels.next_mode()
    assert notices.present() == []
    panels_with(notices, hud=None, help=None).next_mode(backwards=True)
    assert notices.present() == ["the panels are hidden"], "by the menu, and no key is bound"
