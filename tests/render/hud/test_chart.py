"""The chart of an overlay: cells are where their numbers say, in the colours of their classes, and curves go through them."""

from __future__ import annotations

import numpy as np
import pytest

from crowd_demo.render.hud.canvas import GROUND, TEXT, THEMES, Canvas, Pen
from crowd_demo.render.hud.chart import draw_chart
from crowd_demo.render.hud.status import Chart

pytestmark = pytest.mark.quick
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


def test_what_was_found_seldom_is_fainter_and_what_was_not_found_is_not_drawn() -> None:
    counts = np.zeros((4, 10), np.int64)
    counts[0, 0], counts[3, 0] = 100, 1
    drawn = draw_chart(chart(counts), Pen(), 1.0)
    red = {colour[0] for colour in (tuple(drawn.surface.get_at((40, y))) for y in range(176)) if colour[0] > 2 * colour[1]}
    assert len(red) == 2 and max(red) == 255
    assert places_of(draw_chart(chart(0 * counts), Pen(), 1.0), RED) is None
