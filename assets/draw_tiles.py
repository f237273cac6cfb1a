"""The ground: sixteen kinds of tiles, four variants each, calm enough that people stand out on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from canvas import Colour, Floats, mix
from torus import TILE, Torus, noise

VARIANTS = 4
SKIES: dict[str, tuple[Colour, ...]] = {  # colours from the top of the world to its bottom
    "sky": ((26, 36, 84), (42, 54, 112), (70, 72, 130), (108, 88, 134), (150, 104, 122)),
    "dusk": ((112, 132, 170), (160, 164, 188), (214, 188, 188), (246, 206, 168), (246, 178, 122))}
JOINT: Colour = (186, 174, 155)
CROWN, CROWN_PX, FRONT_Y = (32.0, 29.5), 30.5, 53.0  # middle and radius of a tree; its planter's front begins there
TREES: tuple[tuple[Colour, Colour, Colour | None], ...] = (  # dark and light leaves, blossoms
    ((36, 74, 50), (142, 190, 92), None), ((44, 80, 46), (164, 192, 84), None),
    ((30, 72, 58), (124, 182, 104), None), ((40, 78, 52), (150, 190, 98), (248, 214, 214)))
TUFTS = ((100, 1.0, 4.6, 0.0), (80, 0.92, 4.2, 0.13), (60, 0.8, 3.6, 0.26), (26, 0.62, 3.0, 0.4))  # count, then as `_leaves`

Stones = tuple[tuple[int, int, int, int], ...]

# x, y, width and height; together they cover the torus
PAVING: Stones = ((0, 0, 20, 16), (20, 0, 24, 16), (44, 0, 20, 16), (10, 16, 24, 16), (34, 16, 18, 16),
                  (52, 16, 22, 16), (0, 32, 26, 16), (26, 32, 18, 16), (44, 32, 20, 16), (12, 48, 20, 16),
                  (32, 48, 22, 16), (54, 48, 22, 16))


def _stones(tile: Torus, stones: Stones, spread: float, base: float, bevel: float) -> None:
    """Lays stones with joints of a pixel; those across an edge have the same shade in every variant."""
    for x, y, width, height in stones:
        crossing = x + width > TILE or y + height > TILE
        own, common = tile.own.random_sample(), tile.common.random_sample()
        level = ((common if crossing else own) * 2 - 1) * spread
        tile.slab(x + 0.5, y + 0.5, width - 1, height - 1, base + level, bevel=bevel)


def stone(variant: int) -> Torus:
    tile = Torus(JOINT, variant)
    _stones(tile, PAVING, 4.5, 22.0, 4.0)
    tile.lighten(1.6 * tile.varied(11, 8) + 1.4 * tile.varied(12, 32))
    return tile


def grass(variant: int) -> Torus:
    tile = Torus((134, 164, 96), variant)
    tile.lighten(4.0 * tile.varied(21, 4) + 2.5 * tile.varied(22, 16))
    for random, edges in ((tile.common, True), (tile.own, False)):
        for _ in range(150):
            x, y, lean, light = random.random_sample(4) * (TILE, TILE, 3, 1)
            if tile.is_inside(x, y, 7) != edges:
                colour = (158, 186, 112) if light > 0.5 else (110, 142, 82)
                tile.blade(x, y, lean - 1.5, 3.2 + light * 1.6, 0.8, colour, 0.55)
    for _ in range((0, 2, 5, 3)[variant]):
        x, y = tile.own.random_sample(2) * (TILE - 20) + 10
        tile.spot(x + 0.4, y + 0.7, 1.7, 1.5, (92, 122, 72), 0.5, 0.5)
        tile.spot(x, y, 1.5, 1.5, ((250, 246, 232), (244, 214, 110))[variant % 2], 1.0, 0.4)
        tile.spot(x, y, 0.6, 0.6, (230, 170, 60), 0.9, 0.6)
    return tile


def wall(variant: int) -> Torus:
    """The top of a wall, from above: slate blocks."""
    tile = Torus((62, 66, 86), variant)
    _stones(tile, ((0, 0, 32, 32), (32, 0, 32, 32), (16, 32, 32, 32), (48, 32, 32, 32)), 4.0, 27.0, 8.0)
    tile.lighten(3.0 * tile.varied(31, 8) + 3.0 * tile.varied(32, 32))
    return tile


def wall_front(variant: int) -> Torus:
    """The south face of a wall: a bright coping above, courses of stone, shade and moss at the foot."""
    tile = Torus((74, 68, 78), variant)
    courses = tuple((x + (8 if row % 2 else 0), 12 + row * 13, width, 13)
                    for row in range(4) for x, width in ((0, 22), (22, 18), (40, 24)))
    _stones(tile, courses, 6.0, 42.0, 7.0)
    tile.lighten(3.0 * tile.varied(81, 8) + 3.5 * tile.varied(82, 32))
    height = np.broadcast_to(tile.place[:, None], tile.inside.shape)
    tile.blend((height > 40) * (height - 40) / 24 * 0.55, (44, 40, 58))
    tile.blend(((height > 10) & (height < 17)) * (17 - height) / 7 * 0.55, (44, 40, 58))
    tile.blend((height < 10) * 1.0, (128, 132, 152))
    tile.blend((height < 1.5) * 1.0, (158, 162, 180))
    tile.blend((height > 9) & (height < 10.2), (52, 50, 66))
    return tile


def pond(variant: int) -> Torus:
    tile = Torus((70, 142, 176), variant)
    tile.lighten(7.0 * noise(41, 3) + 3.0 * tile.varied(42, 8))
    for seed, cells, opacity in ((43, 3, 0.34), (44, 6, 0.20)):
        crest = np.abs(tile.varied(seed, cells) + 0.35 * tile.varied(seed + 5, cells * 3))
        tile.blend(np.clip(1 - crest * 7, 0, 1) * opacity, (178, 222, 232))
    return tile


def swamp(variant: int) -> Torus:
    tile = Torus((116, 118, 76), variant)
    tile.lighten(6.0 * tile.varied(51, 4) + 5.0 * tile.varied(52, 20))
    wet = tile.varied(53, 3) + 0.18 * tile.varied(54, 9)
    tile.blend(np.clip((wet - 0.10) * 5, 0, 1) * 0.5, (88, 88, 56))
    tile.blend(np.clip((wet - 0.26) * 9, 0, 1) * 0.7, (84, 106, 96))
    tile.blend(np.clip((wet - 0.42) * 5, 0, 1) * 0.4, (122, 146, 134))
    for _ in range(5):
        x, y = tile.own.random_sample(2) * (TILE - 26) + 13
        for lean, height in ((-2.6, 6), (-0.8, 8), (1.0, 7), (2.8, 5)):
            colour = mix((84, 102, 52), (150, 156, 88), tile.own.random_sample())
            tile.blade(x + lean * 0.5, y, lean, height, 1.0, colour, 0.9)
    return tile


def sky(variant: int) -> Torus:
    tile = Torus((46, 58, 106), variant)
    clouds = tile.varied(61, 3) + 0.5 * tile.varied(62, 7)
    tile.colour += (clouds * 2.6)[..., None] * np.array((1.0, 0.9, 1.3))
    return tile


def water(variant: int) -> Torus:
    """A calm harbour, dark so that what floats on it stands out."""
    tile = Torus((22, 54, 64), variant)
    swell = tile.varied(161, 3) + 0.5 * tile.varied(162, 6)
    tile.colour += (swell * 2.4)[..., None] * np.array((0.6, 1.0, 1.0))
    for seed, cells, opacity in ((163, 3, 0.10), (164, 5, 0.07)):
        crest = np.abs(tile.varied(seed, cells) + 0.35 * tile.varied(seed + 5, cells * 3))
        tile.blend(np.clip(1 - crest * 6, 0, 1) * opacity, (96, 150, 158))
    return tile


def floor(variant: int) -> Torus:
    """Pale boards for corridors."""
    tile = Torus((178, 158, 132), variant)
    boards = ((0, 0, 40, 16), (40, 0, 24, 16), (22, 16, 64, 16), (8, 32, 36, 16), (44, 32, 28, 16), (30, 48, 64, 16))
    _stones(tile, boards, 4.0, 26.0, 3.0)
    grain = np.repeat(noise(71, 32).mean(axis=1)[:, None], tile.inside.shape[1], axis=1)
    tile.lighten(14.0 * grain + 1.5 * tile.varied(72, 16))
    return tile


def mark(variant: int) -> Torus:
    """A meeting place: paving with a compass rose in warm stone."""
    tile = Torus(JOINT, variant)
    tile.lighten(22.0 + 1.6 * tile.varied(11, 8) + 1.4 * tile.varied(12, 32))
    x, y = np.abs(tile.place - TILE / 2)[None, :], np.abs(tile.place - TILE / 2)[:, None]
    radius = np.sqrt(x**2 + y**2)
    tile.blend((np.abs(radius - 26.5) < 3.0) * 0.42, (222, 164, 104))
    tile.blend(((np.abs(radius - 23.2) < 0.5) | (np.abs(radius - 29.8) < 0.5)) * 0.45, (170, 128, 96))
    long, short = np.maximum(x, y), np.minimum(x, y)
    star = (short * 3.2 + long < 21.5) | ((short - long) * -3.2 + (short + long) * 0.72 < 10.5) & (radius < 17)
    tile.blend(star * 0.5, (210, 120, 78))
    tile.blend((radius < 4.2) * 0.75, (240, 206, 130))
    tile.blend((np.minimum(TILE / 2 - x, TILE / 2 - y) < 0.5) * 0.8, JOINT)
    return tile


def tree(variant: int) -> Torus:
    """A tree in a stone planter that fills the tile; seen at an angle like the walls, its front is the lowest part."""
    tile = Torus((164, 158, 154), variant)
    _planter(tile)
    dark, light, bloom = TREES[variant]
    tile.spot(34.5, 33.5, 29.0, 27.5, (46, 44, 50), 0.55, 0.3)
    tile.spot(*CROWN, CROWN_PX - 2.5, CROWN_PX - 2.5, dark, 1.0, 0.06)
    for count, share, radius, lift in TUFTS:
        for _ in range(count):
            _leaves(tile, share, radius, lift, dark, light)
    for _ in range(24 if bloom else 0):
        x, y = _in_crown(tile, 0.85)
        tile.spot(x + 0.5, y + 0.7, 1.9, 1.7, dark, 0.6, 0.5)
        tile.spot(x, y, 1.7, 1.6, bloom or light, 1.0, 0.4)
    return tile


def _planter(tile: Torus) -> None:
    """A square coping around earth, and the shaded front below it."""
    tile.lighten(2.5 * tile.varied(91, 8) + 2.5 * tile.varied(92, 32))
    x, y = tile.place[None, :], tile.place[:, None]
    tile.blend((y > FRONT_Y) * 0.58, (72, 66, 76))
    tile.blend((y > FRONT_Y) & (np.abs(x - TILE / 2) > TILE / 2 - 1) | (y > TILE - 1), (66, 62, 76))
    tile.slab(0, 0, TILE, FRONT_Y, 0.0, 2.0, 22.0)
    tile.blend((np.abs(x - TILE / 2) < TILE / 2 - 6) & (np.abs(y - FRONT_Y / 2) < FRONT_Y / 2 - 6), (86, 68, 56))


def _in_crown(tile: Torus, share: float) -> tuple[float, float]:
    """A random place within `share` of the crown's radius."""
    while True:
        x, y = tile.own.random_sample(2) * 2 - 1
        if x * x + y * y <= 1:
            reach = share * (CROWN_PX - 4.5)
            return CROWN[0] + x * reach, CROWN[1] + y * reach


