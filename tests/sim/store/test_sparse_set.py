"""The sparse set against a plain list, its handles, and its memory against the formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_storage import ListedIds

from crowd_demo.sim.store.sparse_set import MODES, SparseSet

pytestmark = pytest.mark.quick
ids = st.lists(st.integers(0, 40), max_size=25)


@settings(max_examples=100, deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from(["add", *MODES, "compact"]), ids), max_size=12))
def test_a_set_and_its_data_follow_a_plain_list(steps: list[tuple[str, list[int]]]) -> None:
    got, wanted = SparseSet(8), ListedIds()
    data = np.zeros(50, int)
    for what, some in steps:
        if what == "add":
            for identity in some:
                wanted.add(identity)
            new = got.add_many(np.array(some, int))
            data[got.slots_of(new)] = new * 10
            moves = None
        elif what == "compact":
            wanted.compact()
            moves = got.compact()
        else:
            wanted.discard_many(some, what)
            moves = got.discard_many(np.array(some, int), what)
        if moves:
            data[moves.target] = data[moves.source]
        members = [identity for identity in wanted.slots if identity is not None]
        assert got.ids.tolist() == [-1 if identity is None else identity for identity in wanted.slots]
        assert len(got) == len(members) and np.flatnonzero(got.has(np.arange(50))).tolist() == sorted(members)
        slots = got.slots_of(members)
        assert slots.tolist() == [wanted.slots.index(identity) for identity in members]
        assert data[slots].tolist() == [identity * 10 for identity in members]
    assert got.generations[:8].tolist() == [wanted.removed.get(identity, 0) for identity in range(8)]


def test_gaps_of_several_deferred_removals_are_closed_together() -> None:
    some = SparseSet()
    some.add_many(np.arange(10))
    for gone in (2, 5, 7):
        some.discard_many(np.array([gone]), "deferred")
    assert some.ids.tolist() == [0, 1, -1, 3, 4, -1, 6, -1, 8, 9]
    some.compact()
    assert some.ids.tolist() == [0, 1, 3, 4, 6, 8, 9]


def test_unknown_ids_are_harmless() -> None:
    some = SparseSet()
    assert some.slots_of([0, -1, 10**12]).tolist() == [-1, -1, -1]
    some.add_many(np.array([3, 5, 3]))
    some.add_many(np.array([3]))
    assert some.slots_of(np.array([-1, 3, 4, 5, 10**9])).tolist() == [-1, 0, -1, 1, -1]
    for mode in MODES:
        some.discard_many(np.array([-7, 4, 99, 10**9]), mode)
    assert some.ids.tolist() == [3, 5] and not some.generations.any()
    with pytest.raises(ValueError, match="0, 1, 2"):
        some.add_many([-1])
    with pytest.raises(ValueError, match="swap_back, shift, deferred"):
        some.discard_many([3], "erase")


@pytest.mark.parametrize("mode", MODES)
def test_a_generation_ends_with_its_member_and_not_with_a_sort(mode: str) -> None:
    some = SparseSet()
    some.add_many(np.arange(10))
    some.adopt(np.array([9, 3, 1, 4, 0, 2, 8, 7, 6, 5], np.int32))
    assert some.slots_of([4]) == [3] and not some.generations.any()
    for _ in range(2):
        some.discard_many([4], mode)
    assert some.generations.nonzero()[0].tolist() == [4] and some.generations[4] == 1


def test_any_sequence_of_ids_will_do() -> None:
    some = SparseSet()
    assert some.add_many([4, 1]).tolist() == [4, 1] and some.add_many([]).tolist() == []
    assert some.has((1, 2, 4)).tolist() == [True, False, True] and some.slots_of(range(3)).tolist() == [-1, 1, -1]
    assert some.has([]).tolist() == [] and not len(some.discard_many(np.array([])).target)
    for nobody in MODES:
        some.discard_many([], nobody)
    some.discard_many([4, 9])
    assert some.ids.tolist() == [1]


def test_free_ids_are_the_lowest() -> None:
    some = SparseSet(4)
    some.add_many(np.array([0, 2, 3, 5]))
    assert some.free_ids(4).tolist() == [1, 4, 6, 7]
    some.discard_many([2], "deferred")
    assert some.free_ids(2).tolist() == [1, 2]
