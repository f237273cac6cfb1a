"""The card and the panel of a tour: their texts, and that nothing is cut at any size."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pygame
import pytest
from hud_spy import Spy

from crowd_demo.config.resources import list_tours
from crowd_demo.config.tour import load_tour
from crowd_demo.registry.entries import APPROXIMATE, EXACT, Kind
from crowd_demo.registry.techniques import TECHNIQUES
from crowd_demo.render.hud.canvas import BAD, GOOD, Colour, Pen, scale_for
from crowd_demo.render.hud.card import Card, CardRow, ProofLine, Span, draw_card, interval_text, ms_text, outcome_text
from crowd_demo.render.hud.status import BetOutcome, BetView, TourView
from crowd_demo.render.hud.text_panels import BET, draw_tour

pytestmark = pytest.mark.quick

FASTER = Span("interaction", 3.1, 1.0, 3.1, 2.9, 3.3, "faster")
SLOWER = Span("step", 1.0, 2.0, 0.5, 0.4, 0.8, "slower")
ALIKE = Span("frame", 12.0, 12.1, 0.99, 0.9, 1.1, "no difference")
UNKNOWN = Span("frame", 120.0, math.nan, math.nan, -math.inf, math.inf, "unknown")
COUNTS = (CardRow("candidates", "20,000", "31.4"), CardRow("sorts in 1,000 steps", "16.7", "0"))
SAME = ProofLine("same", "same crowd: 5f3a… after 120 steps")
CARD = Card("SIMD lanes", "off -> on", EXACT, (FASTER, SLOWER, ALIKE), COUNTS, SAME, "300 steps before, 412 after", 0.5, 7)
WINDOWS = ((640, 360), (800, 600), (1280, 720), (2560, 1440))


def drawn(card: Card, window: tuple[int, int] = (1280, 720)) -> tuple[Spy, pygame.Surface]:
    pen, scale = Spy(), scale_for(window)
    return pen, draw_card(card, window[0] / scale - 8, pen, scale).surface


@pytest.mark.parametrize(("span", "outcome", "interval"), [
    (FASTER, "3.1x faster", "95%: 2.9 - 3.3"), (SLOWER, "2.0x slower", "95%: 1.25 - 2.5"),
    (ALIKE, "no difference", "95%: 0.90 - 1.10"),
    (ALIKE._replace(factor=0.87, low=0.6, high=1.3), "too noisy to tell", "95%: 0.60 - 1.30"),
    (UNKNOWN, "being timed", ""), (Span.about("step", 1.0, 1.5, True), "no factor", ""),
    (Span.about("step", 1.0, 713.0, True), "about 713x slower", ""), (Span.about("step", 1.0, 713.0, False), "no factor", ""),
    (Span.about("depth", 0.004, 30.0, True), "no factor", ""),
    (Span("interaction", 120.0, 1.4, 84.21, 70.0, 99.9, "faster"), "84x faster", "95%: 70 - 100")])
def test_what_a_row_says(span: Span, outcome: str, interval: str) -> None:
    assert (outcome_text(span), interval_text(span)) == (outcome, interval)


def test_times_have_three_digits() -> None:
    assert [ms_text(ms) for ms in (0.0, 0.034, 1.236, 9.996, 45.67, 133.4, math.nan)] == [
        "0.00 ms", "0.03 ms", "1.24 ms", "10.0 ms", "45.7 ms", "133 ms", "-"]


@pytest.mark.parametrize("window", WINDOWS)
def test_all_of_it_is_on_the_card_and_nothing_overlaps(window: tuple[int, int]) -> None:
    pen, surface = drawn(CARD, window)
    assert surface.get_width() <= window[0]
    for text in ("SIMD lanes", "off -> on", "3.1x", "faster", "interaction: 3.10 ms -> 1.00 ms", "95%: 2.9 - 3.3", SAME.text,
                 "step", "2.0x slower", "no difference", "candidates", "20,000", "31.4", "sorts in 1,000 steps",
                 "300 steps before, 412 after"):
        assert text in pen.texts, text
    boxes = [each.box for each in pen.written]
    assert all(surface.get_rect().contains(box) for box in boxes)
    assert not any(box.colliderect(other) for number, box in enumerate(boxes) for other in boxes[:number])


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("kind", [EXACT, APPROXIMATE])
def test_however_many_techniques_were_switched_all_are_named_and_no_text_is_cut(window: tuple[int, int], kind: Kind) -> None:
    labels = [technique.label.strip() for technique in TECHNIQUES if technique.group != "people"]
    for count in (2, 6, 12):
        change = ", ".join(f"{label} compiled -> pygame" for label in labels[:count])
        about, stage = (Span.about(name, 1.55, 1433.0, True) for name in ("step", "culling grid"))
        pen, surface = drawn(CARD._replace(title=f"{count} techniques", change=change, kind=kind,
                                           spans=(about, stage, *CARD.spans)), window)
        assert change in " ".join(pen.texts) and "step: 1.55 ms -> 1433 ms" in pen.texts
        assert not any("…" in text and text not in SAME.text for text in pen.texts)
        boxes = [each.box for each in pen.written]
        assert all(surface.get_rect().contains(box) for box in boxes)
        assert not any(box.colliderect(other) for number, box in enumerate(boxes) for other in boxes[:number])


def test_a_card_that_would_be_too_tall_leaves_out_counters_the_last_ones_first() -> None:
    pen = Spy()
    full = draw_card(CARD, 500, pen, 1.0).size[1]
    for tall, left in ((full, 2), (full - 1, 1), (full - 21, 0), (10, 0)):
        pen.written.clear()
        draw_card(CARD, 500, pen, 1.0, tall=tall)
        assert [count.name in pen.texts for count in COUNTS] == [left > 0, left > 1]
        assert SAME.text in pen.texts and CARD.state in pen.texts


@pytest.mark.parametrize(("proof", "colour"), [
    (SAME, GOOD), (ProofLine("differs", "THE CROWDS DIFFER after 1 step: 5f3a… and 8c21…"), BAD)])
def test_the_proof_is_green_or_red(proof: ProofLine, colour: Colour) -> None:
    pen, _ = drawn(CARD._replace(proof=proof))
    lines = [each for each in pen.written if each.text in proof.text and each.size >= 20]
    assert " ".join(line.text for line in lines) == proof.text and {line.colour for line in lines} == {colour}


# --- The panel of a tour: nothing is cut, and its keys are targets ---------------------------------------------------

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


@pytest.mark.parametrize("size", [(800, 600), (1280, 720), (2560, 1440)])
@pytest.mark.parametrize("name", list(list_tours()))
def test_every_page_of_a_shipped_tour_fits_into_the_window(pen: Pen, name: str, size: tuple[int, int]) -> None:
    scale = scale_for(size)
    for page in load_tour(name).pages:
        bet = bet_view(page.kind == "bet") if page.bet else None
        shown = view(page.text.replace("{", "{12"), page.question, page.is_answer)._replace(bet=bet)
        canvas = draw_tour(shown, size[0], pen, scale)
        assert canvas.surface.get_width() <= size[0] and canvas.surface.get_height() < 0.45 * size[1], page
