"""No array of more than 1 kB is made in a steady frame, and whoever looks for them finds them."""

import time
from collections import Counter

import pytest
from driven import Driven
from made_arrays import KEYFRAME, is_allowed, made_arrays

SIZES = {  # as each configuration, but smaller, and all of it in view
    "20k": ("agents=2000", "world.width=1400", "world.height=800", "camera.center=null", "camera.zoom=null"),
    "20k-flock": ("agents=3000", "world.width=1600", "world.height=900"),
    "100k": ("agents=4000", "world.width=1800", "world.height=1000", "scene.overlays=[]"),
    "crates": ("agents=3000", "world.width=500", "world.height=400"),
}


@pytest.mark.parametrize("name", SIZES)
def test_a_steady_frame_makes_no_arrays(name: str) -> None:
    driven = Driven(*SIZES[name], config=name)
    worker = driven.loop.worker
    run(driven, 2.5, 200)
    with made_arrays(lambda job: worker.submit(job).result()) as made:
        run(driven, 2.5)
    others = Counter(str(each) for each in made if not is_allowed(each))
    assert not others, "\n".join(f"{count} times {what}" for what, count in others.most_common())
    assert any(KEYFRAME in each.callers for each in made), "the arrays of keyframes are found"


def run(driven: Driven, seconds: float, frames: int = 0) -> None:
    """Long enough for meters and parts of the HUD, which go by the clock, and for sprites, which go by frames."""
    end = time.monotonic() + seconds
    while time.monotonic() < end or driven.program.sim.tick < frames:
        driven.frames()
