"""How long the parts of a frame took."""

from __future__ import annotations

from typing import NamedTuple

from crowd_demo.profile import Profile
from crowd_demo.registry.stages import PARTS, stages_of


class FrameSums(NamedTuple):
    """Mean milliseconds of a frame, by parts; `rest` lies in no stage. The four add up to the mean frame."""

    step: float = 0.0
    draw: float = 0.0
    present: float = 0.0
    rest: float = 0.0

    @property
    def frame(self) -> float:
        return sum(self)


def frame_sums(profile: Profile, last: int) -> FrameSums:
    """The sums over the last frames, at most so many; zeros before the first.

    *step* is what moves the crowd, *draw* its picture with what is drawn over it (overlays), *present* what a window takes
    whatever is in it: events, the HUD with its meters, handing the picture over.
    """
    if not profile.frames:
        return FrameSums()
    step, draw, present = (sum(float(profile.stage_ms(stage, last).mean()) for stage in stages_of(part, profile.stages))
                           for part in PARTS)
    return FrameSums(step, draw, present, float(profile.other_ms(last).mean()))
