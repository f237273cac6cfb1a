"""Every overlay of the registry: it shows what the program does, and changes nothing."""

from itertools import cycle, product
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pygame
import pytest
from covering import covering_rows
from crowds import CROWDS, ROPE, Settings, open_world, simulation
from overlaid import SIZE, camera_of, pixels, shown, spied

from crowd_demo.compute.hashing import scramble
from crowd_demo.compute.jit import Launch, run
from crowd_demo.config.resources import assets_folder
from crowd_demo.host.compiling.ahead import KernelFinder
from crowd_demo.registry.built_in import BEHAVIOURS, OVERLAYS
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.colours.squares import FLOWS
from crowd_demo.render.drawing import Moving
from crowd_demo.render.hud.canvas import Pen
from crowd_demo.render.inks import ORANGE, WHITE, ink
from crowd_demo.render.overlays import fields
from crowd_demo.render.overlays.agents import draw_updates
from crowd_demo.render.overlays.base import (
    LASTING,
    GroundSquares,
    OverlayView,
    Scales,
    Sketch,
    draw_heat,
    draw_overlays,
    find_launch,
    round_up,
    squares_in,
)
from crowd_demo.render.overlays.fields import LEAST_PX, draw_candidates, draw_flow, draw_streams, on_free_tiles, side_of
from crowd_demo.render.overlays.space import draw_curve, draw_frustum
from crowd_demo.render.scene import Scene
from crowd_demo.sim.behaviours.people_rules import QUEUING, WAITING, PeopleColumns
from crowd_demo.sim.fundamental_diagram import weidmann
from crowd_demo.sim.inspection import square_text
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.tiles import Walls
from crowd_demo.sprites.pixels import plain_surface

GREY = 128, 128, 128
STRUCTURES = [str(choice) for choice in BY_PATH["neighbours"].choices]
GROUND = [name for name, entry in OVERLAYS.items() if entry.on_ground]


@pytest.mark.parametrize("zoom", [2.0, 0.25])
@pytest.mark.parametrize("name", GROUND)
def test_agents_are_drawn_over_what_belongs_to_the_ground(name: str, zoom: float) -> None:
    """Their colours are what they are on any ground; `zoom` shows figures or light."""
    sim = simulation(**CROWDS["crowd"], optimizations__stagger__avoidance=2, steps=3)
    sim.prepare_picture()
    scene, camera = Scene(sim, sim.config, assets_folder()), camera_of(sim, zoom)

    def picture(ground: tuple[int, int, int], overlaid: bool = False) -> np.ndarray:
        def paint(on: pygame.Surface) -> None:
            on.fill(ground)
            if overlaid and scene.used:
                draw_overlays(on, {name}, OverlayView(sim, camera, None, scene.used, Scales()), Pen())

        scene.draw(surface := plain_surface(SIZE), camera, None, 0.5, paint)
        return pixels(surface)

    black, white, grey, over = picture((0, 0, 0)), picture((255, 255, 255)), picture(GREY), picture(GREY, overlaid=True)
    people = black == white  # no ground is seen there
    assert people.sum() > 100 and (over[people] == black[people]).all()
    assert (over != grey).any()


def with_overlay(sim: Simulation, name: str, zoom: float | None) -> tuple[np.ndarray, np.ndarray, str]:
    """The picture before and after, and what the legend says."""
    surface, view = shown(sim, camera_of(sim, zoom))
    before = pixels(surface)
    (item,) = draw_overlays(surface, {name}, view, Pen())
    return before, pixels(surface), item.text


def arrays(sim: Simulation) -> list[bytes]:
    """All that the next step reads: columns, cells, boxes, and whose turn it is."""
    structure = sim.built_structure
    found = [sim.agents.front.tobytes(), sim.agents.back.tobytes(), sim.grid.start.tobytes(),
             sim.grid.order.tobytes(), sim.terrain.kinds.tobytes()]
    for name in ("box", "order"):
        found.append(getattr(structure, name, np.zeros(0)).tobytes())
    return found


