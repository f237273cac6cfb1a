"""Numbers that are changed while the crowd runs: they hold at once, the same under every exact technique, and come back."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from crowds import BIRTHS_AND_DEATHS, CROWD, CROWDS, FLOCK, NEAREST, ROPE, Settings, open_world, simulation
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_demo.config.numbers import NumberSetting, number_of, numbers_of, value_of
from crowd_demo.registry.built_in import BEHAVIOURS
from crowd_demo.registry.entries import EXACT, load
from crowd_demo.registry.techniques import TECHNIQUES
from crowd_demo.sim.actions import as_data, from_data
from crowd_demo.sim.behaviours.people_rules import PeopleColumns
from crowd_demo.sim.save_format import SaveError, check, decode, encoded
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.store.state import PartState
from crowd_demo.sim.tuning import SetNumbers, Tune

LIVES = ("step", "birth", "no")
SLOW: Settings = {"optimizations__neighbours": "none", "optimizations__simd": "false", "optimizations__threads": 1}
KINDS: dict[str, Settings] = {
    **{name: {**crowd, "agents": 200, **BIRTHS_AND_DEATHS} for name, crowd in CROWDS.items()},
    "flock, limited to the nearest": {**FLOCK, "agents": 200, "optimizations__neighbour_limit": "nearest"},
    "cloth": {**ROPE, "name": "cloth"}, "flock by nearest": {**NEAREST, "agents": 200},
    "exits": {"name": "1k", "agents": 300, **open_world(900, 700), "crowd__destinations": 4, "crowd__exits": 2,
              "optimizations__overlap_passes": 2, "crowd__speed_min": 150, "crowd__speed_max": 300},
    "around crowds": {"name": "1k", "agents": 300, "map": "maze", "crowd__detour": 9, "crowd__detour_s": 0.1}}
SWITCHED = 25


def exact_values(random: np.random.Generator) -> Settings:
    """A value of each exact technique but the limits, which choose another crowd."""
    found = {}
    for technique in TECHNIQUES:
        values = [choice for choice in technique.choices if choice not in technique.approximate_values]
        if technique.kind is EXACT and technique.path != "neighbour_limit":
            found[technique.path] = values[random.integers(len(values))]
    return found


def changeable(sim: Simulation) -> list[NumberSetting]:
    return [number for number in numbers_of(sim.config) if number.live != "no"]


def another_value(sim: Simulation, number: NumberSetting, draw: float) -> float:
    """A value from half to twice the present one, on the same side of 0."""
    value = value_of(sim.settings, number.path) * 2 ** (2 * draw - 1)
    value = min(max(value, number.low), number.high)
    return max(round(value), int(number.low), 1) if number.is_whole else value


def tune_at_random(sims: tuple[Simulation, ...], random: np.random.Generator, lives: tuple[str, ...] = LIVES) -> None:
    """Give all of them one new number, or all of them none if it cannot have that value."""
    numbers = [number for number in changeable(sims[0]) if number.live in lives]
    number = numbers[random.integers(len(numbers))]
    change = Tune(number.path, another_value(sims[0], number, random.random()))
    refused = []
    for sim in sims:
        try:
            sim.apply(change)
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) in (0, len(sims)), refused


@pytest.mark.parametrize("kind", KINDS)
def test_one_hash_whatever_is_tuned(kind: str) -> None:
    """All exact techniques are switched every few steps, and numbers change, beside brute force one agent at a time."""
    slow, sim = (simulation(**{**KINDS[kind], **changes}) for changes in (SLOW, {}))
    random = np.random.default_rng(5)
    for _ in range(SWITCHED):
        row = exact_values(random)
        for path, value in row.items():
            sim.optimizations.set(path, value)
        tune_at_random((slow, sim), random)
        slow.step(2)
        sim.step(2)
        assert sim.state_hash() == slow.state_hash(), (row, sim.numbers.values)
    assert sim.numbers.values == slow.numbers.values and sim.numbers.values


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_crowd_that_is_configured_so(kind: str) -> None:
    """The oracle of a change: from the present state on, a crowd whose configuration has these numbers from the start."""
    sim, random = simulation(**KINDS[kind]), np.random.default_rng(8)
    sim.step(5)
    for _ in range(4):
        tune_at_random((sim,), random, ("step",))
    configured = Simulation.from_snapshot(sim.snapshot()._replace(config=sim.settings, parts={}))
    assert not configured.numbers.values and configured.settings == sim.settings
    for _ in range(20):
        sim.step()
        configured.step()
        assert sim.state_hash() == configured.state_hash()


@pytest.mark.parametrize("kind", KINDS)
def test_undone_saved_replayed_and_restored(kind: str) -> None:
    sim, random = simulation(**KINDS[kind]), np.random.default_rng(3)
    start = sim.snapshot()
    for _ in range(12):
        tune_at_random((sim,), random)
        sim.step(2)
    loaded = decode(b"".join(bytes(part) for part in encoded(sim.snapshot(), "test")))
    read = Simulation(loaded.config)
    check(loaded, read)
    read.restore(loaded)
    replica = sim.replica()
    replica.restore(sim.state())
    history = list(sim.history)
    tuned, hashed = sim.numbers.values, sim.state_hash()
    for other in (read, replica):
        assert other.numbers.values == tuned and other.needs == sim.needs and other.state_hash() == hashed
    sim.step(10)
    for other in (read, replica):
        other.step(10)
        assert other.state_hash() == sim.state_hash()
    sim.restore(start)
    assert not sim.numbers.values and sim.settings is sim.config
    for tick, action in history:
        sim.step(tick - sim.tick)
        sim.apply(from_data(as_data(action)))
    sim.step(2)
    assert (sim.state_hash(), sim.numbers.values) == (hashed, tuned)


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


@settings(max_examples=30, deadline=None)
@given(draw=st.floats(0, 1), choose=st.integers(0, 10**6))
def test_only_what_differs_is_kept(draw: float, choose: int) -> None:
    sim = SMALL
    number = changeable(sim)[choose % len(changeable(sim))]
    shipped = value_of(sim.config, number.path)
    try:
        sim.apply(Tune(number.path, another_value(sim, number, draw)))
    except ValueError:
        return
    sim.apply(Tune(number.path, shipped))
    assert not sim.numbers.values and value_of(sim.settings, number.path) == shipped


SMALL = simulation(**{**FLOCK, "agents": 5})


# --- the crowd answers ----------------------------------------------------------------------------------------------------

def order_of(sim: Simulation) -> float:
    """The order parameter of a flock among neighbours: the mean cosine between the ways of two less than 40 units apart."""
    columns, n = sim.agents.columns, sim.agents.count
    places, ways = (np.stack([x[:n], y[:n]], 1).astype(float) for x, y in ((columns.x, columns.y), (columns.vx, columns.vy)))
    ways /= np.hypot(*ways.T)[:, None]
    near = (np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)) < 40) & ~np.eye(n, dtype=bool)
    return float((ways @ ways.T)[near].mean())


def test_the_order_of_a_flock_follows_align() -> None:
    """Without alignment, random turning takes a flock's order away within four seconds; with it the order is back in one."""
    sim = simulation(**{**FLOCK, **open_world(600, 600), "agents": 300, "flock__wander": 400})
    sim.apply(Tune("flock.align", 0))
    sim.step(240)
    without = order_of(sim)
    sim.apply(Tune("flock.align", 8))
    sim.step(60)
    assert without < 0.2 and order_of(sim) > 0.5, (without, order_of(sim))


