"""Edits and tuned numbers: their effect, and their inverse."""

import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from crowds import BIRTHS_AND_DEATHS, CROWD, CROWDS, FLOCK, NEAREST, ROPE, Settings, open_world, simulation
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_demo.config.model import value_of
from crowd_demo.config.section import NumberSetting, number_of
from crowd_demo.registry.built_in import BEHAVIOURS
from crowd_demo.registry.entries import load
from crowd_demo.sim import actions
from crowd_demo.sim.actions import Action, Edit, Place, as_data, from_data
from crowd_demo.sim.behaviours.people_rules import PeopleColumns
from crowd_demo.sim.edits import BringIn, PaintWalls, PutBack, Remove, TakeOut
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.tuning import SetNumbers, Tune

RUNS = st.lists(st.tuples(st.integers(-2, 12), st.integers(-3, 12), st.integers(-3, 14)), max_size=8).map(tuple)
EDITS = st.one_of(
    st.builds(PaintWalls, RUNS, st.booleans()),
    st.builds(BringIn, st.integers(0, 30), st.floats(-50, 700), st.floats(-50, 700), st.floats(0, 200)),
    st.builds(TakeOut, st.floats(-50, 700), st.floats(-50, 700), st.floats(0, 200)))


def crowd() -> Simulation:
    return simulation(agents=60, **open_world(640, 640))


def apply(sim: Simulation, action: Action) -> tuple[Action, ...]:
    """Apply an edit as its file has it; return what takes it back."""
    assert isinstance(action, Edit)
    inverse = action.inverse(sim)
    try:
        sim.apply(from_data(as_data(action)))
    except ValueError as error:
        assert "all tiles there are blocked" in str(error)
        return ()
    return inverse


def people(sim: Simulation) -> set[bytes]:
    """All columns but the id, of everybody."""
    return {column.tobytes() for column in sim.agents.rows_by_id()[1:].T}


@pytest.mark.quick
@settings(max_examples=20)
@given(st.lists(EDITS, max_size=8))
def test_undone_in_reverse_the_map_is_the_same_to_the_byte_and_everybody_is_back(edits: list[Action]) -> None:
    sim = crowd()
    kinds, before = sim.terrain.kinds.copy(), people(sim)
    walls = any(isinstance(edit, PaintWalls) for edit in edits)  # people step out of new walls, and stay there
    undo, new = [apply(sim, edit) for edit in edits], dict[tuple[int, int], tuple[int, int]]()
    for inverse in reversed(undo):
        for action in inverse:
            if isinstance(action, PutBack):
                added = action.new_handles(sim)
                new = {former: added.get(now, now) for former, now in new.items()} | added
            apply(sim, action.with_handles(new) if isinstance(action, Remove) else action)
    assert np.array_equal(sim.terrain.kinds, kinds)
    assert sim.agents.count == 60 and (walls or people(sim) == before)


@pytest.mark.quick
def test_no_handle_is_used_twice() -> None:
    sim, used = crowd(), set[tuple[int, int]]()
    handles = sim.agents.handles
    for _ in range(4):
        now = {(int(one), int(handles.generations[one])) for one in sim.agents.columns.id[:sim.agents.count]}
        assert not now & used
        used |= now
        (back,) = apply(sim, TakeOut(320, 320, 1000))
        assert sim.agents.count == 0
        apply(sim, back)


@pytest.mark.quick
def test_undoing_newcomers_takes_nobody_else_who_has_their_id() -> None:
    sim = crowd()
    (undo,) = apply(sim, BringIn(5, 320, 320, 100))
    apply(sim, TakeOut(320, 320, 1000))
    sim.apply(BringIn(65, 320, 320, 100))
    apply(sim, undo)
    assert sim.agents.count == 65


# --- what is done to a crowd from outside replays with it ------------------------------------------------------------

