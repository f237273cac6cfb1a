"""Proofs of a switch: copies take the same steps, a view is drawn both ways, or the answers of a sample are compared."""

from itertools import pairwise

import numpy as np
import pytest
from crowds import BIRTHS_AND_DEATHS, CROWD, Settings, simulation

from crowd_demo.config.resources import assets_folder
from crowd_demo.measure.experiment import result_of
from crowd_demo.measure.proof import (
    GROUP,
    SAMPLE,
    TOGETHER,
    Answers,
    Apart,
    DrawnView,
    Pictures,
    Replicas,
    answers,
    apart,
    bands,
    hash_of,
    sample_groups,
)
from crowd_demo.registry.techniques import STRUCTURES
from crowd_demo.render.camera import Camera
from crowd_demo.render.cull import Cull
from crowd_demo.render.scene import Scene
from crowd_demo.sim.inspection import length_text
from crowd_demo.sim.simulation import Simulation


def until(proof: Replicas | Answers, steps: int | None = None) -> list[str]:
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
def test_exact_techniques_give_the_same_crowd(path: str, old, new) -> None:
    sim = simulation(**{**CROWD, "agents": 300}, steps=3)
    before = sim.state_hash()
    proof = Replicas(sim, {path: old}, {path: new}, exact=True)
    told = until(proof, 10)
    assert sim.state_hash() == before and sim.tick == 3
    sim.step(10)
    assert proof.finding == ("same", f"same crowd: {sim.state_hash()[:4]}… after 10 steps") and told[-1] == proof.finding.text
    assert [int(text.split()[-2]) for text in told[1:]] == [1, 2, 3, 4, 5, 6, 7, 8, 10]


def test_it_is_the_same_crowd_while_people_are_born_and_die() -> None:
    sim = simulation(**{**CROWD, **BIRTHS_AND_DEATHS, "agents": 200}, steps=5)
    old, new = {"removal": "swap_back", "neighbours": "sorted"}, {"removal": "deferred", "neighbours": "z_grid"}
    proof = Replicas(sim, old, new, exact=True)
    until(proof, 15)
    sim.step(15)
    assert proof.finding == ("same", f"same crowd: {sim.state_hash()[:4]}… after 15 steps")


def test_a_wrong_kernel_is_caught_at_the_first_step_that_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STRUCTURES, "linked", "wrong_structures:Forgetful")
    sim = simulation(**CROWD, steps=3)
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
    sim = simulation(**CROWD, steps=3)
    other = Simulation.from_snapshot(sim.snapshot())
    other.optimizations.stagger.avoidance = 8
    proof = Replicas(sim, {"stagger.avoidance": 3}, {"stagger.avoidance": 8}, exact=False)
    until(proof, 10)
    for each in (sim, other):
        each.step(10)
    one, two = sim.agents.by_id(), other.agents.by_id()
    away = np.hypot(one.x.astype(float) - two.x, one.y.astype(float) - two.y)
    median, most = (length_text(sim, float(distance)) for distance in (np.median(away), away.max()))
    assert proof.finding == (
        "apart", f"after 10 steps half are within {median} of where they would be, the farthest {most} away")
    assert " m of where" in proof.finding.text, "these are people"
    assert away.max() > 0


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


# --- by pictures -----------------------------------------------------------------------------------------------------

def view_of(sim: Simulation, zoom: float = 1.5) -> DrawnView:
    camera = Camera((500.0, 400.0), (320, 181))
    camera.look_at(250, 200, zoom)
    return DrawnView(Scene(sim, sim.config, assets_folder()), camera, alpha=0.4)


def finish(proof: Pictures) -> Pictures:
    for _ in proof.parts():
        assert proof.finding.kind == "running"
    return proof


@pytest.mark.parametrize(("path", "old", "new"), [
    ("cull", "grid", "off"), ("cull", "agents", "grid"), ("depth", "full", "bands"), ("blitter", "compiled", "pygame")])
