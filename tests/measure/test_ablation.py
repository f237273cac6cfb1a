"""Each technique off in turn: what is measured and shown; and the three crowds, told apart by their hash, in bounded time."""

import json
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from crowds import CROWD, FLOCK, simulation
from versus import no_compiling, versus

from crowd_demo.config.model import Optimizations
from crowd_demo.measure.ablation import (
    AS_SHOWN,
    PATIENCE,
    Ablation,
    Limits,
    Measurement,
    ThreeCrowds,
    Versus,
    unsorted,
)
from crowd_demo.measure.experiment import mapped, result_of
from crowd_demo.measure.statistics import UNKNOWN, Interval
from crowd_demo.registry.entries import EXACT, Value
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES
from crowd_demo.sim.simulation import Simulation

FEW = Limits(seconds=1.0, steps=6)
SMALL: dict[str, Any] = {"agents": 150, "window__width": 64, "window__height": 64}
BUYS = {"neighbours": 18.0, "simd": 1.6, "reorder.when": 1.0, "threads": 0.8, "cull": 1.3}
PATHS = tuple(BUYS)


def ablation(paths: tuple[str, ...] = PATHS, picture: bool = False, **settings: Any) -> Ablation:
    start = simulation(**{**FLOCK, **SMALL, **settings}).snapshot()
    return Ablation(start, no_compiling, picture, FEW, [BY_PATH[path] for path in paths])


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials that take no time and find what `BUYS` says; without threads the crowd is another one."""
    def against(self: ThreeCrowds, others: Mapping[str, Value], limits: Limits) -> Generator[float, None, Versus]:
        (path,) = others
        yield 0.5
        return versus(BUYS[path], "DIFFERS" if path == "threads" else "same")

    monkeypatch.setattr(ThreeCrowds, "against", against)


@pytest.mark.usefixtures("made_up")
def test_what_buys_most_comes_first_and_what_costs_is_last() -> None:
    found = ablation()
    progress = [each.part for each in found.run()]
    assert found.done and progress == sorted(progress) and progress[-1] == 0.9
    assert [row.technique.path for row in found.rows] == ["neighbours", "simd", "cull", "reorder.when", "threads"]
    table = found.table()
    assert table.columns == ("technique", "off is", "step on", "step off", "step buys", "95%", "frame on", "frame off",
                             "frame buys", "95%", "crowd")
    assert table.rows[0] == (
        "neighbours: sorted", "none", "2.00", "36.0", "18.0x", "17.1-18.9", "4.00", "72.0", "18.0x", "17.1-18.9", "same")
    assert [row[:2] for row in table.rows[1:4]] == [
        ("SIMD lanes: on", "off"), ("culling: grid", "off"), ("reorder: every", "off")]
    assert table.rows[2][2:6] == ("-", "-", "not part of a step", "-"), "culling saves drawing alone"
    assert table.rows[3][7:10] == ("4.00", "no difference", "0.95-1.05")
    assert table.rows[4][4:] == ("0.80x", "0.76-0.84", "4.00", "3.20", "0.80x", "0.76-0.84", "DIFFERS")
    assert found.noise() == "noise: a second copy of the present crowd took 0.99-1.01 times as long"
    assert ablation().noise() == "too few frames for an interval"
    assert str(table).splitlines()[1].startswith("neighbours: sorted    none     2.00")


def test_what_is_off_or_has_no_work_or_would_take_minutes_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ThreeCrowds, "too_slow", lambda self, others: "too slow" * ("neighbours" in others))
    found = ablation(("neighbour_limit", "leaf_size", "neighbours", "simd"))
    list(found.run())
    assert found.left_out == {"neighbour_limit": "off already", "leaf_size": "no work here", "neighbours": "too slow"}
    assert found.notes()[1] == "too slow: neighbours\noff already: neighbour limit\nno work here: leaf size"
    assert [row.technique.path for row in found.rows] == ["simd"]


def test_every_technique_can_be_switched_off_and_exact_ones_give_the_same_crowd() -> None:
    start = simulation(**{**CROWD, **SMALL}).snapshot()
    found = Ablation(start, no_compiling, picture=True, limits=FEW)
    list(found.run())
    measured = {row.technique.path: row for row in found.rows}
    assert measured.keys() | found.left_out.keys() == {technique.path for technique in TECHNIQUES}
    assert {"neighbours", "simd", "reorder.when", "stagger.avoidance", "cull", "depth", "blitter"} <= measured.keys()
    assert all(row.found.crowd == "same" for row in found.rows if row.technique.kind is EXACT)
    assert measured["stagger.avoidance"].found.crowd == "approximate" and (measured["threads"].off, found.tick) == (1, 0)


def test_kernels_are_compiled_before_what_needs_them_runs() -> None:
    asked: list[Value] = []

    def compile_for(options: Optimizations) -> Iterator[str]:
        asked.append(options.get("neighbours"))
        yield "compiling something"

    found = Ablation(simulation(**{**FLOCK, **SMALL}).snapshot(), compile_for, False, FEW, [BY_PATH["neighbours"]])
    texts = [progress.text for progress in found.run()]
    compiled, measured = (texts.index(f"neighbours: {text}") for text in ("compiling something", "sorted against none"))
    assert asked == ["none"] and compiled < measured


# --- one technique ---------------------------------------------------------------------------------------------------

def measurement(path: str, other: Value) -> Measurement:
    return Measurement(simulation(**{**FLOCK, **SMALL}).snapshot(), path, other, no_compiling, picture=False, limits=FEW)


def test_one_technique_is_measured_against_the_value_that_is_asked_for() -> None:
    found = measurement("reorder.every", 7)
    assert found.table().rows == [] and found.record()["complete"] is False
    list(found.run())
    assert found.found and found.found.crowd == "same" and (found.value, found.other) == (60, 7)
    table = found.table()
    assert table.columns == ("ms", "60", "7", "buys", "95%") and [row[0] for row in table.rows][-2:] == ["step", "frame"]
    assert found.notes()[:2] == ["same crowd", AS_SHOWN] and found.notes()[2] == "interaction, 60 | 7:"
    record = json.loads(json.dumps(found.record(), allow_nan=False))
    assert record["kind"] == "measurement" and record["technique"] == "reorder.every"
    assert (record["value"], record["other"], record["crowd"]) == (60, 7, "same")
    assert [row["name"] for row in record["why"]][:2] == ["time", "pairs"] and " tested, " in record["why"][1]["other"]


def test_a_measurement_has_a_row_for_the_stage_that_the_technique_changes() -> None:
    found = measurement("simd", False)
    list(found.run())
    assert found.found and found.found.stage and found.found.stage.ratio.known
    assert 0 < found.found.stage.a.value < found.found.step.a.value
    assert [row[0] for row in found.table().rows] == ["interaction", "step", "frame"]
    assert found.record()["stage"]


def test_the_times_of_a_row_are_as_many_times_apart_as_it_says() -> None:
    """The median of ratios turn by turn is not the ratio of medians: 3.1x beside 2.00 and 7.00 would contradict itself."""
    found = versus(3.1).step._replace(b=Interval(7.0, 6.9, 7.1))  # as where a machine was busy for some of the turns
    assert found.cells() == ("2.00", "6.20", "3.1x", "2.9-3.3")
    assert found.record() != versus(3.1).step.record(), "the record has what was measured"
    assert found._replace(ratio=UNKNOWN, verdict="unknown").cells() == ("2.00", "7.00", "-", "too few")


def test_a_value_that_would_take_minutes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ThreeCrowds, "too_slow", lambda self, others: "a step would take 100 s")
    with pytest.raises(ValueError, match="neighbours none: a step would take 100 s"):
        list(measurement("neighbours", "none").run())


@pytest.mark.quick
def test_the_line_says_factor_interval_and_crowd() -> None:
    assert versus(3.1).line("every", "off") == "every against off: 3.1x faster (95%: 2.9-3.3), same crowd"
    assert versus(1.0).line(True, False) == "on against off: no difference (95%: 0.95-1.05), same crowd"
    assert versus(0.5, "approximate").line(3, 1) == (
        "3 against 1: 2.0x slower (95%: 1.9-2.1), not the same (approximate)")
    assert versus(0.5, "model").line(2, 0).endswith("not the same (model)")
    assert versus(2.0, "DIFFERS").line(3, 1).endswith("THE CROWD DIFFERS")
    parts = versus(3.1)._replace(frame=versus(1.3).frame)
    assert parts.line(3, 1).startswith(
        "3 against 1: step 3.1x faster (95%: 2.9-3.3), frame 1.30x faster (95%: 1.23-1.37), ")


# --- the three crowds ------------------------------------------------------------------------------------------------


def crowds_of(sim: Simulation, picture: bool = False) -> ThreeCrowds:
    crowds = ThreeCrowds(sim.snapshot(), picture)
    list(crowds.build())
    return crowds


def found_against(crowds: ThreeCrowds, **others: Any) -> Versus:
    """What was found, of a few steps; dots are written as double underscores."""
    slices = crowds.against({path.replace("__", "."): value for path, value in others.items()}, FEW)
    parts = list[float]()
    found = result_of(mapped(slices, parts.append))
    assert parts == sorted(parts) and parts[-1] == 1
    return found


def test_an_approximate_technique_is_called_so_and_a_wrong_crowd_too(monkeypatch: pytest.MonkeyPatch) -> None:
    crowds = crowds_of(simulation(**{**CROWD, **SMALL}))
    assert found_against(crowds, stagger__avoidance=1).crowd == "approximate"
    for others in ({"avoidance": "push"}, {"overlap_passes": 0, "stagger__avoidance": 1}):
        assert found_against(crowds, **others).crowd == "model"
    monkeypatch.setattr("crowd_demo.measure.ablation.kind_of", lambda *_: EXACT)
    assert found_against(crowds, stagger__avoidance=1).crowd == "DIFFERS"


def test_with_pictures_a_frame_is_more_than_its_step() -> None:
    found = found_against(crowds_of(simulation(**{**FLOCK, **SMALL}), picture=True), cull="off")
    assert found.crowd == "same" and found.frame.a.value > found.step.a.value


def test_each_trial_begins_with_the_state_that_was_given() -> None:
    sim = simulation(**{**FLOCK, **SMALL}, steps=7)
    crowds = crowds_of(sim)
    states = []
    for _ in range(2):
        found_against(crowds, simd=False)
        states.append(crowds.present.state_hash())
    replica = Simulation.from_snapshot(crowds.start._replace(tick=60))  # where a crowd that sorts every 60 steps does so
    replica.step(2 + 10 + 6)
    assert states == [replica.state_hash()] * 2 and sim.tick == 7


def test_unsorted_agents_lie_in_the_order_of_their_ids() -> None:
    snapshot = simulation(**{**FLOCK, **SMALL}, steps=3).snapshot()
    assert (np.diff(snapshot.columns[0]) < 0).any()
    again = unsorted(snapshot)
    assert again.columns[0].tolist() == list(range(150)) and again.state_hash() == snapshot.state_hash()


def test_brute_force_that_would_take_minutes_is_refused() -> None:
    million = simulation(**{**FLOCK, **SMALL}).snapshot()._replace(columns=np.zeros((1, 1_000_000), np.int32))
    crowds = ThreeCrowds(million, False)
    assert crowds.too_slow({"neighbours": "none"}) == "a step of all pairs would take about 33 s"
    assert crowds.too_slow({"simd": False}) == ""


@pytest.mark.quick
@pytest.mark.parametrize(("all_s", "warm_up", "blocks"), [
    (0.001, 10, [10] * 12), (0.1, 8, [6] * 6 + [4]), (1.0, 0, [1] * 6), (2.0, 0, [1] * 6), (4.0, 0, [1] * 4), (100.0, 0, [1])])
def test_slow_crowds_make_fewer_steps_in_shorter_blocks(all_s: float, warm_up: int, blocks: list[int]) -> None:
    limits = Limits(seconds=4.0)
    assert (limits.warm_up(all_s), limits.blocks(all_s)) == (warm_up, blocks)
    assert sum(blocks) * all_s <= PATIENCE * limits.seconds or blocks == [1]
