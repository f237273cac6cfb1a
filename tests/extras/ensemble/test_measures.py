"""What is measured about a run, against slow and obvious ways."""

import math
from collections import Counter
from typing import Any, cast

import numpy as np
import pytest
from crowds import BIRTHS_AND_DEATHS, CROWD, FLOCK, PLACES, open_world, simulation

from crowd_demo.config.section import UNITS_A_METRE as METRE
from crowd_demo.extras.ensemble.measures import (
    FOLD,
    Flow,
    Jammed,
    Sampler,
    Speed,
    densest,
    density,
    overlap,
    queuing,
    stuck,
    waiting,
)
from crowd_demo.registry.built_in import MEASURES, of_column
from crowd_demo.registry.entries import FOLDS, load
from crowd_demo.sim.behaviours.people_rules import CREEPING, QUEUING, STUCK, WAITING, PeopleColumns
from crowd_demo.sim.fundamental_diagram import weidmann
from crowd_demo.sim.simulation import Simulation


@pytest.fixture(scope="module")
def crowd() -> Simulation:
    return simulation(**{**CROWD, **PLACES}, steps=120)


@pytest.mark.quick
def test_every_measure_can_be_loaded_and_says_what_it_is() -> None:
    assert set(FOLD) == set(FOLDS)
    for name, entry in MEASURES.items():
        assert callable(load(entry.code)) and entry.fold in FOLDS and entry.why and of_column(f"{name}.place") == entry


def test_people_are_measured_as_one_would_by_hand(crowd: Simulation) -> None:
    people: Any = crowd.agents.by_id()
    assert stuck(crowd) == sum(state == STUCK for state in people.state.tolist()) / 500
    assert waiting(crowd) == sum(state == WAITING for state in people.state.tolist()) / 500
    assert queuing(crowd) == sum(state in (QUEUING, CREEPING) for state in people.state.tolist()) / 500
    for name, (left, top, right, bottom) in crowd.config.measure.areas.items():
        inside = sum(left <= x <= right and top <= y <= bottom for x, y in zip(people.x, people.y, strict=True))
        assert density(crowd)[name] == pytest.approx(inside / ((right - left) * (bottom - top) / METRE**2))
    squares = Counter((int(x // 48), int(y // 48)) for x, y in zip(people.x.tolist(), people.y.tolist(), strict=True))
    assert densest(crowd) == max(squares.values())
    body = crowd.config.crowd.body
    apart = np.hypot(people.x[:, None].astype(float) - people.x, people.y[:, None].astype(float) - people.y)
    np.fill_diagonal(apart, np.inf)
    assert overlap(crowd) == np.mean((apart < 2 * body).any(axis=1))


def test_speed_is_of_the_way_made_by_those_who_do_not_wait() -> None:
    sim = simulation(**{**CROWD, "crowd__wait_s": 0.2}, steps=100)
    measure, before = Speed(sim), cast(PeopleColumns, sim.agents.by_id())
    sim.step(7)
    now: Any = sim.agents.by_id()
    parts = [math.hypot(now.x[i] - before.x[i], now.y[i] - before.y[i]) / (float(now.speed[i]) * 7 * sim.dt)
             for i in range(500) if not {WAITING, QUEUING} & {before.state[i], now.state[i]}]
    assert measure(sim) == pytest.approx(sum(parts) / len(parts), rel=1e-5) and 0 < len(parts) < 500


def test_jammed_is_who_gets_less_far_in_a_second_than_a_quarter_of_what_weidmann_says() -> None:
    sim = simulation(**{**CROWD, **open_world(320, 300), "crowd__wait_s": 0.2}, steps=60)
    measure, seen = Jammed(sim), [cast(PeopleColumns, sim.agents.by_id())]
    for _ in range(7):
        sim.step(15)
        seen.append(cast(PeopleColumns, sim.agents.by_id()))
        found = measure(sim)
        assert (found is None) == (len(seen) < 5)
    before, now, slow = seen[-5], seen[-1], []
    for i in range(500):
        apart = abs(now.x // 32 - now.x[i] // 32), abs(now.y // 32 - now.y[i] // 32)
        wide, high = (min((place // 32 + 2) * 32, most) - max(place // 32 - 1, 0) * 32
                      for place, most in ((float(now.x[i]), 320), (float(now.y[i]), 300)))
        way = math.hypot(now.x[i] - before.x[i], now.y[i] - before.y[i])
        if not {WAITING, QUEUING} & {before.state[i], now.state[i]}:
            density = (np.maximum(*apart) <= 1).sum() / (wide * high / 26**2)
            slow.append(way / 26 < now.speed[i] / 26 / 1.34 * weidmann(density) / 4)
    assert found == pytest.approx(sum(slow) / len(slow)) and 0 < sum(slow) < len(slow) < 500


def test_who_is_born_in_the_place_of_another_has_crossed_nothing() -> None:
    sim = simulation(**{**CROWD, **BIRTHS_AND_DEATHS, "life__births_per_s": 3000, "life__deaths_per_s": 3000, **PLACES,
                        "crowd__speed_max": 40})
    flow, before = Flow(sim), dict[tuple[int, int], tuple[float, float]]()
    for _ in range(20):
        sim.step()
        handles, now = sim.agents.handles, sim.agents.by_id()
        places = {(i, int(handles.generations[i])): (x, y) for i, x, y in zip(
            now.id.tolist(), now.x.tolist(), now.y.tolist(), strict=True)}
        passed = sum((before[who][0] < 250) != (x < 250) for who, (x, y) in places.items() if who in before)
        found = flow(sim)
        assert found is not None
        if before:
            assert found["down"] * sim.dt == pytest.approx(passed)
        before = places


def test_measures_change_nothing_and_give_the_same_in_any_order_of_memory() -> None:
    numbers = []
    for options in ({}, {"optimizations__reorder__when": "off"}, {"optimizations__neighbours": "kd_tree"}):
        sim, plain = (simulation(**{**CROWD, **PLACES, **options}) for _ in range(2))
        sampler = Sampler([name for name in MEASURES if name not in ("step_ms", "answer")], sim)
        for _ in range(13):
            sim.step(5)
            sampler.look()
        plain.step(65)
        assert sim.state_hash() == plain.state_hash()
        numbers.append(sampler.folded())
    assert numbers[0] == numbers[1] == numbers[2] and all(value is not None for value in numbers[0].values())


@pytest.mark.quick
def test_what_was_seen_becomes_one_number() -> None:
    seen = [4.0, 1.0, 2.5]
    assert {name: fold(seen) for name, fold in FOLD.items()} == {
        "mean": 2.5, "median": 2.5, "most": 4.0, "last": 2.5, "total": 7.5}


def test_what_does_not_apply_has_no_number() -> None:
    sampler = Sampler(["stuck", "population"], sim := simulation(**FLOCK))
    sim.step(1)
    sampler.look()
    assert sampler.folded() == {"stuck": None, "population": 500.0}
