"""Overlays of how people walk show what slow loops count on the ground in view."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest
from crowds import open_world, simulation
from hypothesis import given
from hypothesis import strategies as st
from overlaid import camera_of, spied

from crowd_demo.render.camera import Camera
from crowd_demo.render.colours.squares import FLOWS
from crowd_demo.render.inks import ink
from crowd_demo.render.overlays import walking
from crowd_demo.sim.behaviours.people_rules import QUEUING, WAITING, PeopleColumns
from crowd_demo.sim.fundamental_diagram import weidmann
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.tiles import Walls

METRE = 26.0


def crowd(walls: bool) -> Simulation:
    sim = simulation("1k", **({"crowd__wait_s": 2.0} if walls else {"crowd__wait_s": 2.0, **open_world(900, 700)}))
    sim.step(150)
    assert (sim.agents.columns.state == WAITING).any()  # type: ignore[attr-defined]
    return sim


def counted(sim: Simulation, view: Any, side: float) -> dict[tuple[int, int], tuple[int, float, float, float]]:
    """Return, by square: how many walk on it; then, of the nine squares around it: the density, people/m², the flow,
    people/(m s), and the mean speed of those who walk, m/s."""
    rect, walls, c = view.camera.view_rect(), sim.terrain.walls, cast(PeopleColumns, sim.agents.columns)
    slots, x, y = view.visible()
    people = [(int(a // side), int(b // side), float(np.hypot(c.vx[slot], c.vy[slot])) / METRE, c.state[slot])
              for slot, a, b in zip(slots.tolist(), x.tolist(), y.tolist(), strict=True)]
    tile = float(walls.tile)

    def free(column: int, row: int) -> float:
        """Square metres that are in view, in the world and on no wall, of nine squares."""
        left, right, top, bottom = (min(max(edge * side, least, 0), most, float(size)) for edge, least, most, size in (
            (column - 1, rect.left, rect.right, walls.width), (column + 2, rect.left, rect.right, walls.width),
            (row - 1, rect.top, rect.bottom, walls.height), (row + 2, rect.top, rect.bottom, walls.height)))
        total = 0.0
        for i, j in np.argwhere(walls.blocked == 0):
            wide = min(right, (j + 1) * tile) - max(left, j * tile)
            high = min(bottom, (i + 1) * tile) - max(top, i * tile)
            total += max(wide, 0) * max(high, 0)
        return max(total, side**2) / METRE**2

    found = {}
    for column, row in {(a + i, b + j) for a, b, _, _ in people for i in (-1, 0, 1) for j in (-1, 0, 1)}:
        near = [each for each in people if abs(each[0] - column) <= 1 and abs(each[1] - row) <= 1]
        walkers = [speed for _, _, speed, state in near if state not in (WAITING, QUEUING)]
        here = sum(each[:2] == (column, row) and each[3] not in (WAITING, QUEUING) for each in near)
        area = free(column, row)
        found[column, row] = (here, len(near) / area, sum(speed for _, _, speed, _ in near) / area,
                              float(np.mean(walkers)) if walkers else 0.0)
    return found


@pytest.mark.parametrize("walls", [False, True])
def test_squares_have_the_colour_of_the_flow_around_them(walls: bool) -> None:
    sim = crowd(walls)
    spy, view = spied(sim, walking.draw_throughput, 0.8)
    filled = spy.by_place
    ground: Walls = sim.terrain.walls
    side, tile = walking._side(view.camera.view_rect(), ground), float(ground.tile)
    rect, expected = view.camera.view_rect(), counted(sim, view, side)
    part = min(side, tile) if ground.blocked.any() else side
    for (left, top), (size, colour) in spy.by_place.items():
        _, density, flow, _ = expected[int((left + size / 2) // side), int((top + size / 2) // side)]
        levels = {int(np.searchsorted(np.array(FLOWS), flow * share, "right")) for share in (0.999, 1.001)}
        assert density and size == part and colour in {int(walking.FLOW_INKS[level]) for level in levels}
    painted = free_in_view = 0.0
    for column, row in expected:  # all free ground of squares with somebody around that are in view
        places = [((column * side + (i + 0.5) * part), (row * side + (j + 0.5) * part))
                  for i in range(round(side / part)) for j in range(round(side / part))]
        if rect.left < (column + 1) * side and column * side <= rect.right and rect.top < (row + 1) * side \
                and row * side <= rect.bottom:
            painted += sum((x - part / 2, y - part / 2) in filled for x, y in places)
            free_in_view += sum(0 <= x < float(ground.width) and 0 <= y < float(ground.height)
                                and not ground.blocked[int(y / tile), int(x / tile)] for x, y in places)
    assert painted == free_in_view == len(filled) and len({colour for _, colour in filled.values()}) > 2


@pytest.mark.parametrize("walls", [False, True])
def test_squares_have_the_colour_of_their_speed_and_the_chart_counts_them(walls: bool) -> None:
    sim = crowd(walls)
    spy, view = spied(sim, walking.draw_fundamental, 0.8)
    side = walking._side(view.camera.view_rect(), sim.terrain.walls)
    squares = [each for each in counted(sim, view, side).values() if each[0]]
    chart = spy.legend_items[0].chart
    assert chart and chart.counts.sum() == len(squares)
    expected = counted(sim, view, side)
    for (left, top), (size, colour) in spy.by_place.items():
        here, density, _, speed = expected[int((left + size / 2) // side), int((top + size / 2) // side)]
        shares = [speed * factor / weidmann(density) for factor in (0.999, 1.001)]
        assert here and colour in {ink([each for least, each, _ in walking.SPEEDS if share >= least][-1], walking.ALPHA)
                                   for share in shares}
    wide = chart.ends[0] / chart.counts.shape[1]
    assert round(wide * (3 * side / METRE) ** 2, 6).is_integer(), "each bin holds as many densities as any other"
    assert abs((chart.counts.sum(axis=0) @ (np.arange(len(chart.counts[0])) + 0.5)) * wide
               - sum(density for _, density, _, _ in squares)) <= 0.51 * wide * len(squares)


@given(density=st.lists(st.floats(0, 9), min_size=1, max_size=20), speed=st.floats(0, 4))
def test_the_chart_counts_each_square_once_where_it_belongs(density: list[float], speed: float) -> None:
    chart = walking.chart_of(np.array(density), np.full(len(density), speed), 0.15)
    expected = np.zeros((40, 40), np.int64)
    for each in density:
        expected[min(int(speed / 0.05), 39), min(int(each / 0.15), 39)] += 1
    assert (chart.counts == expected).all()
    for row, column in ((0, 3), (8, 0), (13, 0), (39, 0), (20, 20), (2, 20), (0, 39)):
        share = (row + 0.5) * 0.05 / max(float(weidmann((column + 0.5) * 0.15)), 1e-12)
        assert chart.classes[row, column] == sum(share >= least for least, _, _ in walking.SPEEDS) - 1


@pytest.mark.parametrize("zoom", [0.02, 0.3, 4.0])
def test_squares_are_parts_of_tiles_or_whole_ones_and_not_too_many(zoom: float) -> None:
    sim = simulation("1k")
    camera = camera_of(sim, zoom)
    side, tile = walking._side(camera.view_rect(), sim.terrain.walls), float(sim.terrain.walls.tile)
    assert math.log2(side / tile) % 1 == 0 and 22 < side < 46


def test_a_view_beside_the_world_shows_nobody() -> None:
    sim = crowd(False)
    camera = Camera((9000.0, 7000.0), (320, 240))
    camera.look_at(8000, 6000, 1.0)
    for draw in (walking.draw_throughput, walking.draw_fundamental):
        spy, _ = spied(sim, draw, camera=camera)
        assert not spy.by_place and len(spy.legend_items) == 1
