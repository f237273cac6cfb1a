"""Meters are read in turn, seldom, and only while somebody looks."""

from __future__ import annotations

from typing import Any

import pytest
from crowds import simulation
from driven import Driven

from crowd_demo.app.crowd.pace import EVERY_S, PAUSE, Meters
from crowd_demo.sim.metrics.readings import METERS, Meter


class Watch:
    """A clock that stands still unless it is moved."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def read(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the meters that were read; each takes 4 ms."""
    names: list[str] = []

    def meter(name: str) -> Meter:
        def measure(sim: Any) -> Any:
            names.append(name)
            watch.now_s += 0.004
            return len(names)
        return METERS[name]._replace(measure=measure)

    monkeypatch.setattr("crowd_demo.app.crowd.pace.METERS", {name: meter(name) for name in METERS})
    return names


def test_one_at_a_time_in_turn_and_each_twice_a_second_at_most(watch: Watch, read: list[str]) -> None:
    meters, sim = Meters(watch), simulation(agents=10, map="null")
    read_at = []
    for _ in range(300):
        before, now_s = len(read), watch.now_s
        meters.read(sim)
        assert len(read) <= before + 1
        read_at += [now_s] * (len(read) - before)
        watch.now_s += 1 / 60
    assert read == (["stagger", "ages", "locality"] * len(read))[:len(read)] and len(read) > 20
    assert min(again - at for at, again in zip(read_at, read_at[3:], strict=False)) >= EVERY_S == 0.5


def test_together_they_take_two_percent_of_the_time_at_most(watch: Watch, read: list[str]) -> None:
    meters, sim = Meters(watch), simulation(agents=10, map="null", optimizations__neighbour_limit="first")
    start = watch.now_s
    while watch.now_s - start < 20:
        meters.read(sim)
        watch.now_s += 0.001
    spent_s = 0.004 * len(read)
    assert 0.018 < spent_s / (watch.now_s - start) <= 1 / PAUSE
    assert set(read) == {"stagger", "ages", "neighbour_limit", "bias", "locality"}
    assert max(read.count(name) for name in set(read)) - min(read.count(name) for name in set(read)) <= 1


SETTINGS: list[tuple[str, str, Any, dict[str, Any]]] = [  # meter, technique, its other value, what is on before
    ("stagger", "stagger.avoidance", 4, {}), ("stagger", "stagger.by", "id", {}), ("stagger", "neighbour_limit", "nearest",
                                                                                   {}),
    ("ages", "stagger.avoidance", 8, {}), ("neighbour_limit", "neighbour_limit", "nearest", {"neighbour_limit": "first"}),
    ("bias", "neighbour_limit", "first", {"neighbour_limit": "nearest"}), ("neighbour_limit", "cell_size", 64,
                                                                           {"neighbour_limit": "first"}),
    ("field", "cell_size", 64, {"neighbours": "field"}), ("locality", "neighbours", "kd_tree", {}),
    ("locality", "curve", "hilbert", {}), ("locality", "reorder.when", "off", {})]


@pytest.mark.parametrize(("meter", "path", "other", "before"), SETTINGS)
def test_a_reading_belongs_to_the_settings_that_it_was_read_under(
        meter: str, path: str, other: Any, before: dict[str, Any], watch: Watch, read: list[str]) -> None:
    options = {f"optimizations__{name}": value for name, value in before.items()}
    meters, sim = Meters(watch), simulation("20k-flock", agents=10, **options)
    for _ in METERS:
        meters.read(sim)
        watch.now_s += PAUSE
    old = getattr(meters.readings(sim), meter)
    assert old
    sim.optimizations.set(path, other)
    assert getattr(meters.readings(sim), meter) is None
    for _ in METERS:
        meters.read(sim)
        watch.now_s += PAUSE
    assert getattr(meters.readings(sim), meter) > old


def test_exact_techniques_leave_the_errors_as_they_are_and_what_no_longer_applies_is_forgotten(
        watch: Watch, read: list[str]) -> None:
    meters, sim = Meters(watch), simulation("20k-flock", agents=10)
    meters.read(sim)
    for path, value in (("neighbours", "linked"), ("simd", False), ("cell_size", 64), ("cull", "off"), ("threads", 1)):
        sim.optimizations.set(path, value)
    assert meters.readings(sim).stagger
    sim.optimizations.stagger.avoidance = 1
    assert meters.readings(sim).stagger is None


def test_meters_are_read_while_the_hud_shows_them_and_the_crowd_moves(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowd_demo.app.crowd.pace.PAUSE", 0)
    driven.program.panels.next_mode(backwards=True)
    driven.frames(6)
    assert not any(driven.status().readings)
    driven.program.panels.next_mode()
    driven.program.crowd.paused = True
    driven.frames(6)
    assert not any(driven.status().readings)
    driven.program.crowd.paused = False
    driven.frames(6)
    readings = driven.status().readings
    assert readings.stagger and readings.locality and readings.locality.reads > 0
    assert readings.ages is not None and readings.ages.sum() == driven.program.sim.agents.count
    assert readings.neighbour_limit is None


def test_readings_come_and_go_with_the_techniques_that_they_are_about_and_with_the_crowd(
        driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowd_demo.app.crowd.pace.PAUSE", 0)
    for paused in (False, True):  # from off to first to nearest
        driven.press("k")
        driven.settle()
        readings = driven.status().readings
        assert readings.neighbour_limit is None
        driven.frames(8)
        readings = driven.status().readings
        assert bool(readings.neighbour_limit and readings.bias and readings.bias.agents > 0) is not paused
        driven.program.crowd.paused = True
    assert driven.program.sim.optimizations.neighbour_limit == "nearest"
    driven.program.panels.next_mode(backwards=True)
    driven.program.controls.restart()
    driven.frames(2)
    assert not any(driven.status().readings)
