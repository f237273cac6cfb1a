"""What a tour's texts say of the times that were measured."""

from __future__ import annotations

import math
import re

import pytest

from crowd_demo.app.live_numbers import (
    COMPARED,
    NOT_TOLD,
    SENTENCE_END,
    Since,
    compared,
    filled,
    measured,
    number_text,
    of_card,
)
from crowd_demo.config.resources import list_tours
from crowd_demo.config.tour import BEFORE, NUMBERS, PLACEHOLDER, load_tour
from crowd_demo.profile import Profile
from crowd_demo.render.hud.card import Span, outcome_text
from crowd_demo.sim.metrics.readings import Readings

pytestmark = pytest.mark.quick


def profile(frames: int, steps_a_frame: int = 1, interaction_ms: float = 2.0) -> Profile:
    """Frames of 10 ms in which `blit` takes 3 and `cull` 1; of a step `interaction` takes that long, and `move` 1."""
    made = Profile()
    made.counters |= {"total": 500, "drawn": 120, "due": 100, "candidates_per_agent": 64.25, "neighbours_per_agent": 8.5}
    for _ in range(frames):
        for _ in range(steps_a_frame):
            made.begin_step()
            made.add("interaction", interaction_ms)
            made.add("move", 1.0)
            made.end_step()
        made.add("cull", 1.0)
        made.add("blit", 3.0)
        made.end_frame(10.0)
    return made


def test_steps_are_told_apart_from_frames_and_drawing() -> None:
    now = measured(profile(30, steps_a_frame=2), Readings(), Since(0, 0), 60)
    assert [now[name] for name in ("step_ms", "interaction_ms", "draw_ms")] == pytest.approx([3, 2, 4])
    assert (now["frame_ms"], now["fps"], now["agents"], now["drawn"], now["candidates"]) == (7, 100, 500, 120, 64.25)
    assert math.isnan(now["near_reads"])
    assert math.isnan(measured(profile(20, steps_a_frame=0), Readings(), Since(0, 0), 60)["step_ms"])
    assert {name for name in now if "." not in name} | {"factor", "faster", "draw_factor", "draw_faster"} == NUMBERS.keys()


def test_only_frames_since_the_moment_count_and_only_the_last_of_them() -> None:
    made = profile(20)
    since = Since(made.frames, made.steps)
    for ms in (8.0, 8.0, 1.0, 1.0, 1.0):
        made.begin_step()
        made.add("interaction", ms)
        made.end_step()
        made.end_frame(ms)
    assert measured(made, Readings(), since, 60)["fps"] == 1000
    assert measured(made, Readings(), since, 3)["interaction_ms"] == 1
    assert measured(made, Readings(), Since(0, 0), 60)["fps"] == 100


def test_a_step_in_which_nobody_looks_around_does_not_count() -> None:
    made = profile(2)
    made.counters |= {"due": 300, "candidates_per_agent": 40.25, "neighbours_per_agent": 4.5}
    made.end_frame(10.0)
    made.counters |= {"due": 0, "candidates_per_agent": 0.0, "neighbours_per_agent": 0.0}
    made.end_frame(10.0)
    now = measured(made, Readings(), Since(1, 1), 60)
    assert (now["candidates"], now["neighbours"]) == ((64.25 + 3 * 40.25) / 4, (8.5 + 3 * 4.5) / 4)
    assert math.isnan(measured(made, Readings(), Since(3, 2), 60)["candidates"])


def test_of_what_a_card_tells_a_tour_says_the_same() -> None:
    span = Span("step", 8.0, 2.0, 4.0, 3.5, 4.5, "faster")
    before, now = of_card([span], {"near reads": (0.12, 0.66), "candidates_per_agent": (600.0, 12.4), "registers": (0, 7)})
    assert (before["step_ms"], now["step_ms"]) == (8.0, 2.0)
    assert [number_text(name, now[name]) for name in ("near_reads", "candidates")] == ["66", "12"]
    assert (before["near_reads"], before["candidates"]) == (12.0, 600.0) and "registers" not in now and "drawn" not in now


@pytest.mark.parametrize(("span", "card", "tour"), [
    (Span("step", 8.0, 2.0, 4.0, 3.5, 4.5, "faster"), "4.0x faster", "4.0 times as fast"),
    (Span("step", 2.0, 8.0, 0.25, 0.2, 0.3, "slower"), "4.0x slower", "4.0 times slower"),
    (Span("step", 2.0, 2.06, 0.97, 0.9, 1.1, "no difference"), "no difference", "about as fast"),
    (Span("step", 8.48, 10.1, 0.84, 0.55, 1.2, "no difference"), "too noisy to tell", NOT_TOLD),
    (Span("step", 2.0, 2.04, 0.98, 0.6, 1.6, "no difference"), "too noisy to tell", NOT_TOLD),
    (Span("step", 8.6, 3.4, 2.53, 2.3, 5.7, "faster"), "2.5x faster", "2.5 times as fast"),
    (Span.about("step", 4.8, 11.5, True), "no factor", "2.4 times slower"),
    (Span.about("step", 1.5, 1433.0, True), "about 955x slower", "955 times slower")])
