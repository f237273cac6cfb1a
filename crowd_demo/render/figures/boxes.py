"""Boxes: squares that consist of a few rectangles of plain colour, painted in the order of a list.

A table says which rectangles a square of some side consists of; its row is made when the side is first needed. Both ways
of painting read it: `fill_calls` gives a kernel, `fill_plain` calls pygame's `fill` for each rectangle. The screen is cut
into slices; when the list is ordered by `middle`, a slice finds its part of it by bisection. Cost: the pixels of the
rectangles in view, and a few ns for each rectangle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import pygame

from crowd_demo.compute.arrays import Int, Ints, Occurring, Words
from crowd_demo.compute.jit import Call, call, device, kernel
from crowd_demo.render.pixels import Frame
from crowd_demo.render.slices import SLICES_PER_WORKER, first_at

Part = tuple[int, int, int, int, int]  # left, top, right and bottom from the corner of the square, and which ink
Inks = Words  # [tones, inks]: colours


class Boxes(NamedTuple):
    """int32[n] each, in pixels; the square of an agent outside the screen has side 0."""

    left: Ints
    top: Ints
    side: Ints
    middle: Ints  # pixel row of the centre
    style: Ints
    tone: Ints


class Table(NamedTuple):
    """A square consists of the parts [first[side, style], last[side, style])."""

    first: Ints
    last: Ints
    parts: Ints  # [n, 5], as `Part`


class Patterns:
    """Owns the table of the parts that `design(side, style)` gives, from back to front."""

    def __init__(self, design: Callable[[int, int], Iterable[Part]], styles: int) -> None:
        self._design, self._styles = design, styles
        self._known = np.ones(1, bool)  # by side
        self._occurring = Occurring()
        nothing = np.zeros((1, styles), np.int32)
        self.table = Table(nothing, nothing, np.zeros((0, 5), np.int32))

    def ensure(self, sides: Ints) -> None:
        """Add the parts of those sides that are not known yet."""
        asked = self._occurring.among(sides, max(len(self._known), int(sides.max(initial=0)) + 1))
        if len(asked) > len(self._known):
            self._known.resize(len(asked), refcheck=False)
        new = np.flatnonzero(np.greater(asked, self._known, out=asked))
        if len(new):
            self._add(new.tolist())
            self._known[new] = True

    def _add(self, sides: list[int]) -> None:
        first, last = (np.resize(column, (len(self._known), self._styles)) for column in self.table[:2])
        parts: list[Part] = []
        for side in sides:
            for style in range(self._styles):
                first[side, style] = len(self.table.parts) + len(parts)
                parts.extend(self._design(side, style))
                last[side, style] = len(self.table.parts) + len(parts)
        self.table = Table(first, last, np.concatenate([self.table.parts, np.array(parts, np.int32)]))


def fill_plain(surface: pygame.Surface, boxes: Boxes, table: Table, inks: Inks) -> None:
    """Draw the list with pygame's `fill`."""
    first, last = (column[boxes.side, boxes.style] for column in table[:2])
    count = last - first
    box = np.repeat(np.arange(len(count)), count)
    part = table.parts[np.arange(len(box)) + np.repeat(first - (np.cumsum(count) - count), count)]
    left, top = boxes.left[box] + part[:, 0], boxes.top[box] + part[:, 1]
    rects = zip(*(column.tolist() for column in (left, top, part[:, 2] - part[:, 0], part[:, 3] - part[:, 1])), strict=True)
    for rect, colour in zip(rects, inks[boxes.tone[box], part[:, 4]].tolist(), strict=True):
        surface.fill(colour, rect)


@device
def _fill(target: Words, width: int, left: int, top: int, right: int, bottom: int, colour: Int) -> None:
    for row in range(top, bottom):
        at = np.uintp(row * width)
        for column in range(left, right):
            target[at + np.uintp(column)] = colour


@device
def _fill_slice(frame: Frame, top: int, bottom: int, boxes: Boxes, table: Table, inks: Inks, first: int, last: int) -> None:
    target, width = frame.reshape(-1), frame.shape[1]
    for k in range(np.uintp(first), np.uintp(last)):
        x, y, side = np.int64(boxes.left[k]), np.int64(boxes.top[k]), np.int64(boxes.side[k])
        if x < width and x + side > 0 and y < bottom and y + side > top:
            style, tone = np.uintp(boxes.style[k]), np.uintp(boxes.tone[k])
            for p in range(np.uintp(table.first[side, style]), np.uintp(table.last[side, style])):
                part = table.parts[p]
                _fill(target, width, max(x + part[0], 0), max(y + part[1], top), min(x + part[2], width),
                      min(y + part[3], bottom), inks[tone, np.uintp(part[4])])


@kernel
def fill_boxes(worker: int, workers: int, frame: Frame, boxes: Boxes, table: Table, inks: Inks, reach: int,
               ordered: bool) -> None:
    """Every `workers`-th slice."""
    height, slices = frame.shape[0], SLICES_PER_WORKER * workers
    for part in range(worker, slices, workers):
        top, bottom = height * part // slices, height * (part + 1) // slices
        first = first_at(boxes.middle, top - reach) if ordered else 0
        last = first_at(boxes.middle, bottom + reach) if ordered else boxes.middle.shape[0]
        _fill_slice(frame, top, bottom, boxes, table, inks, first, last)


def fill_calls(workers: int, frame: Frame, boxes: Boxes, table: Table, inks: Inks, reach: int,
               ordered: bool) -> tuple[Call, ...]:
    """The kernel that draws the list.

    `ordered`: the list ascends in `middle`. No pixel lies more than `reach` rows from the middle of its square.
    """
    return (call(fill_boxes, workers, frame, boxes, table, inks, reach, ordered),)
