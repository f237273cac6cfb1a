"""The mouse: from events to commands about what is drawn at the cursor.

A press belongs to what it began on until the button is released: a number goes on changing while the cursor is elsewhere,
the timeline and the minimap go on following it. A press on the ground that moves pans, or with Shift selects a box; one that
does not move is a click.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pygame

from crowd_demo.render.hud.canvas import Target
from crowd_demo.render.hud.status import Hovered

ZOOM_STEP = 1.15
DRAG_BUTTONS = (pygame.BUTTON_MIDDLE, pygame.BUTTON_RIGHT)
STILL_PX = 4.0  # a press that moves no farther is a click
NOTCH_PX = 9.0  # of dragging a number by one step
REST_S = 0.35  # how long the cursor must rest before there is a tooltip
MOUSE = (("wheel", "zoom at the cursor"), ("drag", "move the camera; change a number; go along the timeline"),
         ("Shift drag", "count the agents in a box"),
         ("click", "inspect an agent; a technique for its choices; fold a heading"),
         ("rest", "on anything in the panels: what it is"))


class Pan(NamedTuple):
    """Move the camera, pixels."""

    dx: float
    dy: float


class Zoom(NamedTuple):
    """Zoom by `factor` at a pixel."""

    x: float
    y: float
    factor: float


class Click(NamedTuple):
    """A target was clicked; None is the ground, or whatever else lies outside of all panels."""

    target: Target | None
    at: tuple[float, float]


class DragNumber(NamedTuple):
    """Change a technique's number by so many steps."""

    path: str
    steps: int


class Scrub(NamedTuple):
    """Go to the time that the timeline shows at that column of pixels."""

    x: float


class LookAt(NamedTuple):
    """Bring a point of the world into the middle of the view."""

    x: float
    y: float


class SelectBox(NamedTuple):
    """Select the rectangle between two pixels of the ground."""

    corner: tuple[float, float]
    other: tuple[float, float]


class MoveLine(NamedTuple):
    """Move the line between two crowds to a column of pixels."""

    x: float


class Rest(NamedTuple):
    """The cursor has come upon a target."""

    target: Target


PointerCommand = Pan | Zoom | Click | DragNumber | Scrub | LookAt | SelectBox | MoveLine | Rest


class Pointer:
    """`find` returns what is drawn at a pixel, or None; `mapped` the point of the world that the minimap shows at a pixel."""

    def __init__(self, size: tuple[int, int], find: Callable[[float, float], Target | None],
                 mapped: Callable[[float, float], tuple[float, float]]) -> None:
        """`size` is the window's in pixels."""
        self.cursor: tuple[float, float] = (size[0] / 2, size[1] / 2)
        self._find, self._mapped = find, mapped
        self._pressed = False  # the left button
        self._dragging: set[int] = set()  # other buttons
        self._held: Target | None = None  # what the press began on
        self._corner: tuple[float, float] | None = None  # where a box was begun
        self._moved = 0.0  # pixels since the press
        self._dragged = 0.0  # pixels of a number's drag that are no whole step yet
        self._hovered: tuple[Hovered, float] | None = None  # and since when

    def read(self, event: pygame.Event) -> Iterator[PointerCommand]:
        """Yield what an event of the mouse or of the window means."""
        if event.type == pygame.MOUSEWHEEL:
            yield Zoom(*self.cursor, ZOOM_STEP ** getattr(event, "precise_y", event.y))
        elif event.type == pygame.MOUSEMOTION:
            yield from self._move(*event.pos)
        elif event.type in (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP):
            yield from self._button(event)
        elif event.type == pygame.WINDOWLEAVE:
            self._hovered = None
        elif event.type == pygame.WINDOWFOCUSLOST:
            self._dragging.clear()
            yield from self._release()

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

    def _button(self, event: pygame.Event) -> Iterator[PointerCommand]:
        is_down, self.cursor = event.type == pygame.MOUSEBUTTONDOWN, event.pos
        if event.button == pygame.BUTTON_LEFT and is_down:
            shift = pygame.key.get_mods() & pygame.KMOD_SHIFT
            self._pressed, self._moved, self._dragged, self._hovered = True, 0.0, 0.0, None
            self._held = self._find(*self.cursor)
            self._corner = self.cursor if shift and self._held is None else None
            yield from self._follow()
        elif event.button == pygame.BUTTON_LEFT:
            yield from self._release()
        elif is_down and event.button in DRAG_BUTTONS:
            self._dragging.add(event.button)
        else:
            self._dragging.discard(event.button)

    def _release(self) -> Iterator[PointerCommand]:
        if self._pressed and self._moved <= STILL_PX and not self.scrubbing:
            yield Click(self._held, self.cursor)
        self._pressed, self._held = False, None

    def _move(self, x: float, y: float) -> Iterator[PointerCommand]:
        dx, dy = x - self.cursor[0], y - self.cursor[1]
        self.cursor = x, y
        if self._pressed:
            self._moved += abs(dx) + abs(dy)
            yield from self._drag(dx, dy)
        elif self._dragging:
            yield Pan(-dx, -dy)
        else:
            yield from self._hover()

    def _follow(self) -> Iterator[PointerCommand]:
        """What a press and each drag mean alike, on what follows the cursor."""
        if self.scrubbing:
            yield Scrub(self.cursor[0])
        elif self._held is not None and self._held.kind == "minimap":
            yield LookAt(*self._mapped(*self.cursor))

    def _drag(self, dx: float, dy: float) -> Iterator[PointerCommand]:
        yield from self._follow()
        if self._corner:
            if self._moved > STILL_PX:
                yield SelectBox(self._corner, self.cursor)
        elif self._held is None:
            yield Pan(-dx, -dy)
        elif self._held.kind == "line":
            yield MoveLine(self.cursor[0])
        elif self._held.kind == "number":
            self._dragged += dx
            if steps := int(self._dragged / NOTCH_PX):
                self._dragged -= steps * NOTCH_PX
                yield DragNumber(self._held.name, steps)

    def _hover(self) -> Iterator[PointerCommand]:
        target = self._find(*self.cursor)
        if target is None:
            self._hovered = None
        elif self._hovered is None or self._hovered[0].target != target:
            self._hovered = Hovered(target, self.cursor), time.monotonic()
            yield Rest(target)