def test_a_tour_says_in_words_what_the_card_says(span: Span, card: str, tour: str) -> None:
    assert (outcome_text(span), compared("faster", *of_card([span], {}))) == (card, tour)


@pytest.mark.parametrize(("before", "now", "factor", "words"), [
    (30.0, 10.0, "3.0", "3.0 times as fast"), (10.0, 10.4, "0.96", "about as fast"), (10.0, 20.0, "0.50", "2.0 times slower"),
    (4000.0, 1.0, "4,000", "4,000 times as fast"), (10.6, 10.0, "1.06", "1.06 times as fast"),
    (math.nan, 10.0, "", ""), (10.0, math.nan, "", ""),
])
def test_times_are_compared_in_numbers_and_in_words(before: float, now: float, factor: str, words: str) -> None:
    assert compared("factor", {"step_ms": before}, {"step_ms": now}) == factor
    assert compared("faster", {"step_ms": before}, {"step_ms": now}) == words
    assert compared("draw_faster", {"draw_ms": before}, {"draw_ms": now}) == words


@pytest.mark.parametrize(("name", "value", "text"), [
    ("step_ms", 0.3149, "0.31"), ("step_ms", 3.14, "3.1"), ("step_ms", 31.4, "31.4"), ("step_ms", 3141.5, "3,142"),
    ("candidates", 64.25, "64"), ("candidates", 6.42, "6.4"), ("agents", 20_000.0, "20,000"), ("fps", 7.0, "7"),
    ("drawn", math.nan, "")])
def test_numbers_have_as_many_digits_as_can_be_read(name: str, value: float, text: str) -> None:
    assert number_text(name, value) == text


def test_a_factor_that_is_within_the_noise_is_none_in_words() -> None:
    wide, narrow = ({"step_ms.low": 1 - part, "step_ms.high": 1 + part} for part in (0.6, 0.1))
    assert compared("faster", {"step_ms": 6.0, **wide}, {"step_ms": 4.0, **wide}) == NOT_TOLD
    assert compared("faster", {"step_ms": 6.0, **narrow}, {"step_ms": 4.0, **narrow}) == "1.5 times as fast"
    assert compared("faster", {"step_ms": 4.1, **wide}, {"step_ms": 4.0, **wide}) == NOT_TOLD
    small = {"step_ms.low": 0.98, "step_ms.high": 1.02}
    assert compared("faster", {"step_ms": 4.05, **small}, {"step_ms": 4.0, **small}) == "about as fast"


def test_a_text_is_filled_with_what_is_known_by_now() -> None:
    text = "{before.step_ms} to {step_ms} ms, {faster}, {brute.factor}x, {brute.candidates} others"
    marks = {BEFORE: {"step_ms": 6.0}, "brute": {"step_ms": 300.0, "candidates": 5000.0}}
    assert filled(text, None, marks) == "6 to … ms, …, …x, 5,000 others"
    assert filled(text, {"step_ms": 3.0}, marks) == "6 to 3 ms, 2.0 times as fast, 100x, 5,000 others"
    missing = ", ".join(NUMBERS[name] for name in ("step_ms", "faster", "factor", "candidates"))
    assert filled(f"Hi. {text}", {"step_ms": 3.0}, {}) == f"Hi. Not measured: {missing}."


@pytest.mark.parametrize("name", list(list_tours()))
def test_no_sentence_of_a_tour_has_a_missing_number(name: str) -> None:
    """Whichever readings are missing: a sentence that needs one is left out, all others stay, and each is named."""
    marks = {BEFORE, *(step.mark for step in load_tour(name).steps if step.mark)}
    for page in load_tour(name).pages:
        for text in filter(None, (page.text, page.question)):
            named = {placeholder.rpartition(".")[2] for placeholder in PLACEHOLDER.findall(text)}
            for gone in (set[str](), *({number} for number in NUMBERS.keys() - COMPARED), set(NUMBERS)):
                known = {number: 7.0 for number in NUMBERS if number not in gone}
                told = filled(text, known, dict.fromkeys(marks, known))
                lost = {number for number in named if COMPARED.get(number, number) in gone}
                sentences = [PLACEHOLDER.sub("7", one) for one in SENTENCE_END.split(text)
                             if not any(f"{{{number}}}" in one or f".{number}}}" in one for number in lost)]
                assert (" ".join(sentences) in told.replace("about as fast", "7").replace("1.00", "7")
                        and ("Not measured: " in told) == bool(lost)), (text, gone, told)
                assert all(NUMBERS[number] in told for number in lost)
                assert not re.search(r"nan|None|\{|  | ,| ms per step ms", told), told


@pytest.mark.parametrize("name", list(list_tours()))
def test_words_about_speed_end_their_clause(name: str) -> None:
    """They may be "about as fast" or "1.4 times slower", so nothing such as "as without" can follow."""
    for page in load_tour(name).pages:
        for follows in re.findall(r"faster\}(.?)", page.text + page.question):
            assert follows in ("", ".", ","), page.text
