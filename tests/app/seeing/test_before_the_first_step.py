"""Whatever shows a crowd also shows one that has made no step: after a restart, a load or another scenario while paused."""

from __future__ import annotations

import pytest
from driven import Driven

from crowd_demo.registry.built_in import BEHAVIOURS, COLOURS, OVERLAYS
from crowd_demo.sim.metrics.readings import METERS
from crowd_demo.sim.simulation import Simulation


def look_at_everything(driven: Driven) -> None:
    """Every overlay at once, every colour mode in turn, an agent and a box in the inspector, every meter."""
    driven.program.inspector.stop()
    driven.program.act("inspect")
    for name in COLOURS:
        driven.program.seeing.show_colours(name)
        driven.frames()
        assert driven.program.seeing.colours == name and len(driven.status().legend_items) == len(OVERLAYS)
    assert bool(driven.status().inspection) == (driven.program.sim.agents.count > 0)
    driven.program.inspector.select((0.0, 0.0), (300.0, 300.0))
    driven.frames()
    assert driven.status().inspection
    for meter in METERS.values():
        if meter.applies(driven.program.sim):
            meter.measure(driven.program.sim)


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_everything_that_can_be_seen_is_seen_of_a_crowd_without_a_step(behaviour: str) -> None:
    driven = Driven(f"behaviour={behaviour}")
    crowd = driven.program.crowd
    driven.press("space")
    for name in OVERLAYS:
        driven.program.act(name)
    walked = Simulation(crowd.sim.config)
    walked.step(3)
    nobody = Simulation(crowd.sim.config)
    nobody.populate(0)
    for sim in (Simulation(crowd.sim.config), Simulation.from_snapshot(walked.snapshot()), nobody):
        crowd.go_on_with(sim, crowd.sim.tick)
        state = sim.tick, sim.state_hash()
        look_at_everything(driven)
        assert (sim.tick, sim.state_hash()) == state and crowd.sim is sim