@pytest.mark.parametrize(("path", "value", "seen"), [
    ("flock.speed_max", 70.0, lambda speeds: speeds.max() <= 70.001),
    ("flock.speed_min", 115.0, lambda speeds: speeds.min() > 114.9)])
def test_the_clamp_of_speeds_holds_in_the_next_step(path: str, value: float, seen: Any) -> None:
    sim = simulation(**{**FLOCK, "agents": 200})
    sim.step(3)
    columns = sim.agents.columns
    sim.apply(Tune(path, value))
    sim.step()
    columns = sim.agents.columns
    assert seen(np.hypot(columns.vx[:200], columns.vy[:200]))


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


def test_bounds_never_forget_who_is_alive() -> None:
    """People born fast stay fast when later ones are to be slow: the farthest step is that of the fastest."""
    sim = simulation(**{**CROWD, "agents": 50})
    sim.apply(Tune("crowd.speed_max", 500.0))
    fastest = sim.needs.top_speed
    sim.populate(100)
    sim.apply(SetNumbers((("crowd.max_speed_factor", 1.1), ("crowd.stuck_max_speed_factor", 1.1))))
    assert sim.needs.top_speed == fastest
    crates = simulation("crates", agents=50)
    crates.apply(Tune("crates.half_max", 20.0))
    assert crates.needs.radius == 2 * value_of(crates.config, "crates.half_max") + value_of(crates.config, "crates.gap")


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


@pytest.mark.parametrize("data", [
    {"name": "tune", "path": "flock.align"}, {"name": "tune", "path": "flock.align", "value": "3"},
    {"name": "tune", "path": 3, "value": 3}, {"name": "tune", "path": "x" * 101, "value": 3},
    {"name": "set_numbers", "values": [["flock.align"]]}, {"name": "set_numbers", "values": 5}])
def test_bad_recordings(data: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^action (tune|set_numbers): [^\n]*$"):
        from_data(data)


@pytest.mark.parametrize("values", [
    {"numbers": {"flock.align": -1}}, {"numbers": {"flock.align": "3"}}, {"numbers": 3}, {"numbers": {"nothing": 1}},
    {"born": {"flock.align": [0, 1]}}, {"born": {"flock.sight": 3}}, {"fastest": -1}, {"fastest": True}])
def test_bad_saves(values: dict[str, Any]) -> None:
    state = PartState(values)
    damaged = SMALL.snapshot()._replace(parts={"settings": state})
    with pytest.raises(SaveError, match=r"^settings: [^\n]*$"):
        check(damaged, SMALL)


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
            assert number.live in LIVES and bool(number.why_not) == (number.live == "no"), number
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


