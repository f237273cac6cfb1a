"""A scenario that was saved begins as a restart of it does, whatever was built; without a window."""

import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowd_demo.app.copying import Shown
from crowd_demo.app.files import texts_of, write_together
from crowd_demo.config.loader import load_config
from crowd_demo.config.model import Config
from crowd_demo.render.camera import Camera
from crowd_demo.sim.actions import Action, SetWalls, Switch
from crowd_demo.sim.edits import (
    AddGoal,
    BringIn,
    PaintWalls,
    PutForce,
    RemoveForce,
    SetExit,
    SetGoal,
    TakeOut,
    lasting_edits,
)
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.tiles import GONE
from crowd_demo.sim.tuning import SetNumbers, Tune, numbers_by_hand

GROUND = """type octile
height 6
width 9
map
0.GGW.S.1
..GGWWS..
@@.@@.@@@
..a.W.S..
.aa.G....
...@@...2
"""
HALL = """POLYGON ((-4 -3, 12 -3, 12 5, -4 5, -4 -3), (3 0, 3 1, 5 1, 5 0, 3 0))
exit: POLYGON ((11 -3, 12 -3, 12 0, 11 0, 11 -3))
start west: POLYGON ((-4 -3, -2 -3, -2 5, -4 5, -4 -3))
"""


def shown_of(sim: Simulation) -> Shown:
    config, options = sim.config, sim.optimizations
    camera = Camera((config.world.width, config.world.height), (640, 360))
    return Shown(config, sim, camera, camera, options, config.agents, 1.0, False, "full", False, config.scene.colours, ())


def saved(sim: Simulation, start: Simulation, folder: Path) -> Config:
    """Save as the program does; return what is read again."""
    path = folder / "saved.yaml"
    for old in folder.glob("saved.*"):
        old.unlink()
    was_built = bool(lasting_edits(sim.history, sim.terrain, sim.ways.first_exits if sim.ways else ()))
    write_together(texts_of(path, shown_of(sim), start, "edited", was_built))
    return load_config(path)


@cache
def world(name: str) -> Config:
    few = ["agents=60", "world.width=1003", "world.height=517"]
    if name in OTHERS:
        base, settings = OTHERS[name]
        return load_config(base, [*few, *settings])
    folder = Path(tempfile.mkdtemp())
    (folder / "ground.map").write_text(GROUND, "utf-8")
    (folder / "ground.yaml").write_text(
        "agents: 60\nmap: ground.map\nworld: {width: 501, height: 333}\nmeasure: {areas: {hall: [0, 0, 99, 99]}}\n"
        "events:\n- at: 0.1 s\n  do: {walls: {rectangle: [200, 0, 260, 333], build: true}, set: {crowd.radius: 20}}\n"
        "  say: it closes\n", "utf-8")
    (folder / "hall.wkt").write_text(HALL, "utf-8")
    (folder / "walks.txt").write_text(f"# framerate: 10\n# geometry: {HALL.splitlines()[0]}\n" + "".join(
        f"{person} {frame} {person / 4 - 3} {frame / 10}\n" for person in range(30) for frame in range(9)), "utf-8")
    (folder / "hall.yaml").write_text("agents: 60\nmap: hall.wkt\ncrowd: {wait_s: 2}\n", "utf-8")
    (folder / "played.yaml").write_text("behaviour: playback\nplayback: {file: walks.txt}\n", "utf-8")
    return load_config(folder / f"{name}.yaml")


OTHERS = {"open": ("1k", ["map=null"]), "plaza": ("1k", ["map=plaza"]),
          "exits": ("1k", ["map=plaza", "crowd.exits=2", "crowd.wait_s=5"]), "birds": ("20k-flock", []),
          "hawk": ("murmuration", []), "crates": ("crates", []), "rope": ("rope", [])}


runs = st.lists(st.tuples(st.integers(-1, 40), st.integers(-2, 40), st.integers(0, 40)), max_size=6).map(tuple)
acts = st.one_of(st.builds(PaintWalls, runs, st.booleans()),
                 st.builds(SetWalls, st.tuples(*[st.integers(-3, 40)] * 4), st.booleans()),
                 st.builds(TakeOut, st.floats(0, 900), st.floats(0, 500), st.floats(0, 200)),
                 st.builds(BringIn, st.integers(0, 9), st.floats(0, 900), st.floats(0, 500), st.just(900.0)),
                 st.builds(PutForce, st.integers(0, 3), st.sampled_from(["attract", "repel"]), st.floats(0, 900),
                           st.floats(0, 500), st.floats(20, 400), st.floats(0.1, 5), st.sampled_from([0, 0, 0, 9])),
                 st.builds(RemoveForce, st.integers(0, 3)),
                 st.builds(Switch, st.just("neighbours"), st.sampled_from(["sorted", "buckets"])))
NUMBERS = {"crowd": ("crowd.radius", "crowd.speed_min"), "flock": ("flock.align",), "hunt": ("hunt.align",)}


def act(sim: Simulation, action: Action) -> None:
    with suppress(ValueError):  # nobody can come in where all is blocked
        sim.apply(action)


