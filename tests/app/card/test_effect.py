"""What made-up times before and after a switch say."""

from typing import Any

import numpy as np
import pytest

from crowd_demo.app.effect import (
    ReadingsMean,
    SwitchTimes,
    before_now,
    counted,
    explaining,
    extent,
    telling,
)
from crowd_demo.profile import Profile
from crowd_demo.render.hud.card import CardRow, Span
from crowd_demo.sim.metrics.locality import Locality
from crowd_demo.sim.metrics.readings import Readings

pytestmark = pytest.mark.quick


class MadeUp(Profile):
    """A profile whose times are given; each differs by up to a percent, the same in every test."""

    def __init__(self) -> None:
        super().__init__()
        self.rng = np.random.default_rng(5)

    def frame(self, steps: int = 1, note: str = "", sort: bool = False, blit: float = 2.0, cull: float = 0.0,
              **stages_ms: float) -> None:
        self.begin_frame()
        total = 0.0
        for number in range(steps):
            self.begin_step()
            sorting = {"reorder": 6.0} if sort and number == 0 else {}
            for stage, ms in {"interaction": 1.0, "move": 0.5, **sorting, **stages_ms}.items():
                total += self._stage(stage, ms)
            self.end_step()
        total += self._stage("cull", cull) + self._stage("blit", blit) + self._stage("hud", 3.0)
        if note:
            self.note(note)
        self.end_frame(total + 0.25)

    def many(self, count: int, **what) -> None:
        for _ in range(count):
            self.frame(**what)

    def _stage(self, stage: str, ms: float) -> float:
        ms *= self.rng.uniform(0.99, 1.01)
        self.add(stage, ms)
        return ms


    def switch(self, drawn: bool = False) -> SwitchTimes:
        """A switch takes effect in the present frame."""
        around = SwitchTimes(self, before_now(self, 0, 0), drawn)
        self.frame(note="Switch", interaction=50.0, blit=50.0)
        return around


def spans(around: SwitchTimes, profile: MadeUp) -> dict[str, Span]:
    around.collect(profile)
    return {span.name: span for span in around.spans()}


def compared(before: dict[str, Any], after: dict[str, Any], drawn: bool = False) -> tuple[dict[str, Span], str]:
    """The rows of a switch between so many frames of each, and what is said of their number."""
    profile = MadeUp()
    profile.many(**{"count": 120, **before})
    around = profile.switch(drawn)
    profile.many(**{"count": 120, **after})
    return spans(around, profile), around.text


def test_a_factor_that_no_load_explains_is_told_without_an_interval() -> None:
    found, text = compared({"interaction": 9.0}, {"interaction": 1.0})
    see, step, frame = found["interaction"], found["step"], found["frame"]
    assert (see.before_ms, see.after_ms, see.factor) == pytest.approx((9, 1, 9), rel=0.01)
    assert (step.before_ms, step.after_ms) == pytest.approx((9.5, 1.5), rel=0.01)
    assert (frame.before_ms, frame.after_ms) == pytest.approx((11.5, 3.5), rel=0.01), "a step and its picture, without the HUD"
    assert (see.outcome, step.outcome, frame.outcome) == ("faster", "faster", "faster") and not step.known
    assert text == "120 steps before, 120 after"


@pytest.mark.parametrize(("before", "after", "outcome"), [
    ({}, {}, "no factor"), ({}, {"interaction": 3.9}, "no factor"), ({}, {"interaction": 4.4}, "slower"),
    ({"count": 1, "interaction": 90.0}, {}, "no factor"), ({"count": 2, "interaction": 90.0}, {"count": 2}, "faster"),
    ({"interaction": 90.0}, {"count": 1}, "no factor")])
def test_a_factor_below_three_is_none_nor_one_of_a_single_step(
        before: dict[str, Any], after: dict[str, Any], outcome: str) -> None:
    assert compared(before, after)[0]["step"].outcome == outcome


def test_frames_with_a_note_and_their_steps_do_not_count() -> None:
    profile = MadeUp()
    for _ in range(40):
        profile.many(2)
        profile.frame(steps=3, note="compiling", interaction=70.0)
    around = profile.switch()
    for _ in range(40):
        profile.many(3, steps=2, interaction=0.5)
        profile.frame(note="proof", interaction=40.0)
    found = spans(around, profile)
    assert (found["interaction"].before_ms, found["interaction"].after_ms) == pytest.approx((1, 0.5), rel=0.01)
    assert around.text == "80 steps before, 162 after", "nor does the frame after a proof, whose data is in the caches"


