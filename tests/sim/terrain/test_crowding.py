"""Prices of tiles: against the page of the model, how fields change over to them, and what a snapshot keeps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference_people import people_prices
from terrains import terrain_of, town

from crowd_demo.compute.jit import run
from crowd_demo.sim.terrain.crowding import NEW, OLD, PLAIN, Crowding
from crowd_demo.sim.terrain.tiles import Terrain

Array = NDArray[Any]


def floats(*values: float) -> Array:
    return np.array(values, np.float32)


def count(crowding: Crowding, terrain: Terrain, tick: int, x: Array, y: Array) -> Array:
    """Make a step; return the new prices."""
    run(crowding.launches(tick, x, y, len(x), terrain.walls))
    crowding.keep()
    return crowding.prices(tick).tiles[NEW]


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from([1.0, 16.0, 40.0, 90.25]), st.integers(0, 400),
       st.sampled_from([0.01, 0.5, 1.0, 100.0]), st.integers(0, 99))
def test_prices_are_those_of_the_page(columns: int, rows: int, tile: float, agents: int, detour: float, seed: int) -> None:
    terrain = terrain_of(np.zeros((rows, columns), np.uint8), tile, count=3)
    crowding, chance = Crowding(terrain, detour), np.random.default_rng(seed)
    for _ in range(2):  # counts begin at 0 again
        x, y = ((side * 0.999 * chance.random(agents) ** 3).astype(np.float32) for side in (columns * tile, rows * tile))
        expected = people_prices(x, y, terrain.walls, detour)
        assert np.array_equal(count(crowding, terrain, 0, x, y), expected)
    assert expected.min() >= PLAIN


@pytest.mark.quick
def test_a_price_grows_with_the_square_of_the_people_and_has_a_bound() -> None:
    terrain = terrain_of(np.zeros((1, 5), np.uint8), 26.0, count=1)  # tiles of a square metre
    x = np.repeat(floats(13, 39, 65, 91), [1, 2, 5, 6])
    prices = count(Crowding(terrain, 1.0), terrain, 0, x, np.full(len(x), 13, np.float32))
    assert prices.tolist() == [[16, 40, 208, 255, 8]]
    assert count(Crowding(terrain, 0.3), terrain, 0, x, np.full(len(x), 13, np.float32)).tolist() == [[10, 17, 68, 94, 8]]


@pytest.mark.quick
def test_no_way_through_the_largest_map_costs_more_than_an_integer_holds() -> None:
    terrain = terrain_of(np.zeros((2048, 2048), np.uint8), 8.0, count=1)
    prices = count(Crowding(terrain, 100.0), terrain, 0, np.zeros(50, np.float32), np.zeros(50, np.float32))
    assert prices[0, 0] == 73 and 73 * 7 * 2048**2 < 2**31 <= 74 * 7 * 2048**2 and prices[0, 1] == PLAIN


@pytest.mark.quick
def test_people_are_counted_now_and_then_and_fields_change_over_in_turn() -> None:
    terrain = town("01234", ".....", width=50, height=20)
    crowding = Crowding(terrain, 1.0, every=12)
    assert crowding.prices(0).tiles.tolist() == np.full((2, 2, 5), PLAIN).tolist()
    x, y, changes, seen = np.full(3, 5, np.float32), np.full(3, 5, np.float32), {}, []
    for tick in range(24):
        x += np.float32(0.4)
        count(crowding, terrain, tick, x, y)
        changes[tick] = np.flatnonzero(crowding.outdated(tick)).tolist()
        assert crowding.prices(tick).chosen.tolist() == [NEW if tick % 12 >= turn else OLD for turn in (0, 2, 4, 7, 9)]
        seen.append(crowding.state.copy())
    assert {tick: goals for tick, goals in changes.items() if goals} == {
        0: [0], 2: [1], 4: [2], 7: [3], 9: [4], 12: [0], 14: [1], 16: [2], 19: [3], 21: [4]}
    assert [tick for tick in range(1, 24) if not np.array_equal(seen[tick], seen[tick - 1])] == [12]
    assert np.array_equal(seen[12][OLD], seen[11][NEW]) and not np.array_equal(seen[12][OLD], seen[12][NEW])


@pytest.mark.quick
def test_on_large_maps_people_look_less_often() -> None:
    terrain = terrain_of(np.zeros((300, 400), np.uint8), count=12)
    assert Crowding(terrain, 1.0, every=60).every == math.ceil(12 * 300 * 400 / 8192) == 176
    assert Crowding(terrain, 1.0, every=500).every == 500
    assert Crowding(terrain, 1.0, every=0).every == 176 and Crowding(town("0."), 1.0, every=0).every == 1


@pytest.mark.quick
def test_nobody_writes_into_the_state_and_it_can_be_had_again() -> None:
    terrain = town("0...", width=40, height=10)
    crowding, x, y = Crowding(terrain, 1.0), floats(15, 15), floats(5, 5)
    count(crowding, terrain, 0, x, y)
    state, kept = crowding.state, crowding.state.copy()
    count(crowding, terrain, 1, x + 10, y)
    assert np.array_equal(state, kept) and not np.array_equal(crowding.state, kept)
    assert crowding.allows(state) and not crowding.allows(state[:1]) and not crowding.allows(state - PLAIN)
    crowding.state = state
    assert crowding.prices(1).tiles is state


@pytest.mark.quick
def test_who_takes_the_shortest_ways_has_no_state() -> None:
    crowding = Crowding(town("0...", width=40, height=10))
    assert not crowding.active and crowding.state.shape == (0, 1, 4) and crowding.allows(crowding.state)
    crowding.state = crowding.state
    assert crowding.prices(5).tiles.shape == (2, 1, 4)
