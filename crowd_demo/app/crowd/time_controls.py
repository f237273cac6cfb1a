"""The crowd's time: whether it passes, how fast, and going back in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from crowd_demo.app.crowd.crowd import Crowd
from crowd_demo.app.crowd.pace import Pace, StepRate
from crowd_demo.app.input.actions import KeyAction, KeyActions
from crowd_demo.app.screen.notices import Notices
from crowd_demo.config.model import Time
from crowd_demo.render.hud.navigation import why_not
from crowd_demo.render.hud.status import Clock, Past, speed_text

SPEEDS = tuple(2.0**power for power in range(-3, 7))  # 1/8 to 64
UNSEEN_STEPS = 1000  # at most so many a frame, before the tick at which a replay is to begin


class TimeControls:
    """`steps_asked` are to be made in the next frame, also while the crowd is paused."""

    def __init__(self, crowd: Crowd, settings: Time, notices: Notices) -> None:
        self.paused, self.steps_asked = False, 0
        self.speed = settings.speed
        self.unpaced = False  # a step a frame, however long frames are
        self.pace = Pace(crowd.sim.dt, settings.catch_up)
        self.rate = StepRate()
        self._crowd, self._notices = crowd, notices

    @property
    def actions(self) -> KeyActions:
        return {"pause": KeyAction(self.pause, at_once=True),
                "step": KeyAction(self.step_once), "step_back": KeyAction(self.step_back),
                "slower": KeyAction(partial(self.change_speed, -1), at_once=True),
                "faster": KeyAction(partial(self.change_speed, 1), at_once=True)}

    def pause(self) -> None:
        self.paused = not self.paused
        self.rate.clear()

    def set_speed(self, speed: float) -> None:
        self.speed = speed
        self.rate.clear()

    def change_speed(self, direction: int) -> None:
        faster = [speed for speed in SPEEDS if (speed - self.speed) * direction > 0]
        if faster:
            self.set_speed(min(faster, key=lambda speed: abs(speed - self.speed)))
        self._notices.add(f"speed {speed_text(self.speed)}", "speed")

    # --- one step, and back ------------------------------------------------------------------------------------------

    def step_once(self) -> None:
        self.paused = True
        self.steps_asked += 1

    def step_back(self) -> None:
        if self._can_go_back():
            self._crowd.rewind.seek_by(-1)

    def scrub(self, tick_in: Callable[[Past], int]) -> None:
        """Go to a tick of the past that is known."""
        if self._can_go_back():
            self._crowd.rewind.seek(tick_in(self._crowd.rewind.past()))

    def _can_go_back(self) -> bool:
        """Pause, or say that there is nothing to go back to."""
        if why := why_not(self._crowd.rewind.past()):
            self._notices.add(why, "rewind")
            return False
        self.paused = True
        return True

    # --- frames ------------------------------------------------------------------------------------------------------

    def steps(self, elapsed_s: float) -> int:
        """How many steps to make in this frame, so long after the last one."""
        if self._crowd.player and not self._crowd.player.begun:
            return UNSEEN_STEPS
        asked, self.steps_asked = self.steps_asked, 0
        if asked or self.paused:
            return asked
        return 1 if self.unpaced else self.pace.steps(elapsed_s, self.speed)

    def step(self) -> None:
        """Make a step; pause when a replay is over. Call from the thread that makes the steps."""
        if self._crowd.step() and self._crowd.player:
            self.paused = True
            self._notices.add(self._crowd.player.verdict(self._crowd.sim.tick), "replay")

    @property
    def clock(self) -> Clock:
        sim = self._crowd.sim
        real = None if self.paused or self.unpaced else self.rate.real_speed(self.speed, sim.dt)
        return Clock(self.rate.per_s, real, sim.tick, sim.tick * sim.dt)
