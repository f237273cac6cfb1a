"""Discs that fall into a bowl and push each other apart. The mouse pushes them, too; Esc quits.

    python examples/discs.py [DISCS] [FRAMES]
"""

import sys

import numpy as np
import pygame

from crowd_demo.grid import Grid, pair_rule, root, select
from crowd_demo.sprites import SpriteSheet, blit_many

SIZE, RADIUS, COLOURS, PASSES = 720, 4.0, 12, 4


@pair_rule
def push(dx, dy, me, other):
    """Move away from each disc that overlaps this one, by half the overlap."""
    far = root(dx * dx + dy * dy)
    share = select(far > 0, 0.5 - RADIUS / far, 0)
    return 0.6 * share * dx, 0.6 * share * dy


def coloured_discs() -> SpriteSheet:
    side = int(2 * RADIUS)
    sheet = pygame.Surface((COLOURS * side, side), pygame.SRCALPHA)
    for number in range(COLOURS):
        colour = pygame.Color.from_hsva(360 * number / COLOURS, 60, 100, 100)
        pygame.draw.circle(sheet, colour, (number * side + RADIUS, RADIUS), RADIUS)
    return SpriteSheet(sheet, frames=(COLOURS, 1))


def main(discs: int = 6000, frames: int = sys.maxsize) -> None:
    pygame.display.init()
    screen, clock, sheet = pygame.display.set_mode((SIZE, SIZE)), pygame.time.Clock(), coloured_discs()
    rng = np.random.default_rng(1)
    place, colour = rng.uniform(0.2 * SIZE, 0.8 * SIZE, (2, discs)), rng.integers(0, COLOURS, discs)
    before, middle = place.copy(), np.array([[SIZE / 2], [SIZE / 2]])
    grid = Grid(2 * RADIUS, bounds=((0, 0), (SIZE, SIZE)))
    for _ in range(frames):
        if any(event.type == pygame.QUIT or event.dict.get("key") == pygame.K_ESCAPE for event in pygame.event.get()):
            break
        before, place = place, place + np.clip(place - before, -2, 2) * 0.98 + [[0], [0.1]]
        for _ in range(PASSES):
            grid.update(*place)
            place = place + grid.sum(push)
            for around, least, sign in ((middle, SIZE / 2 - RADIUS, 1), (np.c_[pygame.mouse.get_pos()].T, 60, -1)):
                way = place - around
                far = np.maximum(np.hypot(*way), 1e-9)
                place = np.where(sign * far > sign * least, around + way * (least / far), place)
        screen.fill((16, 18, 28))
        blit_many(screen, sheet, *(place - RADIUS), colour)
        pygame.display.set_caption(f"{discs:,} discs, {clock.get_fps():.0f} FPS")
        pygame.display.flip()
        clock.tick(60)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
