"""Draws all the artwork: `python assets/draw.py [FOLDER]` writes all sheets and sprites.json (default: here).

The same pixels come out every time. Takes about half a minute, and needs Pillow (the extra `export`) but no display. WebP
without loss is half as large as PNG.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import draw_birds
import draw_people
import draw_tiles
from canvas import save
from torus import TILE

SPRITES = {
    "people": {"file": "people.webp", "cell": draw_people.CELL, "anchor": draw_people.FOOT,
               "directions": draw_people.DIRECTIONS, "poses": draw_people.POSES, "looks": len(draw_people.OUTFITS),
               "dyes": "people_dyes.webp", "outfits": draw_people.outfits()},
    "icons": {"file": "icons.webp", "cell": draw_people.CELL, "anchor": draw_people.FOOT, "states": draw_people.ICONS},
    "birds": {"file": "birds.webp", "cell": [draw_birds.CELL, draw_birds.CELL], "anchor": draw_birds.CENTRE,
              "headings": draw_birds.HEADINGS, "flaps": len(draw_birds.BEATS), "looks": len(draw_birds.LOOKS)},
    "hunt": {"file": "hunt.webp", "cell": [draw_birds.HUNT_CELL] * 2, "anchor": [draw_birds.HUNT_CELL // 2] * 2,
             "headings": draw_birds.HEADINGS, "flaps": len(draw_birds.BEATS), "looks": len(draw_birds.HUNT)},
    "tiles": {"file": "tiles.webp", "cell": TILE, "variants": draw_tiles.VARIANTS, "kinds": list(draw_tiles.KINDS),
              "skies": draw_tiles.SKIES},
    "colours": {"walking": draw_people.WALKING, "waiting": draw_people.WAITING, "stuck": draw_people.STUCK,
                "queuing": draw_people.QUEUING, "flock": draw_birds.FLOCK},
}


def draw_all(folder: Path) -> None:
    """Writes every file of the artwork into `folder`."""
    for pixels, name in zip(draw_people.draw_people(), ("people.webp", "people_dyes.webp"), strict=True):
        save(pixels, folder / name, draw_people.STEP)
    save(draw_people.draw_icons(), folder / "icons.webp")
    save(draw_birds.draw_birds(draw_birds.LOOKS, draw_birds.CELL), folder / "birds.webp", draw_birds.STEP)
    save(draw_birds.draw_birds(draw_birds.HUNT, draw_birds.HUNT_CELL), folder / "hunt.webp", draw_birds.STEP)
    save(draw_tiles.draw_tiles(), folder / "tiles.webp")
    entries = [f'  "{name}": {json.dumps(entry)}' for name, entry in SPRITES.items()]
    (folder / "sprites.json").write_text("{\n" + ",\n".join(entries) + "\n}\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    draw_all(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
