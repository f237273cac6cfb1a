"""What the mouse does: from presses, drags and the resting cursor to commands about what is drawn there.

A press belongs to what it began on until the button is released: a number goes on changing while the cursor is elsewhere,
the timeline and the minimap go on following it. A press on the ground that moves pans, or with Shift selects a box; one that
does not move is a click.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from crowd_demo.app.input.commands import (
    Click,
    Command,
    DragNumber,
    Hover,
    Leave,
    LookAt,
    MoveLine,
    Pan,
    Point,
    PointerCommand,
    Rest,
    Scrub,
    SelectBox,
)
from crowd_demo.render.hud.canvas import Target
from crowd_demo.render.hud.status import Hovered

STILL_PX = 4.0  # a press that moves no farther is a click
NOTCH_PX = 9.0  # of dragging a number by one step
REST_S = 0.35  # how long the cursor must rest before there is a tooltip


class Pointer:
    """Reads the commands of `Input`; `find` returns what is drawn at a pixel, or None.

    `mapped` returns the place in the world that the minimap shows at a pixel.
    """

    def __init__(self, find: Callable[[float, float], Target | None],
                 mapped: Callable[[float, float], tuple[float, float]]) -> None:
        self._find, self._mapped = find, mapped
        self._held: Target | None = None  # what the press began on
        self._corner: tuple[float, float] | None = None  # where a box was begun
        self._moved = 0.0  # pixels since the press
        self._dragged = 0.0  # pixels of a number's drag that are no whole step yet
        self._hovered: tuple[Hovered, float] | None = None  # and since when

    def read(self, command: Command) -> Iterator[PointerCommand]:
        """Yield what a command of the mouse means; other commands as they are."""
        match command:
            case Point(x, y, "press", shift=shift):
                self._held, self._moved, self._dragged, self._hovered = self._find(x, y), 0.0, 0.0, None
                self._corner = (x, y) if shift and self._held is None else None
                yield from self._follow(x, y)
            case Point(x, y, "drag", dx, dy):
                self._moved += abs(dx) + abs(dy)
                yield from self._drag(x, y, dx, dy)
            case Point(x, y, "release"):
                if self._moved <= STILL_PX and not self.scrubbing:
                    yield Click(self._held, (x, y))
                self._held = None
            case Hover(x, y):
                yield from self._hover(x, y)
            case Leave():
                self._hovered = None
            case _:
                yield command

    @property
    def scrubbing(self) -> bool:
        """Is the timeline pressed?"""
        return self._held is not None and self._held.kind == "timeline"

    @property
    def resting_on(self) -> Hovered | None:
        """The target on which the cursor has rested for a while."""
        if self._hovered and time.monotonic() - self._hovered[1] >= REST_S:
            return self._hovered[0]
        return None

    def _follow(self, x: float, y: float) -> Iterator[PointerCommand]:
        """What a press and each drag mean alike, on what follows the cursor."""
        if self.scrubbing:
            yield Scrub(x)
        elif self._held is not None and self._held.kind == "minimap":
            yield LookAt(*self._mapped(x, y))

    def _drag(self, x: float, y: float, dx: float, dy: float) -> Iterator[PointerCommand]:
        yield from self._follow(x, y)
        if self._corner:
            if self._moved > STILL_PX:
                yield SelectBox(self._corner, (x, y))
        elif self._held is None:
            yield Pan(-dx, -dy)
        elif self._held.kind == "line":
            yield MoveLine(x)
        elif self._held.kind == "number":
            self._dragged += dx
            if steps := int(self._dragged / NOTCH_PX):
                self._dragged -= steps * NOTCH_PX
                yield DragNumber(self._held.name, steps)

    def _hover(self, x: float, y: float) -> Iterator[PointerCommand]:
        target = self._find(x, y)
        if target is None:
            self._hovered = None
            return
        if self._hovered is None or self._hovered[0].target != target:
            self._hovered = Hovered(target, (x, y)), time.monotonic()
            yield Rest(target)
