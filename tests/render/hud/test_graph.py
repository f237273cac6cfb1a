"""The graph of frame times, the chart of an overlay, and the colours of stages."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pygame
import pytest
from eyes import EYES, distance, lab
from hud_spy import Spy, measured

from crowd_demo.profile import Profile
from crowd_demo.registry.stages import PARTS, PLUGIN_COLOUR, STAGES, in_order, stages_of, text_of
from crowd_demo.render.hud.canvas import DARK, GROUND, TEXT, THEMES, Canvas, Pen
from crowd_demo.render.hud.frame_sections import BUDGET_MS, Graph, bars, scale_ms
from crowd_demo.render.hud.status import Chart, Mark
from crowd_demo.render.hud.text_panels import draw_chart

pytestmark = pytest.mark.quick

def test_the_newest_frame_is_a_column_of_stages_upon_each_other() -> None:
    profile, ground = Profile(), DARK[GROUND]
    profile.add("interaction", 5.0)
    profile.add("blit", 10.0)
    profile.end_frame(17.0)
    pixels = pygame.surfarray.array3d(bars((8, 40), profile, 20.0, ground))  # 2 pixels a ms
    column = pixels[-1].tolist()
    see, blit = (list(text_of(stage).colour) for stage in ("interaction", "blit"))
    assert column[::-1] == [see] * 10 + [blit] * 20 + [list(text_of("other").colour)] * 4 + [list(ground)] * 6
    assert (pixels[:-1] == ground).all()


def test_the_scale_fits_the_frames_and_always_shows_the_budget() -> None:
    assert scale_ms(np.zeros(0, np.float32)) > BUDGET_MS
    assert scale_ms(np.full(10, 3.0, np.float32)) == 20 and scale_ms(np.full(10, 70.0, np.float32)) == 80
    assert scale_ms(np.full(10, 1e9, np.float32)) == 10_000


def graph_texts(graph: Graph, profile: Profile, ticks: tuple[Mark, ...] = (), fits: int = 0,
                compiling: bool = False) -> list[str]:
    spy = Spy()
    said, _ = graph.draw(Canvas((260, 80), spy, 1.0), (10, 10, 240, 60), profile, ticks, fits, compiling)
    return [*spy.texts, said]


def heights(graph: Graph) -> set[int]:
    """How high the frames are drawn, pixels."""
    pixels = pygame.surfarray.pixels2d(graph.picture)
    return set((pixels != pixels.max()).sum(axis=1).tolist())


def more(profile: Profile, frames: int, ms: float) -> Profile:
    for _ in range(frames):
        profile.add("interaction", ms)
        profile.end_frame(ms)
    return profile


def test_the_graph_keeps_its_scale_until_it_is_asked_to_fit() -> None:
    graph, profile = Graph(), more(Profile(), 100, 5.0)
    graph_texts(graph, profile)
    assert "above 20: click to fit" in graph_texts(graph, more(profile, 100, 75.0))
    assert heights(graph) == {0, 15, 60}
    assert not any("click" in text for text in graph_texts(graph, profile, fits=1))
    assert heights(graph) == {0, 2, 28}, "of 160 ms"


def test_a_switch_is_marked_in_the_graph_where_it_happened() -> None:
    profile = measured(200)
    assert "reorder off" in graph_texts(Graph(), profile, (Mark(150, "reorder off"),))
    assert "reorder off" not in graph_texts(Graph(), measured(600), (Mark(150, "reorder off"),))


# --- help ------------------------------------------------------------------------------------------------------------


# --- The chart of an overlay -----------------------------------------------------------------------------------------

RED, BLUE = (255, 0, 0), (0, 0, 255)


def chart(counts: np.ndarray) -> Chart:
    """Ten by four cells, red in the left half and blue in the right one; a line at half of its height."""
    classes = np.broadcast_to(np.arange(10) >= 5, (4, 10)).astype(np.int64)
    return Chart("title", ("people", "metres"), (5.0, 2.0), counts, (RED, BLUE), classes,
                 (("a line", np.array([0.0, 5.0]), np.array([1.0, 1.0])),))


def places_of(canvas: Canvas, colour: tuple[int, ...]) -> tuple[float, float, float, float] | None:
    """The box of all pixels of a colour, in units."""
    width, height = canvas.surface.get_size()
    found = [(x, y) for x in range(width) for y in range(height) if tuple(canvas.surface.get_at((x, y)))[:3] == colour[:3]]
    if not found:
        return None
    x, y = np.array(found).T / canvas.scale
    return x.min(), y.min(), x.max(), y.max()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("scale", [0.7, 1.15, 2.5])
def test_what_was_found_most_often_has_the_colour_of_its_class_where_its_numbers_are(theme: str, scale: float) -> None:
    counts = np.zeros((4, 10), np.int64)
    counts[3, 1] = counts[0, 8] = 7
    drawn = draw_chart(chart(counts), Pen(theme=THEMES[theme]), scale)
    width, height = drawn.size
    left, top, right, bottom = places_of(drawn, RED) or (0, 0, 0, 0)
    assert right < width / 2 and bottom < height / 2 and top < right - left + 40
    left, top, right, bottom = places_of(drawn, BLUE) or (0, 0, 0, 0)
    assert left > width / 2 and top > height / 2
    assert places_of(drawn, drawn.pen.colour(TEXT)) and places_of(drawn, drawn.pen.colour(GROUND))


# --- The colours of stages, as everybody sees them -------------------------------------------------------------------

def test_distances_are_those_of_the_literature() -> None:
    assert lab((255, 255, 255), EYES["usual"]) == pytest.approx([100, 0, 0], abs=0.1)
    assert lab((255, 0, 0), EYES["usual"]) == pytest.approx([53.2, 80.1, 67.2], abs=0.2)
    assert distance((200, 100, 0), (120, 130, 0)) < 10 < np.linalg.norm(
        lab((200, 100, 0), EYES["usual"]) - lab((120, 130, 0), EYES["usual"]))  # red and green


def test_every_stage_has_a_colour_of_its_own() -> None:
    assert text_of("census").colour == PLUGIN_COLOUR
    assert len({*(stage.colour for stage in STAGES.values()), PLUGIN_COLOUR}) == len(STAGES) + 1


def test_stages_that_lie_upon_each_other_differ_much_for_everybody() -> None:
    stack = [text_of(stage).colour for stage in in_order([*STAGES, "of a plugin"])]
    assert min(distance(one, other) for one, other in pairwise(stack)) > 20


@pytest.mark.parametrize("part", PARTS)
def test_any_two_stages_of_a_part_can_be_told_apart_by_everybody(part: str) -> None:
    colours = [text_of(stage).colour for stage in stages_of(part, [*STAGES, "of a plugin"])]
    assert min(distance(one, other) for one, other in combinations(colours, 2)) > 10


@pytest.mark.parametrize("theme", THEMES)
def test_every_stage_can_be_seen_on_the_ground_of_the_graph(theme: str) -> None:
    red, green, blue, *_ = THEMES[theme][GROUND]
    assert min(distance(stage.colour, (red, green, blue)) for stage in STAGES.values()) > 10
