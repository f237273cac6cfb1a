"""The events of the window: in each frame they become commands.

While a step takes long, keys that concern the window alone are obeyed at once; other events wait for the next frame, in order.
"""

from __future__ import annotations

from collections.abc import Iterable

import pygame

from crowd_demo.app.input.commands import Command
from crowd_demo.app.input.events import Input
from crowd_demo.app.input.pointer import Pointer
from crowd_demo.app.perform import perform
from crowd_demo.app.presenter import Presenter
from crowd_demo.app.program import Program
from crowd_demo.config.keys import Keys, bindings, key_text
from crowd_demo.render.hud.canvas import Target


class WindowEvents:
    """`waiting` are the events that were kept. Was a key `pressed` before this frame whose answer is not on the screen yet?"""

    def __init__(self, keys: Keys, program: Program, presenter: Presenter) -> None:
        self.waiting: list[pygame.Event] = []
        self.pressed = False
        self.input = Input(bindings(keys), pygame.display.get_window_size())
        self.pointer = Pointer(self._target_at, presenter.hud.minimap.world_at)
        self._program, self._presenter = program, presenter
        self._show_keys()

    def read(self, elapsed_s: float) -> None:
        """Carry out what the events of this frame ask for, so long after the last one."""
        events, self.waiting = [*self.waiting, *pygame.event.get()], []
        self._program.overlays.cursor = pygame.mouse.get_pos() if pygame.mouse.get_focused() else None
        self.pressed = any(event.type == pygame.KEYDOWN for event in events)
        for event in events:
            self._read(event)
        for command in self.input.held(elapsed_s):
            perform(self._program, command)
        self._program.seeing.glide(elapsed_s)
        self._program.hawk.cursor = self.input.cursor
        if self.input.keyboard is not self._keyboard:
            self._show_keys()

    def _target_at(self, x: float, y: float) -> Target | None:
        """What is drawn at a pixel: a part of the HUD, the line between two crowds or their values, or nothing."""
        return self._presenter.hud.target_at(x, y) or self._program.split.target_at(x, y)

    def read_at_once(self) -> bool:
        """Carry out what need not wait for the next frame, and keep the rest; return whether to answer a key or a new size."""
        to_answer = False
        for event in pygame.event.get():
            to_answer |= event.type in (pygame.KEYDOWN, pygame.WINDOWSIZECHANGED)
            if self._is_for_now(event):
                self._read(event)
            else:
                self.waiting.append(event)
        return to_answer

    def keys_waiting(self) -> list[str]:
        """The names of the keys that were pressed and wait for the next frame."""
        return [key_text(pygame.key.name(event.key)) for event in self.waiting if event.type == pygame.KEYDOWN]

    def _is_for_now(self, event: pygame.Event) -> bool:
        """Does it quit, move along the timeline, or concern the window alone, with nothing before it that has to wait?"""
        self._tell_input()
        if self.input.quits(event) or (self.pointer.scrubbing and event.type in (pygame.MOUSEMOTION, pygame.MOUSEBUTTONUP)):
            return True
        in_turn = not any(before.type in (pygame.KEYDOWN, pygame.MOUSEBUTTONDOWN) for before in self.waiting)
        return in_turn and self.input.is_among(event, self._program.at_once)

    def _read(self, event: pygame.Event) -> None:
        self._tell_input()
        self._perform(self.input.read(event))

    def _tell_input(self) -> None:
        """Tell it who gets the keys."""
        self.input.dialog_open = self._program.dialogs.top is not None
        self.input.wanted = self._program.guide.wanted

    def _perform(self, commands: Iterable[Command]) -> None:
        for command in commands:
            for meant in self.pointer.read(command):
                perform(self._program, meant)

    def _show_keys(self) -> None:
        self._keyboard = self.input.keyboard
        self._presenter.show_keys(self._keyboard)
