"""The largest crowd: how a number of agents is measured, the search for it, and the rungs of the ladder."""

import json
import math
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import pytest
from versus import no_compiling

from crowd_demo.config.loader import load_config
from crowd_demo.config.model import Config, Optimizations, with_values
from crowd_demo.config.section import MAX_AGENTS
from crowd_demo.measure.comparison import DRAW, STEP, TimedBlock
from crowd_demo.measure.experiment import Slice, mapped, result_of
from crowd_demo.measure.largest import (
    LIMIT_MS,
    MAX_BLOCKS,
    Largest,
    Measured,
    Rung,
    crowd_of,
    is_clear,
    is_hopeless,
    largest_number,
    measure,
    measured_of,
    most_agents,
    present_and_rungs,
    rungs,
)
from crowd_demo.measure.statistics import Interval
from crowd_demo.registry.entries import MODEL, Value
from crowd_demo.registry.techniques import TECHNIQUES

CONFIG = load_config("20k-flock")


def frame_ms(config: Config) -> float:
    """All pairs without a structure, and else as many as there are."""
    return config.agents**2 * 1e-6 if config.optimizations.neighbours == "none" else config.agents * 1e-4


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> list[Config]:
    """Crowds that were asked for; the times of their frames are what `frame_ms` says."""
    asked: list[Config] = []

    def measure(config: Config) -> Generator[float, None, Measured]:
        asked.append(config)
        yield 0.0
        ms = frame_ms(config)
        return Measured(config.agents, *(Interval(value, value * 0.9, value * 1.1) for value in (ms * 0.75, ms * 0.25, ms)))

    monkeypatch.setattr("crowd_demo.measure.largest.measure", measure)
    return asked


@pytest.mark.quick
def test_the_answer_is_the_largest_number_that_fits(made_up: list[Config]) -> None:
    found = Largest(CONFIG, [Rung("as now", CONFIG.optimizations)], no_compiling)
    texts = [progress.text for progress in found.run()]
    (answer,) = found.answers
    assert answer.measured and answer.measured.agents <= LIMIT_MS * 1e4 <= answer.measured.agents * 1.02 and found.done
    assert texts[0] == "as now: 1,000 agents?" and "as now: 4,000 agents? (2,000 took 0.2 ms)" in texts
    assert all(config.optimizations == CONFIG.optimizations for config in made_up)


@pytest.mark.quick
def test_each_rung_begins_where_the_one_before_ended(made_up: list[Config]) -> None:
    found = Largest(CONFIG, present_and_rungs(CONFIG.optimizations), no_compiling)
    list(found.run())
    low, high = found.answers[0].measured, found.answers[1].measured
    assert low and high and low.agents <= math.sqrt(LIMIT_MS * 1e6) <= low.agents * 1.02
    first = next(config for config in made_up if config.optimizations.neighbours == "linked")
    assert first.agents == low.agents and len(found.answers) == len(found.rungs)
    table = found.table()
    assert table.columns == ("techniques", "agents", "step ms", "draw ms", "frame ms", "95%", "times")
    assert table.rows[0][:2] == ("everything off", f"{low.agents:,}") and table.rows[0][-1] == ""
    assert table.rows[1][0] == "+ cell lists" and table.rows[1][-1] == f"{high.agents / low.agents:.0f}x"


@pytest.mark.quick
def test_who_leaves_has_the_rungs_that_were_searched(made_up: list[Config]) -> None:
    found = Largest(CONFIG, present_and_rungs(CONFIG.optimizations), no_compiling)
    run = found.run()
    while len(found.answers) < 2:
        next(run)
    next(run)
    assert len(found.answers) == 2 and not found.done
    record = json.loads(json.dumps(found.record(), allow_nan=False))
    assert (record["version"], record["kind"], record["complete"], len(record["rungs"])) == (1, "largest", False, 2)
    rung = record["rungs"][0]
    assert rung["name"] == "everything off" and rung["optimizations"]["neighbours"] == "none"
    assert rung["agents"] == found.answers[0].measured.agents and rung["frame_ms"]["value"] <= LIMIT_MS  # type: ignore[union-attr]


