"""People of a summer plaza: eight looks, eight directions, eight steps of a walk, standing, waiting and stuck.

Each is a small jointed figure of balls and limbs, posed in its own frame (forward, right, up; pixels) and seen from
above at 30 degrees, so every direction and step comes from one model.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
from canvas import INK, Colour, Floats, Paper, Plane, Relief, Vector, mix, over, turn

CELL = (48, 64)
FOOT = (24, 56)
DIRECTIONS = 8
POSES = (*(f"walk{step}" for step in range(8)), "stand", "wait", "stuck")
# Dots from afar: dark enough for every ground, and far apart for colour-blind eyes too (a test measures it)
WALKING: Colour = (20, 124, 220)
ICONS = "waiting", "stuck"
WAITING: Colour = (52, 16, 72)
STUCK: Colour = (222, 64, 0)
QUEUING: Colour = (0, 158, 115)

VIEW_COS, VIEW_SIN = 0.866025, 0.5
UP: Vector = (0, 0, 1)
WHITE: Colour = (244, 241, 232)
STRAW: Colour = (236, 205, 130)
LEATHER: Colour = (134, 88, 56)


class Look(NamedTuple):
    """What somebody wears. `sleeves`: how much of the arm is cloth, 0..2; `accent`: hat, scarf or belt."""

    skin: Colour
    hair: Colour
    cut: Literal["short", "long", "bob", "bun", "afro", "scarf"]
    hat: Literal["", "straw", "cap", "flat"]
    accent: Colour
    top: Colour
    sleeves: int
    bottom: Colour
    legs: Literal["trousers", "shorts", "skirt", "dress", "gown"]
    extra: Literal["", "pack", "satchel", "shades", "beard"]
    extra_colour: Colour
    shoes: Colour
    size: float


FAIR, ROSY, TAN, OLIVE = (250, 214, 184), (255, 205, 178), (224, 172, 128), (206, 152, 108)
BROWN, DARK = (168, 112, 76), (136, 90, 64)
LOOKS = (
    Look(FAIR, (122, 76, 46), "long", "straw", (196, 64, 40), (226, 98, 40), 0, (226, 98, 40), "dress", "", INK,
         LEATHER, 1.0),
    Look(TAN, (60, 42, 36), "short", "", INK, (38, 122, 190), 1, (222, 200, 160), "shorts", "pack", (230, 150, 40),
         WHITE, 1.0),
    Look(DARK, (44, 32, 32), "afro", "", INK, (244, 208, 70), 1, (54, 72, 118), "trousers", "", INK,
         WHITE, 0.98),
    Look(OLIVE, INK, "scarf", "", (238, 214, 190), (24, 148, 116), 2, (24, 148, 116), "gown", "", INK,
         (96, 70, 60), 0.98),
    Look(ROSY, (232, 230, 226), "short", "flat", (104, 92, 88), (112, 186, 230), 2, (122, 104, 92), "trousers", "beard",
         INK, (76, 56, 48), 0.98),
    Look(ROSY, (196, 88, 36), "bun", "", INK, (206, 122, 170), 1, (70, 62, 104), "skirt", "satchel", LEATHER,
         (96, 60, 60), 0.98),
    Look(BROWN, (40, 30, 32), "short", "cap", (214, 84, 36), (84, 176, 136), 1, (62, 78, 116), "shorts", "pack",
         (240, 200, 70), WHITE, 0.86),
    Look(FAIR, (38, 34, 46), "bob", "", INK, WHITE, 1, (40, 108, 176), "skirt", "shades", INK,
         (206, 84, 60), 1.0),
)


class Pose(NamedTuple):
    """Feet as (forward, up), arms as swing forward in turns (left, right); `arms_up` raises both hands."""

    left_foot: tuple[float, float]
    right_foot: tuple[float, float]
    left_arm: float
    right_arm: float
    bob: float
    arms_up: bool


_STAND = Pose((0.4, 0.0), (-0.4, 0.0), 0.01, -0.01, 0.0, False)
POSE = {
    "walk0": Pose((5.6, 0.4), (-5.4, 1.3), -0.115, 0.125, -0.5, False),
    "walk1": Pose((3.1, 0.0), (-3.7, 3.2), -0.07, 0.08, 0.2, False),
    "walk2": Pose((0.6, 0.0), (-1.2, 4.2), -0.02, 0.03, 0.8, False),
    "walk3": Pose((-2.4, 0.4), (2.4, 2.8), 0.055, -0.045, 0.2, False),
    "walk4": Pose((-5.4, 1.3), (5.6, 0.4), 0.125, -0.115, -0.5, False),
    "walk5": Pose((-3.7, 3.2), (3.1, 0.0), 0.08, -0.07, 0.2, False),
    "walk6": Pose((-1.2, 4.2), (0.6, 0.0), 0.03, -0.02, 0.8, False),
    "walk7": Pose((2.4, 2.8), (-2.4, 0.4), -0.045, 0.055, 0.2, False),
    "stand": _STAND,
    "wait": _STAND._replace(left_foot=(1.8, 0.0), right_foot=(-1.4, 0.0)),
    "stuck": _STAND._replace(arms_up=True),
}


class Figure:
    """A relief in a person's own frame: (forward, right, up) in pixels from the foot point."""

    def __init__(self, direction: int, size: float) -> None:
        self.relief = Relief(*CELL, FOOT)
        self.cos, self.sin = turn(direction / DIRECTIONS)
        self.size = size

    def _turned(self, v: Vector) -> Vector:
        forward, right, up = v
        east, south = forward * self.cos - right * self.sin, forward * self.sin + right * self.cos
        return (round(east, 6), round(south * VIEW_SIN - up * VIEW_COS, 6), round(south * VIEW_COS + up * VIEW_SIN, 6))

    def _seen(self, v: Vector) -> Vector:
        x, y, z = self._turned(v)
        return x * self.size, y * self.size, z * self.size

    def _plane(self, keep: Plane | None) -> Plane | None:
        return None if keep is None else (self._turned(keep[0]), keep[1] * self.size)

    def ball(self, at: Vector, radii: Vector, colour: Colour, keep: Plane | None = None) -> None:
        axes = [self._seen((radii[0], 0, 0)), self._seen((0, radii[1], 0)), self._seen((0, 0, radii[2]))]
        self.relief.ellipsoid(self._seen(at), axes, colour, self._plane(keep))

    def limb(self, a: Vector, b: Vector, radius_a: float, radius_b: float, colour: Colour,
             keep: Plane | None = None) -> None:
        self.relief.limb(self._seen(a), self._seen(b), radius_a * self.size, radius_b * self.size, colour,
                         self._plane(keep))


