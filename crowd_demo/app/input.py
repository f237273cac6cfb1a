"""From pygame's events to commands: what the user asked for, not how it is done.

Which keys are held is known from events alone, not from `pygame.key.get_pressed`, so a test can post events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pygame

PAN_PX_PER_S = 900.0
ZOOM_STEP = 1.15
OTHER_MODIFIERS = pygame.KMOD_CTRL | pygame.KMOD_ALT | pygame.KMOD_META  # shortcuts of the system use these
PANS = {"pan_left": (-1, 0), "pan_right": (1, 0), "pan_up": (0, -1), "pan_down": (0, 1)}
DRAG_BUTTONS = (pygame.BUTTON_MIDDLE, pygame.BUTTON_RIGHT)
REPEATED = ("lower", "higher", "step", "step_back")  # actions that are repeated while their key is held
REPEAT_AFTER_S, REPEAT_EVERY_S = 0.35, 0.06
MOUSE = (("wheel", "zoom at the cursor"), ("drag", "move the camera, with the right or the middle button"),
         ("click", "on the timeline: go back to that time"))


@dataclass(frozen=True)
class Do:
    """An action of the key bindings: a technique's path or one of the program's."""

    action: str
    backwards: bool = False


@dataclass(frozen=True)
class Pan:
    """Move the camera, pixels."""

    dx: float
    dy: float


@dataclass(frozen=True)
class Zoom:
    """Zoom by `factor` at a pixel."""

    x: float
    y: float
    factor: float


@dataclass(frozen=True)
class Point:
    """The left button is pressed at a pixel, or is still and the cursor has moved there."""

    x: float
    y: float
    began: bool


@dataclass(frozen=True)
class Close:
    """The window's close button."""


Command = Do | Pan | Zoom | Point | Close


class Input:
    """Reads events one by one; `bindings` maps key names to actions, `size` is the window's in pixels."""

    def __init__(self, bindings: Mapping[str, str], size: tuple[int, int]) -> None:
        self.bindings = bindings
        self._held: set[str] = set()
        self._repeats_in_s: dict[str, float | None] = {}  # None in the frame in which the key went down
        self._cursor = size[0] / 2, size[1] / 2
        self._dragging: set[int] = set()
        self.pointing = False  # is the left button pressed?

    def read(self, event: pygame.Event) -> Iterator[Command]:
        """Yield the commands for an event."""
        if event.type == pygame.QUIT:
            yield Close()
        elif event.type == pygame.KEYDOWN:
            yield from self._key_down(event)
        elif event.type == pygame.KEYUP:
            self._held.discard(self._action(event))
            self._repeats_in_s.pop(self._action(event), None)
        elif event.type == pygame.WINDOWFOCUSLOST:
            self._held.clear()
            self._repeats_in_s.clear()
            self._dragging.clear()
            self.pointing = False
        elif event.type == pygame.MOUSEWHEEL:
            yield Zoom(*self._cursor, ZOOM_STEP ** getattr(event, "precise_y", event.y))
        elif event.type in (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP, pygame.MOUSEMOTION):
            yield from self._mouse(event)

    def quits(self, event: pygame.Event) -> bool:
        """Would this event end the program? For use while the program cannot carry out other commands."""
        return event.type == pygame.QUIT or (event.type == pygame.KEYDOWN and self._action(event) == "quit")

    def held(self, elapsed_s: float) -> Iterator[Command]:
        """Yield the commands of held keys after `elapsed_s` seconds; each at most once a call, so none pile up."""
        dx = sum(PANS[action][0] for action in self._held)
        dy = sum(PANS[action][1] for action in self._held)
        if dx or dy:
            yield Pan(dx * PAN_PX_PER_S * elapsed_s, dy * PAN_PX_PER_S * elapsed_s)
        for action, left_s in self._repeats_in_s.items():
            again = left_s is not None and left_s <= elapsed_s
            self._repeats_in_s[action] = REPEAT_EVERY_S if again else REPEAT_AFTER_S if left_s is None else left_s - elapsed_s
            if again:
                yield Do(action)

    def _action(self, event: pygame.Event) -> str:
        return self.bindings.get(pygame.key.name(event.key), "")

    def _key_down(self, event: pygame.Event) -> Iterator[Command]:
        action, modifiers = self._action(event), getattr(event, "mod", 0)
        if not action or modifiers & OTHER_MODIFIERS:
            return
        if action in PANS:
            self._held.add(action)
        else:
            if action in REPEATED:
                self._repeats_in_s[action] = None
            yield Do(action, backwards=bool(modifiers & pygame.KMOD_SHIFT))

    def _mouse(self, event: pygame.Event) -> Iterator[Command]:
        if event.type == pygame.MOUSEMOTION and self._dragging:
            yield Pan(self._cursor[0] - event.pos[0], self._cursor[1] - event.pos[1])
        elif event.type == pygame.MOUSEMOTION and self.pointing:
            yield Point(event.pos[0], event.pos[1], False)
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button in DRAG_BUTTONS:
            self._dragging.add(event.button)
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == pygame.BUTTON_LEFT:
            self.pointing = True
            yield Point(event.pos[0], event.pos[1], True)
        elif event.type == pygame.MOUSEBUTTONUP:
            self._dragging.discard(event.button)
            self.pointing &= event.button != pygame.BUTTON_LEFT
        self._cursor = event.pos
