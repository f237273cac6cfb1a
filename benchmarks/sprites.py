"""Sprites drawn in one call beside pygame's own ways, as a table in Markdown.

    python benchmarks/sprites.py [--counts N...] [--sides PX...] [--rounds N] [--cpu-time]

Random frames with alpha at random places of a surface of 1280 x 720 pixels. All contestants get positions as arrays, which
move in each frame, and are interleaved. `_sdl2` textures come last, because a renderer in software goes on in its own threads.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import numpy as np
import pygame

from crowd_demo.sprites import SpriteSheet, blit_many

SIZE, FRAMES = (1280, 720), 16
OWN = "blit_many"


def frames_of(side: int) -> pygame.Surface:
    """Discs with a soft edge, in a row."""
    sheet = pygame.Surface((FRAMES * side, side), pygame.SRCALPHA)
    away = np.hypot(*(np.mgrid[:side, :side] - (side - 1) / 2))
    for number in range(FRAMES):
        cell = sheet.subsurface((number * side, 0, side, side))
        cell.fill(pygame.Color.from_hsva(360 * number / FRAMES, 60, 100, 100))
        pygame.surfarray.pixels_alpha(cell)[:] = np.clip(255 * (side / 2 - away) / max(side / 8, 1), 0, 255)
    return sheet


def contestants(screen: pygame.Surface, count: int, side: int) -> dict[str, Callable[[Any, Any], object]]:
    """Return what draws the sprites at (x, y), by name."""
    sheet, frame = frames_of(side), np.random.default_rng(0).integers(0, FRAMES, count)
    own = SpriteSheet(sheet, (FRAMES, 1))
    cells = [sheet.subsurface((number * side, 0, side, side)) for number in range(FRAMES)]
    premultiplied = [cell.premul_alpha() for cell in cells]
    group: Any = pygame.sprite.Group()
    for number in frame:
        sprite: Any = pygame.sprite.Sprite(group)
        sprite.image, sprite.rect = cells[number], cells[number].get_rect()

    def listed(images: list[pygame.Surface], x: Any, y: Any) -> list[Any]:
        each = zip(frame.tolist(), x.tolist(), y.tolist(), strict=True)
        return [(images[number], (left, top)) for number, left, top in each]

    def sprites(x: Any, y: Any) -> None:
        for sprite, place in zip(group, zip(x.tolist(), y.tolist(), strict=True), strict=True):
            sprite.rect.topleft = place
        group.draw(screen)

    return {OWN: lambda x, y: blit_many(screen, own, x, y, frame),
            "blit_many, 1 thread": lambda x, y: blit_many(screen, own, x, y, frame, threads=1),
            "fblits, premultiplied": lambda x, y: screen.fblits(listed(premultiplied, x, y), pygame.BLEND_PREMULTIPLIED),
            "Surface.fblits": lambda x, y: screen.fblits(listed(cells, x, y)),
            "Surface.blits": lambda x, y: screen.blits(listed(cells, x, y), doreturn=False),
            "sprite.Group": sprites}


def renderer() -> Any:
    """The display's renderer; None, with the reason, where there is none."""
    try:
        from pygame._sdl2.video import Renderer, Window

        return Renderer(Window("sprites", SIZE))
    except (ImportError, pygame.error) as error:
        print(f"_sdl2 textures are left out: {error}")
        return None


def textures(renderer: Any, count: int, side: int) -> Callable[[Any, Any], object]:
    """The same by `_sdl2`."""
    from pygame._sdl2.video import Texture

    cells = [frames_of(side).subsurface((number * side, 0, side, side)) for number in range(FRAMES)]
    images = [Texture.from_surface(renderer, cell) for cell in cells]
    frame = np.random.default_rng(0).integers(0, FRAMES, count).tolist()

    def draw(x: Any, y: Any) -> None:
        renderer.clear()
        for number, left, top in zip(frame, x.tolist(), y.tolist(), strict=True):
            images[number].draw(dstrect=(left, top))
        renderer.present()
    return draw


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, nargs="+", default=[500, 2000, 10_000, 30_000, 100_000])
    parser.add_argument("--sides", type=int, nargs="+", default=[8, 16, 32, 64])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--cpu-time", action="store_true", help="for a busy machine; adds up all threads")
    args = parser.parse_args()
    clock = time.process_time if args.cpu_time else time.perf_counter
    screen, rng = pygame.Surface(SIZE, 0, 32, (0xFF0000, 0xFF00, 0xFF, 0)), np.random.default_rng(1)
    pays: dict[int, int] = {}
    display = renderer()
    for side in args.sides:
        rows: dict[str, list[str]] = {}
        for count in args.counts:
            ways = contestants(screen, count, side)
            if display:
                ways["_sdl2 textures"] = textures(display, count, side)
            times: dict[str, list[float]] = {name: [] for name in ways}
            for names in ([name for name in ways if "_sdl2" not in name], [name for name in ways if "_sdl2" in name]):
                for number in range(args.rounds + 1):
                    x, y = rng.integers(-side, SIZE[0], count), rng.integers(-side, SIZE[1], count)
                    for name in names:
                        begin = clock()
                        ways[name](x, y)
                        if number:
                            times[name].append(clock() - begin)
            for name, values in times.items():
                rows.setdefault(name, []).append(f"{1000 * median(values):.2f}")
            others = (median(values) for name, values in times.items() if not name.startswith(OWN))
            if side not in pays and median(times[OWN]) < min(others):
                pays[side] = count
        print(f"\n### {side} x {side} pixels, ms per frame\n")
        print(f"| sprites | {' | '.join(f'{count:,}' for count in args.counts)} |")
        print("|---|" + "---|" * len(args.counts))
        for name, cells in rows.items():
            print(f"| {name} | {' | '.join(cells)} |")
    print("\nIt pays from: " + ", ".join(f"{count:,} sprites of {side} pixels" for side, count in pays.items()))


if __name__ == "__main__":
    main()