@pytest.fixture(scope="module")
def walked(request: pytest.FixtureRequest) -> Simulation:
    """A crowd of each behaviour, and one on springs, after some steps."""
    return simulation(**(ROPE if request.param == "rope" else CROWDS[request.param]), steps=5)


@pytest.mark.parametrize(("walked", "name", "zoom"), [
    row.values() for row in covering_rows({"walked": [*BEHAVIOURS, "rope"], "name": list(OVERLAYS), "zoom": [None, 2.0]})],
    indirect=["walked"])
def test_it_draws_or_says_why_not_and_changes_nothing(walked: Simulation, name: str, zoom: float | None) -> None:
    camera = camera_of(walked, zoom)
    walked.prepare_picture()
    state, memory = walked.state_hash(), arrays(walked)
    before, after, text = with_overlay(walked, name, zoom)
    assert walked.state_hash() == state and arrays(walked) == memory
    why = OVERLAYS[name].inactive(walked.situation)
    if why:
        assert text == why and (before == after).all()
    elif name in ("show_links", "show_streams") and (zoom or walked.config.behaviour == "playback"):
        assert camera  # ropes hang elsewhere, and who plays no file stands
    else:
        assert (before != after).any() or "agents as light need no order" in text


@pytest.mark.parametrize("name", OVERLAYS)
def test_looking_every_step_gives_the_same_crowd(name: str) -> None:
    looked_at, alone = simulation(**CROWDS["crowd"]), simulation(**CROWDS["crowd"])
    for _ in range(6):
        looked_at.step()
        with_overlay(looked_at, name, 1.0)
    alone.step(6)
    assert looked_at.state_hash() == alone.state_hash()


@pytest.mark.parametrize(("name", "zoom"), list(zip(OVERLAYS, cycle((0.5, 1.5)))))
def test_both_blitters_draw_it_alike_culled_or_not_and_in_any_order_in_memory(name: str, zoom: float) -> None:
    pictures = []
    for blitter, cull, when in (("compiled", "grid", "every"), ("pygame", "grid", "every"), ("compiled", "off", "every"),
                                ("compiled", "grid", "off")):
        if (name in ("show_culling", "show_bands") and cull == "off") or (name == "show_curve" and when == "off"):
            continue  # they show just that
        sim = simulation(**CROWDS["crowd"], optimizations__blitter=blitter, optimizations__cull=cull,
                         optimizations__reorder__when=when, optimizations__reorder__every=2, steps=5)
        pictures.append(with_overlay(sim, name, zoom)[1])
    assert all((picture == pictures[0]).all() for picture in pictures[1:])


@pytest.mark.parametrize(("structure", "name"), [
    pair for number, name in enumerate(OVERLAYS) for pair in product(STRUCTURES[number % 4::4], [name])])
def test_it_follows_the_structure_of_the_moment(structure: str, name: str) -> None:
    """Also after it was changed, before the next step has built it; and in a crowd of nobody."""
    behaviour = "flock" if structure == "field" else "crowd"
    sim = simulation(**CROWDS[behaviour], optimizations__stagger__avoidance=2, steps=2)
    sim.optimizations.neighbours = structure
    sim.prepare_picture()
    with_overlay(sim, name, 1.0)
    sim.step()
    before, after, text = with_overlay(sim, name, 1.0)
    assert (before != after).any() or OVERLAYS[name].inactive(sim.situation) == text or "dots" in text
    sim.populate(0)
    with_overlay(sim, name, 1.0)
    sim.step()
    with_overlay(sim, name, 1.0)


