"""What lies over the picture keeps out of each other's way, and covers what the HUD says that it covers."""

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pygame
import pytest
from hud_spy import KEYS, Spy, changed, crowd, picture, pixels, written

from crowd_demo.config.resources import list_tours
from crowd_demo.config.tour import load_tour
from crowd_demo.registry.entries import APPROXIMATE, EXACT, Kind
from crowd_demo.registry.techniques import TECHNIQUES
from crowd_demo.render.camera import Rect
from crowd_demo.render.colours.base import Legend
from crowd_demo.render.hud.canvas import BAD, GOOD, Colour, Pen, scale_for
from crowd_demo.render.hud.card import (
    PROOF_COLOURS,
    Card,
    CardRow,
    ProofLine,
    Span,
    draw_card,
    interval_text,
    ms_text,
    outcome_text,
)
from crowd_demo.render.hud.hud import Hud
from crowd_demo.render.hud.panel_layout import docked
from crowd_demo.render.hud.status import (
    BetOutcome,
    BetView,
    Chart,
    Half,
    Halves,
    Inspection,
    Key,
    LegendItem,
    MinimapView,
    PanelSettings,
    Past,
    RunningJob,
    Status,
    ToolBarView,
    ToolButton,
    TourView,
)
from crowd_demo.render.hud.text_panels import BET, draw_tour
from crowd_demo.sprites.pixels import plain_surface

pytestmark = pytest.mark.quick

GROUND = np.full((3, 4, 3), 100, np.uint8)
LEGEND = Legend("density", ((255, 0, 0), (0, 255, 0)), ("few", "many"))
ITEMS = tuple(LegendItem(f"overlay {k}", "what it shows is told here", (Key((200, 0, 0), "a colour"),)) for k in range(3))
AGENT = Inspection("agent 7", (("slot", "7 of 200"),) * 15)
CARD = Card("SIMD lanes", "off -> on", EXACT, (Span("interaction", 3.1, 1.0, 3.1, 2.9, 3.3, "faster"),) * 3,
            (CardRow("candidates", "20,000", "31.4"),) * 2, ProofLine("same", "same crowd: 5f3a… after 120 steps"),
            "300 steps before, 412 after", 0.5, 7)
SAME = ProofLine("same", "hash 3f2a… same at 0:00:12.3")
NOTES = "copied at 0:00:12.3", "steps every other frame"
LEFT, RIGHT = (Half(target, "look for neighbours: 1 in 16", 123.4, 234.6, SAME, NOTES) for target in ("simd", "right"))
PAST = Past(0, 100, 100, 3600, 60.0, 0, 1, np.zeros(3600, np.float32))
WINDOWS = [(1280, 720), (1920, 1080), (2560, 1440)]


SIZES = [(640, 360), (800, 600), (1024, 768), *WINDOWS]
TOUR = max((TourView(name, page.step + 1, len(tour.steps), page.text.replace("{", "{12"), page.question, page.is_answer)
            for name in list_tours() for tour in [load_tour(name)] for page in tour.pages),
           key=lambda shown: len(shown.text + shown.question))  # the longest page of all
SHORT, LONG = (TourView(TOUR.title, TOUR.step, TOUR.steps, text, question, TOUR.is_answer)
               for text, question in (("A line.", ""), ("A line. " * 25, TOUR.question)))


EMPTY = np.zeros((4, 4), np.int64)
CHART = LegendItem("chart", "what it shows", (), Chart("a chart", ("m", "s"), (1, 1), EMPTY, ((9, 9, 9),), EMPTY))
TOOLS = ToolBarView(tuple(ToolButton(str(number), "pointer", "", "", False) for number in range(11)), "2 m", 0.5)
SHOWN: dict[str, Any] = {
    "minimap": MinimapView(Rect(0, 0, 400, 300), None, GROUND), "inspection": AGENT, "card": CARD, "legend": LEGEND,
    "legend_items": (*ITEMS, CHART), "tour": SHORT, "tools": TOOLS}


def placed_of(size: tuple[int, int], hud: Hud, **shown: Any) -> tuple[bool, list[pygame.Rect]]:
    """Whether panels are full, and where all is."""
    hud.draw(picture(size), crowd(), Status(past=PAST, **shown), 0.0)
    kinds = {region.target.kind for placed in hud._placed for region in placed.targets}
    return not kinds.isdisjoint({"fold", "unfold"}), [placed.area for placed in hud._placed]


