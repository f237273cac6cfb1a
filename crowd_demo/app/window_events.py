"""The events of the window: in each frame they become commands, which the parts carry out that they are for.

While a step takes long, keys that concern the window alone are obeyed at once; other events wait for the next frame, in order.
A click, the wheel or a key belongs to the dialog that is open, if there is one; then to a tour; then to the picture.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import pygame

from crowd_demo.app.input.commands import (
    Click,
    Close,
    Command,
    Do,
    DragNumber,
    LookAt,
    MoveLine,
    Pan,
    PointerCommand,
    Press,
    Rest,
    Scrub,
    SelectBox,
    Zoom,
)
from crowd_demo.app.input.events import Input
from crowd_demo.app.input.pointer import Pointer
from crowd_demo.app.presenter import Presenter
from crowd_demo.app.program import Program
from crowd_demo.app.seeing.side_by_side import RIGHT
from crowd_demo.config.keys import Keys, bindings, key_text
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.hud.canvas import Target, scale_for
from crowd_demo.render.hud.navigation import tick_at
from crowd_demo.render.hud.panel_layout import bar_of
from crowd_demo.render.hud.status import Past


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


def perform(program: Program, command: PointerCommand) -> None:
    """Do what a command asks for."""
    match command:
        case Do(action, backwards):
            program.act(action, backwards)
        case Press(key, shift, do):
            if not _press(program, key, shift) and do:
                program.act(do.action, do.backwards)
        case Pan(dx, dy):
            program.camera.pan(dx, dy)
        case Zoom(x, y, factor):
            _zoom(program, x, y, factor)
        case Click(target, at):
            _click(program, target, at)
        case DragNumber(path, steps) if path == RIGHT:
            program.split.change_number(steps)
        case DragNumber(path, steps):
            program.techniques.drag_number(path, steps)
        case Rest(target) if program.dialogs.top:
            program.dialogs.top.hover(target)
        case MoveLine(x):
            program.split.move(x)
        case LookAt(x, y) if not program.dialogs.top:
            program.seeing.look_at(x, y)
        case SelectBox(corner, other):
            program.inspector.select(corner, other)
        case Scrub(x):
            program.time.scrub(partial(_tick_at, program, x))
        case Close():
            program.quitting.ask()


def _press(program: Program, key: str, shift: bool) -> bool:
    """Offer a key to the dialog that is open, or else to the tour; return whether it was taken."""
    return program.dialogs.press(key, shift) if program.dialogs.top else program.guide.press(key, program)


def _click(program: Program, target: Target | None, at: tuple[float, float]) -> None:
    """A click outside of the dialog that is open closes it."""
    if program.dialogs.top:
        program.dialogs.click(target if target and target.kind in ("row", "dialog") else None)
        return
    match target:
        case Target("number", path) if path == RIGHT:
            program.split.next_value()
        case Target("technique" | "number", path):
            program.techniques.touched = path
            program.menus.open_choices(BY_PATH[path], (round(at[0]), round(at[1])))
        case Target("fold", name):
            program.panels.fold(name)
        case Target("unfold", name):
            program.panels.unfold(name)
        case Target("graph"):
            program.panels.fit_graph()
        case Target("action", action):
            program.act(action)
        case Target("tour", name):
            program.guide.act(name, program)
        case None:
            program.inspector.click(*at)


def _zoom(program: Program, x: float, y: float, factor: float) -> None:
    """The wheel moves through the list that is open, or zooms."""
    if program.dialogs.top:
        program.dialogs.press("up" if factor > 1 else "down", False)
    else:
        program.seeing.zoom(x, y, factor)


def _tick_at(program: Program, x: float, past: Past) -> int:
    """Return the tick that the timeline shows at that column of pixels."""
    size = program.camera.size
    return tick_at(past, x, bar_of(size, scale_for(size, program.panels.now.scale)))
