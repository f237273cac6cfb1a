"""How many steps to make in a frame, so that the crowd keeps up with the clock.

Steps are always `dt` long; time that does not fill a step is kept for the next frame, and the picture is drawn so far
ahead. A slow frame makes at most `catch_up` steps: beyond that the crowd's time passes more slowly than the clock.
"""

from __future__ import annotations

LONGEST_FRAME_S = 0.25  # longer frames (the window was moved, the machine was suspended) count as this


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
        return min(due, self.catch_up)