def test_what_overlays_run_was_compiled_ahead(crowd: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the first picture with an overlay waits for the compiler."""
    sim, ran = simulation(**crowd), set()
    sim.step(3)
    surface, view = shown(sim, camera_of(sim))
    with monkeypatch.context() as patch:
        patch.setattr(Launch, "compiled", SimpleNamespace(overloads={}))
        listed = KernelFinder(sim.config).missing(sim.optimizations)
    run = Launch.run
    monkeypatch.setattr(Launch, "run", lambda each: (ran.add((each.kernel, each.signature())), run(each)))
    draw_overlays(surface, set(OVERLAYS), view, Pen())
    assert ran and ran <= {(each.kernel, each.signature()) for each in listed}


# --- those who are on the screen, and where, as NumPy says; and the outline of the frozen frustum --------------------

@pytest.mark.quick
@pytest.mark.parametrize("workers", [1, 2, 3, 7])
@pytest.mark.parametrize("listed", [0, 1, 5, 400])
def test_agents_in_view_and_their_places_are_those_of_numpy(workers: int, listed: int) -> None:
    rng = np.random.default_rng(listed)
    ids = np.arange(500, dtype=np.int32)
    x, y, vx, vy = (rng.uniform(-100, 100, 500).astype(np.float32) for _ in range(4))
    agents, ahead = Moving(ids, x, y, vx, vy), np.float32(0.013)
    slots = rng.permutation(ids)[:listed]
    at_x, at_y = (x + vx * ahead)[slots], (y + vy * ahead)[slots]
    edge = float(at_x[0]) if listed else 0.0  # just on the edge, which belongs to the view
    everywhere = Rect(-np.inf, -np.inf, np.inf, np.inf)
    views = Rect(-40.0, -70.0, edge, 55.0), everywhere, everywhere, Rect(300.0, 0.0, 400.0, 9.0)
    for view, mask in zip(views, (0, 0, 3, 1), strict=True):
        find, in_view = find_launch(workers, slots, agents, ahead, view, mask)
        find.run()
        kept = (at_x >= view.left) & (at_x <= view.right) & (at_y >= view.top) & (at_y <= view.bottom)
        kept &= scramble(slots.astype(np.uint32)) & np.uint32(mask) == 0  # an id is its slot here
        found, found_x, found_y = in_view.joined()
        assert found.tolist() == slots[kept].tolist()
        assert (found_x == at_x[kept]).all() and (found_y == at_y[kept]).all()
        assert found.dtype == np.int32 and found_x.dtype == found_y.dtype == np.float64


# --- the frozen frustum ----------------------------------------------------------------------------------------------

BACKGROUND = 0xB0AA9E
COLOUR = ORANGE[0] << 16 | ORANGE[1] << 8 | ORANGE[2]


def outlined(camera: Camera, frozen: Rect | None) -> np.ndarray:
    sketch, frame = Sketch(camera), np.full(camera.size[::-1], BACKGROUND, np.uint32)
    draw_frustum(sketch, OverlayView(None, camera, frozen, None, Scales()))  # type: ignore[arg-type]
    sketch.launch(1, frame).run()
    return frame & 0xFFFFFF


@pytest.mark.quick
def test_the_frozen_frustum_is_outlined_where_it_is() -> None:
    camera = Camera((2000, 2000), (640, 360))
    camera.look_at(1000, 1000, 0.5)
    frame = outlined(camera, Rect(800, 900, 1200, 1100))
    left, top = (round(place) for place in camera.world_to_screen(800, 900))
    right, bottom = (round(place) for place in camera.world_to_screen(1200, 1100))
    middle_x, middle_y = (left + right) // 2, (top + bottom) // 2
    assert all(frame[y, x] == COLOUR for x, y in ((left, middle_y), (right, middle_y), (middle_x, top), (middle_x, bottom)))
    assert frame[bottom - 20, right - 20] == frame[top - 20, middle_x] == BACKGROUND


# --- heat maps: their squares and scales, and what is painted --------------------------------------------------------

@pytest.mark.quick
def test_ends_are_whole_numbers_in_three_equal_steps_and_never_far_above() -> None:
    assert [round_up(most) for most in (0, 1, 4, 5, 11, 14, 20, 72)] == [4, 4, 4, 7, 13, 19, 25, 73]
    for most in range(1, 3000):
        end = round_up(most)
        assert most <= end <= 1.5 * most + 3 and (end - 1) % 3 == 0


@pytest.mark.quick
def test_a_scale_rises_at_once_and_comes_down_once_no_picture_has_needed_it_for_long() -> None:
    scales = Scales()
    assert [scales.end_of("agents", most) for most in (11, 20, 11)] == [13, 25, 25]
    ends = [scales.end_of("agents", 11) for _ in range(2 * LASTING)]
    assert ends == [25] * (LASTING - 2) + [13] * (LASTING + 2)


@pytest.mark.quick
def test_the_legend_begins_at_one_and_has_a_colour_for_each_third() -> None:
    for most, texts in ((1, "1 2 3 4"), (4, "1 2 3 4"), (5, "1 3 5 7"), (20, "1 9 17 25")):
        sketch, edge = Sketch(Camera((400.0, 300.0), (200, 150))), np.zeros(1)
        sketch.name = "heat"
        draw_heat(sketch, ((edge, edge, edge + 10, edge + 10), np.array([most], np.float64)), "agents", Scales())
        assert [key.what for key in sketch.legend_items[0].keys] == texts.split()


# --- squares of the ground in view -----------------------------------------------------------------------------------

SIDE = 41.5


@pytest.mark.quick
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


# --- density: nothing is painted on walls and water ------------------------------------------------------------------

TILE = 41.5


def walls() -> Any:
    blocked = (np.indices((6, 8)).sum(axis=0) % 3 == 0).astype(np.uint8)
    return SimpleNamespace(tile=np.float32(TILE), blocked=blocked)


@pytest.mark.quick
@pytest.mark.parametrize("zoom", [4.0, 0.6, 0.3, 0.05])
def test_squares_are_parts_of_tiles_or_made_of_whole_ones(zoom: float) -> None:
    assert np.log2(side_of(zoom, TILE) / TILE) % 1 == 0 and side_of(zoom, TILE) * zoom >= LEAST_PX


@pytest.mark.quick
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


# --- overlays of how people walk show what slow loops count on the ground in view ------------------------------------

METRE = 26.0


def crowd(walls: bool) -> Simulation:
    sim = simulation("1k", **({"crowd__wait_s": 2.0} if walls else {"crowd__wait_s": 2.0, **open_world(900, 700)}), steps=150)
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
    spy, view = spied(sim, fields.draw_throughput, 0.8)
    filled = spy.by_place
    ground: Walls = sim.terrain.walls
    side, tile = fields._side(view.camera.view_rect(), ground), float(ground.tile)
    rect, expected = view.camera.view_rect(), counted(sim, view, side)
    part = min(side, tile) if ground.blocked.any() else side
    for (left, top), (size, colour) in spy.by_place.items():
        _, density, flow, _ = expected[int((left + size / 2) // side), int((top + size / 2) // side)]
        levels = {int(np.searchsorted(np.array(FLOWS), flow * share, "right")) for share in (0.999, 1.001)}
        assert density and size == part and colour in {int(fields.FLOW_INKS[level]) for level in levels}
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
    spy, view = spied(sim, fields.draw_fundamental, 0.8)
    side = fields._side(view.camera.view_rect(), sim.terrain.walls)
    squares = [each for each in counted(sim, view, side).values() if each[0]]
    chart = spy.legend_items[0].chart
    assert chart and chart.counts.sum() == len(squares)
    expected = counted(sim, view, side)
    for (left, top), (size, colour) in spy.by_place.items():
        here, density, _, speed = expected[int((left + size / 2) // side), int((top + size / 2) // side)]
        shares = [speed * factor / weidmann(density) for factor in (0.999, 1.001)]
        assert here and colour in {ink([each for least, each, _ in fields.SPEEDS if share >= least][-1], fields.ALPHA)
                                   for share in shares}
    wide = chart.ends[0] / chart.counts.shape[1]
    assert round(wide * (3 * side / METRE) ** 2, 6).is_integer(), "each bin holds as many densities as any other"
    assert abs((chart.counts.sum(axis=0) @ (np.arange(len(chart.counts[0])) + 0.5)) * wide
               - sum(density for _, density, _, _ in squares)) <= 0.51 * wide * len(squares)


# --- What overlays show ----------------------------------------------------------------------------------------------

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