def assert_apart(size: tuple[int, int], names: tuple[str, ...], hud: str, **shown: Any) -> None:
    over = Hud(KEYS)
    _, placed = placed_of(size, over, panels=PanelSettings(hud=hud), **{name: SHOWN[name] for name in names}, **shown)
    placed += [over._timeline] if over._timeline else []
    window = pygame.Rect(0, 0, *size)
    assert all(window.contains(rect) for rect in placed), (names, placed)
    assert not [pair for pair in combinations(placed, 2) if pair[0].colliderect(pair[1])], (names, placed)


@pytest.mark.parametrize("size", SIZES[1:])
@pytest.mark.parametrize("hud", ["full", "compact", "off"])
def test_nothing_covers_anything_else_that_is_shown(size: tuple[int, int], hud: str) -> None:
    for names in combinations(SHOWN, 2):
        assert_apart(size, names, hud)


@pytest.mark.parametrize("size", WINDOWS)
@pytest.mark.parametrize("hud", ["full", "compact", "off"])
@pytest.mark.parametrize("share", [0.03, 0.5, 0.97])
def test_labels_of_both_halves_cover_nothing(size: tuple[int, int], hud: str, share: float) -> None:
    halves = Halves(round(share * size[0]), LEFT, RIGHT)
    for names in ((), ("card",), ("legend", "inspection"), ("card", "minimap", "tools")):
        assert_apart(size, names, hud, halves=halves)


@pytest.mark.parametrize("size", WINDOWS)
@pytest.mark.parametrize("hud", ["full", "compact", "off"])
def test_a_label_of_the_picture_is_moved_between_the_columns_only_where_it_would_be_covered(
        size: tuple[int, int], hud: str) -> None:
    over = Hud(KEYS)
    _, placed = placed_of(size, over, panels=PanelSettings(hud=hud), legend=LEGEND, legend_items=ITEMS)
    label = pygame.Rect(0, 0, 120, 20)
    for x, y in product(range(60, size[0] - 60, 97), range(10, size[1] - 10, 61)):
        label.center = x, y
        moved = over.uncovered(label)
        assert pygame.Rect(0, 0, *size).contains(moved)
        assert moved.collidelist(placed) < 0 or hud == "compact"
        assert moved == label or label.collidelist(placed) >= 0


def test_labels_of_both_halves_have_times_and_the_hash_in_the_colours_of_the_card() -> None:
    apart = RIGHT._replace(state=ProofLine("apart", "hash 77aa… apart at 0:00:12.3"), step_ms=math.nan, frame_ms=math.nan)
    spy = written(crowd(), Status(halves=Halves(640, LEFT, apart)))
    colours = {each.text: each.colour for each in spy.written}
    assert {"step 123 ms, frame 235 ms", "step -, frame -", *NOTES} <= set(colours)
    assert (colours[SAME.text], colours["hash 77aa… apart at 0:00:12.3"]) == (PROOF_COLOURS["same"], PROOF_COLOURS["apart"])


@pytest.mark.parametrize("factor", [0.7, 1.0, 1.25, 1.6, 3.0])
@pytest.mark.parametrize("size", SIZES)
def test_the_box_of_a_tour_covers_nothing_and_leaves_most_of_a_narrow_window(size: tuple[int, int], factor: float) -> None:
    full, placed = placed_of(size, hud := Hud(KEYS), tour=TOUR, panels=PanelSettings(scale=factor))
    box, window = placed[-1], pygame.Rect(0, 0, *size)
    assert window.contains(box) and box.collidelist(placed[:-1]) < 0 and not box.colliderect(hud._timeline or box)
    assert full or factor == 3.0 or sum(rect.width * rect.height for rect in placed) < 0.55 * size[0] * size[1]


@pytest.mark.parametrize(("size", "hud", "said"), [
    ((800, 600), "full", ""), ((1280, 720), "full", ""), ((1280, 720), "compact", "Tab shows the panels."),
    ((1280, 720), "off", "Tab, pressed twice,")])
