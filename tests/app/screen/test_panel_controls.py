"""How the user changes the HUD."""

from __future__ import annotations

import pytest

from crowd_demo.app.dialogs.panel_controls import HIDDEN_S, SCALES, PanelControls
from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen.notices import NOTICE_S, Notices
from crowd_demo.app.screen.preferences import Preferences
from crowd_demo.config.keys import Keys
from crowd_demo.config.model import HudSettings

pytestmark = pytest.mark.quick


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


def test_the_section_that_was_unfolded_last_is_the_last_one(panels: PanelControls) -> None:
    for section in ("memory", "graph", "memory"):
        panels.unfold(section)
    assert list(panels.now.opened) == ["graph", "memory"]
    panels.fold("memory")
    assert list(panels.now.opened) == ["graph"]


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
