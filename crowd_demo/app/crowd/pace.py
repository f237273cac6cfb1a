"""How many steps a frame makes, and how well the crowd keeps up with the clock.

Steps are always `dt` long; time that does not fill a step is kept for the next frame, and the picture is drawn so far
ahead. A slow frame catches up `catch_up` steps of the clock's time (at a speed of x16, 16 times as many of the crowd's) and
forgets the rest: beyond that the crowd's time passes more slowly than the clock. So does it where the steps do not fit into
the time that a frame has for them.
"""

from __future__ import annotations

from collections import deque

LONGEST_FRAME_S = 0.25  # longer frames (the window was moved, the machine was suspended) count as this
CATCH_UP_S = 0.1  # after this time in a frame no further step is begun
STEPS_S = 1 / 30  # after this time none beyond the first `catch_up`: a high speed leaves 20 to 30 frames a second
WINDOW_S = 1.0  # over which steps a second are counted
LEAST_LAG = 0.05  # of the asked speed; less is not shown


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
        """Return whether a frame has no time for more than `made` steps, which took `spent_s` seconds."""
        return spent_s > (CATCH_UP_S if made < self.catch_up else STEPS_S)


class StepRate:
    """Steps a second of the clock, counted over the last second."""

    def __init__(self) -> None:
        self._counted: deque[tuple[float, int]] = deque()  # (time, steps made by then), oldest first

    def add(self, now_s: float, steps: int) -> None:
        """Call once a frame, with the moment up to which its steps go and all steps that were made by then."""
        self._counted.append((now_s, steps))
        while len(self._counted) > 2 and now_s - self._counted[1][0] >= WINDOW_S:
            self._counted.popleft()

    def clear(self) -> None:
        """Count afresh: the speed has changed."""
        self._counted.clear()

    @property
    def per_s(self) -> float:
        """Steps a second; 0 before there were two frames."""
        spent_s, steps = self._total()
        return steps / spent_s if spent_s > 0 else 0.0

    def real_speed(self, asked: float, dt: float) -> float | None:
        """The speed that is reached, if it can be told from the asked one within a second; else None.

        Steps are whole, so a second may hold one less than it should.
        """
        spent_s, steps = self._total()
        due = asked * spent_s / dt
        if spent_s < WINDOW_S / 2 or due - steps <= max(1.0, LEAST_LAG * due):
            return None
        return steps * dt / spent_s

    def _total(self) -> tuple[float, int]:
        """Seconds from the oldest frame to the newest, and the steps made in them."""
        if not self._counted:
            return 0.0, 0
        (first_s, before), (last_s, after) = self._counted[0], self._counted[-1]
        return last_s - first_s, after - before
