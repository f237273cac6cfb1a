"""Times of all frames from some moment on, for the report: the profile itself holds only the last thousand."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Floats
from crowd_demo.profile import HISTORY, Profile

OFTEN = HISTORY // 2  # frames after which `collect` is due


class Recorder:
    """Copies what `profile` has measured; frames before the recorder was made do not count."""

    def __init__(self, profile: Profile) -> None:
        self.frames = 0
        self._profile = profile
        self._taken = profile.frames
        self._frame_ms: list[Floats] = []
        self._stage_ms: dict[str, list[Floats]] = {}

    @property
    def is_due(self) -> bool:
        return self._profile.frames - self._taken >= OFTEN

    def collect(self) -> None:
        """Copy the frames since the last call. Call between frames, at least every `OFTEN` frames."""
        new = self._profile.frames - self._taken
        if not new:
            return
        self._frame_ms.append(self._profile.frame_ms(new).copy())
        for stage in self._profile.stages:
            earlier = self._stage_ms.setdefault(stage, [np.zeros(self.frames, np.float32)])
            earlier.append(self._profile.stage_ms(stage, new).copy())
        self._taken += new
        self.frames += new

    def frame_ms(self) -> Floats:
        return np.concatenate([np.zeros(0, np.float32), *self._frame_ms])

    def stage_ms(self) -> dict[str, Floats]:
        """By stage, in the order of the frame."""
        return {stage: np.concatenate(parts) for stage, parts in self._stage_ms.items()}
