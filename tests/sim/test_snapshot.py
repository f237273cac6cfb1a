"""Snapshots: whoever goes on from one, in place or anew, has the same hashes, whatever is switched on."""

import copy
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
from crowd_demo.sim.actions import Action, Populate, SetWalls, Switch, as_data, from_data
from crowd_demo.sim.edits import AddGoal, BringIn, PaintWalls, Remove, SetExit, SetGoal, TakeOut
from crowd_demo.sim.events import Send
from crowd_demo.sim.save_format import SaveError, check
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import differences
from crowd_demo.sim.store.state import PartState
from crowd_demo.sim.terrain.forces import MAX_FORCES
from crowd_demo.sim.tuning import SetNumbers, Tune

SCRIPT: dict[int, Action] = {4: SetWalls((1, 1, 4, 3), True), 9: Populate(230), 13: SetWalls((2, 1, 3, 4), False),
                             15: Switch("stagger.avoidance", 2), 18: Populate(170), 22: SetWalls((0, 4, 6, 5), True)}
LAST = 26
KINDS: dict[str, Settings] = {"plain": {}, "births": BIRTHS_AND_DEATHS,
                              "links": {"links__pattern": "rope", "links__length": 7}}


def on(sim: Simulation, last: int) -> list[str]:
    """Go on to a tick with the script's actions, and return the hash of each tick."""
    hashes = []
    while sim.tick < last:
        if sim.tick in SCRIPT:
            sim.apply(SCRIPT[sim.tick])
        sim.step()
        hashes.append(sim.state_hash())
    return hashes


@pytest.mark.parametrize("kind", KINDS)
def test_a_snapshot_goes_on_alike_in_place_and_anew(crowd: Settings, kind: str) -> None:
    sim = simulation(**{**crowd, "agents": 200, **KINDS[kind]})
    on(sim, 11)
    snapshot = sim.snapshot()
    assert snapshot.state_hash() == sim.state_hash()
    wanted = on(sim, LAST)
    for _ in range(2):  # a snapshot is not used up
        sim.restore(snapshot)
        assert sim.state_hash() == snapshot.state_hash() and sim.history == list(snapshot.history)
        assert on(sim, LAST) == wanted
    assert on(Simulation.from_snapshot(snapshot), LAST) == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_back_and_forth_over_everything(kind: str) -> None:
    """Snapshots of every tick, restored in any order: walls up and down, deaths, cut links, switches."""
    sim = simulation(**{**ROPE, "agents": 200, **KINDS[kind]})
    snapshots, hashes = [sim.snapshot()], [sim.state_hash()]
    for tick in range(LAST):
        hashes += on(sim, tick + 1)
        snapshots.append(sim.snapshot())
    for tick in np.random.default_rng(3).integers(LAST, size=30).tolist():
        sim.restore(snapshots[tick])
        assert [sim.state_hash(), *on(sim, tick + 1)] == hashes[tick:tick + 2], tick


@pytest.mark.quick
def test_nobody_writes_into_a_snapshot() -> None:
    sim = simulation(agents=200, **BIRTHS_AND_DEATHS)
    on(sim, 11)
    snapshot = sim.snapshot()
    before = copy.deepcopy(snapshot)
    on(sim, LAST)
    sim.restore(snapshot)
    on(sim, LAST)
    assert all(np.array_equal(*pair) for pair in zip(before.parts, snapshot.parts, strict=True))
    assert before.techniques == snapshot.techniques and before.history == snapshot.history


@pytest.mark.quick
def test_the_population_and_gaps_are_restored() -> None:
    sim = simulation(agents=200, **BIRTHS_AND_DEATHS, steps=1100)
    sim.agents.remove(np.arange(5), "deferred")
    assert sim.agents.handles.gaps
    snapshot, population = sim.snapshot(), sim.population
    assert snapshot.agents == sim.agents.count == population[-1] - 5
    sim.step(50)
    sim.restore(snapshot)
    assert np.array_equal(sim.population, population) and len(population) == 1024


@pytest.mark.quick
def test_a_snapshot_of_another_crowd_is_refused_by_its_keys() -> None:
    sim = simulation(agents=50)
    others: list[tuple[Settings, str]] = [({"seed": 2}, "seed"), (
        {"crowd__radius": 20, "time__step_hz": 30}, "crowd.radius, time.step_hz")]
    for settings, said in others:
        other = simulation(agents=50, **settings)
        with pytest.raises(ValueError, match=f"another crowd: {said} differ"):
            sim.restore(other.snapshot())
    looks: Any = {"window__width": 400, "time__speed": 2, "camera__zoom": 2, "optimizations__simd": "false"}
    sim.restore(simulation(agents=50, **looks).snapshot())
    assert not differences(sim.config, simulation(agents=50, **looks).config)


@pytest.mark.quick
def test_actions_are_plain_data_and_back() -> None:
    for action in SCRIPT.values():
        assert from_data(as_data(action)) == action


@pytest.mark.quick
@pytest.mark.parametrize(("data", "said"), [
    (5, "must have a name"), ({"count": 5}, "must have a name"), ({"name": "populat"}, "did you mean populate"),
    ({"name": "populate", "count": -1}, "populate: count"), ({"name": "populate", "count": 10**9}, "populate: count"),
    ({"name": "populate"}, "populate: count"), ({"name": "populate", "count": 5, "x": 1}, "populate: unknown field 'x'"),
    *(({"name": "tune", **data}, "action tune: ") for data in (
        {"path": "flock.align"}, {"path": "flock.align", "value": "3"}, {"path": 3, "value": 3},
        {"path": "x" * 101, "value": 3})),
    *(({"name": "set_numbers", "values": values}, "action set_numbers: ") for values in ([["flock.align"]], 5)),
    ({"name": "set_walls", "rectangle": [1, 2, 3], "wall": True}, "set_walls: rectangle"),
    ({"name": "set_walls", "rectangle": [1, 2, 3, 10**30], "wall": True}, "set_walls: rectangle"),
])
def test_data_that_are_no_action_are_one_line(data: object, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        from_data(data)
    assert "\n" not in str(caught.value)


@pytest.mark.quick
def test_an_impossible_action_is_not_remembered() -> None:
    sim = simulation(agents=5)
    with pytest.raises(ValueError, match="threads"):
        sim.apply(Switch("threads", 0))
    assert sim.history == []


# --- Parts of the state ----------------------------------------------------------------------------------------------

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
