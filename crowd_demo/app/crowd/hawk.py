"""The hawk under the pointer: while that is wanted, the first predator is put where the cursor is, once a frame."""

from __future__ import annotations

from crowd_demo.app.crowd.crowd import Crowd
from crowd_demo.app.screen.notices import Notices
from crowd_demo.config.model import Config
from crowd_demo.render.camera import Camera
from crowd_demo.sim.actions import Place

HAWK = 0  # predators have the lowest ids


class Hawk:
    """`cursor` is where the mouse is, in pixels."""

    def __init__(self, crowd: Crowd, camera: Camera, notices: Notices) -> None:
        self.led = False
        self.cursor = camera.size[0] / 2, camera.size[1] / 2
        self._crowd, self._camera, self._notices = crowd, camera, notices

    def toggle(self) -> None:
        if not self._exists():
            self._notices.add("there is no hawk here: F2 opens murmuration", "hawk", holds=lambda: not self._exists())
            return
        self.led = not self.led
        self._notices.add("the hawk follows the pointer" if self.led else "the hawk hunts by itself", "hawk",
                          holds=self._exists)

    def lead(self) -> None:
        """Call from the thread that makes the steps, before those of a frame. In the past it flies as it did."""
        if self.led and self._exists() and not self._crowd.player and not self._crowd.in_past:
            self._crowd.carry_out(Place(HAWK, *self._camera.screen_to_world(*self.cursor)))

    def _exists(self) -> bool:
        return has_hawk(self._crowd.config) and self._crowd.sim.agents.count > 0


def has_hawk(config: Config) -> bool:
    """Are there predators, of which the first one can be led?"""
    return config.behaviour == "hunt" and config.hunt.predators > 0
