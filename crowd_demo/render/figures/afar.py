"""A few agents that are to be seen from afar too, such as predators: those with the lowest ids.

Where their sprites would be smaller than a quarter of those on the sheet, each is drawn once more in that size, over all
others, with a dark and a light outline: so it stands out from any ground, in its own colour and in any other. They lie in the
order of their ids, so neither memory nor culling matters. O(drawn), one comparison each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pygame

from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import Call, call, kernel
from crowd_demo.render.camera import Rect
from crowd_demo.render.figures.base import MARGIN_PX, Shot
from crowd_demo.render.figures.blit import DrawList, draw_list
from crowd_demo.render.figures.light import Shades
from crowd_demo.render.figures.pose import Cell, Manner, Poses
from crowd_demo.render.figures.sprites import Atlas, Sheet
from crowd_demo.render.inks import BLACK, WHITE, ink

SMALLER = 4
LEAST = 1 / SMALLER
NOBODY = -1
DARK_PX, LIGHT_PX = 1, 2  # how far the outlines reach


def disc(radius: int) -> Ints:
    """The offsets by which copies of a shape widen it by so many pixels: int32[n, 2]."""
    offsets = np.mgrid[-radius:radius + 1, -radius:radius + 1].reshape(2, -1).T.astype(np.int32)
    return offsets[(offsets**2).sum(axis=1) <= radius**2 + 1]


WIDENED = np.concatenate((disc(LIGHT_PX), disc(DARK_PX)))  # the light outline lies under the dark one
INKS = np.repeat(np.array([ink(WHITE), ink(BLACK)], np.uint32), (len(disc(LIGHT_PX)), len(disc(DARK_PX))))


def outlines(draws: DrawList) -> DrawList:
    """What is drawn, of white shapes, to outline those of the list."""
    offset = np.repeat(WIDENED, len(draws.sprite), axis=0)
    sprite, left, top = (np.tile(part, len(WIDENED)) for part in (draws.sprite, draws.left, draws.top))
    return DrawList(sprite, left + offset[:, 0], top + offset[:, 1], np.repeat(INKS, len(draws.sprite)))


@kernel
def find_few(worker: int, workers: int, slots: Ints, ids: Ints, found: Ints) -> None:
    """found[id] becomes the place in `slots` of the agent with that id."""
    listed = slots.shape[0]
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        identity = ids[np.uintp(slots[np.uintp(k)])]
        if identity < found.shape[0]:
            found[np.uintp(identity)] = k


class FromAfar:
    """Draws the first `few` agents with sprites of `sheet`, which `manner` chooses."""

    def __init__(self, sheet: Sheet, units_a_pixel: float, few: int, manner: Callable[[Shot, Cell], Manner]) -> None:
        small = sheet.shrunk(SMALLER)
        self._coloured, self._grey, self._shapes = (Atlas(each, 1.0) for each in (small, small.grey(), small.white()))
        self._farthest = LEAST / units_a_pixel  # zoom from which on their sprites are large enough
        self._found, self._poses, self._manner = np.full(few, NOBODY, np.int32), Poses(), manner

    def needed(self, zoom: float) -> bool:
        return zoom < self._farthest and len(self._found) > 0

    def margin(self, zoom: float) -> Rect:
        """How far one reaches beyond its position, in world units."""
        (width, height), (x, y) = self._coloured.size, self._coloured.anchor
        return Rect(*((pixels + LIGHT_PX + MARGIN_PX) / zoom for pixels in (x, y, width - x, height - y)))

    def draw(self, target: pygame.Surface, shot: Shot, slots: Ints, shades: Shades | None) -> None:
        """Draw those of `slots`; they have the colours of `shades`, or their own."""
        self._found[:] = NOBODY
        self._find(shot, slots).run()
        at = self._found[self._found != NOBODY]
        self._pose(shot, slots[at], shades._replace(number=shades.number[at]) if shades else None).run()
        draws = self._poses.draws(len(at))
        draw_list(target, self._shapes, outlines(draws), shot)
        draw_list(target, self._grey if shades else self._coloured, draws, shot)

    def calls(self, shot: Shot) -> Iterator[Call]:
        """Every kernel of its own that `draw` may run, for compiling ahead."""
        yield self._find(shot, np.zeros(0, np.int32))

    def _find(self, shot: Shot, slots: Ints) -> Call:
        return call(find_few, shot.workers, slots, shot.agents.id, self._found)

    def _pose(self, shot: Shot, slots: Ints, shades: Shades | None) -> Call:
        manner = self._manner(shot, Cell(*self._coloured.anchor, *self._coloured.size))
        return self._poses.call(shot.workers, slots, shot.agents, shot.ahead, shot.view, manner, shades)
