"""Fixed steps from an unsteady clock, and meters that are read in turn."""

from typing import Any

import pytest
from crowds import simulation
from driven import Driven
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.app.pace import CATCH_UP_S, EVERY_S, LONGEST_FRAME_S, PAUSE, STEPS_S, Meters, Pace, StepRate
from crowd_demo.sim.metrics.readings import METERS, Meter

DT = 1 / 64  # exact in binary, so that sums are


def started(catch_up: int = 4) -> Pace:
    pace = Pace(DT, catch_up)
    pace.steps(0.0, 1.0)
    return pace


@pytest.mark.quick
def test_the_first_frame_makes_a_step_and_speed_stretches_time() -> None:
    assert Pace(DT, 4).steps(0.0, 1.0) == 1
    assert (started().steps(DT, 3.0), started().steps(DT, 0.5)) == (3, 0)


@pytest.mark.quick
def test_a_slow_frame_catches_up_as_much_of_the_clock_at_any_speed_and_forgets_the_rest() -> None:
    pace = started(catch_up=4)
    assert [pace.steps(10 * DT, 1.0), pace.steps(DT, 1.0), pace.steps(DT, 64.0)] == [4, 1, 64]
    assert [pace.steps(10 * DT, 16.0), pace.steps(10 * DT, 0.5)] == [4 * 16, 4]
    assert started(catch_up=10**6).steps(3600.0, 1.0) == LONGEST_FRAME_S / DT, "a very long frame counts as a long one"


@given(st.lists(st.integers(0, 16).map(lambda quarters: quarters * DT / 4), max_size=50))
@pytest.mark.quick
def test_no_time_is_lost_or_made_while_it_keeps_up(frames: list[float]) -> None:
    pace = started(catch_up=1000)
    assert sum(pace.steps(elapsed_s, 1.0) for elapsed_s in frames) * DT + pace.owed_s == sum(frames)
    assert 0 <= pace.owed_s < DT


@pytest.mark.quick
def test_the_first_steps_have_more_time_than_those_of_a_high_speed() -> None:
    pace = started(catch_up=4)
    assert [pace.is_enough(made, STEPS_S * 1.01) for made in (1, 3, 4, 100)] == [False, False, True, True]
    assert [pace.is_enough(made, STEPS_S * 0.99) for made in (1, 4, 100)] == [False, False, False]
    assert pace.is_enough(1, CATCH_UP_S * 1.01)


# --- what is reached -------------------------------------------------------------------------------------------------

def rate(frames_per_s: int, steps: list[int]) -> StepRate:
    """After as many steps in frames of equal length."""
    counted, made = StepRate(), 0
    for frame, more in enumerate(steps):
        made += more
        counted.add(frame / frames_per_s, made)
    return counted


@pytest.mark.quick
def test_steps_are_counted_over_the_last_second_and_so_is_the_real_speed() -> None:
    assert StepRate().per_s == 0.0
    assert rate(8, [5]).per_s == 0.0
    assert rate(8, [5, 1, 2]).per_s == 3 * 4
    assert rate(8, [4] * 100 + [1] * 8).per_s == 8
    assert (rate(64, [4] * 100).real_speed(16.0, DT), rate(8, [4] * 20).real_speed(1.0, DT)) == (4.0, 0.5)


def run(speed: float, step_s: float, picture_s: float) -> tuple[StepRate, float]:
    """Two seconds on a machine with a clock of its own; the steps a second at the end, and the longest frame."""
    pace, counted, made, now_s, longest_s, frame_s = started(), StepRate(), 0, 0.0, 0.0, picture_s
    while now_s < 2.0:
        now_s += frame_s
        steps = pace.steps(frame_s, speed)
        done = next((done for done in range(1, steps + 1) if pace.is_enough(done, done * step_s)), steps)
        made += done
        frame_s = picture_s + done * step_s
        longest_s = max(longest_s, frame_s)
        counted.add(now_s, made)
    return counted, longest_s


@pytest.mark.parametrize(("speed", "step_s", "picture_s"), [
    (1.0, 0.010, 0.004), (4.0, 0.0025, 0.005), (16.0, 0.0005, 0.005), (64.0, 0.0001, 0.005), (64.0, 0.00015, 0.008),
    (16.0, 0.005, 0.008), (64.0, 0.001, 0.008), (64.0, 0.03, 0.008)])
@pytest.mark.quick
def test_a_machine_reaches_the_speed_or_the_picture_still_moves_and_the_real_speed_is_told(
        speed: float, step_s: float, picture_s: float) -> None:
    counted, longest_s = run(speed, step_s, picture_s)
    assert longest_s <= max(STEPS_S, min(4 * step_s, CATCH_UP_S)) + step_s + picture_s + 1e-9
    real = counted.real_speed(speed, DT)
    if step_s * speed < DT:
        assert real is None and counted.per_s == pytest.approx(speed / DT, rel=0.05)
    else:
        assert real and real == pytest.approx(counted.per_s * DT) and real < speed / 2


# --- Meters are read in turn, seldom, and only while somebody looks --------------------------------------------------

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
    """Return the names of the meters that were read. Reading one takes 4 ms here."""
    names: list[str] = []

    def meter(name: str) -> Meter:
        def measure(sim: Any) -> Any:
            names.append(name)
            watch.now_s += 0.004
            return len(names)
        return METERS[name]._replace(measure=measure)

    monkeypatch.setattr("crowd_demo.app.pace.METERS", {name: meter(name) for name in METERS})
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
    assert 0.018 < 0.004 * len(read) / (watch.now_s - start) <= 1 / PAUSE
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


def test_meters_are_read_while_the_hud_shows_them_and_the_crowd_moves(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowd_demo.app.pace.PAUSE", 0)
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
    monkeypatch.setattr("crowd_demo.app.pace.PAUSE", 0)
    for paused in (False, True):  # from off to first to nearest
        driven.settled("k")
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