def _leaves(tile: Torus, share: float, radius: float, lift: float, dark: Colour, light: Colour) -> None:
    """A tuft within `share` of the crown, a ball that the sun lights from the upper left; `lift` makes it lighter."""
    x, y = _in_crown(tile, share)
    toward_sun = -(0.6 * (x - CROWN[0]) + 0.8 * (y - CROWN[1])) / CROWN_PX
    level = 0.30 + 0.42 * toward_sun + lift + 0.16 * (tile.own.random_sample() - 0.5)
    colour = mix(dark, light, min(max(level, 0.0), 1.0))
    tile.spot(x + 0.7, y + 0.9, radius, radius, mix(dark, colour, 0.35), 0.7, 0.3)
    tile.spot(x, y, radius, radius * 0.92, colour, 0.9, 0.25)


def earth(variant: int) -> Torus:
    """A path trodden into a meadow."""
    tile = Torus((206, 182, 138), variant)
    tile.lighten(4.0 * tile.varied(171, 5) + 3.0 * tile.varied(172, 14))
    for random, edges in ((tile.common, True), (tile.own, False)):
        for _ in range(46):
            x, y, size, light = random.random_sample(4) * (TILE, TILE, 1.1, 1)
            if tile.is_inside(x, y, 6) != edges:
                tile.spot(x + 0.4, y + 0.6, 0.8 + size, 0.7 + size * 0.8, (158, 134, 98), 0.5, 0.5)
                tile.spot(x, y, 0.8 + size, 0.7 + size * 0.8, mix((186, 160, 120), (228, 208, 170), light), 0.8, 0.5)
    return tile


