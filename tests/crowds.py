"""Crowds small enough to be checked by brute force, and what tests do with them.

A crowd is the arguments of `simulation`: CROWD, FLOCK and CRATES are close enough together for everybody to have neighbours;
ROPE hangs on springs. CROWDS has one for each behaviour of the registry, and those that gather their nearest; the
fixture `crowd` (conftest.py) is each in turn.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from crowd_demo.compute.jit import run
from crowd_demo.config.events import ScenarioEvent
from crowd_demo.config.loader import load_config
from crowd_demo.registry.built_in import BEHAVIOURS
from crowd_demo.sim.actions import Action, as_data, from_data
from crowd_demo.sim.edits import PutForce
from crowd_demo.sim.save_format import check, decode, encoded
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot
from crowd_demo.sim.terrain.forces import FORCE_KINDS, Force

F = np.float32
Settings = dict[str, Any]


def open_world(width: float, height: float) -> Settings:
    """A world without walls."""
    return {"map": "null", "world__width": width, "world__height": height}


CROWD: Settings = {"name": "1k", "agents": 500, **open_world(500, 400)}
FLOCK: Settings = {"name": "20k-flock", "agents": 500, **open_world(500, 400)}
NEAREST: Settings = {**FLOCK, "flock__follow": "nearest", "flock__roost": 0.5, "flock__roost_radius": 150}
HUNT: Settings = {"behaviour": "hunt", "agents": 500, "hunt__follow": "nearest", **open_world(500, 400)}
CRATES: Settings = {"name": "crates", "agents": 500, "crates__rarity": 9, **open_world(500, 400)}
TUNED = {"crowd": CROWD, "flock": FLOCK, "crates": CRATES}
CROWDS: dict[str, Settings] = {
    **{name: TUNED.get(name, {"behaviour": name, "agents": 500, **open_world(500, 400)}) for name in BEHAVIOURS},
    "flock by nearest": NEAREST, "hunt by nearest": HUNT}
ROPE: Settings = {"name": "rope", "agents": 160, "links__length": 16, **open_world(700, 500)}
BIRTHS_AND_DEATHS: Settings = {"life__births_per_s": 500, "life__deaths_per_s": 400, "life__causes": 3}
PLACES: Settings = {"measure__areas__middle": "[100, 80, 360, 300]", "measure__areas__corner": "[0, 0, 60, 60]",
                    "measure__lines__down": "[250, 0, 250, 400]", "measure__lines__slope": "[100, 100, 300, 250]"}


def simulation(name: str = "1k", steps: Any = 0, **settings: Any) -> Simulation:
    """A shipped configuration with changes, after so many steps; dots are written as double underscores."""
    sim = Simulation(load_config(name, [f"{key.replace('__', '.')}={value}" for key, value in settings.items()]))
    sim.step(steps)
    return sim


FORCES = st.lists(st.builds(Force, st.just(0), st.sampled_from(FORCE_KINDS), st.floats(-99, 740), st.floats(-99, 740),
                            st.floats(0.01, 600), st.floats(0.01, 20), st.integers(0, 40)), max_size=6)
SOME_FORCES = (Force(0, "scare", 420.0, 300.0, 90.0, 3.0, 30), Force(0, "attract", 250.0, 200.0, 180.0, 2.0),
               Force(0, "repel", 90.0, 60.0, 99.0, 1.0), Force(0, "repel", 260.0, 200.0, 40.0, 2.0, 77),
               Force(0, "scare", 400.0, 320.0, 120.0, 0.5, 9))


def put(sim: Simulation, forces: Iterable[Force]) -> None:
    """Add forces that last so many ticks, and one in the very place of an agent; they get the next numbers."""
    for force in forces:
        sim.apply(PutForce(sim.forces.next_number, *force[1:-1], ticks=force.until))
    if sim.forces.present and sim.agents.count:
        x, y = float(sim.agents.columns.x[0]), float(sim.agents.columns.y[0])
        sim.apply(PutForce(sim.forces.next_number, "repel", x, y, 33.0, 2.0))


def events(*events: Settings, **more: Any) -> Simulation:
    """A crowd in which something happens."""
    config = simulation(**more).config
    return Simulation(config.model_copy(update={"events": tuple(map(ScenarioEvent.model_validate, events))}))


def saved(sim: Simulation) -> Snapshot:
    """The state of a simulation, through the bytes of a file."""
    return decode(b"".join(encoded(sim.snapshot(), "test")))


def loaded(snapshot: Snapshot) -> Simulation:
    """A simulation that goes on from a file."""
    sim = Simulation(snapshot.config)
    check(snapshot, sim)
    sim.restore(snapshot)
    return sim


def replay(sim: Simulation, history: Iterable[tuple[int, Action]], last: int) -> Simulation:
    """Go on to a tick, and carry out what a history has, as a file has it."""
    actions = [(tick, from_data(as_data(action))) for tick, action in history if tick >= sim.tick]
    while sim.tick < last or (actions and actions[0][0] == sim.tick):
        while actions and actions[0][0] == sim.tick:
            sim.apply(actions.pop(0)[1])
        if sim.tick < last:
            sim.step()
    return sim


def shuffle(sim: Simulation, seed: int) -> None:
    """Put the agents into another order in memory, as a sort by something else would."""
    order = np.random.default_rng(seed).permutation(sim.agents.count)
    sim.agents.back[:, :sim.agents.count] = sim.agents.front[:, order]
    sim.agents.swap()


def refresh_rules(sim: Simulation) -> Any:
    """The rules of the next step, which are those of the world from now on."""
    sim.fit()
    sim.rules = sim.behaviour.rules(sim)
    return sim.rules


def follow_walls(sim: Simulation) -> None:
    """Have areas and flow fields follow the walls to the end, at once."""
    while (ways := sim.ways) and ways.waits:
        run(ways.launches())
        ways.advance()


def neighbours_met(sim: Simulation) -> int:
    """How many neighbours all agents together met when the interaction last ran."""
    counters = sim.interaction.counters(sim)
    return round(counters["neighbours_per_agent"] * counters["due"])


def run_through(sim: Simulation, last: str) -> None:
    """Begin a step and stop behind the stage of that name."""
    refresh_rules(sim)
    for stage in sim.stages:
        if stage.wanted(sim):
            run(stage.launches(sim))
            stage.commit(sim)
        if stage.name == last:
            return
    raise AssertionError(f"there is no stage {last}")
