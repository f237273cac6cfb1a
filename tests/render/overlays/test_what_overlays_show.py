"""What overlays show is what is so."""


import numpy as np
import pytest
from crowds import CROWDS, simulation
from overlaid import spied

from crowd_demo.compute.jit import run
from crowd_demo.render.camera import Rect
from crowd_demo.render.inks import ORANGE, WHITE, ink
from crowd_demo.render.overlays.agents import draw_updates
from crowd_demo.render.overlays.base import GroundSquares, squares_in
from crowd_demo.render.overlays.fields import draw_candidates, draw_flow, draw_streams
from crowd_demo.render.overlays.space import draw_curve
from crowd_demo.sim.inspection import square_text


@pytest.mark.parametrize("structure", ["linked", "buckets", "sorted"])
def test_candidates_are_those_in_the_cells_around(structure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    amounts: list[np.ndarray] = []
    monkeypatch.setattr("crowd_demo.render.overlays.fields.draw_heat",
                        lambda sketch, heat, what, scales: amounts.append(np.stack((*heat[0][:2], heat[1]))))
    sim = simulation(**CROWDS["crowd"], optimizations__neighbours=structure, optimizations__cell_size=20, steps=3)
    run(sim.reindexing())
    spied(sim, draw_candidates)
    grid, columns, count = sim.grid, sim.agents.columns, sim.agents.count
    column, row = (np.minimum((place[:count] * grid.floor.inv_cell).astype(int), most - 1)
                   for place, most in ((columns.x, grid.columns), (columns.y, grid.rows)))
    (found,) = amounts
    assert len(found.T) == len(set(zip(row.tolist(), column.tolist(), strict=True)))
    for left, top, number in found.T:
        here = abs(column - round(left / grid.cell)) <= grid.reach
        assert number == (here & (abs(row - round(top / grid.cell)) <= grid.reach)).sum()


@pytest.mark.parametrize("by", ["place", "tile", "id"])
def test_turns_mark_those_who_have_looked_in_the_last_step(by: str) -> None:
    sim = simulation(**CROWDS["crowd"] | {"world__width": 1600, "world__height": 1600}, optimizations__stagger__by=by,
                     optimizations__stagger__avoidance=3, steps=7)
    before = sim.agents.columns.next_update[:sim.agents.count].copy()
    ids = sim.agents.columns.id[:sim.agents.count].copy()
    sim.step()
    now = dict(zip(sim.agents.columns.id[:sim.agents.count].tolist(),
                   sim.agents.columns.next_update[:sim.agents.count].tolist(), strict=True))
    looked = {number for number, packed in zip(ids.tolist(), before.tolist(), strict=True) if now[number] != packed}
    spy, _ = spied(sim, draw_updates)
    marks = [area for area in spy.filled if np.all(area[4] == ink(WHITE, 255))]
    assert len(marks) == 1 and len(marks[0][0]) == len(looked) > 50
    due = [area for area in spy.filled if np.all(area[4] == ink(ORANGE, 90)) and len(area[0])]
    assert bool(due) == (by != "id")
    if due:  # nobody outside of what is filled has looked, but those who came out of it with their last steps
        left, top, right, bottom, _ = due[0]
        x, y = (marks[0][0] + marks[0][2]) / 2, (marks[0][1] + marks[0][3]) / 2
        inside = ((x[:, None] >= left) & (x[:, None] < right) & (y[:, None] >= top) & (y[:, None] < bottom)).any(axis=1)
        assert inside.mean() > 0.9


@pytest.mark.parametrize(("structure", "curve"), [("sorted", "morton"), ("sorted", "hilbert"), ("z_grid", "row")])
def test_the_curve_goes_through_all_cells_in_the_order_of_memory(structure: str, curve: str) -> None:
    sim = simulation(**CROWDS["crowd"] | {"world__width": 470, "world__height": 380}, optimizations__neighbours=structure,
                     optimizations__curve=curve, optimizations__reorder__every=1, steps=2)
    spy, _ = spied(sim, draw_curve)
    x0, y0, x1, y1, _ = spy.joined[0]
    assert (x1[:-1] == x0[1:]).all() and (y1[:-1] == y0[1:]).all()  # one line
    assert len(x0) == sim.grid.cells - 1
    cell = sim.grid.cell
    x, y = np.append(x0, x1[-1]), np.append(y0, y1[-1])
    rank = {(int(a // cell), int(b // cell)): k for k, (a, b) in enumerate(zip(x, y, strict=True))}
    run(sim.structure.index(sim.tick))
    columns, count = sim.agents.columns, sim.agents.count
    places = [rank[int(a // cell), int(b // cell)] for a, b in zip(columns.x[:count], columns.y[:count], strict=True)]
    assert (np.diff(places) >= 0).mean() > 0.9  # they have moved one step since the sort


def test_arrows_of_the_flow_field_point_to_the_tiles_that_people_are_sent_to() -> None:
    from crowd_demo.sim.terrain.flow_fields import ARRIVED, STEP_COLUMN, STEP_ROW

    sim = simulation("1k", optimizations__stagger__paths=1, steps=3)
    spy, _ = spied(sim, draw_flow, 0.6)
    text = spy.legend_items[0].text
    goal = int(text.split()[2].rstrip(","))
    assert sim.flow_fields.made[goal] and "cursor" in text
    x0, y0, x1, y1, _ = (np.asarray(part) for part in spy.joined[0])
    arrows, tile, checked = len(x0) // 3, float(sim.terrain.walls.tile), 0
    direction = sim.flow_fields.fields.direction[goal]
    for a, b, c, d in zip(x0[:arrows], y0[:arrows], x1[:arrows], y1[:arrows], strict=True):
        step = direction[int((b + d) / 2 // tile), int((a + c) / 2 // tile)]
        assert step < ARRIVED
        assert (np.sign(round(c - a)), np.sign(round(d - b))) == (STEP_COLUMN[step], STEP_ROW[step])
        checked += 1
    assert checked > 50


def test_an_arrow_of_a_stream_goes_where_those_on_its_square_go_all_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = simulation("20k", agents=3000, world__width=900, world__height=900, map="null", steps=200)
    sides: list[float] = []

    def noted(view: Rect, side: float) -> GroundSquares:
        sides.append(side)
        return squares_in(view, side)

    monkeypatch.setattr("crowd_demo.render.overlays.fields.squares_in", noted)
    for most, every in ((40_000, 1), (1000, 4)):
        monkeypatch.setattr("crowd_demo.render.overlays.fields.MAX", most)
        spy, _ = spied(sim, draw_streams, 0.2)
        x0, y0, x1, y1, _ = (np.asarray(part) for part in spy.joined[0])
        side = sides[-1]
        assert square_text(sim, side) in spy.legend_items[0].text
        columns, ahead, expected = sim.agents.columns, np.float32(0.5 * sim.dt), {}
        on: dict[tuple[int, int], list[tuple[float, float]]] = {}
        for slot in range(sim.agents.count):
            if columns.id[slot] % every == 0:
                x, y = columns.x[slot] + columns.vx[slot] * ahead, columns.y[slot] + columns.vy[slot] * ahead
                square = int(x // side), int(y // side)
                on.setdefault(square, []).append((float(columns.vx[slot]), float(columns.vy[slot])))
        for square, ways in on.items():
            total, speeds = np.sum(ways, axis=0), sum(np.hypot(*way) for way in ways)
            if len(ways) >= 4 and np.hypot(*total) > 0.35 * speeds:
                expected[square] = 0.9 * side * total / speeds
        arrows = len(x0) // 3
        found = {(int((x0[k] + x1[k]) / 2 // side), int((y0[k] + y1[k]) / 2 // side)): (x1[k] - x0[k], y1[k] - y0[k])
                 for k in range(arrows)}
        assert found.keys() == expected.keys() and len(found) > 5
        assert all(np.allclose(found[square], expected[square], rtol=1e-3, atol=1e-2) for square in found)
        assert (f"1 in {every} agents" in spy.legend_items[0].text) == (every > 1)