def _leg(figure: Figure, look: Look, side: float, foot: tuple[float, float], hip_up: float) -> None:
    """Thigh and shin of 6.9 px each; the knee bends forward by what is left over. Skirts allow shorter steps."""
    step = foot[0] * (1.0 if look.legs in ("trousers", "shorts") else 0.66)
    ankle = (step, side * 2.5, foot[1] + 2.2)
    hip = (0.0, side * 2.7, hip_up)
    gap = math.dist((hip[0], hip[2]), (ankle[0], ankle[2]))
    bend = round(math.sqrt(max(6.9**2 - gap**2 / 4, 0.0)), 6)
    knee = ((hip[0] + ankle[0]) / 2 + bend * 0.8, side * 2.7, (hip[2] + ankle[2]) / 2)
    shin = look.bottom if look.legs in ("trousers", "gown") else look.skin
    if look.legs in ("trousers", "shorts"):
        figure.limb(hip, knee, 3.0, 2.6, look.bottom)
    figure.limb(knee, ankle, 2.5 if shin == look.bottom else 2.0, 2.1 if shin == look.bottom else 1.7, shin)
    figure.ball((ankle[0] + 1.3, side * 2.6, foot[1] + 1.5), (3.7, 2.2, 1.9), look.shoes)


def _arm(figure: Figure, look: Look, side: float, swing: float, up: float, raised: bool) -> None:
    shoulder = (0.0, side * 5.6, up + 12.6)
    if raised:
        elbow, hand = (0.6, side * 10.0, up + 17.2), (1.2, side * 12.4, up + 25.0)
    else:
        (c, s), (fore_c, fore_s) = turn(swing), turn(swing + 0.045)
        elbow = (shoulder[0] + 6.2 * s, side * 7.0, shoulder[2] - 6.2 * c)
        hand = (elbow[0] + 5.6 * fore_s, side * 7.2, elbow[2] - 5.6 * fore_c)
    figure.limb(shoulder, elbow, 2.5, 2.3, look.top if look.sleeves >= 1 else look.skin)
    figure.limb(elbow, hand, 2.0, 1.7, look.top if look.sleeves == 2 else look.skin)
    figure.ball(hand, (2.0, 2.0, 2.1), look.skin)


