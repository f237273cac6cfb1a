"""How many fixed steps a frame owes to the clock.

Steps are always `dt` long; time that does not fill a step is kept, and the picture is drawn so far ahead. A slow frame
makes at most `catch_up` steps: beyond that the crowd slows down rather than fall behind ever further.
"""

from __future__ import annotations

LONGEST_FRAME_S = 0.25  # a frame that took longer (the window was moved, the machine slept) counts as this


class Pace:
    """`owed_s` is the time of the crowd that has passed and was not stepped, at most dt; the first frame owes one step."""

    def __init__(self, dt: float, catch_up: int) -> None:
        self.dt = dt
        self.catch_up = catch_up
        self.owed_s = dt

    def steps(self, elapsed_s: float, speed: float) -> int:
        """Steps to make now, `elapsed_s` seconds of ours after the last call."""
        self.owed_s += min(elapsed_s, LONGEST_FRAME_S) * speed
        due = int(self.owed_s / self.dt)
        self.owed_s = min(max(self.owed_s - due * self.dt, 0.0), self.dt)
        return min(due, self.catch_up)
