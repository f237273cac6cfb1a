"""A child runs the crowd that this process would run, and says why it cannot."""

from __future__ import annotations

import installs
import pytest
from crowds import simulation
from variants import ChildError, ChildVariant

SMALL = {"agents": 300, "map": None, "world.width": 400, "world.height": 300, "window.width": 64, "window.height": 64}


@pytest.mark.parametrize("picture", [True, False])
def test_a_child_runs_the_same_crowd(picture: bool) -> None:
    with ChildVariant(installs.here(installed=False), "1k", SMALL, picture) as variant:
        blocks = [variant.run(3), variant.run(2)]
        state_hash, layer = variant.end()
    here = simulation("1k", **{key.replace(".", "__"): "null" if value is None else value for key, value in SMALL.items()})
    here.step(5)
    assert state_hash == here.state_hash() and layer in ("tbb", "omp", "workqueue")
    assert [block.frame.steps for block in blocks] == [3, 2]
    assert set(blocks[0].frame.times_ms) == ({"step", "draw"} if picture else {"step"})
    assert all(len(ms) == 2 for timed in blocks[1] for ms in timed.times_ms.values())
    assert ("blit" in blocks[1].stages.times_ms) == picture and "interaction" in blocks[1].stages.times_ms


def test_a_child_that_ends_says_why() -> None:
    with pytest.raises(ChildError, match=r"^here: ended with code 1: .*no such file, nor a shipped configuration"):
        ChildVariant(installs.here(installed=False), "29k", {}, picture=False)