def _body(figure: Figure, look: Look, up: float) -> None:
    """Hips to neck; `up` is the height of the hips."""
    figure.ball((0, 0, up + 9.4), (4.0, 6.7, 6.0), look.top)
    figure.ball((0, 0, up + 4.6), (4.3, 5.7, 6.4), look.top, (UP, up + 0.6))
    figure.limb((0, -1.6, up), (0, 1.6, up), 4.0, 4.0, look.bottom, (UP, up - 3.5))
    figure.limb((0, 0, up + 13), (0, 0, up + 17), 2.2, 2.2, look.skin)
    hem = {"skirt": (up - 5.6, 6.0), "dress": (up - 7.4, 6.9), "gown": (3.0, 7.0)}.get(look.legs)
    if hem:
        for side in (-1, 1):
            waist, foot = (0, side * 1.7, up + 2.6), (0, side * 0.7, hem[0] + 1.2)
            figure.limb(waist, foot, 4.2, hem[1], look.bottom, (UP, hem[0]))
        if look.legs == "dress":
            figure.limb((0, -2.0, up + 4.4), (0, 2.0, up + 4.4), 4.2, 4.2, look.accent, (UP, up + 4.0))


def _bag(figure: Figure, look: Look, up: float) -> None:
    if look.extra == "pack":
        strap = mix(look.extra_colour, INK, 0.2)
        for side in (-1, 1):
            figure.limb((-4.6, side * 1.4, up + 3.5), (-4.6, side * 1.4, up + 10.5), 3.4, 3.2, look.extra_colour)
            figure.limb((3.2, side * 3.2, up + 5), (1.6, side * 3.4, up + 14.4), 1.2, 1.2, strap)
        figure.ball((-7.2, 0, up + 4.6), (1.6, 2.8, 2.4), strap)
    if look.extra == "satchel":
        figure.limb((3.0, -3.8, up + 13.0), (3.9, 4.4, up + 3.2), 1.0, 1.0, look.extra_colour)
        figure.limb((-3.0, -3.8, up + 13.0), (-3.9, 4.4, up + 3.2), 1.0, 1.0, look.extra_colour)
        figure.ball((0.4, 7.4, up + 0.6), (4.0, 1.9, 3.3), look.extra_colour)


def _face(figure: Figure, look: Look, up: float) -> None:
    """`up` is the middle of the head, a ball of 7.4 px."""
    figure.ball((0, 0, up), (7.2, 7.2, 7.3), look.skin)
    for side in (-1, 1):
        figure.ball((6.2, side * 2.8, up - 0.7), (0.9, 1.15, 1.75), (40, 28, 36))
        figure.ball((5.0, side * 4.4, up - 2.9), (0.9, 1.2, 1.0), mix(look.skin, (236, 92, 84), 0.42))
        figure.ball((0, side * 7.1, up - 0.8), (1.5, 0.9, 1.8), mix(look.skin, (200, 90, 70), 0.12))
    if look.extra == "shades":
        for side in (-1, 1):
            figure.ball((6.4, side * 3.0, up - 0.4), (1.6, 2.6, 1.9), (44, 42, 60))
    if look.extra == "beard":
        figure.ball((1.2, 0, up - 3.4), (6.6, 6.2, 4.6), look.hair, ((0.9, 0, -1.0), 0.9 * 1.2 - (up - 2.6)))


def _hair(figure: Figure, look: Look, up: float) -> None:
    if look.cut == "scarf":
        figure.ball((-0.6, 0, up), (8.2, 8.2, 8.4), look.accent, ((-1.0, 0, 0.42), 0.42 * up - 2.6))
        figure.limb((-0.8, 0, up - 4), (-0.4, 0, up - 8.4), 5.6, 6.0, look.accent, ((-0.25, 0, 1), up - 11.0))
        return
    if look.cut == "afro":
        figure.ball((-1.6, 0, up + 1.8), (8.8, 9.5, 8.2), look.hair, ((-1.0, 0, 0.8), 0.8 * up - 0.6))
        return
    parting = 0.24 if look.cut == "short" else 0.0
    height = 4.0 if look.hat in ("cap", "flat") else 7.8
    figure.ball((-0.5, 0, up + 0.6), (7.8, 7.9, height), look.hair, ((-1.0, parting, 0.95), 0.95 * up - 0.2))
    if look.cut == "long":
        for side in (-1, 1):
            figure.limb((-3.4, side * 3.2, up + 0.5), (-4.6, side * 3.0, up - 11.0), 4.6, 3.0, look.hair)
    if look.cut == "bob":
        for side in (-1, 1):
            figure.limb((-1.6, side * 4.4, up + 0.5), (-0.6, side * 5.0, up - 4.4), 4.2, 3.2, look.hair)
    if look.cut == "bun":
        figure.ball((-4.6, 0, up + 7.6), (4.0, 4.0, 3.8), look.hair)