def oak(variant: int) -> Torus:
    """A tree that stands free in a meadow, with its shadow in the grass."""
    tile = grass(variant)
    dark, light, _ = TREES[variant]
    tile.spot(37.0, 38.0, 26.5, 25.5, (58, 84, 52), 0.6, 0.3)
    tile.spot(*CROWN, CROWN_PX - 2.5, CROWN_PX - 2.5, dark, 1.0, 0.06)
    for count, share, radius, lift in TUFTS:
        for _ in range(count):
            _leaves(tile, share, radius, lift, dark, light)
    return tile


def wood(variant: int) -> Torus:
    """A wood from above: crown beside crown."""
    tile = Torus((38, 70, 46), variant)
    for random, edges, count in ((tile.common, True, 60), (tile.own, False, 40)):
        for _ in range(count):
            x, y, tone, size = random.random_sample(4) * (TILE, TILE, 1, 4)
            if tile.is_inside(x, y, 13) != edges:
                _crown(tile, random, x, y, 7.5 + size, tone)
    return tile


def _crown(tile: Torus, random: np.random.RandomState, x: float, y: float, radius: float, tone: float) -> None:
    """One of many trees, lit from the upper left."""
    dark, light = mix((34, 66, 46), (44, 78, 44), tone), mix((112, 160, 84), (150, 184, 88), tone)
    tile.spot(x + 2.2, y + 2.8, radius, radius, (26, 48, 36), 0.6, 0.4)
    tile.spot(x, y, radius, radius * 0.96, dark, 1.0, 0.12)
    for _ in range(22):
        across, down = (random.random_sample(2) * 2 - 1) * 0.66
        level = 0.42 - 0.45 * (0.6 * across + 0.8 * down) + 0.2 * (random.random_sample() - 0.5)
        tile.spot(x + across * radius, y + down * radius, 2.7, 2.5, mix(dark, light, min(max(level, 0.0), 1.0)), 0.85, 0.3)