@pytest.mark.quick
def test_no_more_agents_are_tried_than_there_may_be(made_up: list[Config], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "frame_ms", lambda config: 1.0)
    found = Largest(CONFIG, [Rung("as now", CONFIG.optimizations)], no_compiling)
    list(found.run())
    most, why = most_agents(CONFIG)
    assert max(config.agents for config in made_up) == most
    assert found.table().rows[0][1] == f"{most:,}+" and found.notes()[1:] == [f"+: not more, because of {why}"]


@pytest.mark.quick
def test_memory_and_the_largest_world_bound_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    dense = load_config("20k-flock", {"world.width": 1000.0, "world.height": 500.0})
    assert most_agents(dense) == (MAX_AGENTS, "the most that the program can have")
    wide = load_config("20k-flock", {"world.width": 40_000.0})
    assert most_agents(wide) == (int(20_000 * (65_536 / 40_000) ** 2), "the largest world")
    monkeypatch.setattr("crowd_demo.measure.largest.too_large", lambda config, *_: config.agents > 50_000)
    most, why = most_agents(CONFIG)
    assert 45_000 <= most <= 50_000 and why == "memory"


@pytest.mark.quick
def test_the_world_grows_with_the_crowd_and_the_view_looks_at_the_same_place() -> None:
    config = load_config("20k")
    larger = crowd_of(config, 80_000)
    assert (larger.agents, larger.world.width, larger.world.height) == (80_000, 10_400, 10_400)
    assert larger.camera.center == (5200, 5200) and larger.camera.zoom == config.camera.zoom
    assert crowd_of(CONFIG, 5000).camera == CONFIG.camera and crowd_of(config, 20_000) == config


# --- frames ----------------------------------------------------------------------------------------------------------

def blocks(*frames_ms: float, length: int = 8) -> list[TimedBlock]:
    """A quarter of each frame is its picture."""
    return [TimedBlock(length, {STEP: np.full(length, ms * 0.75, np.float32), DRAW: np.full(length, ms * 0.25, np.float32)})
            for ms in frames_ms]


@pytest.mark.quick
def test_a_frame_has_as_many_steps_as_fall_into_it() -> None:
    found = measured_of(7, blocks(10, 10, 10, 12, 10, 10), rate=0.5)
    assert found.agents == 7 and found.frame.value == pytest.approx(0.5 * 7.5 + 2.5)
    assert (found.step.value, found.draw.value) == pytest.approx((7.5, 2.5))


