"""The parts of a legend, such as a swatch with its text: laid out in as many lines as it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from crowd_demo.render.hud.canvas import Canvas


class Part(NamedTuple):
    """What stays in one line: so wide, drawn from there on around the middle of a line."""

    wide: float
    draw: Callable[[Canvas, float, float], object]


def in_lines(parts: Sequence[Part], room: float, gap: float) -> list[list[Part]]:
    """As many parts in a line as fit there; one line if there are none."""
    lines: list[list[Part]] = [[]]
    for part in parts:
        if lines[-1] and width_of(lines[-1], gap) + gap + part.wide > room:
            lines.append([])
        lines[-1].append(part)
    return lines


def width_of(line: Sequence[Part], gap: float) -> float:
    return sum(part.wide + gap for part in line) - gap


def draw_line(on: Canvas, line: Sequence[Part], x: float, middle: float, gap: float) -> None:
    for part in line:
        part.draw(on, x, middle)
        x += part.wide + gap