def wood_front(variant: int) -> Torus:
    """The south edge of a wood: the lower crowns hang over trunks in the dark."""
    tile = Torus((32, 48, 36), variant)
    height = np.broadcast_to(tile.place[:, None], tile.inside.shape)
    for x in (6.0, 22.0, 37.0, 53.0):
        lean = (tile.own.random_sample() - 0.5) * 3
        tile.spot(x + lean, 44.0, 2.8, 20.0, (84, 64, 50), 1.0, 0.3)
        tile.spot(x + lean - 0.9, 44.0, 1.0, 18.0, (120, 94, 70), 0.8, 0.5)
    tile.blend((height > 46) * (height - 46) / 18 * 0.9, (104, 134, 78))
    for x in range(0, TILE, 8):
        tone = tile.common.random_sample()
        _crown(tile, tile.common, x + 4.0, 9.0 + 5.0 * tone, 9.5, tone)
    return tile


def roof(variant: int) -> Torus:
    """A canopy over a door: copper that has turned green, in sheets with raised seams."""
    tile = Torus((96, 138, 126), variant)
    tile.lighten(3.0 * tile.varied(181, 4) + 2.0 * tile.varied(182, 16))
    for seam in range(8, TILE, 16):
        across = np.abs(tile.place - seam)[None, :] + 0 * tile.place[:, None]
        tile.blend((across < 1.6) * 0.5, (58, 92, 88))
        tile.blend((np.abs(tile.place - seam + 1.2)[None, :] + 0 * tile.place[:, None] < 0.7) * 0.7, (148, 186, 170))
    return tile


KINDS: dict[str, Callable[[int], Torus]] = {
    "stone": stone, "grass": grass, "wall": wall, "pond": pond, "swamp": swamp, "sky": sky, "floor": floor,
    "mark": mark, "wall_front": wall_front, "tree": tree,
    "water": water, "earth": earth, "oak": oak, "wood": wood, "wood_front": wood_front, "roof": roof}


def draw_tiles() -> Floats:
    """The whole sheet, float (16 * 64, 4 * 64, 3): row = kind, column = variant."""
    rows = [np.concatenate([draw(variant).pixels() for variant in range(VARIANTS)], axis=1) for draw in KINDS.values()]
    return np.concatenate(rows, axis=0)
