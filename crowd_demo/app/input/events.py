"""From pygame's events to commands: what the user asked for, not how it is done. What a key is called: keyboard.py.

Which keys are held is known from events alone, not from `pygame.key.get_pressed`, so a test can post events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

import pygame

from crowd_demo.app.input.commands import Close, Command, Do, Hover, Leave, Pan, Point, Press, Zoom
from crowd_demo.app.input.keyboard import Keyboard

PAN_PX_PER_S = 900.0
ZOOM_STEP = 1.15
PANS = {"pan_left": (-1, 0), "pan_right": (1, 0), "pan_up": (0, -1), "pan_down": (0, 1)}
DRAG_BUTTONS = (pygame.BUTTON_MIDDLE, pygame.BUTTON_RIGHT)
REPEAT_AFTER_S = 0.35
REPEAT_EVERY_S = {  # actions that are repeated while their key is held; slowly where a few steps lead far
    **dict.fromkeys(("lower", "higher", "step", "step_back", "zoom_in", "zoom_out"), 0.06),
    **dict.fromkeys(("fewer", "more", "slower", "faster", "larger", "smaller"), 0.2)}
THROUGH_DIALOG = ("up", "down", "page up", "page down", "home", "end")  # keys that go through a list and choose nothing
DIALOG_REPEATS = ("up", "down", "left", "right", "page up", "page down")
DIALOG_EVERY_S = 0.06
MOUSE = (("wheel", "zoom at the cursor"), ("drag", "move the camera; change a number; go along the timeline"),
         ("Shift drag", "count the agents in a box"),
         ("click", "inspect an agent; a technique for its choices; fold a heading"),
         ("rest", "on anything in the panels: what it is"))


@dataclass
class _Held:
    """What a held key repeats; `left_s` is None in the frame in which it went down."""

    command: Do | Press
    every_s: float
    left_s: float | None = None

    def is_due(self, elapsed_s: float) -> bool:
        """Let the time pass: is it time to repeat?"""
        again = self.left_s is not None and self.left_s <= elapsed_s
        self.left_s = self.every_s if again else REPEAT_AFTER_S if self.left_s is None else self.left_s - elapsed_s
        return again


class Input:
    """Reads events one by one; `bindings` maps key names to actions, `size` is the window's in pixels.

    `keyboard` is the present layout, which it is by default; another one is read when the layout changes.
    """

    def __init__(self, bindings: Mapping[str, str], size: tuple[int, int], keyboard: Keyboard | None = None) -> None:
        self.bindings = bindings
        self.keyboard = keyboard or Keyboard()
        self._panning: dict[int, str] = {}  # by key
        self._repeating: dict[int, _Held] = {}
        self.cursor: tuple[float, float] = (size[0] / 2, size[1] / 2)
        self._dragging: set[int] = set()
        self._dialog_open = False
        self.wanted: Set[str] = frozenset()  # keys that somebody wants before the program, also without a dialog
        self.pointing = False  # is the left button pressed?

    @property
    def dialog_open(self) -> bool:
        """Does a dialog get the keys? When that changes, keys that are held are as if they were released."""
        return self._dialog_open

    @dialog_open.setter
    def dialog_open(self, is_open: bool) -> None:
        if is_open != self._dialog_open:
            self._dialog_open = is_open
            self._release_keys()

    def read(self, event: pygame.Event) -> Iterator[Command]:
        """Yield the commands for an event."""
        if event.type == pygame.QUIT:
            yield Close()
        elif event.type == pygame.KEYDOWN:
            yield from self._key_down(event)
        elif event.type == pygame.KEYUP:
            self._panning.pop(_key(event), None)
            self._repeating.pop(_key(event), None)
        elif event.type == pygame.KEYMAPCHANGED:
            self.keyboard = Keyboard()
        elif event.type == pygame.WINDOWFOCUSLOST:
            yield from self._release_all()
        elif event.type == pygame.WINDOWLEAVE:
            yield Leave()
        elif event.type == pygame.MOUSEWHEEL:
            yield Zoom(*self.cursor, ZOOM_STEP ** getattr(event, "precise_y", event.y))
        elif event.type in (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP):
            yield from self._button(event)
        elif event.type == pygame.MOUSEMOTION:
            yield from self._moved(event)

    def quits(self, event: pygame.Event) -> bool:
        """Does this event end the program, or begin to?"""
        return event.type == pygame.QUIT or (event.type == pygame.KEYDOWN and self._action(event) == Do("quit"))

    def is_among(self, event: pygame.Event, actions: Set[str]) -> bool:
        """Is it a key for one of these actions, or one that goes through what is open?"""
        if event.type != pygame.KEYDOWN:
            return False
        do = self._action(event)
        if self._dialog_open or self._dialog_name(event, do) in self.wanted:
            return self._dialog_open and self._dialog_name(event, do) in THROUGH_DIALOG
        return do is not None and do.action in actions

    def held(self, elapsed_s: float) -> Iterator[Command]:
        """Yield the commands of held keys after `elapsed_s` seconds; each at most once a call, so none pile up."""
        directions = {PANS[action] for action in self._panning.values()}
        dx, dy = sum(x for x, _ in directions), sum(y for _, y in directions)
        if dx or dy:
            yield Pan(dx * PAN_PX_PER_S * elapsed_s, dy * PAN_PX_PER_S * elapsed_s)
        for key in self._repeating.values():
            if key.is_due(elapsed_s):
                yield key.command

    # --- keys --------------------------------------------------------------------------------------------------------

    def _action(self, event: pygame.Event) -> Do | None:
        """The action of a key that goes down."""
        bound = ((self.bindings[name], shift) for name, shift in self.keyboard.names(event) if name in self.bindings)
        action, backwards = next(bound, ("", False))
        return Do(action, backwards) if action else None

    def _key_down(self, event: pygame.Event) -> Iterator[Command]:
        do, is_chord = self._action(event), getattr(event, "mod", 0) & pygame.KMOD_CTRL
        if (self._dialog_open or self._dialog_name(event, do) in self.wanted) and not is_chord:
            yield from self._press(event, do)
        elif do and do.action in PANS:
            self._panning[_key(event)] = do.action
        elif do:
            if do.action in REPEAT_EVERY_S:
                self._repeating[_key(event)] = _Held(Do(do.action), REPEAT_EVERY_S[do.action])
            yield do

    def _dialog_name(self, event: pygame.Event, do: Do | None) -> str:
        return "escape" if do and do.action == "quit" else self.keyboard.dialog_name(event)

    def _press(self, event: pygame.Event, do: Do | None) -> Iterator[Command]:
        shift = bool(getattr(event, "mod", 0) & pygame.KMOD_SHIFT)
        press = Press(self._dialog_name(event, do), shift, None if do and do.action in PANS else do)
        if self._dialog_open and press.key in DIALOG_REPEATS:
            self._repeating[_key(event)] = _Held(press, DIALOG_EVERY_S)
        if press.key:
            yield press

    def _release_keys(self) -> None:
        self._panning.clear()
        self._repeating.clear()

    def _release_all(self) -> Iterator[Command]:
        self._release_keys()
        self._dragging.clear()
        if self.pointing:
            self.pointing = False
            yield Point(self.cursor[0], self.cursor[1], "release")

    # --- the mouse ---------------------------------------------------------------------------------------------------

    def _button(self, event: pygame.Event) -> Iterator[Command]:
        pressed = event.type == pygame.MOUSEBUTTONDOWN
        if event.button == pygame.BUTTON_LEFT:
            self.pointing = pressed
            shift = bool(pygame.key.get_mods() & pygame.KMOD_SHIFT)
            yield Point(event.pos[0], event.pos[1], "press" if pressed else "release", shift=shift)
        elif pressed and event.button in DRAG_BUTTONS:
            self._dragging.add(event.button)
        else:
            self._dragging.discard(event.button)
        self.cursor = event.pos

    def _moved(self, event: pygame.Event) -> Iterator[Command]:
        (x, y), (before_x, before_y) = event.pos, self.cursor
        self.cursor = event.pos
        if self.pointing:
            yield Point(x, y, "drag", x - before_x, y - before_y)
        elif self._dragging:
            yield Pan(before_x - x, before_y - y)
        else:
            yield Hover(x, y)


def _key(event: pygame.Event) -> int:
    """Which key it is, whatever it types: going up it may type something else than going down."""
    scancode: int = getattr(event, "scancode", 0) or event.key
    return scancode