@pytest.mark.parametrize("name", ["ground", "hall", "played", *OTHERS])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(done=st.lists(acts, max_size=8), share=st.floats(0.8, 1.1))
def test_a_saved_scenario_begins_as_a_restart_does(tmp_path: Path, name: str, done: list[Action], share: float) -> None:
    sim = Simulation(world(name))
    for number, action in enumerate(done):
        act(sim, action)
        sim.play(number)
    for path in NUMBERS.get(sim.config.behaviour, ()):
        now = getattr(sim.config.behaviour_settings, path.partition(".")[2])
        act(sim, Tune(path, round(now * share, 3)))
    numbers = numbers_by_hand(sim.history, sim.config)
    edits = (*lasting_edits(sim.history, sim.terrain), SetNumbers(tuple(numbers.items())))
    again = Simulation(sim.config.model_copy(update={"optimizations": sim.optimizations}), edits)
    config = saved(sim, Simulation(sim.config.model_copy(update={"agents": 0}), edits), tmp_path)
    read = Simulation(config)
    forces = len(config.events) - len(sim.config.events)
    assert (config.events[forces:], config.measure, config.seed) == (sim.config.events, sim.config.measure, sim.config.seed)
    assert np.array_equal(read.terrain.kinds, again.terrain.kinds)
    assert read.terrain.map_digest == again.terrain.map_digest == sim.terrain.map_digest
    assert read.terrain.destinations == again.terrain.destinations == sim.terrain.destinations
    for steps in (0, 30):
        again.play(steps)
        read.play(steps)
        assert read.state_hash() == again.state_hash()
    assert read.forces.present == again.forces.present


def test_what_events_have_done_does_not_last() -> None:
    sim = Simulation(world("ground"))
    sim.play(20)
    sim.apply(PaintWalls(((0, 1, 2),), True))
    sim.apply(Tune("crowd.speed_min", 3.5))
    assert sim.settings.crowd.radius == 20 and (sim.terrain.kinds != sim.terrain.first_kinds).sum() > 3
    assert lasting_edits(sim.history, sim.terrain) == (PaintWalls(((0, 1, 2),), True),)
    assert numbers_by_hand(sim.history, sim.config) == {"crowd.speed_min": 3.5}


def test_forces_that_stay_are_kept_and_others_are_not() -> None:
    sim = Simulation(world("open"))
    for put in (PutForce(0, "scare", 1, 1, 50, 2, 60), PutForce(1, "attract", 1, 1, 50, 2), PutForce(2, "repel", 2, 2, 50, 2),
                RemoveForce(1), PutForce(3, "attract", 3, 3, 50, 2), PutForce(2, "repel", 4, 4, 60, 1)):
        sim.apply(put)
    kept = PutForce(0, "repel", 4, 4, 60, 1), PutForce(1, "attract", 3, 3, 50, 2)
    assert lasting_edits(sim.history, sim.terrain) == kept
    assert lasting_edits(Simulation(sim.config, kept).history, sim.terrain) == kept


goal_acts = st.one_of(st.builds(PaintWalls, runs, st.booleans()),
                      st.builds(AddGoal, st.floats(0, 1003), st.floats(0, 517)),
                      st.builds(SetGoal, st.integers(0, 10), st.integers(-2, 700)),
                      st.builds(SetExit, st.integers(0, 10), st.booleans()))


@pytest.mark.parametrize("name", ["ground", "open", "plaza", "exits"])
@settings(max_examples=25, deadline=None)
@given(done=st.lists(goal_acts, max_size=8))
def test_destinations_and_exits_are_those_of_a_restart_and_of_the_file(
        tmp_path_factory: pytest.TempPathFactory, name: str, done: list[Action]) -> None:
    sim = Simulation(world(name).model_copy(update={"events": ()}))
    for action in done:
        act(sim, action)
    assert sim.ways
    first_exits = sim.ways.first_exits
    edits = lasting_edits(sim.history, sim.terrain, first_exits)
    again = Simulation(sim.config, edits)
    blocked = sim.terrain.blocked.reshape(-1)
    kept = {number: tile for number, tile in sim.terrain.goals.items() if tile == GONE or not blocked[tile]}
    assert {number: tile for number, tile in again.terrain.goals.items() if tile != GONE} == {
        number: tile for number, tile in kept.items() if tile != GONE}
    assert again.ways and again.ways.exits == sim.ways.exits
    assert lasting_edits(again.history, again.terrain, first_exits) == edits
    config = saved(sim, Simulation(sim.config.model_copy(update={"agents": 0}), edits), tmp_path_factory.mktemp("saved"))
    exits, read, listed = again.ways.exits, Simulation(config), again.terrain.destinations
    there = np.unique(again.terrain.marks[again.terrain.marks >= 0]).tolist()
    order = sorted(there, key=lambda number: (number not in exits, number))
    if order:
        assert read.terrain.destinations == tuple(listed[number] for number in order)
        assert config.crowd.exits == sum(number in exits for number in order)