def test_a_page_that_speaks_of_the_panels_says_which_key_shows_them(size: tuple[int, int], hud: str, said: str) -> None:
    looks = PanelSettings(hud=hud)
    spoken = written(crowd(), Status(tour=TOUR._replace(of_panels=True), panels=looks), size).texts
    assert any(said in text for text in spoken) and bool(said) == any("the panels." in text for text in spoken)
    assert not any("shows the panels." in text for text in written(crowd(), Status(tour=TOUR, panels=looks), size).texts)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("tour", [None, SHORT])
def test_notices_do_not_cover_a_card(size: tuple[int, int], tour: TourView | None) -> None:
    hud, surface = Hud(KEYS), picture(size)
    jobs, message = [RunningJob("exporting crowd-0001.html", 0.2, "20%")], "saved crowd-0001.crowd, which is a long name"
    hud.draw(surface, crowd(), Status(past=PAST, card=CARD, tour=tour, legend=LEGEND, jobs=jobs, notices=[message]), 0.0)
    before, found = pixels(surface), hud._message
    hud.draw_message()
    assert found and found.area.contains(changed(before, pixels(surface)))
    assert found.area.collidelist([placed.area for placed in hud._placed]) < 0


@pytest.mark.parametrize("mode", ["compact", "full", "right"])
@pytest.mark.parametrize("size", [(800, 600), (1280, 720)])
def test_the_world_keeps_three_quarters_of_the_window(mode: str, size: tuple[int, int]) -> None:
    hud = Hud(KEYS)
    status = Status(past=PAST, panels=PanelSettings(hud=mode))
    hud.draw(picture(size), crowd(walking=90, waiting=8, stuck=2, queuing=1), status, 0.0)
    rects = [placed.area for placed in hud._placed] + [hud._timeline or pygame.Rect(0, 0, 0, 0)]
    share = sum(rect.width * rect.height for rect in rects) / (size[0] * size[1])
    print(f"{mode} at {size[0]} x {size[1]}: panels take {share:.1%} of the window")
    assert share <= 0.25


# --- What the HUD says that it covers is what it covers --------------------------------------------------------------

@pytest.mark.parametrize("size", WINDOWS)
@pytest.mark.parametrize("scale", [0.7, 1.0])
def test_panels_and_timeline_lie_within_what_is_docked_and_fill_it(size: tuple[int, int], scale: float) -> None:
    looks, surface = PanelSettings(scale=scale), plain_surface(size)
    surface.fill((1, 2, 3))
    before = pixels(surface).copy()
    Hud(KEYS).draw(surface, crowd(), Status(panels=looks, past=PAST), 0.0)
    covered = (pixels(surface) != before).any(axis=2)
    left, top, right, bottom = docked(size, looks, True)
    assert left > 100 < right and top == 0 < bottom
    assert not covered[left:size[0] - right, top:size[1] - bottom].any()
    assert covered[left - 1].any() and covered[size[0] - right].any() and covered[:, size[1] - bottom].any()


# --- The card --------------------------------------------------------------------------------------------------------

FASTER = Span("interaction", 3.1, 1.0, 3.1, 2.9, 3.3, "faster")
SLOWER = Span("step", 1.0, 2.0, 0.5, 0.4, 0.8, "slower")
ALIKE = Span("frame", 12.0, 12.1, 0.99, 0.9, 1.1, "no difference")
UNKNOWN = Span("frame", 120.0, math.nan, math.nan, -math.inf, math.inf, "unknown")
COUNTS = (CardRow("candidates", "20,000", "31.4"), CardRow("sorts in 1,000 steps", "16.7", "0"))
SAME_CROWD = ProofLine("same", "same crowd: 5f3a… after 120 steps")
SHOWN_CARD = Card("SIMD lanes", "off -> on", EXACT, (FASTER, SLOWER, ALIKE), COUNTS, SAME_CROWD, "300 steps before, 412 after",
                  0.5, 7)
CARD_WINDOWS = ((640, 360), (800, 600), (1280, 720), (2560, 1440))


def drawn(card: Card, window: tuple[int, int] = (1280, 720)) -> tuple[Spy, pygame.Surface]:
    pen, scale = Spy(), scale_for(window)
    return pen, draw_card(card, window[0] / scale - 8, pen, scale).surface


def assert_no_overlap(pen: Spy, surface: pygame.Surface) -> None:
    boxes = [each.box for each in pen.written]
    assert all(surface.get_rect().contains(box) for box in boxes)
    assert not any(box.colliderect(other) for number, box in enumerate(boxes) for other in boxes[:number])


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


