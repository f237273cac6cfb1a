"""JuPedSim walks the same scenes."""

from __future__ import annotations

import pytest
from versus import no_compiling

from crowd_demo.extras.lab.validate.experiments import EXPERIMENTS
from crowd_demo.extras.lab.validate.jupedsim_walk import STUCK_S, WALKS, jupedsim_walkers
from crowd_demo.extras.lab.validate.validation import Validation
from crowd_demo.measure.experiment import result_of

pytest.importorskip("jupedsim", reason="JuPedSim is installed by hand: pip install jupedsim")


@pytest.mark.parametrize("name", ["rimea-1", "rimea-6"])
def test_a_corridor_and_a_corner_as_we_do(name: str) -> None:
    validation = Validation([EXPERIMENTS[name]], walkers := jupedsim_walkers(), True, no_compiling, None, seeds=2)
    for _ in validation.run():
        pass
    (result,) = validation.results
    assert result.errors == {} and set(result.readings) == {each.name for each in walkers} <= {each.name for each in WALKS}
    readings = [reading for found in result.readings.values() for reading in found]
    assert all(reading.passes and len(reading.values) == 1 for reading in readings)


def test_it_says_what_it_cannot_walk() -> None:
    (scene, *_) = EXPERIMENTS["rimea-4"].scenes(True).values()
    assert jupedsim_walkers()[0].why_not(scene) == "JuPedSim has no corridor that is closed to a ring"


def test_a_walk_ends_when_nobody_has_left_for_a_minute() -> None:
    """Two people of the collision-free speed model stand face to face for ever."""
    (scene,) = EXPERIMENTS["head-on"].scenes(True).values()
    walker = jupedsim_walkers()[0]
    walk = result_of(walker.walk(scene._replace(seconds=300)))
    assert walk.end_s == STUCK_S
    (alone,) = EXPERIMENTS["rimea-1"].scenes(True).values()
    assert 30 < result_of(walker.walk(alone)).end_s < 35
