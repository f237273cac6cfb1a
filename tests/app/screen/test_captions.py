"""The caption of a scenario that has opened."""

from __future__ import annotations

from pathlib import Path

import pygame
import pytest
from driven import Driven
from hud_spy import Spy

from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen.notices import CAPTION_S, FADE_S, ShownCaption, caption_of
from crowd_demo.config.keys import Keys, key_text
from crowd_demo.config.resources import list_configs
from crowd_demo.render.hud.large_type import Caption, draw_caption

pytestmark = pytest.mark.quick


def test_it_stays_for_three_seconds_from_when_it_is_seen_and_then_fades(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("crowd_demo.app.screen.notices.time.monotonic", lambda: now[0])
    caption, shown = Caption("maze", "People walk."), ShownCaption()
    shown.show(caption)
    now[0] += 100  # a frame that takes long
    assert shown.present() == caption
    now[0] += CAPTION_S + FADE_S / 2
    fading = shown.present()
    assert fading and fading.alpha == pytest.approx(0.5)
    now[0] += FADE_S
    assert shown.present() is None is shown.present()


def test_its_key_is_the_one_of_the_configuration_and_without_a_key_or_a_file_there_is_no_hint(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert caption_of("murmuration", Keymap(Keys(), {})) == Caption(
        "murmuration", "The flock turns wherever the red hawk comes.", "ctrl+h", "lead the hawk with the pointer")
    unbound = caption_of("murmuration", Keymap(Keys.model_validate({"hawk": None}), {}))
    assert unbound and not unbound.key
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text("# Mine.\n# Try: fly, up\n", "utf-8")
    assert caption_of("mine", Keymap(Keys(), {})) == Caption("mine", "Mine.", "", "up")
    assert caption_of("gone", Keymap(Keys(), {})) is None is caption_of(None, Keymap(Keys(), {}))


@pytest.mark.parametrize("name", list_configs())
def test_every_sentence_and_hint_fits_into_a_small_window(name: str) -> None:
    pygame.font.init()
    caption = caption_of(name, Keymap(Keys(), {}))
    assert caption and caption.key
    canvas = draw_caption(caption, (800, 600), spy := Spy(), 1.05)
    assert key_text(caption.key) in spy.texts, "as it is printed on the key"
    assert not [text for text in spy.texts if "…" in text]
    assert all(canvas.surface.get_rect().contains(each.box) for each in spy.written)


@pytest.mark.parametrize("ends", [lambda driven: driven.press("q"), lambda driven: driven.drag((300, 200))])
def test_any_key_and_any_click_ends_it_and_does_what_it_does(driven: Driven, ends: object) -> None:
    driven.program.config_name = "maze"
    driven.program.show_caption()
    assert driven.status().caption
    colours = driven.program.seeing.colours
    ends(driven)  # type: ignore[operator]
    assert not driven.status().caption
    assert driven.program.seeing.colours != colours or driven.program.inspector
