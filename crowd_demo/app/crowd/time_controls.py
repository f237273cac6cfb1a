"""The crowd's time: whether it passes, how fast, and going back in it; and how well it keeps up with the clock.

Steps are always `dt` long; time that does not fill a step is kept for the next frame, and the picture is drawn so far
ahead. A slow frame catches up `catch_up` steps of the clock's time (at a speed of x16, 16 times as many of the crowd's) and
forgets the rest: beyond that the crowd's time passes more slowly than the clock. So does it where the steps do not fit into
the time that a frame has for them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from crowd_demo.app.crowd.crowd import Crowd
from crowd_demo.app.input.commands import KeyAction, KeyActions
from crowd_demo.app.screen.notices import Notices
from crowd_demo.config.model import Time
from crowd_demo.render.hud.navigation import why_not
from crowd_demo.render.hud.status import Clock, Past, speed_text

SPEEDS = tuple(2.0**power for power in range(-3, 7))  # 1/8 to 64
UNSEEN_STEPS = 1000  # at most so many a frame, before the tick at which a replay is to begin
LONGEST_FRAME_S = 0.25  # longer frames (the window was moved, the machine was suspended) count as this
CATCH_UP_S = 0.1  # after this time in a frame no further step is begun
STEPS_S = 1 / 30  # after this time none beyond the first `catch_up`: a high speed leaves 20 to 30 frames a second
WINDOW_S = 1.0  # over which steps a second are counted
LEAST_LAG = 0.05  # of the asked speed; less is not told


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


class Pace:
    """`owed_s` is the crowd's time without a step yet, at most dt. It begins with dt, so the first frame makes a step."""

    def __init__(self, dt: float, catch_up: int) -> None:
        self.dt = dt
        self.catch_up = catch_up
        self.owed_s = dt

    def steps(self, elapsed_s: float, speed: float) -> int:
        """Steps to make now, `elapsed_s` seconds of the clock after the last call, at `speed` times its pace."""
        self.owed_s += min(elapsed_s, LONGEST_FRAME_S) * speed
        due = int(self.owed_s / self.dt)
        self.owed_s = min(max(self.owed_s - due * self.dt, 0.0), self.dt)
        return min(due, int(self.catch_up * max(speed, 1.0)))

    def is_enough(self, made: int, spent_s: float) -> bool:
        """After `made` steps that took `spent_s` seconds: is this all that a frame has time for?"""
        return spent_s > (CATCH_UP_S if made < self.catch_up else STEPS_S)


class StepRate:
    """Steps a second of the clock, counted over the last second."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()  # (time, steps made by then), oldest first

    def add(self, now_s: float, steps: int) -> None:
        """Call once a frame, with the moment up to which its steps go and all steps that were made by then."""
        self._seen.append((now_s, steps))
        while len(self._seen) > 2 and now_s - self._seen[1][0] >= WINDOW_S:
            self._seen.popleft()

    def clear(self) -> None:
        """Count afresh: the speed has changed."""
        self._seen.clear()

    @property
    def per_s(self) -> float:
        """Steps a second; 0 before there were two frames."""
        spent_s, steps = self._counted()
        return steps / spent_s if spent_s > 0 else 0.0

    def real_speed(self, asked: float, dt: float) -> float | None:
        """The speed that is reached, if it is told from the asked one within a second; None if it is not.

        Steps are whole, so a second may hold one less than it should.
        """
        spent_s, steps = self._counted()
        due = asked * spent_s / dt
        if spent_s < WINDOW_S / 2 or due - steps <= max(1.0, LEAST_LAG * due):
            return None
        return steps * dt / spent_s

    def _counted(self) -> tuple[float, int]:
        if not self._seen:
            return 0.0, 0
        (first_s, before), (last_s, after) = self._seen[0], self._seen[-1]
        return last_s - first_s, after - before
