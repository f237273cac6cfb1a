"""What others can observe is declared once: all that carries it carries the same."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Rules
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import LANES, select, to_int
from crowd_demo.compute.simd_memory import store
from crowd_demo.sim.interaction.pairwise import COLUMNS, copy_to_strip, load_register, observes, read_columns, read_strip

pytestmark = pytest.mark.quick


class BeetleColumns(NamedTuple):
    x: Floats
    half: Floats
    state: Ints


@formula
def inverse(half: Float) -> Float:
    return 1 / half


@formula
def length(state: Int, half: Float) -> Int:
    return to_int(select(state > 0, half, 0) * 256)


@observes("x", ("thin", inverse, "half"), "rules.pull", ints=("state", ("length", length, "state", "half")))
class BeetleRules(NamedTuple):
    pull: Floats


@device
def carry(rules: Rules, c: BeetleColumns, slots: Ints, strip: tuple[Floats, Ints], floats: Floats, ints: Ints) -> None:
    """Write what is read of each slot, of each place in the strip, and of the register: rows 0, 1 and 2."""
    copy_to_strip(rules, c, slots, strip, 0)  # type: ignore[arg-type]
    for k in range(LANES):
        for way in range(2):
            found = read_strip(rules, strip, k) if way else read_columns(rules, c, slots[k])  # type: ignore[arg-type]
            floats[way, 0, k], floats[way, 1, k], floats[way, 2, k] = found.x, found.thin, found.pull
            ints[way, 0, k], ints[way, 1, k] = found.state, found.length
    many = load_register(rules, strip, 0)
    store(floats[2, 0], 0, many.x)
    store(floats[2, 1], 0, many.thin)
    store(floats[2, 2], 0, many.pull)
    store(ints[2, 0], 0, many.state)
    store(ints[2, 1], 0, many.length)


def test_an_agent_a_strip_and_a_register_tell_the_same() -> None:
    rng, count = np.random.default_rng(1), 40
    x, half, pull = rng.uniform(1, 9, (3, count)).astype(np.float32)
    state, slots = rng.integers(0, 2, count).astype(np.int32), rng.permutation(count)[:LANES].astype(np.int32)
    strip = np.zeros((6, 2 * LANES), np.float32), np.zeros((4, 2 * LANES), np.int32)
    floats, ints = np.zeros((3, 3, LANES), np.float32), np.zeros((3, 2, LANES), np.int32)
    carry(BeetleRules(pull), BeetleColumns(x, half, state), slots, strip, floats, ints)
    wanted = np.array([x, np.float32(1) / half, pull])[:, slots]
    assert floats.tolist() == [wanted.tolist()] * 3
    assert ints.tolist() == [np.array([state, np.where(state > 0, half * 256, 0)], np.int32)[:, slots].tolist()] * 3
    assert COLUMNS[BeetleRules] == ("x", "half", "state")


def test_only_so_much_can_be_observed() -> None:
    with pytest.raises(ValueError, match="at most 7 floats and 4 ints, not 8 and 0"):
        observes(*"abcdefgh")
