"""The search finds the largest number that fits, whatever fits, and is not misled by a moment in which nothing did."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from crowd_demo.measure.largest import largest_number

pytestmark = pytest.mark.quick


def found(start: int, most: int, fits: Callable[[int], bool], precision: float = 0.02) -> tuple[int, list[int]]:
    """The answer, and what was asked."""
    search, asked = largest_number(start, most, precision), []
    try:
        number = next(search)
        while True:
            asked.append(number)
            number = search.send(fits(number))
    except StopIteration as end:
        return end.value, asked


@pytest.mark.parametrize("start", [1, 7, 100, 299, 1000])
def test_without_tolerance_it_finds_the_very_number(start: int) -> None:
    for limit in range(320):
        answer, asked = found(start, 300, lambda number, limit=limit: number <= limit, precision=0)  # type: ignore[misc]
        assert answer == min(limit, 300) and all(1 <= number <= 300 for number in asked)


@pytest.mark.parametrize("limit", [0, 1, 99, 12_345, 1_999_999, 2_000_000, 10**9])
@pytest.mark.parametrize("start", [1, 1000, 2_000_000])
def test_it_comes_as_near_as_it_is_asked_to_in_few_questions(limit: int, start: int) -> None:
    answer, asked = found(start, 2_000_000, lambda number: number <= limit)
    truth = min(limit, 2_000_000)
    assert answer <= truth <= max(answer * 1.02, answer + 1) and len(asked) < 40


def test_it_doubles_and_then_bisects_with_round_numbers() -> None:
    assert found(1000, 10**6, lambda number: number <= 12_345) == (
        12_300, [1000, 2000, 4000, 8000, 16_000, 11_300, 13_400, 12_300, 12_800, 12_500, 12_500])


def test_a_moment_in_which_nothing_fitted_does_not_end_it() -> None:
    """2,000 fits but for the first time that it is asked; so it is asked again, and the search goes on above."""
    times: list[int] = []

    def fits(number: int) -> bool:
        times.append(number)
        return number <= 12_345 and (number, times.count(number)) != (2000, 1)

    answer, asked = found(1000, 10**6, fits)
    assert answer == 12_300 and asked.count(2000) == 2
