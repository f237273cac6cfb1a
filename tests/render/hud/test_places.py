"""What lies over the picture keeps out of each other's way, and what the user looks at stays where it is."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pygame
import pytest
from hud_spy import KEYS, changed, crowd, picture, pixels, written

from crowd_demo.config.resources import list_tours
from crowd_demo.config.tour import load_tour
from crowd_demo.registry.entries import EXACT
from crowd_demo.render.camera import Rect
from crowd_demo.render.colours.base import Legend
from crowd_demo.render.hud.canvas import Target
from crowd_demo.render.hud.card import PROOF_COLOURS, Card, Count, ProofLine, Span
from crowd_demo.render.hud.hud import Hud
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
    ToolBarView,
    ToolButton,
    TourView,
)

pytestmark = pytest.mark.quick
GROUND = np.full((3, 4, 3), 100, np.uint8)
LEGEND = Legend("density", ((255, 0, 0), (0, 255, 0)), ("few", "many"))
ITEMS = tuple(LegendItem(f"overlay {k}", "what it shows is told here", (Key((200, 0, 0), "a colour"),)) for k in range(3))
AGENT = Inspection("agent 7", (("slot", "7 of 200"),) * 15)
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


EMPTY = np.zeros((4, 4), np.int64)
CHART = LegendItem("chart", "what it shows", (), Chart("a chart", ("m", "s"), (1, 1), EMPTY, ((9, 9, 9),), EMPTY))
TOOLS = ToolBarView(tuple(ToolButton(str(number), "hand", "", "", False) for number in range(11)), "2 m", 0.5)
SHOWN: dict[str, Any] = {
    "minimap": MinimapView(Rect(0, 0, 400, 300), None, GROUND), "inspection": AGENT, "card": CARD, "legend": LEGEND,
    "legend_items": (*ITEMS, CHART), "tour": SHORT, "tools": TOOLS}


def placed_of(size: tuple[int, int], hud: Hud, **shown: Any) -> tuple[bool, list[pygame.Rect]]:
    """Whether panels are full, and where all is."""
    hud.draw(picture(size), crowd(), Status(past=PAST, **shown), 0.0)
    kinds = {region.target.kind for placed in hud._placed for region in placed.canvas.targets}
    return not kinds.isdisjoint({"fold", "unfold"}), [placed.rect for placed in hud._placed]


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
@pytest.mark.parametrize("share", [0.03, 0.3, 0.5, 0.6, 0.97])
def test_labels_of_both_halves_cover_nothing(size: tuple[int, int], hud: str, share: float) -> None:
    halves = Halves(round(share * size[0]), LEFT, RIGHT)
    for names in ((), ("card",), ("legend", "inspection"), ("card", "minimap", "tools")):
        assert_apart(size, names, hud, halves=halves)


@pytest.mark.parametrize("size", WINDOWS)
def test_everything_at_once_covers_nothing(size: tuple[int, int]) -> None:
    for hud in ("full", "compact"):
        assert_apart(size, ("minimap", "inspection", "card", "legend", "legend_items"), hud)


def test_what_is_asked_for_takes_the_room_of_techniques_which_are_folded_for_it() -> None:
    """In steps: the panel does not change with each line of what is inspected."""
    hud, heights = Hud(KEYS), []
    for rows in (0, 18, 19, 20):
        agent = AGENT._replace(rows=AGENT.rows[:1] * rows) if rows else None
        placed_of((1280, 720), hud, inspection=agent)
        heights.append(hud.panels[1].surface.get_height())
        assert hud.sections()["drawing"] == bool(rows)
    assert heights[0] > heights[1] and len(set(heights[1:])) <= 2


@pytest.mark.parametrize("size", WINDOWS)
@pytest.mark.parametrize("hud", ["full", "compact"])
def test_the_minimap_stays_where_it_is_whatever_else_is_shown(size: tuple[int, int], hud: str) -> None:
    places = set()
    for names in ((), ("legend",), ("legend_items", "inspection"), ("legend", "card", "tour")):
        over = Hud(KEYS)
        placed_of(size, over, panels=PanelSettings(hud=hud), **{name: SHOWN[name] for name in ("minimap", *names)})
        places.add((over.minimap.at, over.target_at(*over.minimap.at)))
    (place,) = places
    assert place[1] in (Target("minimap"), Target("panel"))


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


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shown", [{"tour": TOUR}, {"card": CARD}])
def test_in_a_narrow_window_panels_are_compact_while_a_tour_or_a_card_is_shown(size: tuple[int, int],
                                                                               shown: dict[str, Any]) -> None:
    hud = Hud(KEYS)
    (before, _), (meanwhile, _), (after, _) = (placed_of(size, hud, **now) for now in ({}, shown, {}))
    assert before and after and meanwhile == (size[0] >= 1280)


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
@pytest.mark.parametrize("tour", [None, SHORT])
def test_notices_do_not_cover_a_card(size: tuple[int, int], tour: TourView | None) -> None:
    hud, surface = Hud(KEYS), picture(size)
    hud.draw(surface, crowd(), Status(past=PAST, card=CARD, tour=tour, legend=LEGEND), 0.0)
    before, card = pixels(surface), hud._placed[-1].rect
    hud.draw_notices(surface, ["saved crowd-0001.crowd", "10,000 agents", "the tour is over"])
    assert not changed(before, pixels(surface)).colliderect(card) or size[0] < (1000 if tour else 800)


@pytest.mark.parametrize("size", SIZES[1:])
def test_a_card_stays_where_it_is_when_counters_come_and_go(size: tuple[int, int]) -> None:
    places = set()
    for count in range(5):
        hud, card = Hud(KEYS), CARD._replace(counts=CARD.counts[:1] * count)
        hud.draw(picture(size), crowd(), Status(past=PAST, card=card, tour=SHORT), 0.0)
        places.add((hud._placed[-1].rect.right, hud._placed[-1].rect.top))
    assert len(places) == 1


def test_a_tour_is_read_from_afar_on_a_large_screen() -> None:
    """Beside the panels it takes the same share of it as in a small window, while panels grow less."""
    shares = []
    for size in WINDOWS:
        _, placed = placed_of(size, Hud(KEYS), tour=TOUR)
        shares.append(placed[-1].width / size[0])
    assert max(shares) - min(shares) < 0.1 and min(shares) > 0.45
