"""The graph of frame times: columns of stages, a scale, and a mark for each switch."""

from __future__ import annotations

import numpy as np
import pygame
import pytest
from hud_spy import Spy, measured

from crowd_demo.profile import Profile
from crowd_demo.registry.stages import text_of
from crowd_demo.render.hud.canvas import DARK, GROUND, Canvas
from crowd_demo.render.hud.frame_sections import BUDGET_MS, Bars, Graph, scale_ms
from crowd_demo.render.hud.status import Mark

pytestmark = pytest.mark.quick


def test_the_newest_frame_is_a_column_of_stages_upon_each_other() -> None:
    profile, ground = Profile(), DARK[GROUND]
    profile.add("interaction", 5.0)
    profile.add("blit", 10.0)
    profile.end_frame(17.0)
    bars = Bars((8, 40))
    bars.draw(profile, 20.0, ground)  # 2 pixels a ms
    pixels = pygame.surfarray.array3d(bars.surface)
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
    pixels = pygame.surfarray.pixels2d(graph._bars.surface)
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


def test_the_scale_is_fitted_again_when_what_it_was_kept_for_has_left_the_graph() -> None:
    graph, profile = Graph(), more(Profile(), 100, 5.0)
    graph_texts(graph, profile)
    assert not any("click" in text for text in graph_texts(graph, more(profile, 240, 75.0)))
    assert heights(graph) == {28}
    graph_texts(graph, more(profile, 200, 5.0))
    assert heights(graph) == {2, 28}, "what was slow can still be seen"
    assert not any("click" in text for text in graph_texts(graph, more(profile, 40, 5.0)))
    assert heights(graph) == {15}


def test_a_switch_is_marked_in_the_graph_where_it_happened() -> None:
    profile = measured(200)
    assert "reorder off" in graph_texts(Graph(), profile, (Mark(150, "reorder off"),))
    assert "reorder off" not in graph_texts(Graph(), measured(600), (Mark(150, "reorder off"),))


def test_marks_that_stand_close_do_not_write_over_each_other() -> None:
    found = graph_texts(Graph(), measured(200), (Mark(100, "far away"), Mark(185, "hidden"), Mark(190, "newest")))
    assert "newest" in found and "hidden" not in found and "far away" in found


# --- help ------------------------------------------------------------------------------------------------------------
