"""A chart that an overlay puts into the HUD: a histogram of pairs of numbers, its cells in the colours of classes, and curves.

The more often, the more opaque. The newest numbers are drawn, a few times a second.
"""

from __future__ import annotations

import numpy as np

from crowd_demo.render.hud.canvas import DIM, EDGE, FAINT, GROUND, NORMAL, PAD, SMALL, TEXT, Canvas, Pen
from crowd_demo.render.hud.status import Chart

WIDTH, HEIGHT = 230.0, 176.0  # units; beside the inspector's panel in a window of 1280 x 720
LEFT, TOP, RIGHT, BOTTOM = 36.0, 28.0, 14.0, 30.0  # around the plot
LINE = 13.0
FAINTEST = 90  # how opaque what was found once is, of 255
STEPS = 0.5, 1.0, 2.0, 5.0, 10.0  # between numbers of an axis
MAX_NUMBERS = 6


def draw_chart(chart: Chart, pen: Pen, scale: float) -> Canvas:
    def at(x: float, y: float) -> tuple[float, float]:
        return (LEFT + x / chart.ends[0] * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - y / chart.ends[1] * (HEIGHT - TOP - BOTTOM))

    on = Canvas((WIDTH, HEIGHT), pen, scale)
    on.left(chart.title, PAD, 14, NORMAL, TEXT)
    on.rect(GROUND, (LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM))
    rows, columns = chart.counts.shape
    across, up = chart.ends[0] / columns, chart.ends[1] / rows
    row, column = np.nonzero(chart.counts)
    share = np.sqrt(chart.counts[row, column] / max(int(chart.counts.max(initial=1)), 1))
    alpha = (FAINTEST + (255 - FAINTEST) * share).astype(int).tolist()
    ground, kinds = pen.colour(GROUND), chart.classes[row, column].tolist()
    for row_at, column_at, kind, opaque in zip(row.tolist(), column.tolist(), kinds, alpha, strict=True):
        (x0, y0), (x1, y1) = at(column_at * across, (row_at + 1) * up), at((column_at + 1) * across, row_at * up)
        red, green, blue = (round(under + (above - under) * opaque / 255)
                            for under, above in zip(ground[:3], chart.colours[kind], strict=True))
        on.rect((red, green, blue), (x0, y0, x1 - x0, y1 - y0))
    (left, bottom), (right, top) = at(0, 0), at(*chart.ends)
    for number in _numbers(chart.ends[0]):
        x, _ = at(number, 0)
        on.line(EDGE, (x, bottom), (x, bottom + 3))
        on.centred(f"{number:g}", x, bottom + 10, SMALL, DIM)
    for number in _numbers(chart.ends[1]):
        _, y = at(0, number)
        on.line(EDGE, (left - 3, y), (left, y))
        on.right(f"{number:g}", left - 6, y, SMALL, DIM)
    on.line(FAINT, (left, bottom), (right, bottom))
    on.line(FAINT, (left, bottom), (left, top))
    on.right(chart.axes[0], right, bottom + 21, SMALL, FAINT)
    on.left(chart.axes[1], left + 4, top + 8, SMALL, FAINT)
    for rank, (name, along, upwards) in reversed(list(enumerate(chart.curves))):
        colour, width = (FAINT, 1.0) if rank else (TEXT, 1.6)
        on.lines(colour, [at(*point) for point in zip(along.tolist(), upwards.tolist(), strict=True)], width)
        on.right(name, WIDTH - RIGHT - 6, TOP + 9 + LINE * rank, SMALL, colour)
    return on


def _numbers(end: float) -> list[float]:
    step = next((step for step in STEPS if end / step <= MAX_NUMBERS + 0.5), STEPS[-1])
    return np.arange(0, end + step / 100, step).tolist()
