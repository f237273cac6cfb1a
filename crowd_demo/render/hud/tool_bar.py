"""The tool bar: a button with an icon for each tool, and the slider of the brush; and what the cursor shows of a tool.

Icons are drawn in a square of 16 units. The bar is as many columns wide as its height asks for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise

import pygame

from crowd_demo.compute.arrays import Doubles
from crowd_demo.render.hud.canvas import (
    ACCENT,
    DIM,
    EDGE,
    KEY,
    RGBA,
    SMALL,
    TEXT,
    TOUCHED,
    WARM,
    Canvas,
    Colour,
    Pen,
    Point,
    Target,
)
from crowd_demo.render.hud.status import BrushView, FlowView, RingView, ToolBarView

BUTTON, GAP, AROUND = 22.0, 2.0, 4.0  # units
SLIDER, KNOB = 48.0, 4.0  # units: the height of the slider, and half that of its knob
WORDS = 14.0  # height of the size below it
BRUSH_SLIDER = Target("brush")
FLOW_WIDTH, FLOW_HEIGHT = 150.0, 34.0  # units: of the numbers beside the counting line, and of the plot below them
FLOW_SHOWN = 60  # seconds in the plot
ALONG = 32  # corners of the cursor's circle
Icon = Callable[[Canvas, float, float, Colour], None]  # x and y of the square's upper left corner


class ToolBar:
    """Draws the bar; `at` is the pixel of the window where its upper left corner is."""

    def __init__(self) -> None:
        self.at = 0, 0
        self._slider = pygame.Rect(0, 0, 1, 1)  # within the bar, pixels

    def draw(self, shown: ToolBarView, room: float, pen: Pen, scale: float) -> Canvas:
        """The bar, at most so high if that is possible."""
        count, foot = len(shown.buttons), SLIDER + WORDS + 2 * AROUND
        rows = max(min(int((room - foot - AROUND) / (BUTTON + GAP)), count), 1)
        columns = math.ceil(count / rows)
        rows = math.ceil(count / columns)
        wide = max(columns * (BUTTON + GAP) - GAP + 2 * AROUND, 40.0)
        canvas = Canvas((wide, AROUND + rows * (BUTTON + GAP) + foot), pen, scale)
        left = (wide - columns * (BUTTON + GAP) + GAP) / 2
        for number, button in enumerate(shown.buttons):
            column, row = divmod(number, rows)
            x, y = left + column * (BUTTON + GAP), AROUND + row * (BUTTON + GAP)
            if button.is_held:
                canvas.rect(TOUCHED, (x, y, BUTTON, BUTTON), radius=4)
                canvas.rect(ACCENT, (x, y, BUTTON, BUTTON), radius=4, width=1)
            ICONS[button.icon](canvas, x + 3, y + 3, ACCENT if button.is_held else TEXT)
            canvas.target((x, y, BUTTON, BUTTON), "tool", button.action)
        self._draw_slider(canvas, shown, AROUND + rows * (BUTTON + GAP) + AROUND)
        return canvas

    def share_at(self, x: float, y: float) -> float:
        """Where on the slider a pixel of the window is: 0 at its lower end, 1 at its upper one; beyond them less or more."""
        return (self._slider.bottom - (y - self.at[1])) / max(self._slider.height, 1)

    def _draw_slider(self, canvas: Canvas, shown: ToolBarView, top: float) -> None:
        wide = canvas.size[0]
        middle, knob = wide / 2, top + SLIDER * (1 - shown.share)
        canvas.line(EDGE, (2 * AROUND, top - AROUND), (wide - 2 * AROUND, top - AROUND))
        canvas.rect(KEY, (middle - 2, top, 4, SLIDER), radius=2)
        canvas.rect(ACCENT, (middle - 8, knob - KNOB, 16, 2 * KNOB), radius=3)
        canvas.centred(shown.size, middle, top + SLIDER + AROUND + WORDS / 2, SMALL, DIM)
        self._slider = canvas.pixels((0, top, wide, SLIDER))
        canvas.target((0, top - AROUND, wide, SLIDER + 2 * AROUND), *BRUSH_SLIDER)


def draw_brush(on: pygame.Surface, brush: BrushView, pen: Pen, scale: float) -> None:
    """Draw on the picture what a press at the cursor will change: tiles, a circle, and below it a few words."""
    (x, y), thick, colour = brush.at, max(round(scale), 1), pen.colour(ACCENT)
    for start, end in brush.lines:
        pygame.draw.line(on, colour, start, end, thick)
    _circle(on, brush.at, brush.radius, thick, (255, 255, 255, 255))
    ruler = Canvas((1, 1), pen, scale, None)
    label = Canvas((ruler.width(brush.text, SMALL) + 12, 16), pen, scale)
    label.left(brush.text, 6, 8, SMALL)
    wide, tall = label.surface.get_size()
    low = y + max(brush.radius, 8 * scale) + 4 * scale
    top = low if low + tall <= on.get_height() else y - max(brush.radius, 8 * scale) - 4 * scale - tall
    left, top = max(min(x - wide / 2, on.get_width() - wide), 0), max(min(top, on.get_height() - tall), 0)
    on.blit(label.surface, (round(left), round(top)))


def draw_rings(on: pygame.Surface, rings: Sequence[RingView], pen: Pen, scale: float) -> None:
    """Draw the forces that stand in the picture: a circle, and the icon of the tool in its middle."""
    for ring in rings:
        _circle(on, ring.at, ring.radius, max(round(scale), 1), pen.colour(ACCENT))
        sign = Canvas((20, 20), pen, scale)
        ICONS[ring.icon](sign, 2, 2, ACCENT)
        wide, tall = sign.surface.get_size()
        on.blit(sign.surface, (round(ring.at[0] - wide / 2), round(ring.at[1] - tall / 2)))


def draw_flow(on: pygame.Surface, flow: FlowView, pen: Pen, scale: float) -> None:
    """Draw the counting line, an arrow for each direction across it, and beside it their numbers and a plot."""
    (x, y), (to_x, to_y) = flow.start, flow.end
    length = max(math.hypot(to_x - x, to_y - y), 1)
    across, middle = ((to_y - y) / length, (x - to_x) / length), ((x + to_x) / 2, (y + to_y) / 2)  # to the left
    for thick, ink in ((5, (0, 0, 0, 255)), (3, pen.colour(TEXT))):
        pygame.draw.line(on, ink, flow.start, flow.end, max(round(thick * scale), 1))
    label = Canvas((FLOW_WIDTH, 2 * WORDS + FLOW_HEIGHT + 14), pen, scale)
    for number, (way, colour) in enumerate(((1, ACCENT), (-1, WARM))):
        _arrow_head(on, pen.colour(colour), middle, (way * across[0], way * across[1]), 14 * scale)
        label.circle(colour, (10, 6 + WORDS * (number + 0.5)), 4)
        label.left(flow.texts[number], 20, 6 + WORDS * (number + 0.5), SMALL)
        _plot(label, flow.flows[:, number], float(flow.flows.max(initial=0.1)), colour)
    wide, tall = label.surface.get_size()
    left, top = middle[0] + 20 * scale, middle[1] + 20 * scale
    on.blit(label.surface, (round(max(min(left, on.get_width() - wide), 0)), round(max(min(top, on.get_height() - tall), 0))))


def _arrow_head(on: pygame.Surface, ink: RGBA, at: Point, way: Point, size: float) -> None:
    tip = at[0] + 1.6 * size * way[0], at[1] + 1.6 * size * way[1]
    base = [(at[0] + size * (0.5 * way[0] + side * way[1]), at[1] + size * (0.5 * way[1] - side * way[0]))
            for side in (-0.6, 0.6)]
    pygame.draw.polygon(on, ink, [tip, *base])


def _plot(on: Canvas, flows: Doubles, most: float, colour: Colour) -> None:
    low = 2 * WORDS + FLOW_HEIGHT + 8
    on.line(EDGE, (8, low), (FLOW_WIDTH - 8, low))
    recent = flows[-FLOW_SHOWN:].tolist()
    if len(recent) > 1:
        step = (FLOW_WIDTH - 16) / FLOW_SHOWN
        on.lines(colour, [(8 + step * number, low - FLOW_HEIGHT * flow / most) for number, flow in enumerate(recent)])


def _circle(on: pygame.Surface, at: Point, radius: float, thick: int, ink: RGBA) -> None:
    """A thin circle that is seen on light and dark alike."""
    corners = [(at[0] + radius * math.cos(angle), at[1] + radius * math.sin(angle))
               for angle in (2 * math.pi * number / ALONG for number in range(ALONG))]
    for width, colour in ((thick + 2, (0, 0, 0, 255)), (thick, ink)):
        pygame.draw.lines(on, colour, True, corners, width)


# --- icons --------------------------------------------------------------------------------------------------------------

def _polygon(points: tuple[Point, ...], canvas: Canvas, x: float, y: float, colour: Colour) -> None:
    canvas.polygon(colour, [(x + across, y + down) for across, down in points])


def _bricks(canvas: Canvas, x: float, y: float, colour: Colour) -> None:
    for row, ends in enumerate(((1, 8, 15), (1, 4.5, 11.5, 15), (1, 8, 15))):
        for first, end in pairwise(ends):
            canvas.rect(colour, (x + first, y + 2 + 4.2 * row, end - first - 0.9, 3.3))


def _erase(canvas: Canvas, x: float, y: float, colour: Colour) -> None:
    _bricks(canvas, x, y, DIM)
    canvas.line(colour, (x + 1, y + 15), (x + 15, y + 1), 2)


def _person(canvas: Canvas, x: float, y: float, colour: Colour) -> None:
    canvas.circle(colour, (x + 5.5, y + 4), 2.7)
    canvas.rect(colour, (x + 1.5, y + 7.5, 8, 7.5), radius=3)


def _people(sign: str, canvas: Canvas, x: float, y: float, colour: Colour) -> None:
    _person(canvas, x, y, colour)
    canvas.line(colour, (x + 10.5, y + 8), (x + 15.5, y + 8), 1.6)
    if sign == "+":
        canvas.line(colour, (x + 13, y + 5.5), (x + 13, y + 10.5), 1.6)


def _flag(canvas: Canvas, x: float, y: float, colour: Colour) -> None:
    canvas.line(colour, (x + 4, y + 1), (x + 4, y + 15), 1.6)
    canvas.polygon(colour, [(x + 5, y + 1.5), (x + 14, y + 5), (x + 5, y + 8.5)])


def _door(is_out: bool, canvas: Canvas, x: float, y: float, colour: Colour) -> None:
    """A doorway, and an arrow that points into it or out of it."""
    canvas.lines(colour, [(x + 9, y + 2), (x + 14, y + 2), (x + 14, y + 14), (x + 9, y + 14)], 1.6)
    canvas.line(colour, (x + 1, y + 8), (x + 10, y + 8), 1.6)
    tip, back = (x + 0.5, x + 5) if is_out else (x + 11, x + 6.5)
    canvas.polygon(colour, [(tip, y + 8), (back, y + 4.8), (back, y + 11.2)])


def _arrows(is_out: bool, canvas: Canvas, x: float, y: float, colour: Colour) -> None:
    """A point, and four arrows towards it or away from it."""
    canvas.circle(colour, (x + 8, y + 8), 1.8)
    for across, down in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        tip, back = (7.5, 4.3) if is_out else (3.2, 6.4)
        canvas.polygon(colour, [(x + 8 + across * tip, y + 8 + down * tip)] + [
            (x + 8 + across * back + side * down * 2.6, y + 8 + down * back + side * across * 2.6) for side in (-1, 1)])


def _arrows_across(canvas: Canvas, x: float, y: float, colour: Colour) -> None:
    """A line with an arrow to either side."""
    canvas.line(colour, (x + 8, y + 1), (x + 8, y + 15), 1.8)
    for side in (-1, 1):
        canvas.polygon(colour, [(x + 8 + side * 7, y + 8), (x + 8 + side * 2.5, y + 4.5), (x + 8 + side * 2.5, y + 11.5)])


def _fright(canvas: Canvas, x: float, y: float, colour: Colour) -> None:
    canvas.polygon(colour, [(x + 8, y + 1), (x + 15.5, y + 15), (x + 0.5, y + 15)])
    canvas.line(KEY, (x + 8, y + 6), (x + 8, y + 10.5), 1.8)
    canvas.circle(KEY, (x + 8, y + 12.8), 0.9)


def _back(is_forth: bool, canvas: Canvas, x: float, y: float, colour: Colour) -> None:
    """An arrow that turns back, or on."""
    def at(across: float, down: float) -> Point:
        return x + (16 - across if is_forth else across), y + down

    arc = [at(8 + 5.5 * math.cos(angle), 9.5 + 5 * math.sin(angle)) for angle in
           (math.radians(degrees) for degrees in range(-160, 100, 20))]
    canvas.lines(colour, arc, 1.6)
    canvas.polygon(colour, [at(0.5, 8.5), at(6.5, 9.5), at(2.5, 3.5)])


ICONS: Mapping[str, Icon] = {
    "hand": partial(_polygon, ((3, 1), (3, 13.5), (6.3, 10.6), (8.6, 15.3), (10.6, 14.3), (8.4, 9.8), (12.8, 9.4))),
    "wall": _bricks, "erase": _erase, "in": partial(_people, "+"), "out": partial(_people, "-"),
    "line": _arrows_across,
    "goal": _flag, "entry": partial(_door, False), "exit": partial(_door, True),
    "attract": partial(_arrows, False), "repel": partial(_arrows, True), "scare": _fright,
    "undo": partial(_back, False), "redo": partial(_back, True),
}
