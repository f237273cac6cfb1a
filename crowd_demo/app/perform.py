"""Carrying out commands: which part of the program each of them is for.

A click, the wheel or a key belongs to the dialog that is open, if there is one; then to a tour; then to the picture.
"""

from __future__ import annotations

from functools import partial

from crowd_demo.app.input.commands import (
    Click,
    Close,
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
from crowd_demo.app.program import Program
from crowd_demo.app.seeing.side_by_side import RIGHT
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.hud.canvas import Target, scale_for
from crowd_demo.render.hud.layout import bar_of
from crowd_demo.render.hud.navigation import tick_at
from crowd_demo.render.hud.status import Past


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
            program.looks.fold(name)
        case Target("unfold", name):
            program.looks.unfold(name)
        case Target("graph"):
            program.looks.fit_graph()
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
    return tick_at(past, x, bar_of(size, scale_for(size, program.looks.now.scale)))
