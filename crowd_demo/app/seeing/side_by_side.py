"""Side by side: the window is split by a line; right of it is the second crowd, under the same camera.

The second crowd is a replica of the crowd that is shown, with another setting of one technique. It begins as a copy
of the present state and then takes as many steps. When something else happens to the crowd (an action, a restart, a
step back, other walls), or when it is so far ahead that the window would stand still meanwhile, it begins again, as a
copy of what is there then; so both always come from one snapshot.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial

import pygame

from crowd_demo.app.compiling.switching import Switcher, next_choice, next_number
from crowd_demo.app.crowd.crowd import OTHER_CROWD, OTHER_TIME, Change, Crowd
from crowd_demo.app.crowd.technique_controls import TOUCHED_FIRST, Techniques
from crowd_demo.app.input.key_input import KeyAction, KeyActions
from crowd_demo.app.screen.notices import Notices
from crowd_demo.registry.entries import EXACT, Technique, Value
from crowd_demo.registry.techniques import BY_PATH, hud_word, kind_of
from crowd_demo.render.camera import Camera, clamp
from crowd_demo.render.hud.canvas import THEMES, Pen, Target, scale_for
from crowd_demo.render.hud.status import PanelSettings, time_text
from crowd_demo.render.overlays.sketch import plate
from crowd_demo.render.pixels import plain_surface
from crowd_demo.render.scene import Scene
from crowd_demo.sim.simulation import Simulation

EDGE_PX, GRIP_PX = 20.0, 6.0  # least width of a side; how near to the line the mouse takes it
LINE = Target("line")  # between the two crowds
RIGHT = "right"  # the number that a drag over the right value changes
CATCH_UP_S = 0.5  # how long a frame may wait for it: some steps of brute force, but not all those of a drag on the timeline


class SideBySide:
    """`second` is the other crowd while the window is split, `share` the part of the width that is left of the line.

    The value on the right is compiled ahead, like every value: until its kernels are there, the second crowd waits.
    """

    def __init__(self, crowd: Crowd, camera: Camera, techniques: Techniques, switcher: Switcher, notices: Notices) -> None:
        self.second: SecondCrowd | None = None
        self.share = 0.5
        self.value: Value = 0  # that is asked for on the right
        self._crowd, self._camera, self._techniques, self._notices = crowd, camera, techniques, notices
        self.switcher = switcher
        self._is_requested = False  # the value on the right, beside the crowd's present techniques
        self._is_compiled = False  # is what the second crowd runs with?
        self._labels: list[tuple[Target, pygame.Rect]] = []
        self._pen: Pen | None = None

    @property
    def actions(self) -> KeyActions:
        return {"split": KeyAction(self.toggle),
                "split_value": KeyAction(self.next_value, partial(self.next_value, backwards=True))}

    @property
    def line_px(self) -> int:
        return round(self.share * self._camera.size[0])

    @property
    def _technique(self) -> Technique:
        return BY_PATH[self.second.path if self.second else self._techniques.touched or TOUCHED_FIRST]

    # --- what is shown -----------------------------------------------------------------------------------------------

    def toggle(self) -> None:
        """Show the technique that was touched last with its present value and with another one; or one crowd again."""
        if self.second:
            self.second = None
            return
        technique = self._technique
        self._is_compiled = False
        self.second = SecondCrowd(technique.path, other_value(technique, self._techniques.value(technique.path)))
        self._choose(self.second.value)

    def next_value(self, backwards: bool = False) -> None:
        """Show the next choice on the right, but for the one that is on the left."""
        if not self.second:
            self.toggle()
            return
        value = next_choice(self._technique, self.value, backwards)
        if value == self._techniques.value(self._technique.path):
            value = next_choice(self._technique, value, backwards)
        self._choose(value)

    def change_number(self, steps: int) -> None:
        """Change the number on the right by so many steps, if it is one."""
        numbers, value = self._technique.numbers, self.value
        if not self.second or not numbers or isinstance(value, str):
            return
        for _ in range(abs(steps)):
            value = next_number(numbers, float(value), 1 if steps > 0 else -1)
        self._choose(value)

    def _choose(self, value: Value) -> None:
        self.value, self._is_requested = value, False
        self._notices.add(f"{self._technique.label.strip()}: {hud_word(value)} on the right", "split",
                          holds=lambda: self.second and self.value == value)

    def show_compiled(self, second: SecondCrowd) -> None:
        """Show on the right what is asked for, once its kernels are compiled. Call in every frame."""
        path = second.path
        if not self._is_requested:
            self._is_requested = True
            self.switcher.pending.clear()
            self.switcher.request(path, self.value)
        if path in self.switcher.ready(self._crowd.sim.optimizations):
            second.value, self._is_compiled = self.value, True

    def crowd_changed(self, change: Change) -> None:
        """Let the second crowd begin again, with kernels for the present techniques. Call from the worker's thread."""
        if not self.second:
            return
        self.second.sim = None
        if change.path not in ("", self.second.path) or change.what in (OTHER_TIME, OTHER_CROWD):
            self._is_requested = False
            self._is_compiled &= not change.path

    # --- the line and the labels -------------------------------------------------------------------------------------

    def target_at(self, x: float, y: float) -> Target | None:
        """What is drawn at a pixel: one of the two values, the line, or nothing."""
        if not self.second:
            return None
        for target, rect in self._labels:
            if rect.collidepoint(x, y):
                return target
        return LINE if abs(x - self.line_px) <= GRIP_PX else None

    def move(self, x: float) -> None:
        width = self._camera.size[0]
        self.share = clamp(x, EDGE_PX, width - EDGE_PX) / width

    def draw(self, on: pygame.Surface, alpha: float, panels: PanelSettings, more: Callable[[pygame.Surface], None]) -> None:
        """Draw the second crowd, and `more` on it, over the right part of the picture.

        Call from the worker's thread, after the overlays, which show what the first crowd has used.
        """
        second, scene, sim = self.second, self._crowd.scene, self._crowd.sim
        if not second or not scene:
            return
        with sim.profile.stage("proof"):
            if is_compiled := self._is_compiled:
                second.keep_up(sim)
                picture, line = second.draw(scene, self._camera, alpha), self.line_px
                more(picture)
                on.blit(picture, (line, 0), picture.get_rect().move(line, 0))
        self._draw_line(on)
        self._draw_labels(on, second, panels, is_compiled and second.value == self.value)

    def _draw_line(self, on: pygame.Surface) -> None:
        for colour, width in (((12, 14, 18), 5), ((250, 250, 246), 1)):
            pygame.draw.line(on, colour, (self.line_px, 0), (self.line_px, on.get_height()), width)

    def _draw_labels(self, on: pygame.Surface, second: SecondCrowd, panels: PanelSettings, is_compiled: bool) -> None:
        """Both values, beside the line; and that the crowds are the same, since when they are not, or what is waited for."""
        self._pen = self._pen or Pen()
        self._pen.theme = THEMES[panels.theme]
        scale, label, line = scale_for(on.get_size(), panels.scale), self._technique.label.strip(), self.line_px
        present = self._crowd.sim.optimizations.get
        values = present(second.path), self.value
        left, right = (plate(f"{label}: {hud_word(value)}", self._pen, scale, "text") for value in values)
        is_same = are_exact(self._technique, values, present)
        so_far = "exact: the same crowd" if is_same else f"apart since {time_text(second.begun_at * self._crowd.sim.dt)}"
        below = plate(so_far if is_compiled else "compiling", self._pen, scale, "dim")
        top = on.get_height() // 2
        self._labels = [(Target("number", second.path), on.blit(left, (line - left.get_width() - 10, top))),
                        (Target("number", RIGHT), on.blit(right, (line + 10, top)))]
        on.blit(below, (line + 10, top + right.get_height() + 4))


