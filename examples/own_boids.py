"""50,000 boids in pygame: rules for pairs, compiled, and a flock of sprites. Esc quits.

    python examples/own_boids.py [BOIDS] [FRAMES]
"""

import sys

import numpy as np
import pygame

from crowd_demo.grid import Grid, pair_rule, root
from crowd_demo.sprites import SpriteSheet, blit_many

WIDTH, HEIGHT, RADIUS, SPEED, TURNS = 1280, 720, 7.0, 1.2, 16


@pair_rule
def steer(dx, dy, me, other):
    """Stay apart, fly alike, stay together: the sums over all neighbours of a boid."""
    near = 1 - root(dx * dx + dy * dy) / RADIUS
    vx, vy = other[0] - me[0], other[1] - me[1]
    return 0.004 * dx - 0.12 * near * dx + 0.02 * vx, 0.004 * dy - 0.12 * near * dy + 0.02 * vy


def arrows() -> SpriteSheet:
    """Arrows in all directions, in a row."""
    sheet = pygame.Surface((TURNS * 8, 8), pygame.SRCALPHA)
    for turn in range(TURNS):
        ahead = pygame.Vector2(1, 0).rotate(360 * turn / TURNS)
        middle, side = pygame.Vector2(turn * 8 + 4, 4), ahead.rotate(90)
        corners = [middle + 4 * ahead, middle - 3 * ahead + 2 * side, middle - 3 * ahead - 2 * side]
        pygame.draw.polygon(sheet, pygame.Color.from_hsva(360 * turn / TURNS, 55, 100, 100), corners)
    return SpriteSheet(sheet, frames=(TURNS, 1))


def main(boids: int = 50_000, frames: int = sys.maxsize) -> None:
    pygame.display.init()
    screen, clock, sheet = pygame.display.set_mode((WIDTH, HEIGHT)), pygame.time.Clock(), arrows()
    rng = np.random.default_rng(1)
    place = rng.uniform(0, 1, (2, boids)).astype(np.float32) * np.array([[WIDTH], [HEIGHT]], np.float32)
    velocity = rng.normal(0, SPEED, (2, boids)).astype(np.float32)
    grid = Grid(RADIUS, bounds=((0, 0), (WIDTH, HEIGHT)), periodic=(True, True))
    for _ in range(frames):
        if any(event.type == pygame.QUIT or event.dict.get("key") == pygame.K_ESCAPE for event in pygame.event.get()):
            break
        grid.update(*place)
        velocity += grid.sum(steer, *velocity)
        velocity *= SPEED / np.maximum(np.hypot(*velocity), 0.1)
        place += velocity
        place %= np.array([[WIDTH], [HEIGHT]], np.float32)
        turn = np.round(np.arctan2(velocity[1], velocity[0]) * (TURNS / (2 * np.pi))).astype(np.int32) % TURNS
        screen.fill((16, 18, 28))
        blit_many(screen, sheet, place[0] - 4, place[1] - 4, turn)
        pygame.display.set_caption(f"{boids:,} boids, {clock.get_fps():.0f} FPS")
        pygame.display.flip()
        clock.tick(60)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