def test_a_frame_is_a_step_and_its_picture_however_many_steps_are_displayed_together() -> None:
    """At 120 frames a second every second one has a step: the median frame might be of either kind."""
    profile = MadeUp()
    for frame in range(240):
        profile.frame(steps=frame * 51 // 100 - (frame - 1) * 51 // 100)
    around = profile.switch()
    for frame in range(240):
        profile.frame(steps=frame * 49 // 100 - (frame - 1) * 49 // 100)
    whole = spans(around, profile)["frame"]
    assert (whole.before_ms, whole.after_ms) == pytest.approx((3.5, 3.5), rel=0.02)


def test_steps_go_on_while_the_view_moves_and_frames_do_not() -> None:
    profile = MadeUp()
    profile.many(120, interaction=2.0)
    around = profile.switch()
    profile.many(60, interaction=1.0)
    around.view_changed(profile)
    profile.many(60, interaction=1.0, blit=9.0)
    assert spans(around, profile)["frame"].after_ms == pytest.approx(3.5, rel=0.01)
    assert around.text == "120 steps before, 120 after"


def test_drawing_is_compared_frame_by_frame() -> None:
    found, text = compared({"blit": 8.0, "cull": 0.1}, {"blit": 1.8, "cull": 0.2}, drawn=True)
    assert list(found) == ["frame", "draw", "blit"], "culling costs more itself, and saves more elsewhere"
    assert found["draw"].factor == pytest.approx(8.1 / 2, rel=0.01) and found["draw"].outcome == "faster"
    assert found["frame"].before_ms == pytest.approx(9.6, rel=0.01) and found["frame"].outcome == "no factor"
    assert text == "120 frames before, 120 after"


def test_what_was_before_a_change_is_not_compared() -> None:
    profile = MadeUp()
    profile.many(50, interaction=9.0)
    profile.many(30)
    times = before_now(profile, crowd_since=50, view_since=60)
    assert extent(times) == (30, 20) and times.steps["interaction"].max() < 1.1
    assert extent(before_now(profile, 81, 81)) == (0, 0)


def test_counters_that_differ_explain_it() -> None:
    profile = MadeUp()
    counters = {"due": 100.0, "candidates_per_agent": 20_000.0, "neighbours_per_agent": 8.0, "sorts": 7.0, "imbalance": 1.1}
    profile.counters = dict(counters)
    profile.many(100, sort=True)
    around = profile.switch()
    profile.counters = {**counters, "candidates_per_agent": 31.4, "sorts": 9.0}
    for frame in range(100):
        profile.frame(sort=frame % 2 == 0)
    spans(around, profile)
    before = counted(around.before, {"near reads": 0.12, "L1 misses": 0.09})
    after = counted(around.after, {"near reads": 0.815, "L1 misses": 0.091})
    work = CardRow("candidates", "20,000", "31.4")
    memory = CardRow("near reads", "12%", "82%"), CardRow("sorts in 1,000 steps", "1,000", "500")
    assert explaining(telling(before, after, ["neighbours"], True)) == (work, *memory)
    assert explaining(telling(before, after, ["simd"], True)) == (work,)
    assert not telling(before, after, ["cull"], True) and not telling(before, before, ["neighbours"], True)
    all_of_them, fewer = {**before, "limit error": 0.1}, {**before, "limit error": 0.2, "neighbours_per_agent": 4.0}
    changed = CardRow("limit error", "10.0%", "20.0%"), CardRow("neighbours", "8", "4")
    assert explaining(telling(all_of_them, fewer, ["neighbour_limit"], False)) == changed
    assert not telling(all_of_them, fewer, ["simd"], True), "no exact technique changes that: the crowd has moved on"


def test_each_reading_since_a_change_counts_once() -> None:
    known, first, second = (Readings(locality=Locality(near, 0.1, 100)) for near in (0.9, 0.5, 0.8))
    read = ReadingsMean(known)
    for readings in (known, known, Readings(), first, first, second):
        read.add(readings)
    assert read.means() == {"near reads": pytest.approx(0.65)}
    for near in range(100):
        read.add(Readings(locality=Locality(near / 100, 0.1, 100)))
    assert read.means()["near reads"] == pytest.approx(0.895), "only the last twenty"


@pytest.mark.parametrize(("every", "frames", "told"), [
    (60, 50, None), (60, 119, None), (60, 130, 1000 / 60), (60, 170, 1000 / 60), (None, 100, None), (None, 200, 0.0)])
def test_sorts_are_counted_from_one_to_the_last(every: int | None, frames: int, told: float | None) -> None:
    profile = MadeUp()
    for frame in range(frames):
        profile.frame(sort=bool(every) and frame % (every or 1) == 59)
    found = counted(before_now(profile, 0, 0), {}).get("sorts")
    assert found == (None if told is None else pytest.approx(told))