def other_value(technique: Technique, present: Value) -> Value:
    """The baseline; if that is the present value, the choice that is farthest from it.

    A baseline that makes the same crowd would only be slow: then it is the next choice.
    """
    if present == technique.baseline:
        return next(choice for choice in reversed(technique.choices) if choice != present)
    return next_choice(technique, present) if are_exact(technique, (present, technique.baseline)) else technique.baseline


def are_exact(technique: Technique, values: Iterable[Value], get: Callable[[str], Value] | None = None) -> bool:
    """Do all these values make the same crowd? `get` returns the present value of any other technique."""
    return all(kind_of(technique, value, get) is EXACT for value in values)


class SecondCrowd:
    """`path` is the technique, `value` what it is set to here. All of this belongs to the worker's thread."""

    def __init__(self, path: str, value: Value) -> None:
        self.path, self.value = path, value
        self.begun_at = 0  # the tick of the snapshot
        self.sim: Simulation | None = None  # None: to begin again
        self._picture: pygame.Surface | None = None

    def keep_up(self, sim: Simulation) -> None:
        """Make the steps that the crowd has made, or begin again from its present state."""
        if self.sim is None:
            self.sim = sim.replica()
            self._begin(sim, self.sim)
        self.sim.optimizations.set(self.path, self.value)
        end = time.perf_counter() + CATCH_UP_S
        while self.sim.tick < sim.tick and time.perf_counter() < end:
            self.sim.step()
        if self.sim.tick < sim.tick:
            self._begin(sim, self.sim)

    def _begin(self, sim: Simulation, replica: Simulation) -> None:
        """Copy the crowd's state, with all its techniques but one."""
        replica.restore(sim.state())
        replica.optimizations.set(self.path, self.value)
        self.begun_at = sim.tick

    def draw(self, scene: Scene, camera: Camera, alpha: float) -> pygame.Surface:
        """Draw it by the program's scene, which meanwhile draws nothing else; the picture is overwritten by the next one."""
        assert self.sim, "call keep_up before"
        if self._picture is None or self._picture.get_size() != camera.size:
            self._picture = plain_surface(camera.size)
        running, used = scene.sim, scene.used
        scene.sim = self.sim
        try:
            self.sim.prepare_picture()
            scene.draw(self._picture, camera, None, alpha)
        finally:
            scene.sim, scene.used = running, used
        return self._picture
