"""The events of the window: keys do what they are bound to, and the mouse what is drawn at the cursor stands for.

While a step takes long, keys that concern the window alone are obeyed at once; other events wait for the next frame, in order.
A click, the wheel or a key belongs to the dialog that is open, if there is one; then to a tour; then to the picture.
"""

from __future__ import annotations

import pygame

from crowd_demo.app.input.keyboard import Keyboard
from crowd_demo.app.input.keys import Keys, quits
from crowd_demo.app.input.pointer import (
    Click,
    DragNumber,
    LookAt,
    MoveLine,
    Pan,
    Pointer,
    PointerCommand,
    Rest,
    Scrub,
    SelectBox,
    Zoom,
)
from crowd_demo.app.presenter import Presenter
from crowd_demo.app.program import Program
from crowd_demo.app.seeing.side_by_side import RIGHT
from crowd_demo.config.keys import Keys as KeySettings
from crowd_demo.config.keys import bindings, key_text
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.hud.canvas import Target, scale_for
from crowd_demo.render.hud.layout import bar_of
from crowd_demo.render.hud.navigation import tick_at


class WindowEvents:
    """`waiting` are the events that were kept. Was a key `pressed` before this frame whose answer is not on the screen yet?"""

    def __init__(self, keys: KeySettings, program: Program, presenter: Presenter) -> None:
        self.waiting: list[pygame.Event] = []
        self.pressed = False
        self.keys = Keys(bindings(keys), program.act, self._press)
        self.pointer = Pointer(pygame.display.get_window_size(), self._target_at, presenter.hud.minimap.world_at)
        self._program, self._presenter = program, presenter
        presenter.show_keys(self.keys.keyboard)

    def read(self, elapsed_s: float) -> None:
        """Carry out what the events of this frame ask for, so long after the last one."""
        program = self._program
        events, self.waiting = [*self.waiting, *pygame.event.get()], []
        program.overlays.cursor = pygame.mouse.get_pos() if pygame.mouse.get_focused() else None
        self.pressed = any(event.type == pygame.KEYDOWN for event in events)
        for event in events:
            self._read(event)
        if any(pan := self.keys.hold(elapsed_s)):
            program.camera.pan(*pan)
        program.hawk.cursor = self.pointer.cursor

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
        self._listen()
        is_scrubbing = self.pointer.scrubbing and event.type in (pygame.MOUSEMOTION, pygame.MOUSEBUTTONUP)
        if is_scrubbing or quits(event, self.keys.keyboard, self.keys.bindings):
            return True
        in_turn = not any(before.type in (pygame.KEYDOWN, pygame.MOUSEBUTTONDOWN) for before in self.waiting)
        return in_turn and event.type == pygame.KEYDOWN and self.keys.is_among(event, self._program.at_once)

    def _read(self, event: pygame.Event) -> None:
        self._listen()
        if event.type == pygame.QUIT:
            self._program.quitting.ask()
        elif event.type == pygame.KEYDOWN:
            self.keys.down(event)
        elif event.type == pygame.KEYUP:
            self.keys.up(event)
        elif event.type == pygame.KEYMAPCHANGED:
            self.keys.keyboard = Keyboard()
            self._presenter.show_keys(self.keys.keyboard)
        else:
            if event.type == pygame.WINDOWFOCUSLOST:
                self.keys.release_all()
            for command in self.pointer.read(event):
                perform(self._program, command)

    def _listen(self) -> None:
        """Let the keys know who gets them."""
        self.keys.listen(self._program.dialogs.top is not None, self._program.guide.wanted)

    def _press(self, key: str, shift: bool) -> bool:
        """Offer a key to the dialog that is open, or else to the tour; return whether it was taken."""
        program = self._program
        return program.dialogs.press(key, shift) if program.dialogs.top else program.guide.press(key, program)

    def _target_at(self, x: float, y: float) -> Target | None:
        """What is drawn at a pixel: a part of the HUD, the line between two crowds or their values, or nothing."""
        return self._presenter.hud.target_at(x, y) or self._program.split.target_at(x, y)


def perform(program: Program, command: PointerCommand) -> None:
    """Do what the mouse asks for."""
    match command:
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
            size, past = program.camera.size, program.crowd.past()
            program.crowd.seek(tick_at(past, x, bar_of(size, scale_for(size, program.panels.now.scale))))


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
