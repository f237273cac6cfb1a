"""Heat maps: their squares and scales, and what is painted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.overlays.fields import LEAST_PX, on_free_tiles, side_of
from crowd_demo.render.overlays.sketch import LASTING, Heat, Scales, Sketch, cells_between, draw_heat, round_up, squares_in

pytestmark = pytest.mark.quick


def test_ends_are_whole_numbers_in_three_equal_steps_and_never_far_above() -> None:
    assert [round_up(most) for most in (0, 1, 4, 5, 11, 14, 20, 72)] == [4, 4, 4, 7, 13, 19, 25, 73]
    for most in range(1, 3000):
        end = round_up(most)
        assert most <= end <= 1.5 * most + 3 and (end - 1) % 3 == 0


def test_a_scale_rises_at_once_and_comes_down_once_no_picture_has_needed_it_for_long() -> None:
    scales = Scales()
    assert [scales.end_of("agents", most) for most in (11, 20, 11)] == [13, 25, 25]
    ends = [scales.end_of("agents", 11) for _ in range(2 * LASTING)]
    assert ends == [25] * (LASTING - 2) + [13] * (LASTING + 2)


def test_a_scale_that_is_needed_now_and_then_stays() -> None:
    scales = Scales()
    ends = [scales.end_of("agents", 20 if picture % 100 == 0 else 11) for picture in range(5 * LASTING)]
    assert set(ends) == {25}


def test_each_heat_map_has_a_scale_of_its_own() -> None:
    scales = Scales()
    assert [scales.end_of("candidates", 90), scales.end_of("agents", 5), scales.end_of("candidates", 60)] == [97, 7, 97]


def test_the_legend_begins_at_one_and_has_a_colour_for_each_third() -> None:
    for most, texts in ((1, "1 2 3 4"), (4, "1 2 3 4"), (5, "1 3 5 7"), (20, "1 9 17 25")):
        sketch, edge = Sketch(Camera((400.0, 300.0), (200, 150))), np.zeros(1)
        sketch.name = "heat"
        draw_heat(sketch, Heat(edge, edge, edge + 10, edge + 10, np.array([most], np.float64)), "agents", Scales())
        assert [key.what for key in sketch.legend_items[0].keys] == texts.split()


# --- squares of the ground in view -----------------------------------------------------------------------------------

SIDE = 41.5


@pytest.mark.parametrize("view", [Rect(0, 0, 415, 83), Rect(-90.0, -0.1, 700.0, 300.0), Rect(103.7, 55.0, 104.0, 55.2)])
def test_every_place_in_view_is_in_the_square_that_its_number_says(view: Rect) -> None:
    squares = squares_in(view, SIDE)
    x, y = (place.ravel() for place in np.meshgrid(np.linspace(view.left, view.right, 50),
                                                    np.linspace(view.top, view.bottom, 50)))
    number = squares.number_at(x, y)
    assert set(number.tolist()) == set(range(squares.total)), "each of them is in view"
    column, row = squares.cell_of(number)
    for place, first in ((x, column), (y, row)):
        assert (first * SIDE <= place).all() and (place < (first + 1) * SIDE).all()


def test_cells_in_view_are_those_of_the_grid_and_as_many_more_as_wanted() -> None:
    assert cells_between(-50, 95, 10, 20).tolist() == list(range(10))
    assert cells_between(35, 95, 10, 20, more=1).tolist() == list(range(2, 11))
    assert cells_between(35, 500, 10, 20, more=1).tolist() == list(range(2, 20))
    assert not len(cells_between(300, 500, 10, 20))


# --- density: nothing is painted on walls and water ------------------------------------------------------------------

TILE = 41.5


def walls() -> Any:
    blocked = (np.indices((6, 8)).sum(axis=0) % 3 == 0).astype(np.uint8)
    return SimpleNamespace(tile=np.float32(TILE), blocked=blocked)


@pytest.mark.parametrize("zoom", [4.0, 0.6, 0.3, 0.05])
def test_squares_are_parts_of_tiles_or_made_of_whole_ones(zoom: float) -> None:
    share = side_of(zoom, TILE) / TILE
    assert np.log2(share) % 1 == 0 and side_of(zoom, TILE) * zoom >= LEAST_PX


@pytest.mark.parametrize("share", [0.25, 0.5, 1, 2, 4])
def test_only_free_tiles_are_painted_and_all_of_them(share: float) -> None:
    side, blocked = share * TILE, walls().blocked
    rows, columns = np.indices((round(6 / share + 0.49), round(8 / share)))
    row, column, which = on_free_tiles(rows.ravel(), columns.ravel(), side, walls())
    part = min(share, 1)
    painted = np.zeros(blocked.shape)
    np.add.at(painted, ((row * part).astype(int), (column * part).astype(int)), part * part)
    assert np.array_equal(painted, 1 - blocked)
    assert np.array_equal((row * part // share).astype(int), rows.ravel()[which])