def _hat(figure: Figure, look: Look, up: float) -> None:
    if look.hat == "straw":
        figure.ball((-1.5, 0, up + 4.4), (11.8, 11.8, 1.3), STRAW)
        figure.ball((-1.4, 0, up + 4.7), (7.5, 7.5, 3.2), look.accent)
        figure.ball((-1.4, 0, up + 5.4), (7.2, 7.2, 5.0), STRAW, (UP, up + 6.5))
    if look.hat in ("cap", "flat"):
        crown = 6.6 if look.hat == "cap" else 5.5
        figure.ball((-0.4, 0, up + 2.4), (8.1, 8.1, crown), look.accent, ((-0.32, 0, 1), up + 1.8))
        figure.ball((6.0, 0, up + 4.1), (4.2, 5.4, 1.1), mix(look.accent, INK, 0.22))


def draw_icon(state: str) -> Floats:
    """A pale clock above who waits, a warm triangle above who is stuck; one cell, like a person's."""
    paper = Paper(*CELL, (24, 7.1))
    if state == "waiting":
        paper.disc(0, 0, 3.6, mix(WAITING, (196, 132, 236), 0.6))
        paper.disc(0, 0, 3.0, (252, 251, 246))
        paper.polygon([(-0.35, -2.4), (0.35, -2.4), (0.35, 0.3), (-0.35, 0.3)], INK)  # thin: a small clock has a pale face
        paper.polygon([(-0.35, -0.35), (0.1, -0.5), (1.9, 0.9), (1.5, 1.4)], INK)
    if state == "stuck":
        paper.polygon([(0, -3.6), (4.2, 3.5), (-4.2, 3.5)], (255, 164, 34))
        paper.polygon([(-0.7, -1.5), (0.7, -1.5), (0.5, 1.2), (-0.5, 1.2)], (120, 24, 0))
        paper.disc(0, 2.3, 0.7, (120, 24, 0))
    return paper.outlined(1.0, 0.9)


@cache
def _shadow(size: float) -> Floats:
    """Soft, on the ground, a little to the lower right."""
    x = (np.arange(CELL[0]) + 0.5 - FOOT[0] - 1.2) / (11.0 * size)
    y = (np.arange(CELL[1]) + 0.5 - FOOT[1] - 0.4) / (5.4 * size)
    edge = np.clip((1.0 - (x[None, :] ** 2 + y[:, None] ** 2)) / 0.75, 0, 1)
    pixels = np.zeros((CELL[1], CELL[0], 4))
    pixels[..., :3] = np.where(edge[..., None] > 0, (36.0, 30.0, 60.0), 0.0)
    pixels[..., 3] = 112.0 * edge * edge * (3 - 2 * edge)
    return pixels


def draw_person(look: Look, direction: int, pose_name: str) -> Floats:
    """One cell as straight-alpha pixels, float (64, 48, 4)."""
    pose = POSE[pose_name]
    figure = Figure(direction, look.size)
    hips = 15.5 + pose.bob
    head = hips + 23.0
    for side, foot, swing in ((-1, pose.left_foot, pose.left_arm), (1, pose.right_foot, pose.right_arm)):
        _leg(figure, look, side, foot, hips)
        _arm(figure, look, side, swing, hips, pose.arms_up)
    _body(figure, look, hips)
    _bag(figure, look, hips)
    _face(figure, look, head)
    _hair(figure, look, head)
    _hat(figure, look, head)
    return over(figure.relief.outlined(0.8), _shadow(look.size))


def draw_people() -> Floats:
    """The whole sheet: a row a look; column = direction * 11 + pose."""
    rows = [[draw_person(look, direction, pose) for direction in range(DIRECTIONS) for pose in POSES] for look in LOOKS]
    return np.concatenate([np.concatenate(row, axis=1) for row in rows], axis=0)


def draw_icons() -> Floats:
    """The sheet of icons: a column a state."""
    return np.concatenate([draw_icon(state) for state in ICONS], axis=1)
