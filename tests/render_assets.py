"""Plain stand-ins for the artwork: cut-out shapes, each sprite another colour."""

import json

import numpy as np
import pygame

from crowd_demo.sprites.pixels import argb, frame_of

KINDS = ["stone", "grass", "wall", "pond", "swamp", "sky", "floor", "mark", "wall_front", "tree", "water", "earth", "oak",
         "wood", "wood_front", "roof"]
MANIFEST = {
    "people": {"file": "people.png", "cell": [48, 64], "anchor": [24, 56], "directions": 8,
               "poses": [*(f"walk{step}" for step in range(8)), "stand", "wait", "stuck"], "looks": 8},
    "icons": {"file": "icons.png", "cell": [48, 64], "anchor": [24, 56], "states": ["waiting", "stuck"]},
    "birds": {"file": "birds.png", "cell": [48, 48], "anchor": [24, 24], "headings": 32, "flaps": 4, "looks": 3},
    "hunt": {"file": "hunt.png", "cell": [48, 48], "anchor": [24, 24], "headings": 32, "flaps": 4, "looks": 2},
    "tiles": {"file": "tiles.png", "cell": 64, "variants": 4,
              "kinds": KINDS, "skies": {"dusk": [[90, 110, 160], [250, 200, 150], [240, 160, 90]]}},
    "colours": {"walking": [20, 124, 220], "waiting": [52, 16, 72], "stuck": [222, 64, 0],
                "flock": [[244, 246, 250], [104, 160, 232], [250, 196, 64]]},
}


def _sheet(path, cell, columns, rows, draw):
    sheet = argb((columns * cell[0], rows * cell[1]))
    for number in range(columns * rows):
        row, column = divmod(number, columns)
        draw(sheet, pygame.Rect(column * cell[0], row * cell[1], *cell), number)
    pygame.image.save(sheet, path)


def _colour(number):
    return number * 37 % 256, number * 91 % 256, number * 151 % 256


def _person(sheet, cell, number):
    pygame.draw.rect(sheet, _colour(number), (cell.x + 14, cell.y + 14, 20, 42))
    pygame.draw.rect(sheet, (0, 0, 0), (cell.x + 16 + number % 8, cell.y + 18, 6, 6))


def _icon(sheet, cell, number):
    pygame.draw.rect(sheet, _colour(number + 5), (cell.x + 20, cell.y + 3, 8, 8))


def _bird(sheet, cell, number):
    pygame.draw.ellipse(sheet, _colour(number), (cell.x + 7, cell.y + 15 + number % 5, 34, 12))


def draw_assets(folder):
    """The manifest and its sheets, into `folder`."""
    (folder / "sprites.json").write_text(json.dumps(MANIFEST), encoding="utf-8")
    _sheet(folder / "people.png", (48, 64), 88, 8, _person)
    _sheet(folder / "icons.png", (48, 64), 2, 1, _icon)
    _sheet(folder / "birds.png", (48, 48), 32, 12, _bird)
    _sheet(folder / "hunt.png", (48, 48), 32, 8, _bird)
    height = len(KINDS) * 64
    tiles = argb((256, height))
    frame_of(tiles)[:] = np.random.default_rng(4).integers(0, 1 << 24, (height, 256)) | 0xFF000000
    pygame.image.save(tiles, folder / "tiles.png")
