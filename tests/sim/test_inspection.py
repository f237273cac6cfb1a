"""What is told of an agent is what is in the arrays, whatever the structure; and telling changes nothing."""

from typing import Any, cast

import numpy as np
import pytest
from crowds import CROWDS, simulation

from crowd_demo.compute.jit import run
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.sim.behaviours.hunt import PREDATOR, HuntColumns
from crowd_demo.sim.behaviours.people_rules import WAITING, PeopleColumns
from crowd_demo.sim.inspection import (
    around,
    avoidance_launch,
    counts_of,
    facts_of,
    may_reconsider,
    neighbours_of,
    raw_of,
)
from crowd_demo.sim.simulation import Simulation

STRUCTURES = [str(choice) for choice in BY_PATH["neighbours"].choices if choice != "field"]


def indexed(name: str = "crowd", **settings: Any) -> Simulation:
    """A crowd whose index is that of its present places."""
    sim = simulation(**CROWDS[name], optimizations__stagger__avoidance=1, **settings, steps=3)
    run(sim.reindexing())
    run(sim.structure.query(sim.optimizations.simd, sim.rules, sim.schedule))
    return sim


@pytest.mark.parametrize("simd", [True, False])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_neighbours_are_found_among_the_candidates_of_every_structure(structure: str, simd: bool) -> None:
    sim = indexed(optimizations__neighbours=structure, optimizations__simd=simd)
    columns, count, radius = sim.agents.columns, sim.agents.count, np.float32(sim.needs.radius)
    x, y = columns.x[:count], columns.y[:count]
    for slot in range(0, count, 41):
        near = around(sim, slot)
        assert near and near.asked
        assert slot not in near.candidates and len(set(near.candidates.tolist())) == len(near.candidates)
        distance_sq = (x - x[slot]) ** 2 + (y - y[slot]) ** 2
        expected = set(np.flatnonzero(distance_sq < radius * radius).tolist()) - {slot}
        assert set(neighbours_of(sim, slot, near.candidates).tolist()) == expected
        if near.own and near.where.startswith("cell"):
            left, top, right, bottom = near.own
            assert left <= x[slot] <= right and top <= y[slot] <= bottom
        if near.reach:
            left, top, right, bottom = near.reach
            among = (x >= left) & (x < right) & (y >= top) & (y < bottom)
            assert len(near.candidates) == pytest.approx(among.sum() - 1, abs=1)  # one may stand on an edge


@pytest.mark.parametrize("name", CROWDS)
def test_every_behaviour_can_be_inspected_and_stays_as_it_is(name: str) -> None:
    sim, alone = (simulation(**CROWDS[name]) for _ in range(2))
    for _ in range(4):
        sim.step()
        for slot in (0, sim.agents.count // 2, sim.agents.count - 1):
            assert dict(raw_of(sim, slot))["slot"].startswith(f"{slot:,} of")
            if near := around(sim, slot):
                assert set(neighbours_of(sim, slot, near.candidates).tolist()) <= set(near.candidates.tolist())
        counts_of(sim, (0, 0, 1e4, 1e4))
    alone.step(4)
    assert sim.state_hash() == alone.state_hash()


def test_ages_count_the_steps_since_each_look() -> None:
    sim = simulation(**CROWDS["crowd"], optimizations__stagger__avoidance=4, optimizations__stagger__by="id",
                     optimizations__reorder__when="off", steps=9)
    slot, since = 5, 0
    for step in range(12):
        before = int(sim.agents.columns.next_update[slot])
        sim.step()
        looked = int(sim.agents.columns.next_update[slot]) != before
        since = 0 if looked else since + 1
        if looked or step > 4:
            told = dict(raw_of(sim, slot))["looked around"]
            assert told == ("in the last step" if looked else f"{since} step{'s' * (since != 1)} before")


def test_who_waits_does_not_look_for_the_goal() -> None:
    sim = simulation(**CROWDS["crowd"], steps=2)
    cast(PeopleColumns, sim.agents.columns).state[3:5] = WAITING, 0
    assert sim.behaviour.states[0] == "walking"
    assert "looked for goal" not in dict(raw_of(sim, 3)) and "looked for goal" in dict(raw_of(sim, 4))


def test_a_kind_is_told_once_and_in_words() -> None:
    sim = simulation(**CROWDS["hunt"], steps=1)
    kinds = cast(HuntColumns, sim.agents.columns).kind[:sim.agents.count]
    for slot in (int(kinds.argmax()), int(kinds.argmin())):
        told = [value for name, value in facts_of(sim, slot) if name == "kind"]
        assert told == ["predator" if kinds[slot] == PREDATOR else "prey"]


def test_the_pushes_of_all_candidates_add_up_to_the_push_of_an_agent() -> None:
    """Of the plain avoidance, which is a sum."""
    sim = indexed(optimizations__avoidance="push")
    slots = np.array([3, 77, 200], np.int32)
    candidates = [near.candidates for near in (around(sim, int(slot)) for slot in slots) if near]
    finding, pushes = avoidance_launch(sim, slots, candidates)
    finding.run()
    for launch in sim.interaction.all_launches(sim, exact=True):
        launch.run()
    ends = np.cumsum([0, *map(len, candidates)])
    for slot, first, last in zip(slots, ends[:-1], ends[1:], strict=True):
        assert pushes[first:last, 0].sum() == pytest.approx(sim.agents.columns.avoidance_x[slot], abs=1e-4)
        assert pushes[first:last, 1].sum() == pytest.approx(sim.agents.columns.avoidance_y[slot], abs=1e-4)
    assert (pushes != 0).any()


def test_nobody_else_chooses_another_destination_on_the_way() -> None:
    """Of people who neither wait nor arrive, only those counted as reconsidering change their goal; and some do."""
    sim, chosen = simulation("maze", agents=6000, crowd__reconsider_s=0.3, optimizations__reorder__when="off"), 0
    for _ in range(200):
        may, state = may_reconsider(sim), sim.agents.row("state").copy()
        goal = sim.agents.row("goal").copy()
        sim.step()
        changed = (sim.agents.row("goal") != goal) & (state != WAITING)
        assert set(np.flatnonzero(changed)) <= set(may)
        chosen += int(changed.sum())
    assert chosen > 20
