"""The section of a scenario: its numbers against the crowd's, and that it depends on the state alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pygame
import pytest
from crowds import open_world, simulation
from hud_spy import KEYS, Spy

from crowd_demo.config.events import ScenarioEvent
from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.panel_layout import LEFT_WIDTH
from crowd_demo.render.hud.sections import FLOW_S, draw_scenario, scenario_sections
from crowd_demo.sim.counts import MAX_SAMPLES
from crowd_demo.sim.simulation import Simulation

pytestmark = pytest.mark.quick
EVENTS: tuple[dict[str, Any], ...] = (
    {"tick": 30, "clock": True}, {"hand": "take half of them out", "do": {"agents": 60}},
    {"tick": 200, "do": {"agents": 4}}, {"when": "left < 10%", "end": True, "say": "that was all"})


def scenario(*events: dict[str, Any], **more: Any) -> Simulation:
    config = simulation(**{"agents": 120, **open_world(500, 400), "measure__lines__down": "[250, 0, 250, 400]",
                           "measure__areas__middle": "[100, 80, 360, 300]", **more}).config
    return Simulation(config.model_copy(update={"events": tuple(map(ScenarioEvent.model_validate, events))}))


def section(sim: Simulation) -> tuple[list[str], Canvas]:
    """The texts, and the canvas."""
    pygame.font.init()
    spy, (found,) = Spy(), scenario_sections(sim, KEYS)
    canvas = Canvas((LEFT_WIDTH, found.height), spy, 1.0)
    draw_scenario(canvas, 0, sim, KEYS)
    return spy.texts, canvas


def test_it_tells_clock_flow_and_answer() -> None:
    sim = scenario(*EVENTS)
    sim.play(150)
    found, canvas = section(sim)
    passed = sim.counts.of_line("down")
    flow = passed if len(sim.counts.samples) == 0 else int(sim.counts.samples[-1, 0]) / FLOW_S
    for text in ("0:00:02.0", "120 of 120", f"{passed}", f"{flow:.1f}/s", "take half of them out",
                 "ends when that was all"):
        assert text in found, text
    c = sim.agents.columns
    inside = ((c.x[:120] > 100) & (c.x[:120] < 360) & (c.y[:120] > 80) & (c.y[:120] < 300)).sum()
    assert f"{inside}" in found and passed > 0
    assert ("action", "happen") in [tuple(region.target) for region in canvas.targets]
    sim.play(100)
    sim.events.happen(1, sim)
    found, _ = section(sim)
    assert "that was all (slowest tenth: 0.0 s)" not in found and "2.8 s" not in found
    answer_s = sim.events.answer_s(sim.dt)
    assert answer_s and f"{answer_s:.1f} s" in found and "no manual events left" in found
    assert any(text.startswith("that was all (slowest tenth: ") for text in found)


@pytest.mark.parametrize("seconds", [3, FLOW_S, 40, MAX_SAMPLES + 9])
def test_a_flow_is_the_mean_of_the_last_seconds(seconds: int) -> None:
    sim = scenario(*EVENTS, time__step_hz=20, agents=0)
    rng, seen = np.random.default_rng(seconds), []
    for _ in range(seconds):
        sim.counts.passed += rng.integers(0, 9)
        seen.append(int(sim.counts.passed[0]))
        for _ in range(20):
            sim.counts.count(sim)
            sim.tick += 1
    want = [(seen[k] - (seen[k - FLOW_S] if k >= FLOW_S else 0)) / FLOW_S for k in range(seconds)]
    flows = sim.counts.flows(FLOW_S)
    assert flows[:, 0].tolist() == want[-len(flows):] and len(flows) >= min(seconds, MAX_SAMPLES - FLOW_S)
