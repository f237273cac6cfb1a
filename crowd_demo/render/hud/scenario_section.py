"""The section of a scenario in which something happens: its clock, who is left, the flow over each line, the answer.

It is read from the state of the crowd alone, so it is right after going back, in a replay and after loading.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from crowd_demo.compute.arrays import Doubles
from crowd_demo.config.events import ScenarioEvent
from crowd_demo.config.keys import key_text
from crowd_demo.render.hud.canvas import ACCENT, DIM, EDGE, FAINT, GROUND, NORMAL, PAD, SMALL, TOUCHED, Box, Canvas
from crowd_demo.render.hud.help import Keys
from crowd_demo.render.hud.panel_layout import INNER, LEFT_WIDTH, PanelSection
from crowd_demo.render.hud.sections import FACTS_HEIGHT, UNREAD, draw_facts
from crowd_demo.render.hud.status import time_text
from crowd_demo.sim.events import inside
from crowd_demo.sim.simulation import Simulation

ROW, PLACE = 16.0, 19.0  # units: a line of text, and the row of a line or an area
MAX_PLACES = 6  # rows
COUNT_RIGHT, FLOW_RIGHT = PAD + 112.0, PAD + 162.0  # where numbers end
PLOT_LEFT = FLOW_RIGHT + 8
FLOW_S = 5  # a flow is the mean of so many seconds
HAPPEN = "happen"  # the action


def scenario_sections(sim: Simulation, keys: Keys) -> list[PanelSection]:
    """The section, where the configuration has events."""
    events, places = sim.config.events, sim.config.measure
    if not events:
        return []
    rows = min(len(places.lines) + len(places.areas), MAX_PLACES)
    texts = any(event.hand for event in events) + any(event.end for event in events)
    height = FACTS_HEIGHT + PLACE * rows + ROW * texts + 2
    return [PanelSection("scenario", height, 1, partial(draw_scenario, sim=sim, keys=keys))]


def draw_scenario(on: Canvas, top: float, sim: Simulation, keys: Keys) -> None:
    events, first, count = sim.events, sim.config.agents, sim.agents.count
    answer_s = events.answer_s(sim.dt)
    clock_s = (sim.tick - events.clock_tick) * sim.dt
    answer = UNREAD if answer_s is None else f"{answer_s:.1f} s"
    facts = {"clock": time_text(clock_s), "remain": f"{count:,}", "answer": answer}
    draw_facts(on, top, facts, {"answer": ACCENT}, {"remain": f" of {first:,}"})
    top = _draw_places(on, top + FACTS_HEIGHT, sim)
    if any(event.hand for event in sim.config.events):
        _draw_hand(on, top, sim, keys)
        top += ROW
    if ends := [event for event in sim.config.events if event.end]:
        colour = DIM if answer_s is None else ACCENT
        on.left(on.fitted(end_text(sim, ends), INNER, SMALL), PAD, top + ROW / 2, SMALL, colour)


def end_text(sim: Simulation, ends: Sequence[ScenarioEvent]) -> str:
    """What the answer waits for; or what it says, with the time that the slowest tenth took."""
    end_tick, nine_tenths = sim.events.end_tick, int(sim.counts.tenths[-1])
    if end_tick is None:
        return f"ends when {ends[0].when}" if ends[0].when else f"ends: {ends[0].text}"
    said = next(event.text for number, event in enumerate(sim.config.events)
                if event.end and sim.events.happened.get(number) == end_tick)
    return said if nine_tenths < 0 else f"{said}; slowest tenth: {(end_tick - nine_tenths) * sim.dt:.1f} s"


def _draw_places(on: Canvas, top: float, sim: Simulation) -> float:
    """Draw a row for each line, and for each area who is in it; return where they end."""
    counts, flows = sim.counts, sim.counts.flows(FLOW_S)
    most = float(flows.max(initial=0))
    rows = [*((name, True) for name in sim.config.measure.lines), *((name, False) for name in sim.config.measure.areas)]
    for number, (name, is_line) in enumerate(rows[:MAX_PLACES]):
        middle = top + PLACE / 2
        on.left(on.fitted(name, 70, SMALL), PAD, middle, SMALL, FAINT)
        on.right(f"{counts.of_line(name) if is_line else inside(name, sim):,}", COUNT_RIGHT, middle, NORMAL)
        if is_line:
            flow = flows[-1, number] if len(flows) else 0.0
            on.right(f"{flow:.1f}/s", FLOW_RIGHT, middle, SMALL, DIM)
            _draw_plot(on, (PLOT_LEFT, top + 1, LEFT_WIDTH - PAD - PLOT_LEFT, PLACE - 3), flows[:, number], most)
        else:
            on.left("inside", PLOT_LEFT, middle, SMALL, FAINT)
        on.target((PAD, top, INNER, PLACE), "fact", "flow" if is_line else "inside")
        top += PLACE
    return top


def _draw_plot(on: Canvas, box: Box, values: Doubles, most: float) -> None:
    """Draw values over time, from the first sample to the last one, from 0 to `most`."""
    on.rect(GROUND, box)
    left, top, width, height = box
    if len(values) > 1 and most > 0:
        across = np.linspace(left, left + width, len(values)).tolist()
        up = (top + height - 1 - values * ((height - 2) / most)).tolist()
        on.lines(ACCENT, list(zip(across, up, strict=True)))
    on.line(EDGE, (left, top + height), (left + width, top + height))


def _draw_hand(on: Canvas, top: float, sim: Simulation, keys: Keys) -> None:
    """Draw which event of the scenario comes next when the key is pressed, or this line is clicked."""
    number = sim.events.by_hand
    if number is None:
        on.left("nothing more by hand", PAD, top + ROW / 2, SMALL, FAINT)
        return
    on.rect(TOUCHED, (PAD - 4, top + 1, INNER + 8, ROW - 2), radius=4)
    end = on.left(key_text(keys[HAPPEN][0]), PAD, top + ROW / 2, SMALL, ACCENT) + 8 if keys.get(HAPPEN) else PAD
    on.left(on.fitted(str(sim.config.events[number].hand), LEFT_WIDTH - PAD - end, SMALL), end, top + ROW / 2, SMALL)
    on.target((0, top, LEFT_WIDTH, ROW), "action", HAPPEN)
