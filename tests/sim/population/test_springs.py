"""Links: the springs against the oracle, one hash wherever agents lie in memory, and clean cuts."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import reference
import reference_flock
import reference_links
from crowds import BIRTHS_AND_DEATHS, ROPE, refresh_rules, shuffle, simulation
from crowds import FLOCK as FIVE_HUNDRED

from crowd_demo.compute.jit import run as run_all
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.model import Spawn
from crowd_demo.sim.edits import PaintWalls, Remove, handles_of
from crowd_demo.sim.newcomers import pattern_positions, pinned
from crowd_demo.sim.population.springs import Springs, rules_of_links
from crowd_demo.sim.simulation import Simulation

STEPS = 30
SMALL = {key: value for key, value in ROPE.items() if key != "name"}
PATTERNS = ("rope", "cloth", "column")


@pytest.fixture(scope="module", params=PATTERNS)
def pattern(request: Any) -> str:
    return str(request.param)


def test_springs_are_the_models(pattern: str) -> None:
    sim = simulation(pattern, **SMALL, steps=30)
    shuffle(sim, 5)
    before = sim.agents.by_id()
    rules = rules_of_links(sim)
    pull_x, pull_y = reference_links.pulls(before.x, before.y, before.vx, before.vy, sim.links.ends, rules,
                                           both=pattern != "column")
    wanted = reference_links.velocities(before, pull_x, pull_y, rules)
    run_all(Springs().launches(sim))
    after, ids = sim.agents.by_id(), np.arange(160)
    acted = ~pinned(ids, sim.config) & ((pattern != "column") | (ids % 16 != 0))
    assert np.abs(pull_x).max() > 1 and acted.sum() >= 144
    assert np.array_equal(after.vx[acted], wanted[0][acted]) and np.array_equal(after.vy[acted], wanted[1][acted])
    assert np.array_equal(after.vx[~acted], before.vx[~acted]) and np.array_equal(after.vy[~acted], before.vy[~acted])


@pytest.mark.parametrize("behaviour", ["flock", "crates"])
def test_pins_and_all_others_move_as_the_oracle_says(pattern: str, behaviour: str) -> None:
    sim = simulation(pattern, **SMALL, behaviour=behaviour, optimizations__stagger__avoidance=1)
    pins = np.flatnonzero(pinned(np.arange(160), sim.config))
    move = {"flock": reference_flock.flock_move, "crates": reference.crate_move}[behaviour]
    for _ in range(5):
        shuffle(sim, sim.tick)
        wanted: Any = sim.agents.by_id()
        rules, link_rules = refresh_rules(sim), rules_of_links(sim)
        sim.step()
        now = sim.agents.by_id()
        wanted = type(wanted)(*map(np.copy, wanted._replace(avoidance_x=now.avoidance_x, avoidance_y=now.avoidance_y)))
        reference_links.step(wanted, sim.links.ends, pins, link_rules, partial(move, rules=rules, ground=sim.ground),
                             both=pattern != "column")
        for name in ("x", "y", "vx", "vy"):
            assert np.array_equal(getattr(now, name), getattr(wanted, name)), name


@pytest.mark.quick
def test_pins_stand_beside_walls_and_step_out_of_new_ones() -> None:
    sim = simulation("rope", **{**SMALL, "map": "maze", "world__width": 1400, "world__height": 900})
    columns = sim.agents.by_id()
    pins = np.flatnonzero(pinned(np.arange(160), sim.config))
    wanted = pattern_positions(pins, sim.config, sim.terrain, sim.config.seed)
    walls = sim.terrain.walls
    in_walls = walls.blocked[(wanted[1] * walls.inv_tile).astype(int), (wanted[0] * walls.inv_tile).astype(int)] > 0
    assert in_walls.any()
    sim.terrain.step_out(*wanted)
    sim.step(20)
    now = sim.agents.by_id()
    for then in (columns, now):
        assert np.array_equal(then.x[pins], wanted[0]) and np.array_equal(then.y[pins], wanted[1])
    column, row = int(wanted[0][0] * walls.inv_tile), int(wanted[1][0] * walls.inv_tile)
    sim.set_walls((column, row, column + 1, row + 1), True)
    sim.terrain.step_out(*wanted)
    assert wanted[0][0] != now.x[0] or wanted[1][0] != now.y[0]
    sim.step(20)
    sim.set_walls((column, row, column + 1, row + 1), False)
    sim.step(20)
    now = sim.agents.by_id()
    assert np.array_equal(now.x[pins], wanted[0]) and np.array_equal(now.y[pins], wanted[1])


@pytest.mark.quick
def test_pairs_name_the_same_agents_after_sorts_and_removals() -> None:
    sim = simulation("rope", **SMALL)
    for seed in range(4):
        shuffle(sim, seed)
        sim.agents.remove(np.array([40 + seed, 90]))
        sim.links.refresh()
        ids = np.stack([sim.agents.columns.id[slots_of] for slots_of in sim.links.pairs], axis=1)
        assert np.array_equal(ids, sim.links.ends)
    gone = {40, 41, 42, 43, 90}
    wanted = [[i - 1, i] for i in range(160) if i % 16 and not gone & {i - 1, i}]
    assert sorted(sim.links.ends.tolist()) == wanted


@pytest.mark.quick
def test_a_recycled_id_does_not_inherit_links() -> None:
    sim = simulation("rope", **SMALL)
    sim.agents.remove(np.array([20]))
    sim.agents.spawn(id=np.array([20]))
    assert len(sim.links.ends) == 150
    sim.links.refresh()
    assert 20 not in sim.agents.columns.id[np.concatenate(sim.links.pairs)]
    assert len(sim.links.ends) == 148
    sim.links.tie_newcomers(np.array([20]))
    sim.step()
    assert len(sim.links.ends) == 150


@pytest.mark.quick
@pytest.mark.parametrize("pattern", PATTERNS)
def test_newcomers_mend_what_the_dead_have_torn(pattern: str) -> None:
    sim = simulation(pattern, **SMALL)
    whole = sorted(sim.links.ends.tolist())
    assert len(whole) == (150 + 144 if pattern == "cloth" else 150)
    sim.populate(60)
    sim.links.refresh()
    assert len(sim.links.pairs[0]) <= 100
    sim.populate(160)
    assert sorted(sim.links.ends.tolist()) == whole


def test_a_pinned_agent_that_is_brought_back_hangs_as_in_a_copy() -> None:
    sim = simulation(**ROPE, steps=3)
    removal = Remove(handles_of(sim, np.array([16], np.int32)))
    back = removal.inverse(sim)
    sim.apply(removal)
    sim.step()
    for action in back:
        sim.apply(action)
    copied = Simulation.from_snapshot(sim.snapshot())
    stood = sim.agents.by_id().x[16]
    for each in (sim, copied):
        each.step(5)
    assert sim.state_hash() == copied.state_hash() and sim.agents.by_id().x[16] == stood


def test_who_hangs_on_a_spring_may_be_faster_than_its_kind() -> None:
    """Culling by cells reckons with it."""
    sim = simulation(**ROPE, behaviour="crowd", links__gravity=10000, steps=30)
    columns, n = sim.agents.columns, sim.agents.count
    fastest = float(np.hypot(columns.vx[:n], columns.vy[:n]).max())
    assert sim.top_speed == fastest > sim.behaviour.needs.top_speed


@pytest.mark.parametrize(("pattern", "step_hz"), [("rope", 30), ("cloth", 60)])
def test_links_blow_up_beyond_the_stiffness_that_is_allowed_and_not_below(pattern: str, step_hz: int) -> None:
    stiffest = (2 - (4 * 4 + 0.5) / step_hz) * step_hz**2 / {"rope": 2, "cloth": 4}[pattern]
    allowed, beyond = (tremble(pattern, step_hz, part * stiffest) for part in (0.8, 1.6))
    assert 10 * allowed < beyond


def tremble(pattern: str, step_hz: int, stiffness: float) -> float:
    """How much the velocity changes in a step, on the median, after six seconds."""
    config = simulation(pattern, agents=800, links__length=40, time__step_hz=step_hz, links__stiffness=1,
                        flock__speed_max=10000, world__width=1000, world__height=900).config
    unchecked = config.links.model_copy(update={"stiffness": stiffness})
    sim = Simulation(config.model_copy(update={"links": unchecked}))
    sim.step(6 * step_hz)
    before = sim.agents.by_id()
    sim.step()
    now = sim.agents.by_id()
    return float(np.median(np.hypot(now.vx - before.vx, now.vy - before.vy)))


# --- births and deaths -----------------------------------------------------------------------------------------------

FLOCK = {**FIVE_HUNDRED, **BIRTHS_AND_DEATHS, "agents": 300}


@pytest.mark.quick
def test_rates_are_kept_to_the_agent() -> None:
    sim = simulation(**{**FLOCK, "life__births_per_s": 100.5, "life__deaths_per_s": 40, "agents": 10}, steps=120)
    assert sim.agents.count == 10 + 201 - 80
    assert len(sim.population) == 120 and sim.population[-1] == 131


@pytest.mark.quick
def test_births_stop_at_the_limit_and_deaths_with_the_last() -> None:
    grown = simulation(**{**FLOCK, "life__deaths_per_s": 0, "life__most": 350}, steps=STEPS)
    assert grown.agents.count == 350
    died_out = simulation(**{**FLOCK, "life__births_per_s": 0, "life__deaths_per_s": 30_000}, steps=STEPS)
    assert died_out.agents.count == 0 and died_out.population[0] == 0


@pytest.mark.quick
def test_the_population_swings_with_the_season() -> None:
    sim = simulation(**{**FLOCK, "life__births_per_s": 240, "life__deaths_per_s": 240, "life__season_s": 1}, steps=120)
    swing = sim.population - 300
    assert swing[29] == 120 and swing[59] == 0 and swing[89] == 120 and swing[119] == 0
    assert swing.max() == 120 and swing.min() >= -2  # both counts are rounded down


# --- where agents begin ----------------------------------------------------------------------------------------------

def test_an_area_holds_all_births_also_when_its_wall_is_gone() -> None:
    area = {"measure__areas__hall": "[26, 26, 468, 494]", "spawn__inside": "hall"}
    closed = simulation("doorway", **area)
    sim = Simulation(closed.config, (PaintWalls(tuple((row, 36, 38) for row in range(10, 30)), False),))
    x, y = sim.agents.by_id().x, sim.agents.by_id().y
    assert (x > 26).all() and (x < 468).all() and (y > 26).all() and (y < 494).all()
    config = closed.config.model_copy(update={"spawn": Spawn.model_validate({})})
    everywhere = Simulation(config, [action for _, action in sim.history])
    assert (everywhere.agents.by_id().x > 494).mean() > 0.2
    walls = PaintWalls(tuple((row, 0, 64) for row in range(2, 38)), True)  # the hall is full: anywhere else
    assert (Simulation(closed.config, (walls,)).agents.by_id().y < 26).any()


def test_an_area_that_there_is_not_is_one_line() -> None:
    with pytest.raises(ConfigError, match=r"spawn\.inside: measure\.areas has no 'hal' \(did you mean hall\?\)"):
        load_config("doorway", ["spawn.inside=hal"])
