"""Every overlay of the registry: it shows what the program does, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pygame
import pytest
from crowds import CROWDS, ROPE, simulation

from crowd_demo.compute.jit import run
from crowd_demo.config.resources import assets_folder
from crowd_demo.registry.overlays import OVERLAYS
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.colours.heading import WHEEL
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.inks import ORANGE, WHITE, ink
from crowd_demo.render.overlays.base import Looking, draw_overlays
from crowd_demo.render.overlays.bodies import FEW, MOST, draw_bodies
from crowd_demo.render.overlays.candidates import draw_candidates
from crowd_demo.render.overlays.curve import draw_curve
from crowd_demo.render.overlays.flow import draw_flow
from crowd_demo.render.overlays.heat import Scales
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.render.overlays.squares import Squares, squares_in
from crowd_demo.render.overlays.streams import draw_streams, inks_of
from crowd_demo.render.overlays.turns import draw_turns
from crowd_demo.render.pixels import plain_surface
from crowd_demo.render.scene import Scene
from crowd_demo.sim.measures import square_text
from crowd_demo.sim.simulation import Simulation

SIZE = 320, 240
GREY = 128, 128, 128
STRUCTURES = [str(choice) for choice in BY_PATH["neighbours"].choices]


@pytest.fixture(autouse=True)
def font() -> Iterator[None]:
    pygame.font.init()
    yield
    pygame.font.quit()


def camera_of(sim: Simulation, zoom: float | None = None) -> Camera:
    walls = sim.terrain.walls
    camera = Camera((float(walls.width), float(walls.height)), SIZE)
    camera.look_at(camera.x, camera.y, zoom)
    return camera


GROUND = [name for name, entry in OVERLAYS.items() if entry.on_ground]


@pytest.mark.parametrize("zoom", [2.0, 0.3])
@pytest.mark.parametrize("name", GROUND)
def test_agents_are_drawn_over_what_belongs_to_the_ground(name: str, zoom: float) -> None:
    """Their colours are what they are on any ground; `zoom` shows figures or light."""
    sim = simulation(**CROWDS["crowd"], optimizations__stagger__avoidance=2)
    sim.step(3)
    sim.prepare_picture()
    scene, camera = Scene(sim, sim.config, assets_folder()), camera_of(sim, zoom)

    def picture(ground: tuple[int, int, int], overlaid: bool = False) -> np.ndarray:
        def paint(on: pygame.Surface) -> None:
            on.fill(ground)
            if overlaid and scene.used:
                draw_overlays(on, {name}, Looking(sim, camera, None, scene.used, Scales()), Pen())

        scene.draw(surface := plain_surface(SIZE), camera, None, 0.5, paint)
        return pixels(surface)

    black, white, grey, over = picture((0, 0, 0)), picture((255, 255, 255)), picture(GREY), picture(GREY, overlaid=True)
    people = black == white  # no ground is seen there
    assert people.sum() > 100 and (over[people] == black[people]).all()
    assert (over != grey).any()


def shown(sim: Simulation, camera: Camera) -> tuple[pygame.Surface, Looking]:
    """The picture without overlays, and what they get."""
    scene, surface = Scene(sim, sim.config, assets_folder()), plain_surface(SIZE)
    sim.prepare_picture()
    scene.draw(surface, camera, None, 0.5)
    assert scene.used
    return surface, Looking(sim, camera, camera.view_rect(), scene.used, Scales())


def pixels(surface: pygame.Surface) -> np.ndarray:
    return pygame.surfarray.array2d(surface) & 0xFFFFFF


def with_overlay(sim: Simulation, name: str, zoom: float | None) -> tuple[np.ndarray, np.ndarray, str]:
    """The picture before and after, and what the legend says."""
    surface, looking = shown(sim, camera_of(sim, zoom))
    before = pixels(surface)
    (told,) = draw_overlays(surface, {name}, looking, Pen())
    return before, pixels(surface), told.text


def arrays(sim: Simulation) -> list[bytes]:
    """All that the next step reads: columns, cells, boxes, and whose turn it is."""
    structure = sim.index.built(sim.world)
    found = [sim.agents.front.tobytes(), sim.agents.back.tobytes(), sim.world.grid.start.tobytes(),
             sim.world.grid.order.tobytes(), sim.terrain.kinds.tobytes()]
    for name in ("box", "order"):
        found.append(getattr(structure, name, np.zeros(0)).tobytes())
    return found


@pytest.fixture(scope="module", params=[*CROWDS, "rope"])
def walked(request: pytest.FixtureRequest) -> Simulation:
    """A crowd of each behaviour, and one on springs, after some steps."""
    sim = simulation(**(ROPE if request.param == "rope" else CROWDS[request.param]))
    sim.step(5)
    return sim


@pytest.mark.parametrize("zoom", [None, 2.0])
@pytest.mark.parametrize("name", OVERLAYS)
def test_it_draws_or_says_why_not_and_changes_nothing(walked: Simulation, name: str, zoom: float | None) -> None:
    camera = camera_of(walked, zoom)
    walked.prepare_picture()
    state, memory = walked.state_hash(), arrays(walked)
    before, after, text = with_overlay(walked, name, zoom)
    assert walked.state_hash() == state and arrays(walked) == memory
    why = OVERLAYS[name].inactive(walked.situation)
    if why:
        assert text == why and (before == after).all()
    elif name in ("show_links", "show_streams") and zoom:
        assert camera  # ropes hang elsewhere
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


@pytest.mark.parametrize("zoom", [0.5, 1.5])
@pytest.mark.parametrize("name", OVERLAYS)
def test_both_blitters_draw_it_alike_culled_or_not_and_in_any_order_in_memory(name: str, zoom: float) -> None:
    pictures = []
    for blitter, cull, when in (("compiled", "grid", "every"), ("pygame", "grid", "every"), ("compiled", "off", "every"),
                                ("compiled", "grid", "off")):
        if (name in ("show_culling", "show_bands") and cull == "off") or (name == "show_curve" and when == "off"):
            continue  # they show just that
        sim = simulation(**CROWDS["crowd"], optimizations__blitter=blitter, optimizations__cull=cull,
                         optimizations__reorder__when=when, optimizations__reorder__every=2)
        sim.step(5)
        pictures.append(with_overlay(sim, name, zoom)[1])
    assert all((picture == pictures[0]).all() for picture in pictures[1:])


@pytest.mark.parametrize("name", OVERLAYS)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_it_follows_the_structure_of_the_moment(structure: str, name: str) -> None:
    """Also after it was changed, before the next step has built it; and in a crowd of nobody."""
    behaviour = "flock" if structure == "field" else "crowd"
    sim = simulation(**CROWDS[behaviour], optimizations__stagger__avoidance=2)
    sim.step(2)
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


# --- what they show is what is so ------------------------------------------------------------------------------------

class Spy(Sketch):
    """Notes what is drawn, in world units."""

    def __init__(self, camera: Camera) -> None:
        super().__init__(camera)
        self.filled: list[tuple[Any, ...]] = []
        self.joined: list[tuple[Any, ...]] = []

    def areas(self, left: Any, top: Any, right: Any, bottom: Any, inks: Any) -> None:
        self.filled.append((left, top, right, bottom, inks))
        super().areas(left, top, right, bottom, inks)

    def lines(self, x0: Any, y0: Any, x1: Any, y1: Any, inks: Any, width: int = 1, dash: int = 0,
              shadow: int = 0) -> None:
        self.joined.append((*map(np.ravel, np.broadcast_arrays(x0, y0, x1, y1)), inks))
        super().lines(x0, y0, x1, y1, inks, width, dash, shadow)


def spied(sim: Simulation, draw: Any, zoom: float | None = None) -> Spy:
    camera = camera_of(sim, zoom)
    spy = Spy(camera)
    draw(spy, shown(sim, camera)[1])
    return spy


@pytest.mark.parametrize(("side", "behaviour", "text"), [
    (16.0, "crowd", "0.62 x 0.62 m"), (128.0, "crowd", "4.9 x 4.9 m"), (4096.0, "crowd", "158 x 158 m"),
    (128.0, "flock", "128 x 128 units")])
def test_squares_are_told_in_metres_for_people(side: float, behaviour: str, text: str) -> None:
    assert square_text(cast(Simulation, SimpleNamespace(config=SimpleNamespace(behaviour=behaviour))), side) == text


@pytest.mark.parametrize("structure", ["linked", "buckets", "sorted"])
def test_candidates_are_those_in_the_cells_around(structure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    amounts: list[np.ndarray] = []
    monkeypatch.setattr("crowd_demo.render.overlays.candidates.draw_heat",
                        lambda sketch, heat, what, scales: amounts.append(np.stack((heat.left, heat.top, heat.amounts))))
    sim = simulation(**CROWDS["crowd"], optimizations__neighbours=structure, optimizations__cell_size=20)
    sim.step(3)
    sim.reindex()
    spied(sim, draw_candidates)
    grid, columns, count = sim.world.grid, sim.agents.columns, sim.agents.count
    column, row = (np.minimum((place[:count] * grid.floor.inv_cell).astype(int), most - 1)
                   for place, most in ((columns.x, grid.columns), (columns.y, grid.rows)))
    (found,) = amounts
    assert len(found.T) == len(set(zip(row.tolist(), column.tolist(), strict=True)))
    for left, top, number in found.T:
        here = abs(column - round(left / grid.cell)) <= grid.reach
        assert number == (here & (abs(row - round(top / grid.cell)) <= grid.reach)).sum()


def test_candidates_of_a_tree_are_the_runs_of_its_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    amounts: list[np.ndarray] = []
    monkeypatch.setattr("crowd_demo.render.overlays.candidates.draw_heat",
                        lambda sketch, heat, what, scales: amounts.append(heat.amounts))
    sim = simulation(**CROWDS["crowd"], optimizations__neighbours="kd_tree", optimizations__leaf_size=8,
                     optimizations__simd=False, optimizations__stagger__avoidance=1)
    sim.step()
    spied(sim, draw_candidates)
    runs, asked = sim.structure.candidates(), 0
    members = np.diff(runs.start[:int(runs.groups[0]) + 1])  # type: ignore[union-attr]
    asked = int((members * amounts[0]).sum())
    assert asked == sim.see.candidates_met(sim.world)


@pytest.mark.parametrize("by", ["place", "tile", "id"])
def test_turns_mark_those_who_have_looked_in_the_last_step(by: str) -> None:
    sim = simulation(**CROWDS["crowd"] | {"world__width": 1600, "world__height": 1600}, optimizations__stagger__by=by,
                     optimizations__stagger__avoidance=3)
    sim.step(7)
    before = sim.agents.columns.look_at[:sim.agents.count].copy()
    ids = sim.agents.columns.id[:sim.agents.count].copy()
    sim.step()
    now = dict(zip(sim.agents.columns.id[:sim.agents.count].tolist(), sim.agents.columns.look_at[:sim.agents.count].tolist(),
                   strict=True))
    looked = {number for number, packed in zip(ids.tolist(), before.tolist(), strict=True) if now[number] != packed}
    spy = spied(sim, draw_turns)
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
                     optimizations__curve=curve, optimizations__reorder__every=1)
    sim.step(2)
    spy = spied(sim, draw_curve)
    x0, y0, x1, y1, _ = spy.joined[0]
    assert (x1[:-1] == x0[1:]).all() and (y1[:-1] == y0[1:]).all()  # one line
    assert len(x0) == sim.world.grid.cells - 1
    cell = sim.world.grid.cell
    x, y = np.append(x0, x1[-1]), np.append(y0, y1[-1])
    rank = {(int(a // cell), int(b // cell)): k for k, (a, b) in enumerate(zip(x, y, strict=True))}
    run(sim.index.calls(sim.world))
    columns, count = sim.agents.columns, sim.agents.count
    places = [rank[int(a // cell), int(b // cell)] for a, b in zip(columns.x[:count], columns.y[:count], strict=True)]
    assert (np.diff(places) >= 0).mean() > 0.9  # they have moved one step since the sort


def test_arrows_of_the_flow_field_point_to_the_tiles_that_people_are_sent_to() -> None:
    from crowd_demo.sim.terrain.flow_fields import ARRIVED, STEP_COLUMN, STEP_ROW

    sim = simulation("1k", optimizations__stagger__paths=1)
    sim.step(3)
    spy = spied(sim, draw_flow, 0.6)
    text = spy.told[0].text
    goal = int(text.split()[2].rstrip(","))
    assert sim.world.flow_fields.made[goal] and "cursor" in text
    x0, y0, x1, y1, _ = (np.asarray(part) for part in spy.joined[0])
    arrows, tile, checked = len(x0) // 3, float(sim.terrain.walls.tile), 0
    direction = sim.world.flow_fields.fields.direction[goal]
    for a, b, c, d in zip(x0[:arrows], y0[:arrows], x1[:arrows], y1[:arrows], strict=True):
        step = direction[int((b + d) / 2 // tile), int((a + c) / 2 // tile)]
        assert step < ARRIVED
        assert (np.sign(round(c - a)), np.sign(round(d - b))) == (STEP_COLUMN[step], STEP_ROW[step])
        checked += 1
    assert checked > 50


def test_an_arrow_of_a_stream_goes_where_those_on_its_square_go_all_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = simulation("20k", agents=3000, world__width=900, world__height=900, map="null")
    sim.step(200)
    sides: list[float] = []

    def noted(view: Rect, side: float) -> Squares:
        sides.append(side)
        return squares_in(view, side)

    monkeypatch.setattr("crowd_demo.render.overlays.streams.squares_in", noted)
    for most, every in ((40_000, 1), (1000, 4)):
        monkeypatch.setattr("crowd_demo.render.overlays.streams.MOST", most)
        spy = spied(sim, draw_streams, 0.2)
        x0, y0, x1, y1, _ = (np.asarray(part) for part in spy.joined[0])
        side = sides[-1]
        assert square_text(sim, side) in spy.told[0].text
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
        assert (f"1 in {every} agents" in spy.told[0].text) == (every > 1)


def test_streams_have_the_colours_of_headings() -> None:
    ways = np.array([(0, -1), (1, 0), (0, 1), (-1, 0)], np.float64)
    assert inks_of(*ways.T).tolist() == [ink(colour) for colour in WHEEL]


def test_few_have_their_range_drawn_and_more_their_body() -> None:
    """The few are chosen of all in view: of the others the hash is already used up."""
    sim = simulation("20k", agents=3000)
    sim.step(2)
    _, looking = shown(sim, camera_of(sim))
    drawn: list[int] = []

    class Counting(Sketch):
        def circles(self, x: Any, *args: Any, **kwargs: Any) -> None:
            drawn.append(len(x))
            super().circles(x, *args, **kwargs)

    draw_bodies(Counting(looking.camera), looking)
    bodies, ranges = drawn
    assert MOST / 4 < bodies <= 1.3 * MOST and FEW / 4 < ranges <= 1.6 * FEW