@pytest.mark.quick
def test_near_the_limit_more_blocks_are_measured() -> None:
    assert not is_clear(blocks(1, 1), 1) and is_clear(blocks(1, 1, 1), 1) and is_clear(blocks(40, 40, 40), 1)
    assert not is_clear(blocks(15, 15, 15), 1) and is_clear(blocks(*[15] * 6), 1)
    straddling = [16, 17.5] * (MAX_BLOCKS // 2)
    assert not is_clear(blocks(*straddling[:-1]), 1) and is_clear(blocks(*straddling), 1)


@pytest.mark.quick
def test_three_frames_in_a_row_that_are_far_too_slow_end_a_try() -> None:
    assert is_hopeless(blocks(1, 99, 99, 99, length=1), 1) and not is_hopeless(blocks(99, 99, 99, length=1), 1)
    assert not is_hopeless(blocks(99, 99, 1, 99, length=1), 1)


def run(config: Config) -> tuple[int, Measured]:
    slices = list[float]()
    found = result_of(mapped(measure(config), slices.append))
    return len(slices), found


def small(**settings: Any) -> Config:
    return load_config("20k-flock", {"agents": 100, "window": {"width": 64, "height": 64}, **settings})


def test_a_small_crowd_is_measured() -> None:
    slices, found = run(small())
    assert found.agents == 100 and slices >= 16 + 3 and found.step.value > 0 and found.draw.value > 0


@pytest.mark.quick
def test_brute_force_without_hope_is_not_tried() -> None:
    slices, found = run(small(agents=500_000, **{"optimizations.neighbours": "none"}))
    assert slices == 0 and found.frame.value == math.inf


def test_everything_off_and_everything_on_are_searched_on_a_real_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a most of 200 agents, so it takes little."""
    monkeypatch.setattr("crowd_demo.measure.largest.most_agents", lambda config: (200, "the test"))
    ladder = present_and_rungs(Optimizations())
    found = Largest(small(), [ladder[0], ladder[-1]], no_compiling)
    list(found.run())
    assert found.done and len(found.answers) == 2


# --- the search alone ------------------------------------------------------------------------------------------------


def found(start: int, most: int, fits: Callable[[int], bool], precision: float = 0.02) -> tuple[int, list[int]]:
    """Return the answer of the search and the numbers that it tested."""
    asked: list[int] = []

    def tested(number: int) -> Generator[Slice, None, bool]:
        asked.append(number)
        yield Slice("", 0)
        return fits(number)

    return result_of(largest_number(start, most, tested, precision)), asked


@pytest.mark.quick
@pytest.mark.parametrize("start", [1, 7, 100, 299, 1000])
def test_without_tolerance_it_finds_the_very_number(start: int) -> None:
    for limit in range(320):
        answer, asked = found(start, 300, lambda number, limit=limit: number <= limit, precision=0)  # type: ignore[misc]
        assert answer == min(limit, 300) and all(1 <= number <= 300 for number in asked)


@pytest.mark.quick
@pytest.mark.parametrize("limit", [0, 1, 99, 12_345, 1_999_999, 2_000_000, 10**9])
@pytest.mark.parametrize("start", [1, 1000, 2_000_000])
def test_it_comes_as_near_as_it_is_asked_to_in_few_questions(limit: int, start: int) -> None:
    answer, asked = found(start, 2_000_000, lambda number: number <= limit)
    assert answer <= min(limit, 2_000_000) <= max(answer * 1.02, answer + 1) and len(asked) < 40


@pytest.mark.quick
def test_it_doubles_and_then_bisects_with_round_numbers() -> None:
    assert found(1000, 10**6, lambda number: number <= 12_345) == (
        12_300, [1000, 2000, 4000, 8000, 16_000, 11_300, 13_400, 12_300, 12_800, 12_500, 12_500])


@pytest.mark.quick
def test_a_moment_in_which_nothing_fitted_does_not_end_it() -> None:
    """2,000 fits but for the first time that it is asked; so it is asked again, and the search goes on above."""
    times: list[int] = []

    def fits(number: int) -> bool:
        times.append(number)
        return number <= 12_345 and (number, times.count(number)) != (2000, 1)

    answer, asked = found(1000, 10**6, fits)
    assert answer == 12_300 and asked.count(2000) == 2


# --- the ladder ------------------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_the_lowest_rung_has_every_technique_off_and_the_highest_none() -> None:
    found = list(rungs(Optimizations()))
    optional = [technique for technique in TECHNIQUES if technique.kind is not MODEL]
    assert all(found[0].options.get(technique.path) == technique.baseline for technique in optional)
    assert found[0].options.get("threads") == 1 and found[-1].options == Optimizations()
    assert [rung.name for rung in found] == [
        "everything off", "+ cell lists", "+ neighbours: sorted", "+ reorder: every", "+ SIMD lanes", "+ stagger",
        "+ culling, depth order, blitter", "+ threads: auto"]


@pytest.mark.quick
@pytest.mark.parametrize("values",
                         [{"avoidance": "push", "overlap_passes": 0}, {"avoidance": "anticipate", "overlap_passes": 3}])
def test_all_rungs_have_the_present_model_so_that_they_compute_one_crowd(values: dict[str, Value]) -> None:
    assert {technique.path for technique in TECHNIQUES if technique.kind is MODEL} >= set(values)
    for rung in present_and_rungs(with_values(Optimizations(), values)):
        assert {path: rung.options.get(path) for path in values} == values


@pytest.mark.quick
def test_a_rung_that_would_add_nothing_is_left_out() -> None:
    names = [rung.name for rung in rungs(with_values(Optimizations(), {"neighbours": "linked"}))]
    assert "+ cell lists" in names and not any("neighbours" in name for name in names)


@pytest.mark.quick
def test_the_present_techniques_come_first_unless_they_are_the_highest_rung() -> None:
    assert [rung.name for rung in present_and_rungs(Optimizations(), ladder=False)] == ["as now"]
    assert present_and_rungs(Optimizations())[0].name == "everything off"
    slower = with_values(Optimizations(), {"simd": False})
    found = present_and_rungs(slower)
    assert found[0].name == "as now" and found[0].options == slower and len(found) == 9
