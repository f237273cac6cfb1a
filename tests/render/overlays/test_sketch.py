"""Marks, sketches and labels: what is drawn is where it should be."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pygame
import pytest
from eyes import EYES, distance, lab

from crowd_demo.config.loader import load_config
from crowd_demo.config.resources import list_configs
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.figures.people import UNITS
from crowd_demo.render.hud.canvas import Pen
from crowd_demo.render.inks import BLACK, ORANGE, SCALE, SKY, WHITE, ink, scale_colour, scale_inks
from crowd_demo.render.marks import FilledAreas, Strokes, draw_marks
from crowd_demo.render.overlays.agents import LEAST_PX, NAMED_PX, draw_labels, opening
from crowd_demo.render.overlays.base import Sketch
from crowd_demo.sim.fundamental_diagram import Line
from crowd_demo.sprites.pixels import frame_of, plain_surface

SIZE = 64, 48
GROUND = 0xB0AA9E
RED = ink((255, 0, 0))


def camera(zoom: float = 1.0, x: float = 500.0, y: float = 500.0) -> Camera:
    camera = Camera((1000.0, 1000.0), SIZE)
    camera.look_at(x, y, zoom)
    return camera


def drawn(sketch: Sketch, workers: int = 1) -> np.ndarray:
    frame = np.full(SIZE[::-1], GROUND, np.uint32)
    sketch.launch(workers, frame).run()
    return frame & 0xFFFFFF


def blended(under: int, above: int) -> int:
    """A channel at a time, as pygame blends premultiplied colours."""
    alpha = above >> 24
    return sum(((d + s - ((d + 1) * alpha >> 8)) & 255) << shift for shift in (16, 8, 0)
               for d, s in [(under >> shift & 255, above >> shift & 255)])


def clipped(x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float] | None:
    """What of a line is at most four pixels outside of the screen: it enters where it has entered on both axes."""
    enter, leave = 0.0, 1.0
    for begin, end, size in ((x0, x1, SIZE[0]), (y0, y1, SIZE[1])):
        low, high = -4.0 - begin, size + 4.0 - begin
        if begin == end and not low <= 0 <= high:
            return None
        if begin != end:
            low, high = sorted((low / (end - begin), high / (end - begin)))
            enter, leave = max(enter, low), min(leave, high)
    if enter > leave:
        return None
    whole = (enter, leave) == (0.0, 1.0)
    return (x0 + (x1 - x0) * enter, y0 + (y1 - y0) * enter,
            x1 if whole else x0 + (x1 - x0) * leave, y1 if whole else y0 + (y1 - y0) * leave)


def slow_marks(frame: np.ndarray, areas: FilledAreas, strokes: Strokes, view: Rect, zoom: float) -> None:
    """Pixel by pixel."""
    height, width = frame.shape

    def put(x: int, y: int, above: int) -> None:
        if 0 <= x < width and 0 <= y < height:
            frame[y, x] = blended(int(frame[y, x]), above)

    def pixels(places: np.ndarray) -> list[list[float]]:
        """x, y, x, y of each mark."""
        return ((places.T - np.array([view.left, view.top] * 2)) * zoom).tolist()

    for edges, above in zip(pixels(areas.edges), areas.ink.tolist(), strict=True):
        if not any(map(math.isnan, edges)):
            left, top, right, bottom = (math.floor(min(max(edge, -99), 99)) for edge in edges)
            for y in range(top, bottom):
                for x in range(left, right):
                    put(x, y, above)
    for ends, above, wide, dash in zip(pixels(strokes.ends), *(each.tolist() for each in strokes[1:]), strict=True):
        line = clipped(*ends) if all(map(math.isfinite, ends)) else None
        if line is None:
            continue
        x0, y0, x1, y1 = map(math.floor, line)
        length = max(abs(x1 - x0), abs(y1 - y0))
        for step in range(length + 1):
            if dash and step // dash % 2:
                continue
            x = x0 + (step * ((x1 - x0) * 65536 // max(length, 1)) + 32768) // 65536
            y = y0 + (step * ((y1 - y0) * 65536 // max(length, 1)) + 32768) // 65536
            for across in range(-(wide // 2), wide - wide // 2):
                flat = abs(x1 - x0) >= abs(y1 - y0)
                put(x + (not flat) * across, y + flat * across, above)


@pytest.mark.parametrize("reach", [70, 3000])
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.quick
def test_marks_are_those_of_a_slow_loop_for_any_number_of_workers(workers: int, reach: int) -> None:
    """Also of lines that begin far beyond the screen, and of what is nowhere."""
    rng, view = np.random.default_rng(workers), Rect(500.25, -40.5, 600.0, 60.0)
    corner = rng.integers(-10, 60, (30, 2))
    edges = np.concatenate((corner, corner + rng.integers(0, 20, (30, 2))), axis=1).T.astype(np.float64)
    ends = rng.uniform(-reach, reach, (4, 120))
    ends[2, :20], ends[3, 20:40] = ends[0, :20], ends[1, 20:40]  # upright ones, and level ones
    for places in (edges, ends):
        places[[0, 2]], places[[1, 3]] = places[[0, 2]] / 1.75 + 500.25, places[[1, 3]] / 1.75 - 40.5
        places[:, -3:] = np.array([[np.nan, np.inf, 0], [0, 0, 0], [-np.inf, 500, 9], [0, -np.inf, np.nan]])
    areas = FilledAreas(edges, np.array([ink((200, 40, 90), int(alpha)) for alpha in rng.integers(0, 256, 30)], np.uint32))
    dashes = np.where(rng.random(120) < 0.5, 0, rng.integers(1, 4, 120)).astype(np.int32)
    strokes = Strokes(ends, np.array([ink((10, 220, 90), int(alpha)) for alpha in rng.integers(0, 256, 120)], np.uint32),
                      rng.integers(1, 5, 120).astype(np.int32), dashes)
    fast, slow = (np.full(SIZE[::-1], GROUND, np.uint32) for _ in range(2))
    draw_marks(workers, areas, strokes, view, 1.75, fast)
    slow_marks(slow, areas, strokes, view, 1.75)
    assert (fast & 0xFFFFFF == slow).all() and (slow != GROUND).mean() > 0.1


@pytest.mark.quick
def test_marks_lie_where_the_camera_shows_their_place() -> None:
    sketch = Sketch(camera(2.0))
    sketch.areas(500, 500, 503, 502, RED)
    frame = drawn(sketch)
    assert (frame[24:28, 32:38] == 0xFF0000).all() and (frame != GROUND).sum() == 24


@pytest.mark.quick
def test_circles_and_arrows_have_the_size_that_they_say() -> None:
    sketch = Sketch(camera())
    sketch.circles(500, 500, 15, RED)
    y, x = np.nonzero(drawn(sketch) == 0xFF0000)
    far = np.hypot(x + 0.5 - 32, y + 0.5 - 24)
    assert far.min() > 13 and far.max() < 16.5 and x.max() - x.min() == pytest.approx(30, abs=1)
    sketch = Sketch(camera())
    sketch.arrows(490, 500, 510, 500, RED)
    y, x = np.nonzero(drawn(sketch) == 0xFF0000)
    assert (x.min(), x.max()) == (22, 42) and y.max() - y.min() == 12 and x[y != 24].min() >= 35  # the head is at the end


@pytest.mark.quick
def test_the_scale_darkens_all_the_way_for_every_eye() -> None:
    for eye in EYES.values():
        lightness = [lab(scale_colour(share), eye)[0] for share in np.linspace(0, 1, 12)]
        assert (np.diff(lightness) < -2).all()
    inks = scale_inks([0.0, 1.0, 2.0, np.nan], 60, 200)
    assert inks.tolist() == [ink(SCALE[0], 60), ink(SCALE[-1], 200), ink(SCALE[-1], 200), ink(SCALE[0], 60)]


@pytest.mark.quick
def test_colours_that_overlays_set_against_each_other_differ_for_everybody() -> None:
    for one, other in ((ORANGE, SKY), (ORANGE, BLACK), (ORANGE, WHITE), (SKY, BLACK), (WHITE, BLACK), (SCALE[0], SCALE[-1])):
        assert distance(one, other) > 20


@pytest.mark.quick
def test_labels_are_written_where_they_are_moved_to() -> None:
    asked: list[pygame.Rect] = []

    def to_the_corner(rect: pygame.Rect) -> pygame.Rect:
        asked.append(rect)
        return rect.move_to(topleft=(0, 0))

    sketch, surface = Sketch(Camera((400.0, 300.0), (640, 360))), plain_surface((640, 360))
    sketch.label("destination 1", 9000, 150)
    sketch.write(surface, Pen(), 1.0, to_the_corner)
    (rect,) = asked
    assert surface.get_rect().contains(rect), "of what lies outside, the place at the edge"
    written = np.argwhere(frame_of(surface))
    assert written.min(axis=0).max() <= 2 and (written.max(axis=0) < (rect.height, rect.width)).all()


# --- Labels in the world: where they stand, what they count, and when they fade --------------------------------------

TILE, VIEW = 20.0, (640, 480)
DOOR = Line(100, 0, 100, 400)  # all of a wall, as in doorway


class Ground(SimpleNamespace):
    __hash__ = object.__hash__  # type: ignore[assignment]


def wall(*free: int, closed: bool = False) -> Any:
    """Return a map with a door: free tiles in column 5 of a wall. `closed` blocks the column behind the door."""
    blocked = np.zeros((20, 30), np.uint8)
    blocked[:, 5] = 1
    blocked[list(free), 5] = 0
    blocked[:, 6] = closed
    return Ground(walls=SimpleNamespace(blocked=blocked, tile=np.float32(TILE)), version=0)


@pytest.mark.quick
def test_an_opening_is_the_longest_free_part_of_a_line_and_a_wall_behind_it_blocks_it() -> None:
    assert opening(wall(0, 8, 9, 10), 0, DOOR) == pytest.approx((100, 160, 100, 220))
    assert opening(wall(), 0, DOOR) is None and opening(wall(8, 9, closed=True), 0, DOOR) is None


def labels(zoom: float, ground: Any) -> Sketch:
    config = load_config("doorway")
    config = config.model_copy(update={"measure": config.measure.model_copy(update={"lines": {"door": DOOR}}),
                                       "scene": config.scene.model_copy(update={"labels": {"hall": (50.0, 50.0)}})})
    counts = SimpleNamespace(flows=lambda seconds: np.array([[1.25]]), of_line=lambda name: 54)
    camera = Camera((600.0, 400.0), VIEW)
    camera.look_at(100.0, 200.0, zoom)
    sketch = Sketch(camera)
    draw_labels(sketch, SimpleNamespace(sim=SimpleNamespace(config=config, counts=counts, terrain=ground)))  # type: ignore[arg-type]
    return sketch


def texts(sketch: Sketch) -> list[list[str]]:
    return [[text for text, _ in parts] for parts, *_ in sketch._labels]


@pytest.mark.quick
def test_from_afar_only_counts_are_left_and_then_nothing() -> None:
    ground, near = wall(8, 9), NAMED_PX / UNITS
    assert texts(labels(near, ground)) == [["door", "54", "1.2/s"], ["hall"]]
    assert texts(labels(near * 0.9, ground)) == [["54"]]
    assert texts(labels(LEAST_PX / UNITS * 0.9, ground)) == []
    assert texts(labels(near, wall()))[0] == ["door", "54", "blocked"]
    assert labels(near, ground)._labels[0][2] > labels(near * 0.6, ground)._labels[0][2], "they fade"


@pytest.mark.quick
def test_a_label_stands_beside_its_opening_and_nowhere_if_a_panel_covers_both_of_its_sides() -> None:
    sketch = labels(1.0, wall(8, 9))
    sketch._labels = sketch._labels[:1]

    def written(covered: pygame.Rect) -> list[int]:
        """The rows of pixels that are written, where what is covered would be moved."""
        surface = plain_surface(VIEW)
        sketch.write(surface, Pen(), 1.0, lambda rect: rect.move(9, 9) if rect.colliderect(covered) else rect)
        return np.flatnonzero(frame_of(surface).any(axis=1)).tolist()

    top, bottom = 240 - 40, 240  # of the opening, pixels: its middle is y = 180, the screen's 200
    above, below = written(pygame.Rect(0, 0, 1, 1)), written(pygame.Rect(0, 0, 640, top))
    assert above and max(above) < top and min(below) >= bottom
    assert not written(pygame.Rect(0, 0, 640, 480))


@pytest.mark.quick
def test_people_are_at_least_twelve_pixels_high_where_a_scenario_begins_close() -> None:
    for name in list_configs():
        config = load_config(name)
        if config.behaviour == "crowd" and name != "1m":  # which begins with the whole city
            zoom = config.camera.zoom or Camera((config.world.width, config.world.height), (1280, 720)).zoom
            assert zoom * UNITS >= (12 if config.camera.zoom else NAMED_PX), name