@pytest.mark.parametrize("window", CARD_WINDOWS)
def test_all_of_it_is_on_the_card_and_nothing_overlaps(window: tuple[int, int]) -> None:
    pen, surface = drawn(SHOWN_CARD, window)
    assert surface.get_width() <= window[0]
    for text in ("SIMD lanes", "off -> on", "3.1x", "faster", "interaction: 3.10 ms -> 1.00 ms", "95%: 2.9 - 3.3",
                 SAME_CROWD.text, "step", "2.0x slower", "no difference", "candidates", "20,000", "31.4",
                 "sorts in 1,000 steps", "300 steps before, 412 after"):
        assert text in pen.texts, text
    assert_no_overlap(pen, surface)


@pytest.mark.parametrize("room", [270, 280, 300, 350])
@pytest.mark.parametrize("first", [ALIKE, FASTER])
def test_on_a_narrow_card_nothing_overlaps(room: float, first: Span) -> None:
    for after_ms in (0.35, 12.4, 1433.0):
        pen, row = Spy(), Span.about("frame", 1.97, after_ms, True)
        assert_no_overlap(pen, draw_card(SHOWN_CARD._replace(spans=(first, row)), room, pen, 1.0).surface)
        assert pen.texts.count("->") == 3


@pytest.mark.parametrize("window", CARD_WINDOWS)
@pytest.mark.parametrize("kind", [EXACT, APPROXIMATE])
def test_however_many_techniques_were_switched_all_are_named_and_no_text_is_cut(window: tuple[int, int], kind: Kind) -> None:
    labels = [technique.label.strip() for technique in TECHNIQUES if technique.group != "people"]
    for count in (2, 6, 12):
        change = ", ".join(f"{label} compiled -> pygame" for label in labels[:count])
        about, stage = (Span.about(name, 1.55, 1433.0, True) for name in ("step", "culling grid"))
        pen, surface = drawn(SHOWN_CARD._replace(title=f"{count} techniques", change=change, kind=kind,
                                           spans=(about, stage, *SHOWN_CARD.spans)), window)
        assert change in " ".join(pen.texts) and "step: 1.55 ms -> 1433 ms" in pen.texts
        assert not any("…" in text and text not in SAME_CROWD.text for text in pen.texts)
        assert_no_overlap(pen, surface)


def test_a_card_that_would_be_too_tall_leaves_out_counters_the_last_ones_first() -> None:
    pen = Spy()
    full = draw_card(SHOWN_CARD, 500, pen, 1.0).size[1]
    for tall, left in ((full, 2), (full - 1, 1), (full - 21, 0), (10, 0)):
        pen.written.clear()
        draw_card(SHOWN_CARD, 500, pen, 1.0, tall=tall)
        assert [count.name in pen.texts for count in COUNTS] == [left > 0, left > 1]
        assert SAME_CROWD.text in pen.texts and SHOWN_CARD.state in pen.texts


@pytest.mark.parametrize(("proof", "colour"), [
    (SAME_CROWD, GOOD), (ProofLine("differs", "THE CROWDS DIFFER after 1 step: 5f3a… and 8c21…"), BAD)])
def test_the_proof_is_green_or_red(proof: ProofLine, colour: Colour) -> None:
    pen, _ = drawn(SHOWN_CARD._replace(proof=proof))
    lines = [each for each in pen.written if each.text in proof.text and each.size >= 20]
    assert " ".join(line.text for line in lines) == proof.text and {line.colour for line in lines} == {colour}


# --- The panel of a tour: nothing is cut, and its keys are targets ---------------------------------------------------

@pytest.fixture
def pen() -> Pen:
    return Pen()


def view(text: str = "A sentence.", question: str = "", is_answer: bool = False, step: int = 1) -> TourView:
    return TourView("mine", step, 4, text, question, is_answer, "measuring ... 10 of 60")


def bet_view(is_open: bool, share: float = 0.3) -> BetView:
    outcome = BetOutcome("2.4 times as fast (2.3 to 2.5)", (0.4, 0.45), "Your guess of 2 is too low by 0.4.", is_right=False)
    return BetView(("1", "16"), "2", "times as fast", share, None if is_open else outcome, is_open)


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("room", [400, 1280])
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
