"""Side by side: the window is split by a line; right of it is the second crowd, under the same camera."""

from __future__ import annotations

import pygame

from crowd_demo.app.crowd.crowd import Crowd
from crowd_demo.app.crowd.techniques import Techniques
from crowd_demo.app.input.actions import KeyAction, KeyActions
from crowd_demo.app.screen.notices import Notices
from crowd_demo.app.seeing.second_crowd import SecondCrowd
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import BY_PATH, hud_word
from crowd_demo.render.camera import Camera, clamp
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import THEMES, scale_for
from crowd_demo.render.overlays.sketch import plate

EDGE_PX, GRIP_PX = 20.0, 6.0  # least width of a side; how near to the line the mouse takes it


class SideBySide:
    """`second` is the other crowd while the window is split, `share` the part of the width that is left of the line."""

    def __init__(self, crowd: Crowd, camera: Camera, techniques: Techniques, notices: Notices) -> None:
        self.second: SecondCrowd | None = None
        self.share = 0.5
        self._crowd, self._camera, self._techniques, self._notices = crowd, camera, techniques, notices
        self._pen: Pen | None = None

    @property
    def actions(self) -> KeyActions:
        return {"split": KeyAction(self.toggle)}

    @property
    def line_px(self) -> int:
        return round(self.share * self._camera.size[0])

    def toggle(self) -> None:
        """Show the technique that was touched last with its present value and with another one; or one crowd again."""
        if self.second:
            self.second = None
            return
        technique = BY_PATH[self._techniques.touched or "stagger.avoidance"]
        self.second = SecondCrowd(technique.path, other_value(technique, self._crowd.sim.optimizations.get(technique.path)))
        self._notices.add(f"{technique.label.strip()}: {hud_word(self.second.value)} on the right", "split")

    def is_at(self, x: float) -> bool:
        """Is the line at that column of pixels?"""
        return self.second is not None and abs(x - self.line_px) <= GRIP_PX

    def move(self, x: float) -> None:
        """Move the line to a column of pixels."""
        width = self._camera.size[0]
        self.share = clamp(x, EDGE_PX, width - EDGE_PX) / width

    def draw(self, on: pygame.Surface, alpha: float, theme: str) -> None:
        """Draw the second crowd over the right part of the picture. Call from the worker's thread, after the overlays."""
        second, scene, sim = self.second, self._crowd.scene, self._crowd.sim
        if not second or not scene:
            return
        with sim.profile.stage("proof"):
            second.keep_up(sim)
            picture, line = second.draw(scene, self._camera, alpha), self.line_px
            on.blit(picture, (line, 0), picture.get_rect().move(line, 0))
        pygame.draw.line(on, (12, 14, 18), (line, 0), (line, on.get_height()), 5)
        pygame.draw.line(on, (250, 250, 246), (line, 0), (line, on.get_height()), 1)
        self._pen = self._pen or Pen()
        self._pen.theme = THEMES[theme]
        scale, label = scale_for(on.get_size()), BY_PATH[second.path].label.strip()
        left, right = (plate(f"{label}: {hud_word(value)}", self._pen, scale, "text")
                       for value in (sim.optimizations.get(second.path), second.value))
        since = plate(f"since tick {second.begun_at}", self._pen, scale, "dim")
        top = on.get_height() // 2
        on.blit(left, (line - left.get_width() - 10, top))
        on.blit(right, (line + 10, top))
        on.blit(since, (line + 10, top + right.get_height() + 4))


def other_value(technique: Technique, present: Value) -> Value:
    """The baseline; or, if that is the present value, the choice that is farthest from it."""
    if present != technique.baseline:
        return technique.baseline
    return next(choice for choice in reversed(technique.choices) if choice != present)
