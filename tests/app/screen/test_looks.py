"""How the user changes the HUD."""

from __future__ import annotations

import pytest

from crowd_demo.app.screen.looks import SCALES, HudLooks
from crowd_demo.app.screen.preferences import Preferences
from crowd_demo.config.model import HudSettings

pytestmark = pytest.mark.quick


@pytest.fixture
def looks() -> HudLooks:
    return HudLooks(Preferences(), HudSettings.model_validate({}))


def test_modes_themes_and_units_go_round(looks: HudLooks) -> None:
    modes = [looks.now.hud]
    for _ in range(3):
        looks.next_mode()
        modes.append(looks.now.hud)
    assert modes == ["full", "compact", "off", "full"]
    looks.next_mode(backwards=True)
    assert looks.now.hud == "off"
    looks.next_theme()
    looks.next_units()
    assert (looks.now.theme, looks.now.units) == ("light", "ms")


def test_sizes_have_a_least_and_a_most(looks: HudLooks) -> None:
    looks.resize(1)
    assert looks.now.scale == 1.1
    for direction, end in ((1, SCALES[-1]), (-1, SCALES[0])):
        for _ in range(30):
            looks.resize(direction)
        assert looks.now.scale == end
    looks.resize(0)
    assert looks.now.scale == 1.0


def test_what_is_unfolded_last_is_the_last_to_be_folded_for_room(looks: HudLooks) -> None:
    looks.fold("graph")
    looks.unfold("memory")
    looks.unfold("graph")
    looks.unfold("memory")
    assert looks.now.folded == frozenset() and list(looks.now.opened) == ["graph", "memory"]
    looks.fold("memory")
    assert looks.now.folded == {"memory"} and list(looks.now.opened) == ["graph"]
