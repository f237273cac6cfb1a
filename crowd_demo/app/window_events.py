"""The events of the window: in each frame they become commands; while a step takes long they wait for the next frame."""

from __future__ import annotations

from collections.abc import Iterable

import pygame

from crowd_demo.app.input.commands import Command
from crowd_demo.app.input.events import Input
from crowd_demo.app.input.pointer import Pointer
from crowd_demo.app.presenter import Presenter
from crowd_demo.app.program import Program
from crowd_demo.config.keys import Keys, bindings
from crowd_demo.render.hud.canvas import Target


class WindowEvents:
    """`waiting` are the events that were kept."""

    def __init__(self, keys: Keys, program: Program, presenter: Presenter) -> None:
        self.waiting: list[pygame.Event] = []
        self.input = Input(bindings(keys), pygame.display.get_window_size())
        self.pointer = Pointer(self._target_at, presenter.hud.mapped_at)
        self._program, self._presenter = program, presenter
        self._show_keys()

    def read(self, elapsed_s: float) -> None:
        """Carry out what the events of this frame ask for, so long after the last one."""
        events, self.waiting = [*self.waiting, *pygame.event.get()], []
        self._program.overlays.cursor = pygame.mouse.get_pos() if pygame.mouse.get_focused() else None
        for event in events:
            self.input.dialog_open = self._program.dialogs.top is not None
            self.input.wanted = self._program.guide.wanted
            self._perform(self.input.read(event))
        for command in self.input.held(elapsed_s):
            self._program.perform(command)
        self._program.seeing.glide(elapsed_s)
        self._program.hawk.cursor = self.input.cursor
        if self.input.keyboard is not self._keyboard:
            self._show_keys()

    def _target_at(self, x: float, y: float) -> Target | None:
        """What is drawn at a pixel: a part of the HUD, the line between two crowds or their values, or nothing."""
        return self._presenter.hud.target_at(x, y) or self._program.split.target_at(x, y)

    def keep(self) -> None:
        """Keep events for the next frame. The first Esc asks a question that cannot be shown yet; so a second one leaves."""
        self.waiting += [event for event in pygame.event.get() if not self._scrubs(event)]
        asked = sum(self.input.quits(event) for event in self.waiting)
        is_closed = any(event.type == pygame.QUIT for event in self.waiting)
        if is_closed or asked + self._program.is_asking + self._program.leaves_at_once >= 2:
            self._program.quitting.ask()
        elif asked:
            self._presenter.set_title("a step takes long: Esc again leaves")

    def keys_waiting(self) -> list[str]:
        """The names of the keys that were pressed and wait for the next frame."""
        return [pygame.key.name(event.key).capitalize() for event in self.waiting if event.type == pygame.KEYDOWN]

    def _scrubs(self, event: pygame.Event) -> bool:
        """If the event moves along the timeline, let what is sought at present follow it at once."""
        if not (self.pointer.scrubbing and event.type in (pygame.MOUSEMOTION, pygame.MOUSEBUTTONUP)):
            return False
        self._perform(self.input.read(event))
        return True

    def _perform(self, commands: Iterable[Command]) -> None:
        for command in commands:
            for meant in self.pointer.read(command):
                self._program.perform(meant)

    def _show_keys(self) -> None:
        self._keyboard = self.input.keyboard
        self._presenter.show_keys(self._keyboard)
