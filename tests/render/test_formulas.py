"""Agents are numbered sixteen at a time, in any order of slots, as they would be one by one."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from render_crowds import crowd, seeds, workers

from crowd_demo.compute.arrays import Bytes, Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.hashing import scramble
from crowd_demo.compute.jit import kernel, launch
from crowd_demo.compute.simd import LANES, quotient
from crowd_demo.compute.simd_memory import gather, load, store
from crowd_demo.render.camera import Camera
from crowd_demo.render.drawing import appearance_of_id, number_agents, number_of
from crowd_demo.render.marks import LinkLines


class Looks(NamedTuple):
    id: Ints
    looks: int


@implements(number_of, Looks)
def number_looks(mode: Looks, slots: Int, register: Register) -> Register:
    return appearance_of_id(gather(mode.id, slots), mode.looks)


@kernel
def divide(worker: int, workers: int, values: Ints, by: int, found: Ints) -> None:
    for at in range(0, values.shape[0], LANES):
        store(found, at, quotient(load(values, at), by))


def lists(count: int, seed: int) -> dict[str, Ints]:
    rng, slots = np.random.default_rng(seed), np.arange(count, dtype=np.int32)
    nearly = slots.copy()
    nearly[2:12] = nearly[2:12][::-1]  # between a first and a last slot that look like those of a run
    return {"sorted": slots, "any": rng.permutation(slots), "nearly": nearly, "gaps": slots[rng.random(count) < 0.9].copy()}


@given(count=st.integers(1, 90), seed=st.integers(0, 99), workers=st.integers(1, 3), looks=st.sampled_from([1, 3, 8, 256]))
def test_every_entry_has_the_number_of_its_agent_and_nothing_else_is_written(count: int, seed: int, workers: int,
                                                                             looks: int) -> None:
    ids = np.random.default_rng(seed).integers(0, 1 << 31, count + LANES).astype(np.int32)
    expected = scramble(ids.astype(np.uint32)) % looks
    for slots in lists(count, seed).values():
        found: Bytes = np.full(len(slots) + 3, 77, np.uint8)
        launch(number_agents, workers, slots, Looks(ids, looks), found).run()
        assert np.array_equal(found[:len(slots)], expected[slots]) and (found[len(slots):] == 77).all()


@pytest.mark.quick
@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=40), st.sampled_from([512, 1000, 3_999_999, 1 << 30]))
def test_quotients_of_whole_numbers_are_exact(values: list[int], by: int) -> None:
    edges = [value // by * by + side for value in values for side in (0, 1, -1)]
    padded = np.zeros(-(-len(edges) // LANES) * LANES, np.int32)
    padded[:len(edges)] = np.clip(edges, 0, 2**31 - 1)
    found = np.zeros_like(padded)
    launch(divide, 1, padded, by, found).run()
    assert np.array_equal(found, padded // by)


# --- links on the screen: the pixels of the obvious way, whoever draws them ------------------------------------------

AHEAD = np.float32(0.01)
SIZE = 160, 120


def drawn(links: Any, agents: Any, camera: Camera, threads: int) -> Any:
    frame = np.full(SIZE[::-1], 0x406080, np.uint32)
    for each in LinkLines().launches(threads, (links[:, 0], links[:, 1]), agents, AHEAD, camera.view(), frame):
        each.run()
    return frame & 0xFFFFFF


def plain(links: Any, agents: Any, camera: Camera) -> Any:
    """One link after another, one pixel after another."""
    frame, view = np.full(SIZE[::-1], 0x406080, np.uint32), camera.view()
    x = np.floor((agents.x + agents.vx * AHEAD - view.left) * view.zoom).astype(int)
    y = np.floor((agents.y + agents.vy * AHEAD - view.top) * view.zoom).astype(int)
    for a, b in links:
        dx, dy = int(x[b] - x[a]), int(y[b] - y[a])
        length = max(abs(dx), abs(dy))
        for step in range(length + 1):
            place = np.array([int(y[a]), int(x[a])]) + [rounded(step * (d * 65536 // max(length, 1))) for d in (dy, dx)]
            if 0 <= place[0] < SIZE[1] and 0 <= place[1] < SIZE[0]:
                under = int(frame[tuple(place)])
                frame[tuple(place)] = sum(((under >> shift & 255) // 2 + 255 // 2) << shift for shift in (16, 8, 0))
    return frame


def rounded(parts: int) -> int:
    """Parts of 1/65536 pixel."""
    return (parts + 32768) // 65536


@settings(max_examples=25, deadline=None)
@given(seed=seeds, threads=workers)
def test_lines_are_those_of_the_plain_way_for_any_number_of_workers(seed: int, threads: int) -> None:
    agents, rng = crowd(seed, 40), np.random.default_rng(seed)
    camera = Camera((400.0, 300.0), SIZE)
    camera.look_at(rng.uniform(0, 400), rng.uniform(0, 300), rng.choice([0.3, 1.0, 3.0]))
    links = rng.integers(0, 40, (rng.integers(0, 60), 2)).astype(np.int32)
    assert (drawn(links, agents, camera, threads) == plain(links, agents, camera)).all()


@pytest.mark.quick
def test_agents_beyond_all_pixels_are_harmless() -> None:
    agents = crowd(1, 3)
    agents.x[:2] = 0, 1e9
    camera = Camera((400.0, 300.0), SIZE)
    before = np.full(SIZE[::-1], 0x406080, np.uint32)
    assert (drawn(np.array([[0, 1]], np.int32), agents, camera, 2) == before).all()
