"""The events of the window: keys do what they are bound to, and the mouse what is drawn at the cursor stands for.

While a step takes long, keys that concern the window alone and events that move the camera are obeyed at once; other
events wait for the next frame, in order. A click, the wheel or a key belongs to the dialog that is open, if there is
one; then to a tour; then to the picture.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Set
from dataclasses import dataclass
from functools import partial

import pygame

from crowd_demo.app.program import Program
from crowd_demo.app.side_by_side import RIGHT
from crowd_demo.config.keys import ACTIONS
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.hud.canvas import ON_PANEL, Target, scale_for
from crowd_demo.render.hud.navigation import BRUSH_SLIDER, tick_at
from crowd_demo.render.hud.panel_layout import bar_of
from crowd_demo.render.hud.sections import NUMBERS, SETTING, SLIDER
from crowd_demo.render.hud.status import Hovered
from crowd_demo.render.hud.text_panels import BET, LEGEND

PAN_PX_PER_S = 900.0
REPEAT_AFTER_S = 0.35
THROUGH_DIALOG = ("up", "down", "page up", "page down", "home", "end")  # keys that go through a list and choose nothing
DIALOG_REPEATS = ("up", "down", "left", "right", "page up", "page down")
DIALOG_EVERY_S = 0.06
ZOOM_STEP = 1.15
DRAG_BUTTONS = (pygame.BUTTON_MIDDLE, pygame.BUTTON_RIGHT)
STILL_PX = 4.0  # a press that moves no farther is a click
NOTCH_PX = 9.0  # of dragging a number by one step
FINE, FINER = 0.25, 0.05  # of the way of the cursor a slider or a number that is dragged goes; with Shift
DOUBLE_S = 0.4  # from the first press of a double click to the second
REST_S = 0.35  # how long the cursor must rest before there is a tooltip


class WindowEvents:
    """`waiting` are the events that were kept. Was a key `pressed` before this frame whose answer is not on the screen yet?"""

    def __init__(self, program: Program, waiting: list[pygame.Event]) -> None:
        self.waiting, self.pressed = waiting, False
        self.keys, self.mouse = Keyboard(program), Mouse(program)
        self._program = program
        self._read_at = time.perf_counter()  # the last reading
        self._moved_s = 0.0  # of the next frame's time, for which the view has moved already

    def read(self, elapsed_s: float) -> None:
        """Carry out what the events of this frame ask for, so long after the last one."""
        program = self._program
        events = [*self.waiting, *pygame.event.get()]
        self.waiting.clear()
        program.pointer.in_window = pygame.mouse.get_focused()
        self.pressed = any(event.type == pygame.KEYDOWN for event in events)
        for event in events:
            self._read(event)
        self.keys.repeat(elapsed_s)
        self._move_view(max(elapsed_s - self._moved_s, 0.0))
        self._read_at, self._moved_s = time.perf_counter(), 0.0
        program.pointer.on_ground = not program.tools.is_hand and self.mouse.is_on_picture

    def read_at_once(self) -> bool:
        """Carry out what need not wait for the next frame, and keep the rest; return whether to answer a key or a new size."""
        to_answer = False
        for event in pygame.event.get():
            to_answer |= event.type in (pygame.KEYDOWN, pygame.WINDOWSIZECHANGED)
            self.keys.listen()
            is_scrubbing = self.mouse.scrubbing and event.type in (pygame.MOUSEMOTION, pygame.MOUSEBUTTONUP)
            in_turn = not any(before.type in (pygame.KEYDOWN, pygame.MOUSEBUTTONDOWN) for before in self.waiting)
            of_window = self.keys.is_for_now(event) if event.type == pygame.KEYDOWN else self.mouse.moves_view(event)
            is_at_once = is_scrubbing or self._program.keymap.quits(event)
            if is_at_once or (in_turn and (event.type == pygame.KEYUP or of_window)):
                self._read(event)
            else:
                self.waiting.append(event)
        before, self._read_at = self._read_at, time.perf_counter()
        self._move_view(self._read_at - before)
        self._moved_s += self._read_at - before
        return to_answer

    def _move_view(self, elapsed_s: float) -> None:
        """Let keys that are held pan, and zooming glide."""
        if any(pan := self.keys.pan(elapsed_s)):
            self._program.camera.pan(*pan)
        if self._program.seeing.zoom_left != 1:
            self._program.seeing.glide(elapsed_s)

    def _read(self, event: pygame.Event) -> None:
        self.keys.listen()
        if event.type in (pygame.KEYDOWN, pygame.MOUSEBUTTONDOWN):
            self._program.caption.show(None)
        match event.type:
            case pygame.QUIT:
                self._program.close_window()
            case pygame.KEYDOWN:
                self.keys.down(event)
            case pygame.KEYUP:
                self.keys.up(event)
            case pygame.KEYMAPCHANGED:
                self._program.keymap.follow_layout()
            case pygame.WINDOWFOCUSLOST:
                self.keys.release_all()
                self.mouse.release_all()
            case _:
                self.mouse.read(event)


@dataclass
class _Held:
    """The repeated action of a held key; `left_s` is None in the frame in which it was pressed."""

    do: Callable[[], object]
    every_s: float
    left_s: float | None = None

    def is_due(self, elapsed_s: float) -> bool:
        """Let time pass; return whether to repeat now."""
        again = self.left_s is not None and self.left_s <= elapsed_s
        self.left_s = self.every_s if again else REPEAT_AFTER_S if self.left_s is None else self.left_s - elapsed_s
        return again


class Keyboard:
    """Does what keys are bound to, once and while they are held. A dialog that is open gets them first, or else a tour.

    Which keys are held is known from events alone, not from `pygame.key.get_pressed`, so a test can post events.
    """

    def __init__(self, program: Program) -> None:
        self._program, self._keymap = program, program.keymap
        self._panning: dict[int, tuple[int, int]] = {}  # directions, by key
        self._repeating: dict[int, _Held] = {}
        self._dialog_open = False
        self._wanted: Set[str] = frozenset()

    def listen(self) -> None:
        """Check before each event whether a dialog gets all keys, and which keys the tour uses.

        When a dialog opens or closes, keys that are held are as if they were released.
        """
        program = self._program
        is_open = bool(program.dialogs.stack and program.dialogs.top)
        if is_open != self._dialog_open:
            self.release_all()
        self._dialog_open, self._wanted = is_open, program.guide.wanted if program.guide.latest else frozenset()

    def down(self, event: pygame.Event) -> None:
        action, shifted = self._keymap.action(event)
        name, modifiers = self._keymap.dialog_name(event), getattr(event, "mod", 0)
        if action and self._dialog_open and not ACTIONS[action].over_dialog:
            action = ""
        if (self._dialog_open or name in self._wanted) and not modifiers & pygame.KMOD_CTRL:
            def offer() -> None:
                """Offer the key to the dialog or the tour if it has a name; else do what it is bound to."""
                dialogs, shift = self._program.dialogs, bool(modifiers & pygame.KMOD_SHIFT)
                is_taken = not name or (dialogs.press(name, shift) if dialogs.top else self._program.guide.press(name))
                if not is_taken and action and not any(ACTIONS[action].pans):
                    self._program.act(action, shifted)

            if self._dialog_open and name in DIALOG_REPEATS:
                self._repeating[_key(event)] = _Held(offer, DIALOG_EVERY_S)
            offer()
        elif action and any(ACTIONS[action].pans):
            self._panning[_key(event)] = ACTIONS[action].pans
        elif action:
            if every_s := ACTIONS[action].repeats_s:
                self._repeating[_key(event)] = _Held(partial(self._program.act, action, False), every_s)
            self._program.act(action, shifted)

    def up(self, event: pygame.Event) -> None:
        self._panning.pop(_key(event), None)
        self._repeating.pop(_key(event), None)

    def release_all(self) -> None:
        self._panning.clear()
        self._repeating.clear()

    def repeat(self, elapsed_s: float) -> None:
        """Repeat what is due after `elapsed_s` seconds, each at most once a call, so none pile up."""
        for key in tuple(self._repeating.values()):
            if key.is_due(elapsed_s):
                key.do()

    def pan(self, elapsed_s: float) -> tuple[float, float]:
        """Return pixels to pan by after `elapsed_s` seconds."""
        directions = set(self._panning.values())
        dx, dy = sum(x for x, _ in directions), sum(y for _, y in directions)
        return dx * PAN_PX_PER_S * elapsed_s, dy * PAN_PX_PER_S * elapsed_s

    def is_for_now(self, event: pygame.Event) -> bool:
        """Return whether a key's action is one that is done at once, or the key goes through what is open."""
        action, _ = self._keymap.action(event)
        name = self._keymap.dialog_name(event)
        if self._dialog_open or name in self._wanted:
            return self._dialog_open and name in THROUGH_DIALOG
        return action != "" and ACTIONS[action].at_once


