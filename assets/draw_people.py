"""People of a summer plaza: twelve shapes, eight directions, eight steps of a walk, standing, waiting and stuck.

Colours of skin, hair and clothes are dyes: the sheet has what is left without them, and another sheet how much of each
dye comes to it. So four outfits of each shape are 48 looks.

Each is a small jointed figure of balls and limbs, posed in its own frame (forward, right, up; pixels) and seen from
above at 30 degrees, so every direction and step comes from one model.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
from canvas import DYES, INK, Colour, Floats, Paper, Plane, Relief, Vector, mix, over, turn

CELL = (48, 64)
STEP = 8  # of the levels of a channel, for smaller files
FOOT = (24, 56)
DIRECTIONS = 8
POSES = (*(f"walk{step}" for step in range(8)), "stand", "wait", "stuck")
# Of states: people who walk are neutral, the others stand out, for colour-blind eyes too (a test measures it)
WALKING: Colour = (96, 102, 114)
ICONS = "waiting", "stuck"
WAITING: Colour = (240, 228, 66)
STUCK: Colour = (232, 106, 30)
QUEUING: Colour = (86, 180, 233)

VIEW_COS, VIEW_SIN = 0.866025, 0.5
UP: Vector = (0, 0, 1)
WHITE: Colour = (244, 241, 232)
STRAW: Colour = (236, 205, 130)
LEATHER: Colour = (134, 88, 56)


class Look(NamedTuple):
    """What somebody wears. `sleeves`: how much of the arm is cloth, 0..2; `accent`: hat, scarf or belt."""

    skin: Colour
    hair: Colour
    cut: Literal["short", "long", "bob", "bun", "afro", "scarf", "tail", "pigtails", "bald"]
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


# Drawn once in shades of four dyes, each shape is worn in many colours. Full light is 232 of a dye, its shine up to 255.
SKIN, HAIR, TOP, BOTTOM = (tuple(232 * (channel == 3 + dye) for channel in range(3 + DYES)) for dye in range(DYES))
CREAM: Colour = (240, 226, 196)
SHAPES = {
    "sun hat": Look(SKIN, HAIR, "long", "straw", BOTTOM, TOP, 0, TOP, "dress", "", INK, LEATHER, 1.0),
    "tourist": Look(SKIN, HAIR, "short", "", INK, TOP, 1, BOTTOM, "shorts", "pack", (230, 150, 40), WHITE, 1.0),
    "afro": Look(SKIN, HAIR, "afro", "", INK, TOP, 1, BOTTOM, "trousers", "", INK, WHITE, 0.98),
    "scarf": Look(SKIN, INK, "scarf", "", HAIR, TOP, 2, BOTTOM, "gown", "", INK, (96, 70, 60), 0.98),
    "flat cap": Look(SKIN, HAIR, "short", "flat", mix(BOTTOM, INK, 0.2), TOP, 2, BOTTOM, "trousers", "beard", INK,
                     (76, 56, 48), 0.98),
    "bun": Look(SKIN, HAIR, "bun", "", INK, TOP, 1, BOTTOM, "skirt", "satchel", LEATHER, (96, 60, 60), 0.98),
    "child": Look(SKIN, HAIR, "short", "cap", BOTTOM, TOP, 1, mix(BOTTOM, INK, 0.3), "shorts", "pack", (240, 200, 70),
                  WHITE, 0.86),
    "shades": Look(SKIN, HAIR, "bob", "", INK, TOP, 1, BOTTOM, "skirt", "shades", INK, (206, 84, 60), 1.0),
    "bald": Look(SKIN, HAIR, "bald", "", INK, TOP, 2, BOTTOM, "trousers", "beard", INK, (70, 52, 48), 1.02),
    "runner": Look(SKIN, HAIR, "tail", "", INK, TOP, 0, BOTTOM, "shorts", "", INK, (240, 96, 72), 0.98),
    "student": Look(SKIN, HAIR, "long", "", INK, TOP, 2, BOTTOM, "trousers", "satchel", CREAM, WHITE, 1.0),
    "pigtails": Look(SKIN, HAIR, "pigtails", "", BOTTOM, TOP, 1, TOP, "dress", "", INK, (120, 60, 70), 0.84),
}

FAIR, ROSY, TAN, OLIVE = (250, 214, 184), (255, 205, 178), (224, 172, 128), (206, 152, 108)
BROWN, DARK = (168, 112, 76), (136, 90, 64)
BLACK, ESPRESSO, CHESTNUT, GINGER = (40, 34, 42), (66, 46, 38), (122, 76, 46), (200, 92, 36)
BLOND, GREY, SILVER = (234, 192, 104), (150, 146, 150), (232, 230, 226)
RED, ORANGE, AMBER, YELLOW = (200, 46, 56), (230, 98, 40), (238, 160, 44), (246, 212, 72)
LIME, GREEN, EMERALD, MINT = (156, 196, 70), (64, 150, 76), (24, 148, 116), (140, 214, 178)
TEAL, AQUA, SKY, BLUE = (20, 124, 138), (84, 196, 214), (116, 184, 232), (38, 118, 196)
NAVY, DENIM, VIOLET, LILAC = (46, 60, 110), (84, 116, 164), (118, 84, 176), (186, 160, 228)
PLUM, PINK, ROSE, MAGENTA = (108, 46, 100), (244, 156, 182), (222, 92, 130), (190, 48, 130)
SAND, KHAKI, MOCHA, STONE, SLATE = (222, 200, 160), (160, 146, 96), (116, 80, 58), (136, 132, 138), (64, 64, 78)
OUTFITS = (  # skin, hair or scarf, top, bottom or belt
    ("sun hat", FAIR, CHESTNUT, ORANGE, RED), ("sun hat", DARK, BLACK, WHITE, TEAL), ("sun hat", ROSY, BLOND, BLUE, NAVY),
    ("sun hat", TAN, ESPRESSO, ROSE, PLUM),
    ("tourist", TAN, ESPRESSO, BLUE, SAND), ("tourist", FAIR, BLOND, RED, DENIM), ("tourist", BROWN, BLACK, WHITE, KHAKI),
    ("tourist", ROSY, GREY, MINT, SLATE),
    ("afro", DARK, BLACK, YELLOW, NAVY), ("afro", BROWN, CHESTNUT, MAGENTA, SLATE), ("afro", DARK, BLACK, AQUA, SAND),
    ("afro", OLIVE, GINGER, GREEN, MOCHA),
    ("scarf", OLIVE, (238, 214, 190), EMERALD, EMERALD), ("scarf", FAIR, LILAC, VIOLET, PLUM),
    ("scarf", BROWN, AMBER, MOCHA, SLATE), ("scarf", TAN, RED, CREAM, CREAM),
    ("flat cap", ROSY, SILVER, SKY, MOCHA), ("flat cap", FAIR, GINGER, GREEN, KHAKI),
    ("flat cap", OLIVE, BLACK, ORANGE, SLATE), ("flat cap", TAN, GREY, CREAM, TEAL),
    ("bun", ROSY, GINGER, PINK, VIOLET), ("bun", TAN, BLACK, LIME, NAVY), ("bun", FAIR, BLOND, TEAL, CREAM),
    ("bun", DARK, BLACK, RED, SLATE),
    ("child", BROWN, BLACK, LIME, ORANGE), ("child", FAIR, BLOND, YELLOW, BLUE), ("child", OLIVE, ESPRESSO, WHITE, RED),
    ("child", ROSY, GINGER, LILAC, TEAL),
    ("shades", FAIR, BLACK, WHITE, BLUE), ("shades", TAN, CHESTNUT, AMBER, WHITE), ("shades", ROSY, BLOND, MAGENTA, SLATE),
    ("shades", BROWN, BLACK, MINT, ROSE),
    ("bald", FAIR, GINGER, SLATE, DENIM), ("bald", DARK, BLACK, ORANGE, KHAKI), ("bald", TAN, ESPRESSO, WHITE, NAVY),
    ("bald", ROSY, SILVER, PLUM, STONE),
    ("runner", TAN, CHESTNUT, AQUA, SLATE), ("runner", FAIR, BLOND, MAGENTA, NAVY), ("runner", DARK, BLACK, LIME, PLUM),
    ("runner", OLIVE, BLACK, ORANGE, WHITE),
    ("student", FAIR, GINGER, TEAL, DENIM), ("student", BROWN, BLACK, AMBER, MOCHA), ("student", ROSY, BLOND, RED, SLATE),
    ("student", OLIVE, ESPRESSO, LILAC, NAVY),
    ("pigtails", ROSY, BLOND, PINK, RED), ("pigtails", BROWN, BLACK, YELLOW, ORANGE), ("pigtails", TAN, ESPRESSO, AQUA, BLUE),
    ("pigtails", FAIR, CHESTNUT, GREEN, CREAM),
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
    if look.cut == "bald":
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
    if look.cut == "pigtails":
        for side in (-1, 1):
            figure.limb((-1.0, side * 7.6, up + 2.0), (-2.6, side * 10.6, up - 5.6), 2.9, 1.9, look.hair)
            figure.ball((-0.8, side * 7.6, up + 2.4), (1.6, 1.6, 1.6), look.accent)
    if look.cut == "tail":
        figure.limb((-7.2, 0, up + 4.0), (-10.4, 0, up - 7.0), 2.9, 1.6, look.hair)
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
        paper.disc(0, 0, 3.6, (138, 86, 170))
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


def draw_person(look: Look, direction: int, pose_name: str) -> tuple[Floats, Floats]:
    """One cell as straight-alpha pixels without dyes, and how much of each dye comes to them: both float (64, 48, 4)."""
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
    pixels, dyes = figure.relief.outlined(0.8)
    return over(pixels, _shadow(look.size)), dyes


def draw_people() -> tuple[Floats, Floats]:
    """The sheet and that of its dyes: a row a shape; column = direction * 11 + pose."""
    rows = [[draw_person(look, direction, pose) for direction in range(DIRECTIONS) for pose in POSES]
            for look in SHAPES.values()]
    pixels, dyes = (np.concatenate([np.concatenate([cell[sheet] for cell in row], axis=1) for row in rows])
                    for sheet in (0, 1))
    return pixels, dyes


def outfits() -> list[list[object]]:
    """Of each look the number of its shape, and the colours of its dyes."""
    return [[list(SHAPES).index(shape), *map(list, dyes)] for shape, *dyes in OUTFITS]


def draw_icons() -> Floats:
    """The sheet of icons: a column a state."""
    return np.concatenate([draw_icon(state) for state in ICONS], axis=1)
