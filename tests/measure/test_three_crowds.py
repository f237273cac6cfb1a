"""A crowd against itself with other techniques: the same steps, told apart by their hash, in a bounded time."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
from crowds import CROWD, FLOCK, simulation

from crowd_demo.measure.three_crowds import PATIENCE, Limits, ThreeCrowds, Versus, unsorted
from crowd_demo.registry.entries import EXACT
from crowd_demo.sim.simulation import Simulation

quick = pytest.mark.quick
FEW = Limits(seconds=1.0, steps=6)
SMALL: dict[str, Any] = {"agents": 150, "window__width": 64, "window__height": 64}


def crowds_of(sim: Simulation, picture: bool = False) -> ThreeCrowds:
    crowds = ThreeCrowds(sim.snapshot(), picture)
    list(crowds.build())
    return crowds


def against(crowds: ThreeCrowds, **others: Any) -> Versus:
    """What was found, of a few steps; dots are written as double underscores."""
    slices: Generator[float, None, Versus] = crowds.against(
        {path.replace("__", "."): value for path, value in others.items()}, FEW)
    parts = []
    while True:
        try:
            parts.append(next(slices))
        except StopIteration as end:
            assert parts == sorted(parts) and parts[-1] == 1
            return end.value


@pytest.mark.parametrize("kind", [CROWD, FLOCK])
def test_exact_techniques_give_the_same_crowd(kind: dict[str, Any]) -> None:
    crowds = crowds_of(simulation(**{**kind, **SMALL}))
    for others in ({"neighbours": "none"}, {"simd": False}, {"reorder__when": "off"}, {"threads": 1}):
        found = against(crowds, **others)
        assert found.crowd == "same" and found.steps == 6
        assert found.step == found.frame, "there is no picture"
        assert found.step.a.value > 0 and found.step.ratio.value > 0 and found.step.ratio.known


def test_an_approximate_technique_is_called_so_and_a_wrong_crowd_too(monkeypatch: pytest.MonkeyPatch) -> None:
    crowds = crowds_of(simulation(**{**CROWD, **SMALL}))
    assert against(crowds, stagger__avoidance=1).crowd == "approximate"
    assert against(crowds, avoidance="push").crowd == against(crowds, overlap_passes=0, stagger__avoidance=1).crowd == "model"
    monkeypatch.setattr("crowd_demo.measure.three_crowds.kind_of", lambda *_: EXACT)
    assert against(crowds, stagger__avoidance=1).crowd == "DIFFERS"


def test_with_pictures_a_frame_is_more_than_its_step() -> None:
    found = against(crowds_of(simulation(**{**FLOCK, **SMALL}), picture=True), cull="off")
    assert found.crowd == "same" and found.frame.a.value > found.step.a.value


def test_each_trial_begins_with_the_state_that_was_given() -> None:
    sim = simulation(**{**FLOCK, **SMALL})
    sim.step(7)
    crowds = crowds_of(sim)
    states = []
    for _ in range(2):
        against(crowds, simd=False)
        states.append(crowds.present.state_hash())
    replica = Simulation.from_snapshot(crowds.start._replace(tick=60))  # where a crowd that sorts every 60 steps does so
    replica.step(2 + 10 + 6)
    assert states == [replica.state_hash()] * 2 and sim.tick == 7


def test_all_crowds_sort_in_the_first_step_that_counts_if_they_sort_at_all() -> None:
    sim = simulation(**{**FLOCK, **SMALL})
    sim.step(67)
    crowds = crowds_of(sim)
    against(crowds, reorder__every=7)
    assert crowds.present.tick == 420 + 18 and crowds.present.profile.counters["sorts"] == sim.profile.counters["sorts"] + 1
    assert against(crowds, reorder__when="drift").crowd == "same"


def test_unsorted_agents_lie_in_the_order_of_their_ids() -> None:
    sim = simulation(**{**FLOCK, **SMALL})
    sim.step(3)
    snapshot = sim.snapshot()
    assert (np.diff(snapshot.columns[0]) < 0).any()
    again = unsorted(snapshot)
    assert again.columns[0].tolist() == list(range(150)) and again.state_hash() == snapshot.state_hash()


def test_memory_keeps_its_order_but_where_sorting_is_compared() -> None:
    sim = simulation(**{**FLOCK, **SMALL})
    sim.step(3)
    sim.optimizations.set("reorder.when", "off")
    order = sim.agents.view.id[:150].tolist()
    crowds = crowds_of(sim)
    against(crowds, simd=False)
    assert crowds.present.agents.view.id[:150].tolist() == order != list(range(150))
    against(crowds, reorder__when="drift")
    assert crowds.present.agents.view.id[:150].tolist() == list(range(150))


def test_brute_force_that_would_take_minutes_is_refused() -> None:
    million = simulation(**{**FLOCK, **SMALL}).snapshot()._replace(columns=np.zeros((1, 1_000_000), np.int32))
    crowds = ThreeCrowds(million, False)
    assert crowds.too_slow({"neighbours": "none"}) == "a step of all pairs would take about 33 s"
    assert crowds.too_slow({"simd": False}) == ""


def test_three_crowds_that_do_not_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowd_demo.measure.three_crowds.available_bytes", lambda: 1 << 10)
    with pytest.raises(ValueError, match="three crowds of 150 need about 0 MB, and 0 MB are free"):
        crowds_of(simulation(**{**FLOCK, **SMALL}))


@quick
@pytest.mark.parametrize(("all_s", "warm_up", "blocks"), [
    (0.001, 10, [10] * 12), (0.1, 8, [6] * 6 + [4]), (1.0, 0, [1] * 6), (2.0, 0, [1] * 6), (4.0, 0, [1] * 4), (100.0, 0, [1])])
def test_slow_crowds_make_fewer_steps_in_shorter_blocks(all_s: float, warm_up: int, blocks: list[int]) -> None:
    limits = Limits(seconds=4.0)
    assert (limits.warm_up(all_s), limits.blocks(all_s)) == (warm_up, blocks)
    assert sum(blocks) * all_s <= PATIENCE * limits.seconds or blocks == [1]


@quick
def test_a_number_of_steps_is_made_whatever_it_takes() -> None:
    limits = Limits(seconds=4.0, steps=25)
    assert limits.warm_up(100.0) == 10 and sum(limits.blocks(100.0)) == 25