def _key(event: pygame.Event) -> int:
    """Which key it is, whatever it types: going up it may type something else than going down."""
    return int(getattr(event, "scancode", 0) or event.key)


class Mouse:
    """What presses, drags and the resting cursor do.

    A press belongs to what it began on until the button is released: a number goes on changing while the cursor is
    elsewhere, the timeline and the minimap go on following it. A press on the ground that moves pans, or with Shift
    selects a box; one that does not move is a click. While a tool is held, a press on the ground is a stroke of it.
    """

    def __init__(self, program: Program) -> None:
        self._program, self._hud, self._pointer = program, program.hud, program.pointer
        self._pressed = False  # the left button
        self._dragging: set[int] = set()  # other buttons
        self._held: Target | None = None  # what the press began on
        self._corner: tuple[float, float] | None = None  # where a box was begun
        self._is_stroke = False  # of a tool
        self._is_inside = True  # the window
        self._last_press: tuple[Target | None, float] = None, 0.0  # what it was on, and when
        self._moved = 0.0  # pixels since the press
        self._dragged = 0.0  # pixels of a number's drag that are no whole step yet
        self._slid_to = 0.0  # the pixel at which a slider is that is dragged
        self._hovered: tuple[Hovered, float] | None = None  # and since when

    def read(self, event: pygame.Event) -> None:
        self._is_inside = event.type != pygame.WINDOWLEAVE and (self._is_inside or event.type == pygame.MOUSEMOTION)
        match event.type:
            case pygame.MOUSEWHEEL:
                notches = getattr(event, "precise_y", event.y)
                resizes = not self._program.tools.is_hand and not self._program.dialogs.top
                if resizes and pygame.key.get_mods() & pygame.KMOD_CTRL:
                    self._program.tools.resize(notches)
                elif self._program.dialogs.top:
                    self._program.dialogs.press("up" if notches > 0 else "down", False)
                elif (target := self._target()) and target.kind == LEGEND:
                    self._hud.scroll_legend(-1 if notches > 0 else 1, int(target.name))
                elif target and target.kind in (NUMBERS, SLIDER, SETTING):
                    self._hud.scroll_numbers(-1 if notches > 0 else 1)
                else:
                    self._program.seeing.zoom(*self._pointer.at, ZOOM_STEP**notches)
            case pygame.MOUSEMOTION:
                self._move(*event.pos)
            case pygame.MOUSEBUTTONDOWN | pygame.MOUSEBUTTONUP:
                self._pointer.at = event.pos
                if event.button == pygame.BUTTON_LEFT:
                    if event.type == pygame.MOUSEBUTTONDOWN:
                        self._press()
                    else:
                        self._release()
                elif event.type == pygame.MOUSEBUTTONDOWN and event.button in DRAG_BUTTONS:
                    self._dragging.add(event.button)
                else:
                    self._dragging.discard(event.button)
            case pygame.WINDOWLEAVE:
                self._hovered = None

    def release_all(self) -> None:
        self._dragging.clear()
        self._release()

    def moves_view(self, event: pygame.Event) -> bool:
        """Return whether an event only pans or zooms."""
        match event.type:
            case pygame.MOUSEWHEEL:
                with_ctrl = pygame.key.get_mods() & pygame.KMOD_CTRL
                return not with_ctrl and not self._program.dialogs.top and self._target() is None
            case pygame.MOUSEMOTION:
                on_ground = self._held is None and not self._is_stroke and not self._corner
                return on_ground if self._pressed else bool(self._dragging)
            case pygame.MOUSEBUTTONDOWN | pygame.MOUSEBUTTONUP:
                return event.button in DRAG_BUTTONS
        return False

    @property
    def is_on_picture(self) -> bool:
        """Return whether a press there would belong to the tool that is held."""
        if self._pressed:
            return self._is_stroke
        return self._is_inside and not self._program.dialogs.top and self._target() is None

    @property
    def scrubbing(self) -> bool:
        return self._held is not None and self._held.kind == "timeline" and not self._program.dialogs.top

    @property
    def resting_on(self) -> Hovered | None:
        is_resting = self._hovered and time.monotonic() - self._hovered[1] >= REST_S
        return self._hovered[0] if self._hovered and is_resting else None

    def _target(self) -> Target | None:
        """What is drawn at the cursor: a part of the HUD, the line between two crowds, or nothing."""
        return self._hud.target_at(*self._pointer.at) or self._program.split.target_at(*self._pointer.at)

    # --- buttons -----------------------------------------------------------------------------------------------------

    def _press(self) -> None:
        """Begin a drag, a stroke or a click; a second press soon after the first resets the number of a slider."""
        self._pressed, self._moved, self._dragged, self._hovered = True, 0.0, 0.0, None
        target, now, last = self._target(), time.monotonic(), self._last_press
        self._held, self._last_press, self._slid_to = target, (target, now), self._pointer.at[0]
        if target and target.kind == SLIDER and last[0] == target and now - last[1] < DOUBLE_S:
            self._program.numbers.reset(target.name)
            self._held, self._last_press = ON_PANEL, (None, now)
        self._program.undo.begin_gesture()
        shift = pygame.key.get_mods() & pygame.KMOD_SHIFT
        self._corner = self._pointer.at if shift and self._held is None else None
        is_free = self._held is None and not self._corner and not self._program.dialogs.top
        self._is_stroke = is_free and self._program.tools.begin(*self._pointer.at)
        self._follow()

    def _release(self) -> None:
        """End what the press began. One that did not move is a click; outside of an open dialog it closes that."""
        program, (x, y) = self._program, self._pointer.at
        target, is_click = self._held, self._pressed and self._moved <= STILL_PX and not self.scrubbing
        self._pressed, self._held = False, None
        if target and target.kind == SLIDER:
            program.numbers.release()
        if self._is_stroke:
            self._is_stroke = False
            program.tools.end()
        elif not is_click:
            self._last_press = None, 0.0
        elif program.dialogs.top:
            program.dialogs.click(target if target and target.kind in ("row", "dialog") else None)
        else:
            match target:
                case Target("number", path) if path == RIGHT:
                    program.split.next_value()
                case Target("number", "agents"):
                    program.act("agents")
                case Target("value" | "number", path):
                    program.techniques.touched = path
                    program.menus.open_choices(BY_PATH[path], (round(x), round(y)))
                case Target("graph"):
                    program.panels.fit_graph()
                case Target("answer"):
                    program.answers.close()
                case Target("tour", name) if program.guide.tour:
                    program.guide.tour.act(name)
                case Target("card" | "why"):
                    program.act("card")
                case Target(kind, name):
                    by_name: dict[str, Callable[[str], object]] = {
                        "setting": program.numbers.type_value, "fold": program.panels.fold,
                        "unfold": program.panels.unfold, "technique": program.act, "action": program.act,
                        "tool": program.act}
                    if kind in by_name:
                        by_name[kind](name)
                case None:
                    program.inspector.click(x, y)

    # --- moving ------------------------------------------------------------------------------------------------------

    def _move(self, x: float, y: float) -> None:
        dx, dy = x - self._pointer.at[0], y - self._pointer.at[1]
        self._pointer.at = x, y
        if self._pressed:
            self._moved += abs(dx) + abs(dy)
            program, held = self._program, self._held
            pace = FINER if pygame.key.get_mods() & pygame.KMOD_SHIFT else FINE
            if self._is_stroke:
                program.tools.move(*self._pointer.at)
            elif self._corner:
                if self._moved > STILL_PX:
                    program.inspector.select(self._corner, self._pointer.at)
            elif held is None:
                program.camera.pan(-dx, -dy)
            elif held.kind == "line":
                program.split.move(self._pointer.at[0])
            elif held.kind == "number":
                self._dragged += dx * (pace / FINE)
                if steps := int(self._dragged / NOTCH_PX):
                    self._dragged -= steps * NOTCH_PX
                    if held.name == RIGHT:
                        program.split.change_number(steps)
                    elif held.name == "agents":
                        program.controls.drag_agents(steps)
                    else:
                        program.techniques.drag_number(held.name, steps)
            else:
                self._slid_to += dx * pace
                self._follow()
        elif self._dragging:
            self._program.camera.pan(-dx, -dy)
        elif (target := self._target()) is None:
            self._hovered = None
        elif self._hovered is None or self._hovered[0].target != target:
            self._hovered = Hovered(target, self._pointer.at), time.monotonic()
            if dialog := self._program.dialogs.top:
                dialog.hover(target)

    def _follow(self) -> None:
        """Let the timeline, the minimap, the guess of a tour or a slider follow the cursor."""
        program, held = self._program, self._held
        if self.scrubbing:
            bar = bar_of(program.camera.size, scale_for(program.camera.size, program.panels.now.scale))
            program.controls.seek(tick_at(program.crowd.past(), self._pointer.at[0], bar))
        elif held is None or program.dialogs.top:
            return
        elif held.kind == "minimap":
            program.seeing.look_at(*self._hud.minimap.world_at(*self._pointer.at))
        elif (share := self._hud.share_along(
                held, self._slid_to if held.kind == SLIDER else self._pointer.at[0], self._pointer.at[1])) is None:
            return
        elif held == BRUSH_SLIDER:
            program.tools.set_share(share)
        elif held == BET and program.guide.tour:
            program.guide.tour.guess_at(share)
        elif held.kind == SLIDER:
            program.numbers.drag(held.name, share)
