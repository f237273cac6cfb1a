"""Draw the diagrams of docs/techniques.md: `python tools/diagrams.py [--out docs/pictures/techniques]`.

Each function returns the shapes of one SVG, 720 units wide. All positions are computed, so a picture shows what the
text beside it says: the counts, starts and orders are those of the agents that are drawn.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

OUT = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "techniques"
WIDTH = 720
INK, FAINT, GROUND = "#1f2933", "#c3cad3", "#ffffff"
COLOURS = "#7fb8e6", "#f2b84b", "#7fcfa4", "#e58b7b", "#b59ae0", "#9fb0c0"
Point = tuple[float, float]


def box(x: float, y: float, wide: float, tall: float, fill: str = "none", line: str = INK) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{tall:g}" fill="{fill}" stroke="{line}"/>'


def word(x: float, y: float, text: object, size: int = 13, anchor: str = "middle") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{INK}">{text}</text>'


def dot(x: float, y: float, fill: str = INK, radius: float = 4) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{fill}"/>'


def path(points: Sequence[Point], colour: str = INK) -> str:
    return (f'<polyline points="{" ".join(f"{x:g},{y:g}" for x, y in points)}" fill="none" stroke="{colour}"'
            ' stroke-width="2"/>')


def strip(x: float, y: float, values: Sequence[object], fills: Sequence[str], label: str, side: float = 26) -> list[str]:
    """A row of an array, with its name above it."""
    cells = [shape for k, (value, fill) in enumerate(zip(values, fills, strict=True)) for shape in (
        box(x + k * side, y, side, side, fill), word(x + (k + 0.5) * side, y + side * 0.68, value, 12))]
    return [word(x, y - 6, label, 13, "start"), *cells]


def scattered(count: int, wide: float, tall: float, cell: Point, seed: int, radius: float) -> list[Point]:
    """Points that keep a distance from each other, from the borders of cells, and from the numbers of cells."""
    rng, found = random.Random(seed), list[Point]()
    while len(found) < count:
        x, y = rng.uniform(0, wide), rng.uniform(0, tall)
        inside = all(radius < at % side < side - radius for at, side in zip((x, y), cell, strict=True))
        if inside and max(x % cell[0], y % cell[1]) > 2 * radius and all(
                (x - a) ** 2 + (y - b) ** 2 > (2.2 * radius) ** 2 for a, b in found):
            found.append((x, y))
    return found


def grid() -> tuple[int, list[str]]:
    """Agents in six cells, the agents per cell, their prefix sum, and the order."""
    side, columns, left, top = 88, 3, 20, 34
    agents = scattered(12, columns * side, 2 * side, (side, side), 3, 12)
    cell_of = [int(y // side) * columns + int(x // side) for x, y in agents]
    counts = [cell_of.count(cell) for cell in range(6)]
    order = sorted(range(12), key=lambda agent: cell_of[agent])
    shapes = [word(left, 22, "agents in cells", 13, "start")]
    for cell in range(6):
        row, column = divmod(cell, columns)
        shapes += box(left + column * side, top + row * side, side, side, COLOURS[cell]), word(
            left + column * side + 12, top + row * side + 17, cell)
    for agent, (x, y) in enumerate(agents):
        shapes += dot(left + x, top + y, GROUND, 10), word(left + x, top + y + 4, agent, 11)
    right = 350
    shapes += strip(right, 44, counts, COLOURS, "1. agents per cell")
    shapes += strip(right, 106, [0, *accumulate(counts)], [*COLOURS, GROUND], "2. prefix sum: where each cell starts")
    shapes += strip(right, 168, order, [COLOURS[cell_of[agent]] for agent in order], "3. agents in the order of their cells")
    return 226, shapes


def morton(number: int) -> tuple[int, int]:
    """The column and row of a place on the Z curve."""
    return tuple(sum((number >> (2 * bit + axis) & 1) << bit for bit in range(3)) for axis in (0, 1))  # type: ignore[return-value]


def curves() -> tuple[int, list[str]]:
    """The same 8 x 8 cells in rows and along the Z curve; colours are lines of 16 agents."""
    shapes, side = list[str](), 24
    for left, label, place in ((40, "row by row", lambda k: (k % 8, k // 8)), (400, "along a Z curve", morton)):
        shapes.append(word(left, 22, f"{label}: each colour is one cache line", 13, "start"))
        centres = list[Point]()
        for k in range(64):
            column, row = place(k)
            shapes.append(box(left + column * side, 34 + row * side, side, side, COLOURS[k // 16], GROUND))
            centres.append((left + (column + 0.5) * side, 34 + (row + 0.5) * side))
        shapes.append(path(centres))
        shapes += [box(left + k * 4 - 0.5, 240, 4, 16, COLOURS[k // 16], COLOURS[k // 16]) for k in range(64)]
        shapes.append(word(left + 265, 253, "memory", 12, "start"))
    return 270, shapes


def lanes() -> tuple[int, list[str]]:
    """Sixteen agents of a row of cells in one register, and the strip of their candidates, one of which meets all of them."""
    side, left = 38, 40
    shapes = [word(left, 22, "strip: candidates of three rows of cells, copied one behind the other", 13, "start")]
    shapes += [box(left + k * 26, 32, 26, 26, COLOURS[k // 8]) for k in range(24)]
    shapes += [box(left + 11 * 26, 32, 26, 26, GROUND), word(left + 11.5 * 26, 50, "c", 14)]
    for lane in range(16):
        shapes.append(path([(left + 11.5 * 26, 58), (left + (lane + 0.5) * side, 118)], FAINT))
        shapes += box(left + lane * side, 118, side, 30, COLOURS[1]), word(left + (lane + 0.5) * side, 138, lane, 12)
    said = "one register of 512 bits: 16 agents test candidate c with one instruction"
    return 190, [*shapes, word(left, 170, said, 13, "start")]


def staggering() -> tuple[int, list[str]]:
    """Three steps: the bands of the world whose agents look around."""
    shapes, agents = list[str](), scattered(40, 190, 144, (190, 24), 5, 5)
    for step in range(3):
        left = 20 + step * 235
        shapes.append(word(left, 22, f"step {step + 1}", 13, "start"))
        shapes += [box(left, 32 + band * 24, 190, 24, COLOURS[1] if band % 3 == step else GROUND, FAINT) for band in range(6)]
        shapes += [dot(left + x, 32 + y, INK if int(y // 24) % 3 == step else FAINT) for x, y in agents]
    return 206, [*shapes, word(20, 198, "dark agents look at their neighbours, the others keep their last push", 13, "start")]


def culling() -> tuple[int, list[str]]:
    """A world of cells, and a view: cells in it are visited."""
    side, left, top, view = 36, 20, 34, (130.0, 52.0, 150.0, 84.0)
    agents = scattered(60, 10 * side, 5 * side, (side, side), 8, 5)
    seen = [(column, row) for row in range(5) for column in range(10)
            if view[0] - side < column * side < view[0] + view[2] and view[1] - side < row * side < view[1] + view[3]]
    inner = [(column, row) for column, row in seen if view[0] <= column * side and (column + 1) * side <= view[0] + view[2]
             and view[1] <= row * side and (row + 1) * side <= view[1] + view[3]]
    shapes = [word(left, 22, "the world in cells, and the view of the window", 13, "start")]
    shapes += [box(left + column * side, top + row * side, side, side, COLOURS[2] if (column, row) in inner else
                   COLOURS[1] if (column, row) in seen else GROUND, FAINT) for row in range(5) for column in range(10)]
    shapes += [dot(left + x, top + y, INK if (x // side, y // side) in seen else FAINT) for x, y in agents]
    shapes.append(f'<g stroke-width="3">{box(left + view[0], top + view[1], view[2], view[3])}</g>')
    cells = [(x // side, y // side) for x, y in agents]
    sure, tested = sum(cell in inner for cell in cells), sum(cell in seen and cell not in inner for cell in cells)
    said = (f"{len(seen)} of 50 cells are visited:", f"{sure} agents are in cells inside the view (green),",
            f"{tested} are tested (yellow), {len(agents) - sure - tested} never read")
    return 232, [*shapes, *(word(410, 100 + 24 * number, line, 14, "start") for number, line in enumerate(said))]


def bands() -> tuple[int, list[str]]:
    """A picture in four bands: within each, agents are drawn from the back to the front."""
    left, top, tall = 20, 34, 44
    agents = sorted(scattered(24, 300, 4 * tall, (300, tall), 12, 10), key=lambda point: point[1])
    shapes = [word(left, 22, "the picture in bands of Y", 13, "start")]
    shapes += [box(left, top + band * tall, 300, tall, COLOURS[band], GROUND) for band in range(4)]
    for number, (x, y) in enumerate(agents):
        shapes += dot(left + x, top + y, GROUND, 9), word(left + x, top + y + 4, number, 11)
    starts = [0, *accumulate(sum(int(y // tall) == band for _, y in agents) for band in range(4))]
    for band, (first, last) in enumerate(pairwise(starts)):
        shapes += strip(360, top + band * tall + 14, list(range(first, last)), [COLOURS[band]] * (last - first),
                        f"band {band + 1}, sorted by itself" if band < 2 else f"band {band + 1}", 24)
    return 226, shapes


DIAGRAMS: dict[str, Callable[[], tuple[int, list[str]]]] = {
    "grid": grid, "curves": curves, "lanes": lanes, "staggering": staggering, "culling": culling, "bands": bands}


def svg(name: str) -> str:
    """The text of a diagram's file."""
    tall, shapes = DIAGRAMS[name]()
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall}" font-family="sans-serif">',
                      box(0, 0, WIDTH, tall, GROUND, GROUND), *shapes, "</svg>", ""])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Draw the diagrams of docs/techniques.md.")
    parser.add_argument("--out", type=Path, default=OUT, help="the folder (default: docs/pictures/techniques)")
    folder = parser.parse_args(arguments).out
    folder.mkdir(parents=True, exist_ok=True)
    for name in DIAGRAMS:
        (folder / f"{name}.svg").write_text(svg(name), "utf-8")


if __name__ == "__main__":
    main()
