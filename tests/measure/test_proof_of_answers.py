"""What a sample of agents is told by *interaction*, with the old values and with the new ones."""

from __future__ import annotations

import numpy as np
import pytest
from crowds import CROWD, Settings, simulation

from crowd_demo.measure.proof_of_answers import GROUP, SAMPLE, TOGETHER, Answers, answers, sample_groups
from crowd_demo.registry.techniques import STRUCTURES


def told(proof: Answers) -> list[str]:
    """All that is told until the end."""
    found = [proof.finding.text]
    for _ in proof.parts():
        if proof.finding.text != found[-1]:
            found.append(proof.finding.text)
    return found if found[-1] == proof.finding.text else [*found, proof.finding.text]


@pytest.mark.parametrize(("path", "old", "new"), [
    ("neighbours", "none", "sorted"), ("neighbours", "linked", "aabb_tree"), ("neighbours", "z_grid", "none"),
    ("simd", False, True), ("threads", 1, 3), ("cell_size", "auto", 24)])
def test_exact_techniques_give_the_same_answers(crowd: Settings, path: str, old, new) -> None:
    sim = simulation(**crowd)
    sim.step(3)
    before = sim.state_hash()
    proof = Answers(sim, {path: old}, {path: new}, exact=True)
    found = told(proof)
    assert proof.finding == ("sample", f"same answers: sample of {SAMPLE}")
    part = GROUP if new == "none" else GROUP * TOGETHER
    assert f"same answers: sample of {part}, of {SAMPLE}" in found
    assert sim.state_hash() == before


def test_the_answers_are_the_pushes_that_everybody_would_get() -> None:
    sim = simulation(**CROWD, optimizations__stagger__avoidance=1)
    sim.step(5)
    groups = sample_groups(sim.agents.count)
    ids = sim.agents.columns.id[np.concatenate(groups)]
    replica = sim.replica()
    replica.restore(sim.state())
    pushes = np.hstack(list(answers(replica, {"simd": False}, groups)))
    sim.step()
    slots = sim.agents.handles.slots_of(ids)
    assert np.array_equal(pushes, (sim.agents.columns.avoidance_x[slots], sim.agents.columns.avoidance_y[slots]))
    assert pushes.any(axis=0).mean() > 0.5


@pytest.mark.parametrize("neighbours", ["none", "sorted", "linked", "z_grid", "kd_tree"])
def test_registers_are_asked_too(neighbours: str) -> None:
    """Few agents that are due in a row would be asked one by one, whatever `simd` says."""
    sim = simulation("1k", agents=5000, map="null", world__width=2000, world__height=1600)
    sim.step(2)
    replica = sim.replica()
    replica.restore(sim.state())
    for pushes in answers(replica, {"neighbours": neighbours, "simd": True}, sample_groups(sim.agents.count)):
        counters = replica.interaction.counters(replica)
        assert not pushes.size or counters["registers"] > 0


@pytest.mark.parametrize(("name", "wrong", "old", "new"), [
    ("linked", "Forgetful", {"neighbours": "sorted"}, {"neighbours": "linked"}),
    ("sorted", "WrongRegisters", {"simd": False}, {"simd": True})])
def test_wrong_answers_are_caught(monkeypatch: pytest.MonkeyPatch, name: str, wrong, old, new) -> None:
    monkeypatch.setitem(STRUCTURES, name, f"wrong_structures:{wrong}")
    sim = simulation("1k", agents=3000, map="null", world__width=1500, world__height=1200)
    proof = Answers(sim, old, new, exact=True)
    told(proof)
    assert proof.finding.kind == "differs" and proof.finding.text.startswith("THE ANSWERS DIFFER for ")
    assert proof.finding.text.endswith(f" agents: sample of {GROUP * TOGETHER}, of {SAMPLE}")


def test_approximate_techniques_tell_how_far_their_answers_are_off() -> None:
    sim = simulation(**CROWD)
    proof = Answers(sim, {"neighbour_limit": "none"}, {"neighbour_limit": "first"}, exact=False)
    told(proof)
    assert proof.finding.kind == "sample"
    share, _, error = proof.finding.text.partition("% of the pushes differ, by ")
    assert 0 < float(share) <= 100 and 0 < float(error.split("%")[0]) < 200


def test_staggering_does_not_show_at_one_moment_and_that_is_said() -> None:
    sim = simulation(**CROWD)
    proof = Answers(sim, {"stagger.avoidance": 1}, {"stagger.avoidance": 8}, exact=False)
    told(proof)
    assert proof.finding == ("sample", f"same answers at one moment, not over time: sample of {SAMPLE}")


@pytest.mark.quick
@pytest.mark.parametrize("count", [0, 1, 16, 100, 256, 257, 1000, 1024, 20_000, 1_000_000])
def test_the_sample_is_spread_and_nobody_is_in_it_twice(count: int) -> None:
    groups = sample_groups(count)
    slots = np.concatenate([np.zeros(0, int), *groups])
    assert len(slots) == len(set(slots.tolist())) == min(count, SAMPLE) and (slots < count).all()
    assert count < 2000 or all(group[0] % 64 == 0 for group in groups)
    assert all(len(group) <= GROUP for group in groups)
