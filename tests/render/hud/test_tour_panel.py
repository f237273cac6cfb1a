"""The panel of a tour: nothing is cut, and its keys are targets."""

from __future__ import annotations

from collections.abc import Iterator

import pygame
import pytest
from hud_spy import Spy

from crowd_demo.config.resources import list_tours
from crowd_demo.config.tour import load_tour
from crowd_demo.render.hud.canvas import Pen, scale_for
from crowd_demo.render.hud.status import BetOutcome, BetView, TourView
from crowd_demo.render.hud.text_panels import BET, draw_tour

pytestmark = pytest.mark.quick


@pytest.fixture
def pen() -> Iterator[Pen]:
    pygame.font.init()
    yield Pen()
    pygame.font.quit()


def view(text: str = "A sentence.", question: str = "", is_answer: bool = False, step: int = 1) -> TourView:
    return TourView("mine", step, 4, text, question, is_answer, "measuring ... 10 of 60")


def bet_view(is_open: bool, share: float = 0.3) -> BetView:
    outcome = BetOutcome("2.4 times as fast (2.3 to 2.5)", (0.4, 0.45), "Your guess of 2 is too low by 0.4.", is_right=False)
    return BetView(("1", "16"), "2", "times as fast", share, None if is_open else outcome, is_open)


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("room", [400, 1280])
@pytest.mark.usefixtures("pen")
def test_a_bet_shows_its_scale_and_all_its_texts_within_the_panel(is_open: bool, room: int) -> None:
    pen = Spy()
    for share in (0.0, 0.5, 1.0):
        canvas = draw_tour(view()._replace(bet=bet_view(is_open, share)), room, pen, 1.0)
        scales = [placed.rect for placed in canvas.targets if placed.target == BET]
        assert len(scales) == is_open and all(canvas.surface.get_rect().contains(rect) for rect in scales)
    texts = " ".join(pen.texts)
    assert "your guess: 2 times as fast" in texts and " bet " in texts if is_open else "measured: 2.4" in texts
    assert "too low by 0.4." in texts or is_open
    assert all(canvas.surface.get_rect().contains(each.box) for each in pen.written)


def test_the_panel_grows_with_its_text_and_has_a_target_for_each_key(pen: Pen) -> None:
    short, long = (draw_tour(view("words " * count), 1280, pen, 1.0) for count in (5, 60))
    assert long.size[1] > short.size[1] + 60 and long.size[0] == short.size[0]
    assert [placed.target for placed in short.targets] == [("tour", "leave"), ("tour", "back"), ("tour", "next")]
    assert all(short.surface.get_rect().contains(placed.rect) for placed in short.targets)


@pytest.mark.usefixtures("pen")
def test_a_question_follows_its_sentence_and_comes_before_its_answer() -> None:
    pen = Spy()
    draw_tour(view("Said.", "Why?"), 1280, pen, 1.0)
    draw_tour(view("Because.", "Why?", is_answer=True), 1280, pen, 1.0)
    assert [text for text in pen.texts if text in ("Said.", "Why?", "Because.")] == ["Said.", "Why?", "Why?", "Because."]


@pytest.mark.parametrize("size", [(800, 600), (1280, 720), (2560, 1440)])
@pytest.mark.parametrize("name", list(list_tours()))
def test_every_page_of_a_shipped_tour_fits_into_the_window(pen: Pen, name: str, size: tuple[int, int]) -> None:
    scale = scale_for(size)
    for page in load_tour(name).pages:
        bet = bet_view(page.kind == "bet") if page.bet else None
        shown = view(page.text.replace("{", "{12"), page.question, page.is_answer)._replace(bet=bet)
        canvas = draw_tour(shown, size[0], pen, scale)
        assert canvas.surface.get_width() <= size[0] and canvas.surface.get_height() < 0.45 * size[1], page