def test_techniques_of_drawing_give_the_same_picture(path: str, old, new) -> None:
    sim = simulation(**CROWD, steps=3)
    view, before, counters = view_of(sim), sim.state_hash(), dict(sim.profile.counters)
    finding = finish(Pictures(sim, view, {path: old}, {path: new})).finding
    assert finding.kind == "same" and finding.text.startswith("same picture: ")
    assert view.scene.sim is sim and sim.state_hash() == before
    assert sim.profile.counters == counters and "cull" not in sim.profile.stages


def test_without_depth_order_pictures_may_differ() -> None:
    sim = simulation("1k", agents=3000, map="null", world__width=500, world__height=400)
    finding = finish(Pictures(sim, view_of(sim), {"depth": "off"}, {"depth": "full"})).finding
    share, _, why = finding.text.partition("% of the pixels differ: ")
    assert finding.kind == "apart" and 0 < float(share) < 100 and "depth" in why


def test_a_wrong_culling_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Cull.run

    def forgetful(self, launches, workers, most):
        slots = run(self, launches, workers, most)
        return slots[:-20] if len(launches) and "cull_cells" in launches[0].name else slots
    monkeypatch.setattr(Cull, "run", forgetful)
    sim = simulation(**CROWD, steps=1)
    finding = finish(Pictures(sim, view_of(sim), {"cull": "off"}, {"cull": "grid"})).finding
    assert finding.kind == "differs" and finding.text.startswith("THE PICTURES DIFFER: ")


@pytest.mark.quick
@pytest.mark.parametrize("height", [1, 5, 181, 720])
def test_bands_are_the_rows_of_the_picture(height: int) -> None:
    camera = Camera((500.0, 400.0), (320, height))
    camera.look_at(10, 390, 0.7)
    found = list(bands(camera))
    assert sum(band.size[1] for band in found) == height
    assert found[0].view_rect().top == pytest.approx(camera.view_rect().top)
    for above, below in pairwise(found):
        assert above.view_rect().bottom == pytest.approx(below.view_rect().top) and above.x == camera.x
    assert found[-1].view_rect().bottom == pytest.approx(camera.view_rect().bottom)


# --- by a sample of answers ------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("path", "old", "new"), [
    ("neighbours", "none", "sorted"), ("neighbours", "linked", "aabb_tree"), ("neighbours", "z_grid", "none"),
    ("simd", False, True), ("threads", 1, 3), ("cell_size", "auto", 24)])
def test_exact_techniques_give_the_same_answers(path: str, old, new) -> None:
    sim = simulation(**CROWD, steps=3)
    before = sim.state_hash()
    proof = Answers(sim, {path: old}, {path: new}, exact=True)
    found = until(proof)
    assert proof.finding == ("sample", f"same answers: sample of {SAMPLE}")
    part = GROUP if new == "none" else GROUP * TOGETHER
    assert f"same answers: sample of {part}, of {SAMPLE}" in found
    assert sim.state_hash() == before


def test_the_answers_are_the_pushes_that_everybody_would_get() -> None:
    sim = simulation(**CROWD, optimizations__stagger__avoidance=1, steps=5)
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
    sim = simulation("1k", agents=5000, map="null", world__width=2000, world__height=1600, steps=2)
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
    until(proof)
    assert proof.finding.kind == "differs" and proof.finding.text.startswith("THE ANSWERS DIFFER for ")
    assert proof.finding.text.endswith(f" agents: sample of {GROUP * TOGETHER}, of {SAMPLE}")


def test_approximate_techniques_tell_how_far_their_answers_are_off() -> None:
    sim = simulation(**CROWD)
    proof = Answers(sim, {"neighbour_limit": "none"}, {"neighbour_limit": "first"}, exact=False)
    until(proof)
    assert proof.finding.kind == "sample"
    share, _, error = proof.finding.text.partition("% of the pushes differ, by ")
    assert 0 < float(share) <= 100 and 0 < float(error.split("%")[0]) < 200


def test_staggering_does_not_show_at_one_moment_and_that_is_said() -> None:
    sim = simulation(**CROWD)
    proof = Answers(sim, {"stagger.avoidance": 1}, {"stagger.avoidance": 8}, exact=False)
    until(proof)
    assert proof.finding == ("sample", f"same answers at one moment, not over time: sample of {SAMPLE}")
