"""Parts of the state: what has them replays, is saved and goes back, and a file with a part that cannot be is refused."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from crowds import (
    BIRTHS_AND_DEATHS,
    CROWD,
    CROWDS,
    FLOCK,
    ROPE,
    SOME_FORCES,
    Settings,
    events,
    loaded,
    open_world,
    put,
    replay,
    saved,
    simulation,
)

from crowd_demo.sim import ways
from crowd_demo.sim.actions import Action
from crowd_demo.sim.edits import AddGoal, BringIn, PaintWalls, Remove, SetExit, SetGoal, TakeOut
from crowd_demo.sim.events import Send
from crowd_demo.sim.save_format import SaveError, check
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.store.state import PartState
from crowd_demo.sim.terrain.forces import MAX_FORCES
from crowd_demo.sim.tuning import SetNumbers, Tune

PEOPLE: Settings = {"agents": 80, "map": "null", "world__width": 576, "world__height": 448, "crowd__destinations": 3}
WALLS = PaintWalls(((2, 1, 7),), True)
HAPPENS: tuple[dict[str, Any], ...] = (
    {"when": "passed down > 4", "do": {"walls": {"rectangle": [100, 90, 300, 170]}}}, {"tick": 13, "do": {"agents": 640}},
    {"when": "inside middle > 100", "do": {"take_out": {"at": [250, 200], "radius": 60}}},
    {"when": "time > 0.4 s", "do": {"bring_in": {"at": [60, 60], "count": 30, "radius": 50}}},
    {"tick": 17, "do": {"send": {"to": [0, 1], "leave": True}}})


def acted(sim: Simulation, *actions: Action) -> Simulation:
    for action in actions:
        sim.apply(action)
        sim.step(3)
    return sim


def forced() -> Simulation:
    sim = simulation(**{**CROWD, "agents": 100})
    put(sim, SOME_FORCES)
    return sim


def eventful() -> Simulation:
    lines = {"measure__lines__down": "[250, 0, 250, 400]", "measure__areas__middle": "[100, 80, 360, 300]"}
    return events(*HAPPENS, **{**CROWD, **lines, "crowd__room": 60, "crowd__wait_s": 0.2})


RUNS: dict[str, Callable[[], Simulation]] = {
    "forces": forced, "events": eventful,
    "ways": lambda: acted(simulation(**PEOPLE), WALLS, SetGoal(1, -1), AddGoal(500.0, 400.0), SetExit(0, True)),
    "exits": lambda: acted(simulation(**PEOPLE, crowd__room=60), Send((0, 2), True), Send((1,), False, (0, 0, 300, 400))),
    "settings": lambda: acted(simulation(**{**FLOCK, "agents": 100}), Tune("flock.align", 3.0), Tune("flock.sight", 30.0),
                              SetNumbers((("flock.sight", 35.0), ("flock.speed_max", 90.0))), Tune("flock.speed_max", 80.0)),
    "edits": lambda: acted(simulation(**PEOPLE), WALLS, BringIn(3, 300, 300, 64), TakeOut(100, 100, 80), Remove(((5, 0),)))}


@pytest.mark.quick
@pytest.mark.parametrize("name", RUNS)
def test_a_run_replays_and_a_save_in_its_middle_goes_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "TILES_A_STEP", 20)  # so that ways follow for many steps
    sim = RUNS[name]()
    sim.play(25)
    middle = saved(sim)
    assert name == "edits" or name in middle.parts
    sim.play(45)
    replayed = replay(Simulation(sim.config), sim.history, sim.tick)
    later, replica = loaded(middle), sim.replica()
    replica.restore(middle)
    later.play(45)
    replica.play(45)
    for other in (replayed, later, replica):
        assert other.state_hash() == sim.state_hash() and other.history == sim.history
        assert repr(other.snapshot().parts) == repr(sim.snapshot().parts) and other.needs == sim.needs
        other.restore(Simulation(sim.config).snapshot())
        assert not other.snapshot().parts, "as the configuration makes it"


@pytest.mark.quick
def test_a_part_costs_nothing_while_it_is_empty() -> None:
    sim = simulation(agents=5, **open_world(640, 640))
    begin = sim.snapshot()
    sim.apply(PaintWalls(((1, 1, 2),), True))
    assert not begin.parts and sim.snapshot().nbytes > begin.nbytes + 2 * 12


GOOD = [0, "attract", 1.0, 2.0, 3.0, 4.0, 0]
WRONG: dict[str, tuple[dict[str, Any], ...]] = {
    "forces": (
        {"next": 1, "forces": [GOOD[:-2]]}, {"next": 1, "forces": [[0, "love", *GOOD[2:]]]}, {"next": 1, "forces": 7},
        {"next": 0, "forces": [GOOD]}, {"next": 5, "forces": [GOOD, GOOD]}, {"next": -3},
        {"next": 99, "forces": [[number, *GOOD[1:]] for number in range(MAX_FORCES + 1)]},
        {"next": 1, "forces": [[0, "repel", float("nan"), *GOOD[3:]]]},
        {"next": 1, "forces": [[0, "repel", 1.0, 2.0, 0.0, 4.0, 0]]}),
    "events": tuple({"happened": happened} for happened in ([[9, 1]], [[0, -1]], [[0]], 5, [["a", 1]])),
    "exits": tuple({"destinations": numbers} for numbers in ([64], [-1], ["a"], 5, [True])),
    "settings": (
        {"numbers": {"crowd.radius": -1}}, {"numbers": {"crowd.radius": "3"}}, {"numbers": 3}, {"numbers": {"nothing": 1}},
        {"born": {"crowd.radius": [0, 1]}}, {"born": {"crowd.speed_max": 3}}, {"fastest": -1}, {"fastest": True}),
    "ways": ({"goals": [[1]]}, {"goals": [[4, 3]]}, {"goals": [[64, 3]]}, {"goals": [[0, 63]]}, {"exits": [3]},
             {"exits": ["a"]}, {"goals": 3}, {"age": 1}),
    "unheard": ({},)}


@pytest.mark.quick
@pytest.mark.parametrize(("name", "values"), [(name, values) for name, each in WRONG.items() for values in each], ids=str)
def test_a_file_with_a_part_that_is_wrong_or_unknown_is_refused_in_a_line(name: str, values: dict[str, Any]) -> None:
    sim = events({"tick": 5}, **PEOPLE)
    snapshot = sim.snapshot()
    with pytest.raises(SaveError, match=f"^{name}: [^\n]*$"):
        check(snapshot._replace(parts={name: PartState(values)}), sim)


@pytest.mark.quick
@pytest.mark.parametrize("wrong", [
    {"values": {}}, {"values": {"age": -1}}, {"values": {"age": 99}}, {"values": {"age": True}},
    {"values": {"age": 0, "more": 1}},
    {"arrays": {}}, {"arrays": {"old": np.zeros(7, np.uint8)}}, {"arrays": {"old": np.zeros(8, np.int32)}}], ids=str)
def test_a_save_whose_walls_cannot_be_is_refused(wrong: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "TILES_A_STEP", 37)
    sim = simulation(**PEOPLE)
    sim.apply(WALLS)
    snapshot = sim.snapshot()
    check(snapshot, sim)
    with pytest.raises(SaveError, match="ways: not those of this map"):
        check(snapshot._replace(parts={"ways": PartState(**{**snapshot.parts["ways"]._asdict(), **wrong})}), sim)


@pytest.mark.quick
def test_a_column_of_goals_has_only_destinations_that_there_are() -> None:
    sim = simulation(**PEOPLE)
    snapshot = sim.snapshot()
    goals = snapshot._replace(columns=snapshot.columns.copy(), parts={"ways": PartState({"goals": [[3, 5]]})})
    goals.columns[goals.names.index("goal")] = 3
    check(goals, sim)
    with pytest.raises(ValueError, match="column goal has "):
        check(goals._replace(parts={}), sim)


# --- the list of stages: what runs in a step, and what a picture needs beforehand ------------------------------------


def test_the_ends_of_links_are_looked_up_before_a_picture() -> None:
    sim = simulation(**ROPE, steps=1)
    sim.populate(100)
    assert not sim.links.fresh
    sim.prepare_picture()
    assert sim.links.fresh


# --- a crowd that nobody refers to -----------------------------------------------------------------------------------

EACH = {**CROWDS, "rope": ROPE, "births and deaths": {**FLOCK, **BIRTHS_AND_DEATHS}}


@pytest.mark.parametrize("name", EACH)
def test_a_crowd_goes_with_its_last_reference(name: str) -> None:
    sim = simulation(**EACH[name], steps=1)
    sim.prepare_picture()
    gc.disable()
    try:
        left = [weakref.ref(each) for each in (sim, sim, sim.agents, sim.agents.front)]
        del sim
        assert [each() for each in left] == [None] * len(left)
    finally:
        gc.enable()
