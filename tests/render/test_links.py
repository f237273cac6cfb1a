"""Links on the screen: the pixels of the obvious way, whoever draws them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from render_crowds import crowd, seeds, workers

from crowd_demo.render.camera import Camera
from crowd_demo.render.marks import LinkLines

AHEAD = np.float32(0.01)
SIZE = 160, 120


def drawn(links: Any, agents: Any, camera: Camera, threads: int) -> Any:
    frame = np.full(SIZE[::-1], 0x406080, np.uint32)
    for launch in LinkLines().launches(threads, (links[:, 0], links[:, 1]), agents, AHEAD, camera.view(), frame):
        launch.run()
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