@pytest.mark.quick
def test_an_agent_is_put_where_it_is_wanted_within_the_world_and_out_of_walls() -> None:
    sim = simulation(agents=5, **open_world(640, 640))
    sim.set_walls((0, 0, 2, 2), True)
    for x, y in ((300.25, 17.5), (-7, 9000), (5, 5)):
        sim.apply(from_data(as_data(Place(3, x, y))))
        at = sim.agents.by_id()
        assert (at.x[3], at.y[3]) == (x, y) if x == 300.25 else 0 <= at.x[3] < 640 > at.y[3] >= 0
    assert max(at.x[3], at.y[3]) > 128
    with pytest.raises(ValueError, match="there is no agent 5"):
        sim.apply(Place(5, 1, 1))
    assert len(sim.history) == 3


def test_a_fresh_process_knows_all_actions_that_files_may_hold() -> None:
    """Each module that registers some is imported by whoever reads a save or a recording."""
    package = Path(actions.__file__).parents[1]
    written = {name for path in package.rglob("*.py")
               for name in re.findall(r'^@action\("(\w+)"', path.read_text("utf-8"), re.M)}
    reading = "import crowd_demo.sim.save_format; from crowd_demo.sim.actions import ACTIONS; print(*ACTIONS)"
    known = subprocess.run([sys.executable, "-c", reading], capture_output=True, encoding="utf-8", check=True).stdout.split()
    assert "event" in written and written <= set(known)


# --- Numbers that are changed while the crowd runs -------------------------------------------------------------------

KINDS: dict[str, Settings] = {
    **{name: {**crowd, "agents": 200, **BIRTHS_AND_DEATHS} for name, crowd in CROWDS.items()},
    "flock, limited to the nearest": {**FLOCK, "agents": 200, "optimizations__neighbour_limit": "nearest"},
    "cloth": {**ROPE, "name": "cloth"}, "flock by nearest": {**NEAREST, "agents": 200},
    "exits": {"name": "1k", "agents": 300, **open_world(900, 700), "crowd__destinations": 4, "crowd__exits": 2,
              "optimizations__overlap_passes": 2, "crowd__speed_min": 150, "crowd__speed_max": 300},
    "around crowds": {"name": "1k", "agents": 300, "map": "maze", "crowd__detour": 9, "crowd__detour_s": 0.1}}


def changeable(sim: Simulation) -> list[NumberSetting]:
    return [number for number in sim.config.numbers if number.live != "no"]


def another_value(sim: Simulation, number: NumberSetting, draw: float) -> float:
    """A value from half to twice the present one, on the same side of 0."""
    value = value_of(sim.settings, number.path) * 2 ** (2 * draw - 1)
    value = min(max(value, number.low), number.high)
    return max(round(value), int(number.low), 1) if number.is_whole else value


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_crowd_that_is_configured_so(kind: str) -> None:
    """The oracle of a change: from the present state on, a crowd whose configuration has these numbers from the start."""
    sim, random = simulation(**KINDS[kind]), np.random.default_rng(8)
    sim.step(5)
    numbers = [number for number in changeable(sim) if number.live == "step"]
    for _ in range(4):
        number = numbers[random.integers(len(numbers))]
        with suppress(ValueError):  # for one that it cannot have
            sim.apply(Tune(number.path, another_value(sim, number, random.random())))
    configured = Simulation.from_snapshot(sim.snapshot()._replace(config=sim.settings, parts={}))
    assert not configured.numbers.values and configured.settings == sim.settings
    for _ in range(20):
        sim.step()
        configured.step()
        assert sim.state_hash() == configured.state_hash()


def test_the_inverse_takes_it_back() -> None:
    sim = simulation(**{**FLOCK, "agents": 20})
    for change in (Tune("flock.align", 5.0), Tune("flock.crowding", 3), SetNumbers((("flock.sight", 30.0),)), SetNumbers()):
        before, undo = dict(sim.numbers.values), change.inverse(sim)
        sim.apply(change)
        assert sim.numbers.values != before
        for action in undo:
            sim.apply(action)
        assert sim.numbers.values == before
        sim.apply(change)
        assert change.inverse(sim) == ()


SMALL = simulation(**{**FLOCK, "agents": 5})


