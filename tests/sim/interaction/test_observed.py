"""What others can observe is written once: columns, strips and registers give the same."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from numba import TypingError

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Rules
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import LANES, select, to_int
from crowd_demo.compute.simd_memory import MAX_FIELDS, Contiguous, gather, store, store_record
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import read_strip

pytestmark = pytest.mark.quick


class BeetleColumns(NamedTuple):
    x: Floats
    half: Floats
    state: Ints


class BeetleRules(NamedTuple):
    pull: Floats


class WideRules(NamedTuple):
    """Of agents of whom too much can be observed."""


class Beetle(NamedTuple):
    x: Float
    thin: Float
    pull: Float
    state: Int
    length: Int


@implements(pairwise.observe, BeetleRules)
def observe(rules: BeetleRules, columns: BeetleColumns, slots: Int) -> Beetle:
    half, state = gather(columns.half, slots), gather(columns.state, slots)
    length = to_int(select(state > 0, half, 0) * 256)
    return Beetle(gather(columns.x, slots), 1 / half, gather(rules.pull, slots), state, length)


@implements(pairwise.observe, WideRules)
def observe_too_much(rules: WideRules, columns: BeetleColumns, slots: Int) -> tuple[Float, ...]:
    x = gather(columns.x, slots)
    return x, x, x, x, x, x, x, x, x, x, x, x


@device
def write(found: Beetle, at: int, floats: Floats, ints: Ints) -> None:
    store(floats[0], at, found.x)
    store(floats[1], at, found.thin)
    store(floats[2], at, found.pull)
    store(ints[0], at, found.state)
    store(ints[1], at, found.length)


@device
def carry(rules: Rules, c: BeetleColumns, slots: Ints, members: Ints, rows: Ints, floats: Floats, ints: Ints) -> None:
    """Write what is read in five ways: of slots and places in the strip one by one, of slots, a run and places by sixteen."""
    store_record(rows, 0, pairwise.observe(rules, c, slots))  # type: ignore[arg-type]
    store_record(rows, LANES, pairwise.observe(rules, c, Contiguous(slots[0])))  # type: ignore[arg-type]
    for k in range(LANES):
        write(pairwise.observe(rules, c, slots[k]), k, floats[0], ints[0])  # type: ignore[arg-type]
        write(read_strip(rules, c, rows, k), k, floats[1], ints[1])  # type: ignore[arg-type]
    write(pairwise.observe(rules, c, slots), 0, floats[2], ints[2])  # type: ignore[arg-type]
    write(read_strip(rules, c, rows, Contiguous(0)), 0, floats[3], ints[3])  # type: ignore[arg-type]
    write(read_strip(rules, c, rows, members), 0, floats[4], ints[4])  # type: ignore[arg-type]
    write(read_strip(rules, c, rows, Contiguous(LANES)), 0, floats[5], ints[5])  # type: ignore[arg-type]


def beetles(slots: Ints) -> tuple[BeetleRules, BeetleColumns, list[list[float]], list[list[int]]]:
    rng, count = np.random.default_rng(1), 60
    x, half, pull = rng.uniform(1, 9, (3, count)).astype(np.float32)
    state = rng.integers(0, 2, count).astype(np.int32)
    floats = np.array([x, np.float32(1) / half, pull])[:, slots]
    ints = np.array([state, np.where(state > 0, half * 256, 0)], np.int32)[:, slots]
    return BeetleRules(pull), BeetleColumns(x, half, state), floats.tolist(), ints.tolist()


def test_columns_a_strip_and_registers_give_the_same() -> None:
    rng = np.random.default_rng(2)
    slots, members = rng.permutation(40)[:LANES].astype(np.int32), rng.permutation(LANES).astype(np.int32)
    rules, columns, wanted, wanted_ints = beetles(slots)
    rows = np.zeros((6, 3 * LANES), np.int32)
    floats, ints = np.zeros((6, 3, LANES), np.float32), np.zeros((6, 2, LANES), np.int32)
    carry(rules, columns, slots, members, rows, floats, ints)
    assert floats[:4].tolist() == [wanted] * 4
    assert ints[:4].tolist() == [wanted_ints] * 4
    assert floats[4].tolist() == np.array(wanted, np.float32)[:, members].tolist()
    assert ints[4].tolist() == np.array(wanted_ints)[:, members].tolist()
    _, _, wanted, wanted_ints = beetles(np.arange(slots[0], slots[0] + LANES, dtype=np.int32))
    assert (floats[5].tolist(), ints[5].tolist()) == (wanted, wanted_ints)


@device
def write_too_much(rules: Rules, columns: BeetleColumns, rows: Ints) -> None:
    store_record(rows, 0, pairwise.observe(rules, columns, Contiguous(0)))  # type: ignore[arg-type]


@device
def read_too_much(rules: Rules, columns: BeetleColumns, rows: Ints) -> Float:
    return read_strip(rules, columns, rows, 0)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("carry_too_much", [write_too_much, read_too_much])
def test_a_strip_has_room_for_only_some_fields(carry_too_much: Callable[..., object]) -> None:
    _, columns, _, _ = beetles(np.zeros(1, np.int32))
    with pytest.raises(TypingError, match=f"a record can have at most {MAX_FIELDS} fields"):
        carry_too_much(WideRules(), columns, np.zeros((MAX_FIELDS, 2 * LANES), np.int32))
