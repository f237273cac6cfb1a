"""Birds from above and a little behind the vertical: five looks, four beats of the wings, thirty-two headings.

A wing is an outline in (forward, outward) pixels that folds at the wrist; lifting it moves it up the screen, shortens
it and turns it to or from the sun, which is what makes the beat readable at ten pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from canvas import LIGHT, Colour, Floats, Paper, Point, mix, smooth, turn

CELL, HUNT_CELL = 48, 96  # a hawk is larger than the birds that it hunts
STEP = 4  # of the levels of a channel, for smaller files
CENTRE = (24, 24)
HEADINGS = 32
RISE, FLATTEN = 0.42, 0.93  # how far height moves a point up the screen; how much depth on the ground shrinks
WRIST = 7.0
# Beats: inner and outer angle of the wing (turns, up is positive), how far its tip trails
BEATS = ((0.105, 0.150, 0.10), (0.030, 0.018, 0.0), (-0.055, -0.100, 0.06), (0.020, -0.030, 0.34))


class Plumage(NamedTuple):
    """Outlines as (forward, outward): a right wing, half a body with tail, and the colours of its parts."""

    wing: Sequence[Point]
    bar: Sequence[Point]
    tip: Sequence[Point]
    tail: Sequence[Point]
    body: Sequence[Point]
    head: float
    back: Colour
    bar_colour: Colour
    tip_colour: Colour
    tail_colour: Colour
    body_colour: Colour
    head_colour: Colour
    throat: Colour
    beak: Colour
    scale: float = 1.0


GULL = Plumage(
    wing=[(4.6, 0.6), (6.4, 6.2), (4.6, 11.0), (-2.4, 17.6), (-1.6, 12.4), (-0.6, 7.6), (-3.0, 0.6)],
    bar=[(0.6, 0.6), (1.6, 7.2), (-0.8, 13.0), (-1.6, 12.6), (-0.6, 7.6), (-3.0, 0.6)],
    tip=[(2.4, 13.4), (-2.4, 17.6), (-1.6, 14.0)],
    tail=[(-5.0, 0.0), (-6.0, 1.3), (-10.8, 2.7), (-11.8, 0.0)],
    body=[(9.0, 0.0), (7.6, 1.7), (3.0, 2.6), (-3.0, 2.3), (-7.5, 1.0), (-8.0, 0.0)],
    head=7.4, back=(176, 190, 210), bar_colour=(240, 243, 247), tip_colour=(82, 82, 108), tail_colour=(238, 241, 246),
    body_colour=(250, 250, 250), head_colour=(255, 255, 255), throat=(255, 255, 255), beak=(240, 160, 40))
SWALLOW = Plumage(
    wing=[(4.4, 0.6), (5.4, 5.0), (3.4, 10.0), (-6.2, 17.2), (-2.2, 10.4), (-0.8, 5.6), (-2.2, 0.6)],
    bar=[(1.4, 0.6), (2.2, 5.6), (-1.0, 11.0), (-2.2, 10.4), (-0.8, 5.6), (-2.2, 0.6)],
    tip=[(1.2, 11.8), (-6.2, 17.2), (-1.8, 10.2)],
    tail=[(-3.6, 0.0), (-5.0, 1.6), (-14.6, 4.4), (-9.0, 1.5), (-7.4, 0.0)],
    body=[(8.4, 0.0), (7.2, 1.7), (3.0, 2.5), (-2.0, 2.1), (-6.0, 1.0), (-7.0, 0.0)],
    head=6.8, back=(84, 138, 218), bar_colour=(146, 194, 246), tip_colour=(62, 106, 190), tail_colour=(78, 128, 210),
    body_colour=(70, 122, 208), head_colour=(92, 150, 228), throat=(236, 128, 68), beak=(56, 48, 60))
ORIOLE = Plumage(
    wing=[(4.4, 0.6), (6.2, 5.4), (5.0, 10.0), (0.2, 16.6), (-3.0, 15.0), (-2.4, 10.2), (-1.2, 5.8), (-2.8, 0.6)],
    bar=[(1.6, 0.6), (2.4, 6.2), (1.2, 10.8), (-2.5, 11.4), (-1.2, 5.8), (-2.8, 0.6)],
    tip=[(3.4, 12.6), (0.2, 16.6), (-3.0, 15.0), (-2.7, 12.8), (0.2, 12.0)],
    tail=[(-4.4, 0.0), (-5.4, 1.2), (-11.4, 2.3), (-10.9, 0.0)],
    body=[(8.6, 0.0), (7.4, 1.7), (3.0, 2.5), (-2.6, 2.1), (-6.6, 1.0), (-7.4, 0.0)],
    head=7.0, back=(240, 172, 40), bar_colour=(255, 226, 122), tip_colour=(138, 84, 50), tail_colour=(186, 112, 36),
    body_colour=(252, 196, 56), head_colour=(255, 214, 84), throat=(255, 236, 150), beak=(206, 84, 40))
STARLING = Plumage(
    wing=[(4.2, 0.6), (5.6, 4.8), (3.4, 9.0), (-4.4, 15.0), (-2.6, 9.6), (-1.4, 5.4), (-2.6, 0.6)],
    bar=[(1.0, 0.6), (1.6, 5.2), (-1.4, 9.8), (-2.6, 9.6), (-1.4, 5.4), (-2.6, 0.6)],
    tip=[(0.8, 10.8), (-4.4, 15.0), (-2.0, 9.8)],
    tail=[(-4.0, 0.0), (-5.0, 1.4), (-9.6, 2.4), (-9.2, 0.0)],
    body=[(8.0, 0.0), (6.8, 1.6), (2.8, 2.4), (-2.4, 2.0), (-6.0, 1.0), (-6.8, 0.0)],
    head=6.4, back=(62, 58, 84), bar_colour=(92, 86, 116), tip_colour=(40, 38, 58), tail_colour=(52, 50, 74),
    body_colour=(56, 54, 80), head_colour=(76, 80, 110), throat=(96, 110, 128), beak=(226, 190, 90))
HAWK = Plumage(
    wing=[(6.0, 0.8), (9.4, 7.0), (8.0, 14.0), (2.6, 21.4), (-2.0, 20.4), (-3.6, 13.6), (-3.0, 7.4), (-4.4, 0.8)],
    bar=[(1.6, 0.8), (2.8, 8.0), (1.0, 14.8), (-3.2, 15.2), (-3.0, 7.4), (-4.4, 0.8)],
    tip=[(5.8, 16.8), (2.6, 21.4), (-2.0, 20.4), (-2.4, 17.0), (1.6, 15.4)],
    tail=[(-5.6, 0.0), (-6.4, 2.0), (-15.6, 4.6), (-16.4, 0.0)],
    body=[(10.4, 0.0), (9.0, 2.4), (3.6, 3.6), (-3.6, 3.0), (-8.6, 1.6), (-9.6, 0.0)],
    head=8.6, back=(168, 72, 44), bar_colour=(214, 128, 78), tip_colour=(78, 32, 30), tail_colour=(186, 92, 52),
    body_colour=(190, 84, 50), head_colour=(216, 112, 66), throat=(250, 222, 180), beak=(250, 200, 60), scale=2.0)
LOOKS = (GULL, SWALLOW, ORIOLE)
HUNT = (STARLING, HAWK)
FLOCK: tuple[Colour, ...] = ((244, 246, 250), (104, 160, 232), (250, 196, 64))


class Bird:
    """One drawing: turns (forward, outward, up) into the cell and fills outlines there."""

    def __init__(self, heading: int, scale: float, cell: int) -> None:
        self.paper, self.scale = Paper(cell, cell, (cell // 2, cell // 2)), scale
        self.cos, self.sin = turn(heading / HEADINGS)

    def place(self, forward: float, right: float, up: float) -> Point:
        x, y = forward * self.cos - right * self.sin, forward * self.sin + right * self.cos
        return x * self.scale, (y * FLATTEN - up * RISE) * self.scale

    def disc(self, forward: float, up: float, radius: float, colour: Colour) -> None:
        self.paper.disc(*self.place(forward, 0.0, up), radius * self.scale, colour)

    def flat(self, half: Sequence[Point], colour: Colour) -> None:
        """An outline given by its right half, from the nose to the tail."""
        left = [(forward, -right) for forward, right in reversed(half) if right > 0]
        self.paper.polygon(smooth([self.place(f, r, 0.0) for f, r in [*half, *left]]), colour)

    def wing(self, outline: Sequence[Point], side: int, beat: tuple[float, float, float], colour: Colour) -> None:
        (inner_c, inner_s), (outer_c, outer_s) = turn(beat[0]), turn(beat[1])
        points = []
        for forward, out in outline:
            near, far = min(out, WRIST), max(out - WRIST, 0.0)
            right, up = near * inner_c + far * outer_c, near * inner_s + far * outer_s
            points.append(self.place(forward - far * beat[2], side * right, up))
        self.paper.polygon(smooth(points), mix(colour, *self._shade(side, inner_s + outer_s)))

    def _shade(self, side: int, lift: float) -> tuple[Colour, float]:
        """A raised wing faces the body: it is bright if that is towards the sun, dark otherwise."""
        lit = -side * lift * (-self.sin * LIGHT[0] + self.cos * LIGHT[1])
        return ((255, 250, 236), min(lit * 0.30, 0.35)) if lit > 0 else ((30, 34, 74), min(-lit * 0.26, 0.3))


def draw_bird(look: Plumage, beat: tuple[float, float, float], heading: int, cell: int = CELL) -> Floats:
    """One cell as straight-alpha pixels, float (cell, cell, 4)."""
    bird = Bird(heading, look.scale, cell)
    bird.flat(look.tail, look.tail_colour)
    far_side = 1 if bird.cos < 0 else -1  # the wing up the screen goes behind
    for side in (far_side, -far_side):
        bird.wing(look.wing, side, beat, look.back)
        bird.wing(look.bar, side, beat, look.bar_colour)
        bird.wing(look.tip, side, beat, look.tip_colour)
    beak = ((look.head + 5.0, 0.0), (look.head + 1.0, 1.0), (look.head + 1.0, -1.0))
    bird.paper.polygon([bird.place(*point, 0.0) for point in beak], look.beak)
    bird.flat(look.body, look.body_colour)
    head = bird.place(look.head, 0.0, 0.0)
    bird.disc(look.head + 0.5, 0.0, 2.3, look.throat)
    bird.disc(look.head - 0.9, 0.5, 2.1, look.head_colour)
    bird.paper.disc(head[0] - 0.7 * look.scale, head[1] - 0.8 * look.scale, 0.7 * look.scale,
                    mix(look.head_colour, (255, 255, 255), 0.5))
    return bird.paper.outlined(0.5, 0.55)


def draw_birds(looks: Sequence[Plumage], cell: int) -> Floats:
    """A whole sheet: row = look * 4 + beat, column = heading."""
    rows = [[draw_bird(look, beat, heading, cell) for heading in range(HEADINGS)] for look in looks for beat in BEATS]
    return np.concatenate([np.concatenate(row, axis=1) for row in rows], axis=0)
