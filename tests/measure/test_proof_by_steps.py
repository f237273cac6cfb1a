"""Two copies of a crowd take the same steps: exact techniques stay alike, approximate ones part, a wrong kernel is caught."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from crowds import BIRTHS_AND_DEATHS, CROWD, Settings, simulation

from crowd_demo.measure.experiment import result_of
from crowd_demo.measure.proof import Apart, Replicas, SameTickHashes, apart, hash_of, touch
from crowd_demo.registry.techniques import STRUCTURES
from crowd_demo.sim.simulation import Simulation


def until(proof: Replicas, steps: int) -> list[str]:
    """Go on until so many steps are told of or there is nothing left to do; return what was told."""
    told = [proof.finding.text]
    for _ in proof.parts():
        if proof.finding.text != told[-1]:
            told.append(proof.finding.text)
        if f"after {steps} step" in told[-1]:
            return told
    return [*told, proof.finding.text]


@pytest.mark.parametrize(("path", "old", "new"), [
    ("neighbours", "sorted", "kd_tree"), ("simd", True, False), ("reorder.when", "every", "off"), ("threads", 1, 3)])
def test_exact_techniques_give_the_same_crowd(crowd: Settings, path: str, old, new) -> None:
    sim = simulation(**{**crowd, "agents": 300})
    sim.step(3)
    before = sim.state_hash()
    proof = Replicas(sim, {path: old}, {path: new}, exact=True)
    told = until(proof, 10)
    assert sim.state_hash() == before and sim.tick == 3
    sim.step(10)
    assert proof.finding == ("same", f"same crowd: {sim.state_hash()[:4]}… after 10 steps") and told[-1] == proof.finding.text
    assert [int(text.split()[-2]) for text in told[1:]] == [1, 2, 3, 4, 5, 6, 7, 8, 10]


def test_it_is_the_same_crowd_while_people_are_born_and_die() -> None:
    sim = simulation(**{**CROWD, **BIRTHS_AND_DEATHS, "agents": 200})
    sim.step(5)
    old, new = {"removal": "swap_back", "neighbours": "sorted"}, {"removal": "deferred", "neighbours": "z_grid"}
    proof = Replicas(sim, old, new, exact=True)
    until(proof, 15)
    sim.step(15)
    assert proof.finding == ("same", f"same crowd: {sim.state_hash()[:4]}… after 15 steps")


def test_a_wrong_kernel_is_caught_at_the_first_step_that_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STRUCTURES, "linked", "wrong_structures:Forgetful")
    sim = simulation(**CROWD)
    sim.step(3)
    wrong = Simulation.from_snapshot(sim.snapshot())
    wrong.optimizations.neighbours = "linked"
    proof = Replicas(sim, {"neighbours": "sorted"}, {"neighbours": "linked"}, exact=True)
    until(proof, 100)
    steps = 0
    while sim.state_hash() == wrong.state_hash():
        sim.step()
        wrong.step()
        steps += 1
    after = f"after {steps} step" + "s" * (steps != 1)
    assert proof.finding == (
        "differs", f"THE CROWDS DIFFER {after}: {sim.state_hash()[:4]}… and {wrong.state_hash()[:4]}…")
    assert proof.steps == steps < 3


def test_approximate_techniques_come_apart() -> None:
    sim = simulation(**CROWD)
    sim.step(3)
    other = Simulation.from_snapshot(sim.snapshot())
    other.optimizations.stagger.avoidance = 8
    proof = Replicas(sim, {"stagger.avoidance": 3}, {"stagger.avoidance": 8}, exact=False)
    until(proof, 10)
    for each in (sim, other):
        each.step(10)
    one, two = sim.agents.by_id(), other.agents.by_id()
    away = np.hypot(one.x.astype(float) - two.x, one.y.astype(float) - two.y)
    assert proof.finding == ("apart", f"after 10 steps half are within {np.median(away):.2g} units of where they would be,"
                                      f" the farthest {away.max():.3g} away")
    assert away.max() > 0


def test_an_approximate_technique_that_changes_nothing_gives_the_same_crowd() -> None:
    sim = simulation(**CROWD)
    proof = Replicas(sim, {"stagger.sight": 8}, {"stagger.sight": 8}, exact=False)
    until(proof, 2)
    assert proof.finding.kind == "same"


@pytest.mark.quick
def test_agents_that_only_one_crowd_has_differ() -> None:
    one, other = simulation(agents=10, map="null"), simulation(agents=12, map="null")
    assert result_of(apart(one, other)) == Apart(2 / 12, 0, 0)
    other.agents.columns.x[3] += 30
    other.agents.columns.y[3] -= 40
    assert result_of(apart(one, other)) == pytest.approx((3 / 12, 0, 50))
    assert result_of(apart(one, simulation(agents=0, map="null"))) == Apart(1.0)
    assert result_of(apart(simulation(agents=0, map="null"), simulation(agents=0, map="null"))) == Apart(0.0)


@pytest.mark.quick
@pytest.mark.parametrize("identity", [-1, 10**6])
def test_broken_ids_are_a_difference_and_no_error(identity: int) -> None:
    one, other = simulation(agents=10, map="null"), simulation(agents=10, map="null")
    other.agents.columns.id[3] = identity
    assert result_of(apart(one, other)) == Apart(1.0)


@pytest.mark.quick
def test_the_hash_in_parts_is_the_state_hash(crowd: Settings) -> None:
    sim = simulation(**{**crowd, "agents": 50})
    assert result_of(hash_of(sim)) == sim.state_hash()


def test_hashes_of_one_tick_are_made_while_the_crowds_go_on(crowd: Settings) -> None:
    one, other = simulation(**{**crowd, "agents": 50}), simulation(**{**crowd, "agents": 50, "seed": 7})
    hashes, asked = SameTickHashes(one, other), list[tuple[str, ...]]()
    for _ in range(2):  # memory first, then hashes
        asked.append((one.state_hash(), other.state_hash()))
        for _ in hashes.parts():
            one.step()
            other.step()
    assert hashes.found == asked[1] != asked[0] and 0 < hashes.tick < one.tick


def test_a_step_in_parts_is_a_step() -> None:
    whole, parts = simulation(**CROWD), simulation(**CROWD)
    for _ in range(5):
        whole.step()
        assert sum(1 for _ in parts.step_in_parts()) > 5
    assert parts.state_hash() == whole.state_hash()
    assert (parts.population == whole.population).all() and parts.profile.counters == whole.profile.counters


@pytest.mark.quick
def test_a_twin_shares_the_walls_and_nothing_else() -> None:
    sim = simulation("1k", agents=50)
    sim.step(2)
    replica = sim.replica()
    assert replica.agents.count == 0 and replica.terrain is sim.terrain
    assert replica.world.flow_fields is not sim.world.flow_fields
    replica.restore(sim.state())
    assert replica.state_hash() == sim.state_hash()
    before = sim.state_hash()
    replica.step(3)
    assert sim.state_hash() == before and replica.profile is not sim.profile


@pytest.mark.quick
def test_memory_is_touched_a_part_at_a_time() -> None:
    array = np.ones((3, 50_000), np.int32)
    assert sum(1 for _ in islice(touch(array), 1)) == 1 and array.sum() == 150_000 - 65_536
    assert sum(1 for _ in touch(array)) == 3 and not array.any()
