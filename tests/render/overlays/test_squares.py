"""Squares of the ground in view: each place in view has one, which stays where it is when the camera moves."""

from __future__ import annotations

import numpy as np
import pytest

from crowd_demo.render.camera import Rect
from crowd_demo.render.overlays.sketch import cells_between, squares_in

pytestmark = pytest.mark.quick
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