# --- the crowd answers ----------------------------------------------------------------------------------------------------

def test_birth_concerns_newcomers_alone() -> None:
    sim = simulation(**{**CROWD, "agents": 100})
    people = cast(Agents[PeopleColumns], sim.agents)
    before = people.columns.speed[:100].copy()
    sim.apply(Tune("crowd.speed_max", 200.0))
    sim.apply(Tune("crowd.speed_min", 150.0))
    assert (people.columns.speed[:100] == before).all()
    sim.populate(200)
    speeds = people.columns.speed[:200]
    assert (speeds[100:] >= 150).all() and (speeds[:100] < 60).all()
    low, high = sim.bounds_of(sim.widest)["speed"]
    assert low <= before.min() and high == 200


# --- what cannot be -------------------------------------------------------------------------------------------------------

BAD = {"flock.align": (-1, "flock.align: must be a number from 0 to 1000, not -1"),
       "flock.aling": (1, "flock.aling is not a number of the present behaviour (did you mean flock.align?)"),
       "crowd.radius": (1, "crowd.radius is not a number of the present behaviour"),
       "window.width": (1, "window.width is not a number of the present behaviour"),
       "links.gravity": (1, "links.gravity is not a number of the present behaviour"),
       "flock.follow": (1, "flock.follow is not a number of the present behaviour"),
       "flock.crowding": (2.5, "flock.crowding: must be a whole number from 1 to 10000, not 2.5"),
       "flock.speed_min": (500, "flock.speed_min: speed_min (500) must not be above speed_max (120)"),
       "flock.blind": (0, "flock.blind cannot change between 0 and another number while the crowd runs: 0 turns it off"),
       "time.step_hz": (30, "time.step_hz cannot be changed while the crowd runs: clock, timeline,")}


@pytest.mark.parametrize("path", BAD)
def test_what_cannot_be_changes_nothing(path: str) -> None:
    value, why = BAD[path]
    state, needs = SMALL.snapshot(), SMALL.needs
    with pytest.raises(ValueError) as error:
        SMALL.apply(Tune(path, value))
    assert str(error.value).startswith(why) and "\n" not in str(error.value)
    assert SMALL.needs is needs and SMALL.state_hash() == state.state_hash() and SMALL.snapshot().parts == state.parts


def test_links_that_would_blow_up_are_refused() -> None:
    sim = simulation(**{**ROPE, "name": "cloth"})
    with pytest.raises(ValueError, match=r"^links.stiffness: .* blows up unless"):
        sim.apply(Tune("links.stiffness", 3000))
    sim.apply(Tune("links.gravity", 90))
    assert sim.settings.links.gravity == 90


# --- every number says what a change does -----------------------------------------------------------------------------

@pytest.mark.quick
@pytest.mark.parametrize("name", [*BEHAVIOURS, "links"])
def test_every_number_is_live_or_says_why_not(name: str) -> None:
    section = type(SMALL.config.links) if name == "links" else load(BEHAVIOURS[name].settings)
    made = section.model_validate({})
    found = 0
    for key, field in section.model_fields.items():
        if isinstance(value := getattr(made, key), int | float) and not isinstance(value, bool):
            number = number_of(f"{name}.{key}", field, isinstance(value, int))
            assert number.live in ("step", "birth", "no") and bool(number.why_not) == (number.live == "no"), number
            assert number.low <= value <= number.high and number.about
            found += 1
    assert found


@pytest.mark.parametrize("kind", [*BEHAVIOURS, "cloth"])
def test_every_live_number_changes(kind: str) -> None:
    """One at a time, a little: nothing that says it is live is refused."""
    sim = simulation(**{**KINDS[kind], "agents": 20})
    for number in changeable(sim):
        shipped = value_of(sim.config, number.path)
        value = shipped + 1 if number.is_whole else shipped * 0.9
        if value == shipped or not number.low <= value <= number.high:
            continue
        sim.apply(Tune(number.path, value))
        assert value_of(sim.settings, number.path) == pytest.approx(value)
        sim.step()
        sim.apply(SetNumbers())
