"""What lies over the picture keeps out of each other's way, and what the user looks at stays where it is."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pygame
import pytest
from hud_spy import KEYS, crowd, picture, written

from crowd_demo.config.resources import list_tours
from crowd_demo.config.tour import load_tour
from crowd_demo.registry.entries import EXACT
from crowd_demo.render.camera import Rect
from crowd_demo.render.colours.base import Legend
from crowd_demo.render.hud.canvas import Box
from crowd_demo.render.hud.card import PROOF_COLOURS, Card, Count, ProofLine, Span
from crowd_demo.render.hud.chart import HEIGHT, WIDTH
from crowd_demo.render.hud.hud import ON_DIALOG, Hud
from crowd_demo.render.hud.panel_layout import common_px, timeline_px
from crowd_demo.render.hud.status import (
    Chart,
    Half,
    Halves,
    Inspection,
    Key,
    LegendItem,
    MinimapView,
    PanelSettings,
    Past,
    Status,
    TourView,
)
from crowd_demo.render.hud.views import QuestionView

pytestmark = pytest.mark.quick
GROUND = np.full((3, 4, 3), 100, np.uint8)
LEGEND = Legend("density", ((255, 0, 0), (0, 255, 0)), ("few", "many"))
ITEMS = tuple(LegendItem(f"overlay {k}", "what it shows is told here", (Key((200, 0, 0), "a colour"),)) for k in range(3))
AGENT = Inspection("agent 7", (("slot", "7 of 200"),) * 15, seen_at=(400, 500, 40, 40))
CARD = Card("SIMD lanes", "off -> on", EXACT, (Span("interaction", 3.1, 1.0, 3.1, 2.9, 3.3, "faster"),) * 3,
            (Count("candidates", "20,000", "31.4"),) * 2, ProofLine("same", "same crowd: 5f3a… after 120 steps"),
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


def rects(size: tuple[int, int], **shown: Any) -> dict[str, pygame.Rect]:
    """Where the HUD has placed them, by what a click there is about."""
    sim, hud = crowd(), Hud(KEYS)
    status = Status(minimap=MinimapView(Rect(0, 0, 400, 300), None, GROUND), **shown)
    for now_s in (0.0, 1.0):
        hud.draw(picture(size), sim, status, now_s)
    names = {("minimap", ""): "minimap", ("card", ""): "card", ON_DIALOG: "question", ("action", "colours"): "legend",
             ("action", "inspect"): "inspector"}
    found = {names[region.target]: placed.rect for placed in hud._placed for region in placed.canvas.targets
             if region.target in names}
    if shown.get("legend_items"):
        found["legend_items"] = next(placed.rect for placed in hud._placed if not placed.canvas.targets)
    return found


@pytest.mark.parametrize("size", WINDOWS)
@pytest.mark.parametrize("hud", ["full", "compact"])
def test_the_minimap_stays_where_it_is_when_legends_a_card_or_an_agent_are_shown(size: tuple[int, int], hud: str) -> None:
    looks = PanelSettings(hud=hud)
    alone = rects(size, panels=looks)["minimap"]
    for shown in ({"legend": LEGEND}, {"legend_items": ITEMS}, {"legend": LEGEND, "legend_items": ITEMS},
                  {"legend": LEGEND, "legend_items": ITEMS, "inspection": AGENT, "card": CARD}):
        found = rects(size, panels=looks, **shown)
        assert found.pop("minimap") == alone
        assert not any(rect.colliderect(alone) for rect in found.values()), found


@pytest.mark.parametrize("size", SIZES[1:])
@pytest.mark.parametrize("rows", [2, 9])
def test_a_question_lies_beside_a_card(size: tuple[int, int], rows: int) -> None:
    question = QuestionView("Leave crowd-demo? What was built is not saved",
                            "Ctrl S saves it, Enter discards it, Esc goes back")
    found = rects(size, card=CARD._replace(counts=CARD.counts[:1] * rows), view=question)
    assert not found["card"].colliderect(found["question"]), found
    assert pygame.Rect((0, 0), size).contains(found["question"])
    assert abs(rects(size, view=question)["question"].centerx - size[0] // 2) <= 1, "it is in the middle without a card"


@pytest.mark.parametrize("size", WINDOWS)
@pytest.mark.parametrize("seen_at", [(400.0, 500.0, 40.0, 40.0), (800.0, 100.0, 40.0, 40.0)])
def test_a_card_covers_a_legend_rather_than_the_inspector(size: tuple[int, int], seen_at: Box) -> None:
    inspected = AGENT._replace(seen_at=seen_at)
    found = rects(size, inspection=inspected, card=CARD, legend=LEGEND)
    assert not found["card"].colliderect(found["inspector"])


@pytest.mark.parametrize("size", WINDOWS)
@pytest.mark.parametrize("hud", ["full", "compact", "off"])
@pytest.mark.parametrize("frozen", [False, True])
def test_a_label_of_the_picture_is_moved_only_where_it_would_be_covered_and_then_it_can_be_seen(
        size: tuple[int, int], hud: str, frozen: bool) -> None:
    over, surface = Hud(KEYS), picture(size)
    frame = (0.29 * size[0], 0.22 * size[1], 0.42 * size[0], 0.7 * size[1]) if frozen else None  # legends lie beside it
    over.draw(surface, crowd(), Status(panels=PanelSettings(hud=hud), legend=LEGEND, legend_items=ITEMS, frozen_at=frame), 0.0)
    placed = [each.rect for each in over._placed]
    window, label = surface.get_rect(), pygame.Rect(0, 0, 120, 20)
    for x, y in product(range(60, size[0] - 60, 97), range(10, size[1] - 10, 61)):
        label.center = x, y
        moved = over.uncovered(label)
        assert window.contains(moved) and moved.collidelist(placed) < 0
        assert moved == label or label.collidelist(placed) >= 0


@pytest.mark.parametrize("size", WINDOWS)
@pytest.mark.parametrize("hud", ["full", "compact", "off"])
@pytest.mark.parametrize("shown", [{}, {"card": CARD}, {"inspection": AGENT}, {"legend": LEGEND, "card": CARD}])
def test_a_chart_of_an_overlay_covers_nothing_and_is_covered_by_nothing(size: tuple[int, int], hud: str,
                                                                        shown: dict[str, Any]) -> None:
    empty = np.zeros((4, 4), np.int64)
    chart = LegendItem("overlay", "what it shows", (), Chart("a chart", ("m", "s"), (1, 1), empty, ((9, 9, 9),), empty))
    over, surface, status = Hud(KEYS), picture(size), Status(
        panels=PanelSettings(hud=hud), minimap=MinimapView(Rect(0, 0, 400, 300), None, GROUND), **shown)
    placed = []
    for items in ((), (chart,)):
        over.draw(surface, crowd(), status._replace(legend_items=items), 0.0)
        placed.append([each.rect for each in over._placed])
    wide, high = (round(units * over.scale) for units in (WIDTH, HEIGHT))
    (at,) = [rect for rect in placed[1] if rect.size == (wide, high)]
    others = [rect for rect in placed[1] if rect is not at]
    assert surface.get_rect().contains(at) and at.collidelist(others) < 0


def places_of_halves(size: tuple[int, int], share: float, **shown: Any) -> tuple[list[pygame.Rect], list[pygame.Rect]]:
    """Where the labels of a split window are, and all else that is drawn over the picture."""
    over, halves = Hud(KEYS), Halves(round(share * size[0]), LEFT, RIGHT)
    over.draw(picture(size), crowd(), Status(past=PAST, halves=halves, **shown), 0.0)
    *others, left, right = [placed.rect for placed in over._placed]
    bottom = size[1] - timeline_px(size, over.scale) if over._timeline else size[1]
    return [left, right], [*others, pygame.Rect(0, bottom, size[0], size[1] - bottom)]


def assert_halves_are_free(size: tuple[int, int], share: float, **shown: Any) -> None:
    labels, others = places_of_halves(size, share, **shown)
    assert not labels[0].colliderect(labels[1])
    for label in labels:
        assert pygame.Rect(0, 0, *size).contains(label) and label.collidelist(others) < 0, (label, others)


@pytest.mark.parametrize("size", [(640, 360), (640, 480), (640, 1440), (800, 600), *WINDOWS, (2560, 360)])
@pytest.mark.parametrize("share", [0.03, 0.3, 0.5, 0.6, 0.97])
def test_labels_of_both_halves_are_inside_of_the_window_and_not_under_panels(size: tuple[int, int], share: float) -> None:
    for hud in ("full", "compact", "off"):
        assert_halves_are_free(size, share, panels=PanelSettings(hud=hud))


@pytest.mark.parametrize("size", WINDOWS)
@pytest.mark.parametrize("share", [0.03, 0.3, 0.5, 0.6, 0.97])
def test_labels_of_both_halves_give_way_to_all_else_that_is_shown(size: tuple[int, int], share: float) -> None:
    for shown in ({"card": CARD}, {"legend": LEGEND, "inspection": AGENT}, {"inspection": AGENT, "card": CARD}):
        assert_halves_are_free(size, share, **shown)


@pytest.mark.parametrize("size", WINDOWS)
def test_labels_of_both_halves_are_beside_the_line_where_nothing_else_is(size: tuple[int, int]) -> None:
    (left, right), _ = places_of_halves(size, 0.5, panels=PanelSettings(hud="off"))
    middle = size[0] // 2
    assert left.right < middle < right.left and right.left - left.right < 60 and left.top == right.top == size[1] // 2


def test_labels_of_both_halves_have_times_and_the_hash_in_the_colours_of_the_card() -> None:
    apart = RIGHT._replace(state=ProofLine("apart", "hash 77aa… apart at 0:00:12.3"), step_ms=math.nan, frame_ms=math.nan)
    spy = written(crowd(), Status(halves=Halves(640, LEFT, apart)))
    colours = {each.text: each.colour for each in spy.written}
    assert {"step 123 ms, frame 235 ms", "step -, frame -", *NOTES} <= set(colours)
    assert (colours[SAME.text], colours["hash 77aa… apart at 0:00:12.3"]) == (PROOF_COLOURS["same"], PROOF_COLOURS["apart"])


def placed_of(size: tuple[int, int], hud: Hud, **shown: Any) -> tuple[bool, list[pygame.Rect]]:
    """Whether panels are full, and where all is."""
    hud.draw(picture(size), crowd(), Status(past=PAST, **shown), 0.0)
    kinds = {region.target.kind for placed in hud._placed for region in placed.canvas.targets}
    return not kinds.isdisjoint({"fold", "unfold"}), [placed.rect for placed in hud._placed]


@pytest.mark.parametrize("factor", [0.7, 1.0, 1.25, 1.6, 3.0])
@pytest.mark.parametrize("size", SIZES)
def test_the_box_of_a_tour_covers_nothing_and_leaves_most_of_a_narrow_window(size: tuple[int, int], factor: float) -> None:
    full, placed = placed_of(size, hud := Hud(KEYS), tour=TOUR, panels=PanelSettings(scale=factor))
    box, window = placed[-1], pygame.Rect(0, 0, *size)
    assert window.contains(box) and box.collidelist(placed[:-1]) < 0 and not box.colliderect(hud._timeline or box)
    assert full or factor == 3.0 or common_px(window, placed) < 0.5 * size[0] * size[1]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shown", [{"tour": TOUR}, {"card": CARD}])
def test_in_a_narrow_window_panels_are_compact_while_a_tour_or_a_card_is_shown(size: tuple[int, int],
                                                                               shown: dict[str, Any]) -> None:
    hud = Hud(KEYS)
    (before, _), (meanwhile, _), (after, _) = (placed_of(size, hud, **now) for now in ({}, shown, {}))
    assert before and after and meanwhile == (size[0] >= (1280 if "tour" in shown else 1000))


@pytest.mark.parametrize("size", [(640, 360), (800, 600), (1024, 768)])
def test_where_panels_have_made_room_a_key_shows_them_beside_nothing_that_they_cover(size: tuple[int, int]) -> None:
    hud, tour = Hud(KEYS), TOUR._replace(of_panels=True)
    compact, _ = placed_of(size, hud, tour=tour)
    assert not compact and hud.show_held()
    full, placed = placed_of(size, hud, tour=tour)
    assert full and not hud.show_held(), "the next press goes on as usual"
    box, *panels = placed
    assert pygame.Rect(0, 0, *size).contains(box) and box.collidelist(panels) < 0
    assert placed_of(size, hud)[0] and not placed_of(size, hud, tour=tour)[0], "only until the tour is over"


@pytest.mark.parametrize(("size", "hud", "said"), [
    ((800, 600), "full", "Tab shows the panels."), ((1280, 720), "full", ""), ((1280, 720), "compact", "Tab, pressed twice,"),
    ((1280, 720), "off", "Tab shows the panels.")])
def test_a_page_that_speaks_of_the_panels_says_which_key_shows_them(size: tuple[int, int], hud: str, said: str) -> None:
    looks = PanelSettings(hud=hud)
    spoken = written(crowd(), Status(tour=TOUR._replace(of_panels=True), panels=looks), size).texts
    assert any(said in text for text in spoken) and bool(said) == any("the panels." in text for text in spoken)
    assert not any("shows the panels." in text for text in written(crowd(), Status(tour=TOUR, panels=looks), size).texts)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shown", [{"legend_items": ITEMS}, {"legend": LEGEND}, {"legend": LEGEND, "legend_items": ITEMS}])
@pytest.mark.parametrize("place", [(0.29, 0.33, 0.42, 0.33), (0.31, 0.5, 0.38, 0.42), (0.3, 0.6, 0.4, 0.34)])
def test_the_frame_of_a_frozen_view_does_not_cross_a_legend(size: tuple[int, int], shown: dict[str, Any], place: Box) -> None:
    frame = (place[0] * size[0], place[1] * size[1], place[2] * size[0], place[3] * size[1])
    for tour in (None, SHORT):
        hud, looks = Hud(KEYS), PanelSettings(hud="compact")
        hud.draw(picture(size), crowd(), Status(past=PAST, tour=tour, frozen_at=frame, panels=looks, **shown), 0.0)
        _, *legends = [placed.rect for placed in hud._placed if placed.canvas.surface.get_height() < 0.4 * size[1]]
        crossed = [rect for rect in legends if rect.collidelist(hud._edges) >= 0]
        assert len(legends) == len(shown) + (tour is not None) and crossed == [legends[0]] * bool(tour and crossed)


@pytest.mark.parametrize("size", [(800, 600), (1024, 768), *WINDOWS])
def test_a_legend_becomes_narrower_rather_than_lie_on_the_compact_panel_or_on_the_frame(size: tuple[int, int]) -> None:
    """As on the page of a tour that shows the frozen view from outside."""
    text = "drawn is what touches it: whole tiles, and agents that reach into it"
    frame, item = (0.29 * size[0], 0.22 * size[1], 0.42 * size[0], 0.42 * size[1]), LegendItem("freeze", text, ITEMS[0].keys)
    hud, looks = Hud(KEYS), PanelSettings(hud="compact")
    hud.draw(picture(size), crowd(), Status(past=PAST, tour=LONG, frozen_at=frame, panels=looks,
                                            legend_items=(item,), touched="cull"), 0.0)
    *others, legend = [placed.rect for placed in hud._placed]
    assert len(others) == 2 and legend.collidelist([*others, *hud._edges]) < 0 and pygame.Rect(0, 0, *size).contains(legend)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("tour", [None, SHORT])
def test_notices_do_not_cover_a_card(size: tuple[int, int], tour: TourView | None) -> None:
    hud, surface = Hud(KEYS), picture(size)
    hud.draw(surface, crowd(), Status(past=PAST, card=CARD, tour=tour, legend=LEGEND), 0.0)
    assert hud._card
    before = surface.subsurface(hud._card).copy()
    hud.draw_notices(surface, ["saved crowd-0001.crowd", "10,000 agents", "the tour is over"])
    same = (pygame.surfarray.array3d(surface.subsurface(hud._card)) == pygame.surfarray.array3d(before)).all()
    assert same or size == (640, 360), "there is no room beside it"


@pytest.mark.parametrize("size", SIZES[1:])
def test_a_card_stays_where_it_is_when_counters_come_and_go(size: tuple[int, int]) -> None:
    places = set()
    for count in range(5):
        hud, card = Hud(KEYS), CARD._replace(counts=CARD.counts[:1] * count)
        hud.draw(picture(size), crowd(), Status(past=PAST, card=card, tour=SHORT), 0.0)
        assert hud._card
        places.add((hud._card.right, hud._card.top))
    assert len(places) == 1


def test_a_tour_is_read_from_afar_on_a_large_screen() -> None:
    """Beside the panels it takes the same share of it as in a small window, while panels grow less."""
    shares = []
    for size in WINDOWS:
        _, placed = placed_of(size, Hud(KEYS), tour=TOUR)
        shares.append(placed[-1].width / size[0])
    assert max(shares) - min(shares) < 0.1 and min(shares) > 0.45
