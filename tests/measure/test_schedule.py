"""Variants run interleaved blocks, in another random order each time, and whoever asks for turns can stop."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from crowd_demo.measure.comparison import WARM_UP, Finished, block_lengths, collect, interleave
from crowd_demo.measure.statistics import LEAST_BLOCKS

pytestmark = pytest.mark.quick


class Counting:
    """A variant whose blocks say how many steps it has made."""

    def __init__(self) -> None:
        self.made: list[int] = []

    def run(self, steps: int) -> int:
        self.made.append(steps)
        return sum(self.made)


def counting(names: str) -> dict[str, Counting]:
    return {name: Counting() for name in names}


def test_every_variant_warms_up_and_then_runs_every_block() -> None:
    variants = counting("abc")
    turns = list(interleave(variants, [4, 4, 2], warm_up=10))
    assert [turn.block for turn in turns] == [WARM_UP] * 3 + [0] * 3 + [1] * 3 + [2] * 3
    assert all(variant.made == [10, 4, 4, 2] for variant in variants.values())
    assert collect(variants, turns) == {name: [14, 18, 20] for name in "abc"}


def test_without_a_warm_up_every_block_counts() -> None:
    assert collect("ab", interleave(counting("ab"), [3])) == {"a": [3], "b": [3]}


def test_each_block_has_an_order_of_its_own_that_the_seed_decides() -> None:
    def orders(seed: int) -> list[str]:
        names = [turn.name for turn in interleave(counting("abc"), [1] * 60, seed=seed)]
        return ["".join(names[start:start + 3]) for start in range(0, len(names), 3)]

    assert orders(1) == orders(1) != orders(2)
    found = Counter(orders(1))
    assert len(found) == 6 and max(found.values()) <= 20  # all six orders, none of them mostly


def test_who_stops_keeps_the_blocks_that_all_variants_finished() -> None:
    variants = counting("ab")
    turns = islice(interleave(variants, [5] * 100, warm_up=1), 7)  # the warm-up, two blocks, and half of the third
    measured = collect(variants, turns)
    assert measured == {"a": [6, 11], "b": [6, 11]}
    assert sorted(sum(variant.made) for variant in variants.values()) == [11, 16]
    assert collect(variants, islice(interleave(variants, [5]), 1)) == collect(variants, ()) == {"a": [], "b": []}


def test_turns_are_plain_records() -> None:
    assert next(interleave(counting("a"), [2])) == Finished(0, "a", 2)


@pytest.mark.parametrize("steps, wanted", [(120, [10] * 12), (125, [10] * 12 + [5]), (30, [5] * 6), (4, [1] * 4), (1, [1])])
def test_steps_are_cut_into_blocks_enough_for_an_interval(steps: int, wanted: list[int]) -> None:
    assert block_lengths(steps) == wanted
    assert sum(wanted) == steps and len(wanted) >= min(steps, LEAST_BLOCKS)
