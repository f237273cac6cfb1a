"""Keys that go down, are held and go up; and what the parts of the program offer to do by key.

Which keys are held is known from events alone, not from `pygame.key.get_pressed`, so a test can post events. What a key is
called: keyboard.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import pygame

from crowd_demo.app.input.keyboard import Keyboard

PAN_PX_PER_S = 900.0
PANS = {"pan_left": (-1, 0), "pan_right": (1, 0), "pan_up": (0, -1), "pan_down": (0, 1)}
REPEAT_AFTER_S = 0.35
REPEAT_EVERY_S = {  # actions that are repeated while their key is held; slowly where a few steps lead far
    **dict.fromkeys(("lower", "higher", "step", "step_back", "zoom_in", "zoom_out", "brush_larger",
                     "brush_smaller"), 0.06),
    **dict.fromkeys(("fewer", "more", "slower", "faster", "larger", "smaller"), 0.2)}
THROUGH_DIALOG = ("up", "down", "page up", "page down", "home", "end")  # keys that go through a list and choose nothing
DIALOG_REPEATS = ("up", "down", "left", "right", "page up", "page down")
DIALOG_EVERY_S = 0.06


class KeyAction(NamedTuple):
    """`shifted` is what it does with Shift, where that is something else; a replay takes none that `changes` the crowd.

    One that concerns the window alone is done `at_once`, in the middle of a step that takes long.
    """

    do: Callable[[], object]
    shifted: Callable[[], object] | None = None
    changes: bool = False
    at_once: bool = False


KeyActions = Mapping[str, KeyAction]  # by the names of config/keys.py


@dataclass
class _Held:
    """What a held key repeats; `left_s` is None in the frame in which it went down."""

    do: Callable[[], object]
    every_s: float
    left_s: float | None = None

    def is_due(self, elapsed_s: float) -> bool:
        """Let time pass; return whether to repeat now."""
        again = self.left_s is not None and self.left_s <= elapsed_s
        self.left_s = self.every_s if again else REPEAT_AFTER_S if self.left_s is None else self.left_s - elapsed_s
        return again


class Keys:
    """Does what keys are bound to.

    `bindings` maps key names to actions. `act` does an action by name, as with Shift or not. `press` offers a key, by name and
    with Shift or not, to a dialog or whoever else gets keys first; it returns whether the key was taken.
    """

    def __init__(self, bindings: Mapping[str, str], act: Callable[[str, bool], object],
                 press: Callable[[str, bool], bool]) -> None:
        self.bindings, self._act, self._press = bindings, act, press
        self.keyboard = Keyboard()  # the present layout
        self._panning: dict[int, str] = {}  # by key
        self._repeating: dict[int, _Held] = {}
        self._dialog_open = False
        self._wanted: Set[str] = frozenset()
        self._allowed: Collection[str] = bindings.values()

    def listen(self, dialog_open: bool, wanted: Set[str], allowed: Collection[str] | None = None) -> None:
        """Say before each event whether a dialog gets all keys, and which ones are wanted first even without a dialog.

        `allowed` are the actions that keys may do meanwhile, None for all. When a dialog opens or closes, keys that are
        held are as if they were released.
        """
        if dialog_open != self._dialog_open:
            self.release_all()
        self._dialog_open, self._wanted = dialog_open, wanted
        self._allowed = self.bindings.values() if allowed is None else allowed

    def down(self, event: pygame.Event) -> None:
        action, backwards = self.keyboard.action(event, self.bindings)
        name = self._dialog_name(event, action)
        action = action if action in self._allowed else ""
        if (self._dialog_open or name in self._wanted) and not _modifiers(event) & pygame.KMOD_CTRL:
            offer = partial(self._offer, name, bool(_modifiers(event) & pygame.KMOD_SHIFT), action, backwards)
            if self._dialog_open and name in DIALOG_REPEATS:
                self._repeating[_key(event)] = _Held(offer, DIALOG_EVERY_S)
            offer()
        elif action in PANS:
            self._panning[_key(event)] = action
        elif action:
            if action in REPEAT_EVERY_S:
                self._repeating[_key(event)] = _Held(partial(self._act, action, False), REPEAT_EVERY_S[action])
            self._act(action, backwards)

    def up(self, event: pygame.Event) -> None:
        self._panning.pop(_key(event), None)
        self._repeating.pop(_key(event), None)

    def release_all(self) -> None:
        self._panning.clear()
        self._repeating.clear()

    def hold(self, elapsed_s: float) -> tuple[float, float]:
        """Repeat what is due after `elapsed_s` seconds, each at most once a call, so none pile up; return pixels to pan by."""
        for key in tuple(self._repeating.values()):
            if key.is_due(elapsed_s):
                key.do()
        directions = {PANS[action] for action in self._panning.values()}
        dx, dy = sum(x for x, _ in directions), sum(y for _, y in directions)
        return dx * PAN_PX_PER_S * elapsed_s, dy * PAN_PX_PER_S * elapsed_s

    def is_among(self, event: pygame.Event, actions: Set[str]) -> bool:
        """Is it a key for one of these actions, or one that goes through what is open?"""
        action, _ = self.keyboard.action(event, self.bindings)
        name = self._dialog_name(event, action)
        if self._dialog_open or name in self._wanted:
            return self._dialog_open and name in THROUGH_DIALOG
        return action in actions

    def _dialog_name(self, event: pygame.Event, action: str) -> str:
        return "escape" if action == "quit" else self.keyboard.dialog_name(event)

    def _offer(self, name: str, shift: bool, action: str, backwards: bool) -> None:
        """Offer a key that has a name; if nobody takes it, do what it is bound to."""
        if name and not self._press(name, shift) and action and action not in PANS:
            self._act(action, backwards)


def quits(event: pygame.Event, keyboard: Keyboard, bindings: Mapping[str, str]) -> bool:
    """Does this event end the program, or begin to?"""
    return event.type == pygame.QUIT or (
        event.type == pygame.KEYDOWN and keyboard.action(event, bindings) == ("quit", False))


def _modifiers(event: pygame.Event) -> int:
    modifiers: int = getattr(event, "mod", 0)
    return modifiers


def _key(event: pygame.Event) -> int:
    """Which key it is, whatever it types: going up it may type something else than going down."""
    scancode: int = getattr(event, "scancode", 0) or event.key
    return scancode
