"""Overlays of agents: velocity, size, avoidance, goals, staggering, links; what the inspector marks; labels in the world.

Labels are those of doors with how many have left, of named places, and of areas that are measured. A door's label
stands beside its opening, never on it. Below 8 pixels a person only counts are left, below 4 nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import cast

import numpy as np

from crowd_demo.compute.arrays import Doubles, Ints
from crowd_demo.render.camera import Rect
from crowd_demo.render.colours.modes import ages
from crowd_demo.render.figures.people import UNITS
from crowd_demo.render.hud.canvas import ACCENT, DIM, TEXT, WARM
from crowd_demo.render.hud.status import Key
from crowd_demo.render.inks import BLACK, GREEN, GREY, ORANGE, SCALE, SHADOW, SKY, VERMILION, WHITE, ink, scale_inks
from crowd_demo.render.overlays.base import NOT_BUILT, OverlayView, Part, Sketch, Spot
from crowd_demo.sim.behaviours.people_rules import WAITING, PeopleColumns
from crowd_demo.sim.events import inside
from crowd_demo.sim.fundamental_diagram import Line
from crowd_demo.sim.inspection import Around, around, avoidance_launch, length_text
from crowd_demo.sim.neighbours.schedule import LONGEST
from crowd_demo.sim.neighbours.trees import extents
from crowd_demo.sim.population.births_deaths import LATELY
from crowd_demo.sim.terrain.tiles import Terrain

ARROWS, AHEAD_S = 800, 0.5  # arrows of velocity, at most, and how far ahead they reach
BODIES, RANGES = 300, 20  # agents with a body, and with a range of perception, which are larger
YIELDING = 12  # people whose neighbours are shown
LEAST_PUSH = 0.15  # of the strongest push on somebody: weaker ones are left out
PUSH_UNITS = 30.0  # length of an arrow that stands for a push of 1
GOALS = 80  # lines of sight
UPDATED = 3000  # agents with a mark
MARK_UNITS, MARK_LEAST_PX, EDGE_PX = 6.0, 1.5, 1.0  # half a mark's side is the larger of the first two: more than their feet
LINKS = 6000
FULL_STRETCH = 1.0  # of its length at rest: a spring that is stretched so far has the last colour of the scale
FLASH_PX = 0.6  # half of the side of a flash that ends
CANDIDATES = 2000  # of the inspected agent, that are marked
MARK_PX, RING_PX = 4.0, 11.0  # half a mark's side; the radius of the inspected agent's ring
LEAST_SIZE = 0.6  # of these sizes: below a pixel a unit marks are smaller, or they would cover what they mark
NAMED_PX, LEAST_PX, BESIDE_PX = 8.0, 4.0, 8  # height of a person, and from an opening to its label
RATE_S = 5  # seconds that a flow is the mean of


def draw_velocity(sketch: Sketch, view: OverlayView) -> None:
    """Draw an arrow from each agent to where it will be after `AHEAD_S` at its present velocity."""
    slots, x, y, how_many = view.sample(view.in_view(), ARROWS)
    agents = view.used.now.agents
    to_x, to_y = x + AHEAD_S * agents.vx[slots], y + AHEAD_S * agents.vy[slots]
    sketch.arrows(x, y, to_x, to_y, ink(WHITE), shadow=SHADOW)
    sketch.explain(f"arrows {how_many}", Key(WHITE, f"the way in {AHEAD_S:g} s at the present velocity"))


def draw_bodies(sketch: Sketch, view: OverlayView) -> None:
    """Draw the squares of agents that have a size, or else the circle that they keep clear of walls."""
    sim = view.sim
    needs, half = sim.needs, extents(sim.agents.view)
    in_view = view.in_view()
    slots, x, y, how_many = view.sample(in_view, BODIES)
    if len(half):
        side = half[slots].astype(np.float64)
        sketch.boxes(x - side, y - side, x + side, y + side, ink(ORANGE), shadow=SHADOW)
        sketch.explain(f"squares {how_many}", Key(ORANGE, "the square that others may not enter"))
        return
    keys = []
    if needs.body > 0:
        sketch.circles(x, y, needs.body, ink(ORANGE), width=2, shadow=SHADOW)
        keys.append(Key(ORANGE, f"{length_text(sim, needs.body)} kept clear of walls ({how_many})"))
    _, x, y, how_few = view.sample(in_view, RANGES)  # not of those few, whose hashes already are alike
    sketch.circles(x, y, needs.radius, ink(WHITE), dash=5, shadow=SHADOW)
    sketch.explain("", *keys, Key(WHITE, f"neighbours are within {length_text(sim, needs.radius)} ({how_few})", dashed=True))


def draw_avoidance(sketch: Sketch, view: OverlayView) -> None:
    """Draw a line from each of a few people to those who push them most, and an arrow of the push that they keep."""
    sim = view.sim
    slots, x, y, how_many = view.sample(view.in_view(), YIELDING)
    near = [around(sim, int(slot)) for slot in slots]
    if not all(near):
        sketch.explain(NOT_BUILT)
        return
    candidates = [each.candidates for each in near if each]
    finding, pushes = avoidance_launch(sim, slots, candidates)
    finding.run()
    strength = np.hypot(pushes[:, 0], pushes[:, 1])
    whose = np.repeat(np.arange(len(slots)), [len(each) for each in candidates])
    strongest = np.zeros(len(slots))
    np.maximum.at(strongest, whose, strength)
    kept = np.flatnonzero((strength > 0) & (strength >= LEAST_PUSH * strongest[whose]))
    to_x, to_y = view.positions(np.concatenate([np.zeros(0, np.int32), *candidates])[kept])
    sketch.lines(x[whose[kept]], y[whose[kept]], to_x, to_y, ink(ORANGE), 2, shadow=ink(BLACK, 170))
    columns = sim.agents.view
    far_x, far_y = (position + PUSH_UNITS * push[slots] for position,
                    push in ((x, columns.avoidance_x), (y, columns.avoidance_y)))
    sketch.arrows(x, y, far_x, far_y, ink(SKY), 2, shadow=ink(BLACK, 170))
    sketch.circles(x, y, 8 / sketch.zoom, ink(WHITE), 2)
    sketch.explain(f"avoidance {sim.optimizations.get('avoidance')}, {how_many}", Key(ORANGE, "whom they yield to now"),
                   Key(SKY, "avoidance since their last update"))


def draw_sight(sketch: Sketch, view: OverlayView) -> None:
    """Draw a full line to a goal in sight, and a dashed one where walls or water are in between."""
    columns = cast(PeopleColumns, view.sim.agents.view)
    slots = view.in_view()
    slots, x, y, how_many = view.sample(slots[columns.state[slots] != WAITING], GOALS)
    clear = columns.goal_visible[slots] != 0
    for shown, colour, dash, shadow in ((clear, WHITE, 0, SHADOW), (~clear, BLACK, 6, 0)):
        of = slots[shown]
        sketch.lines(x[shown], y[shown], columns.goal_x[of], columns.goal_y[of], ink(colour, 235), 2, dash, shadow)
    side = 3 / sketch.zoom
    sketch.boxes(x - side, y - side, x + side, y + side, ink(BLACK), width=2)
    sketch.explain(f"goals {how_many} who walk, {clear.mean() if len(clear) else 0:.0%} in sight",
                   Key(WHITE, "in sight"), Key(BLACK, "behind walls or water: the flow field leads", dashed=True))


def draw_updates(sketch: Sketch, view: OverlayView) -> None:
    """Fill the areas that were due, and mark the agents that were updated in the last step."""
    sim = view.sim
    schedule, by = sim.schedule, sim.optimizations.stagger.by
    if not schedule.by_id:
        walls, side = sim.terrain.walls, 1 / float(schedule.inv_band)
        wait = schedule.next_update % LONGEST + 1  # steps from the coming one until the band or tile is due again
        row, column = np.divmod(np.arange(len(wait)), schedule.columns)
        wide = side if schedule.columns > 1 else float(walls.width)
        last, coming = wait == schedule.period - 1, wait == schedule.period
        in_world = (column * wide < float(walls.width)) & (row * side < float(walls.height))
        for due, colour, alpha in ((coming & in_world, SKY, 60), (last & in_world, ORANGE, 90)):
            left, top = column[due] * wide, row[due] * side
            right, bottom = np.minimum(left + wide, float(walls.width)), np.minimum(top + side, float(walls.height))
            sketch.areas(left, top, right, bottom, ink(colour, alpha))
            sketch.boxes(left, top, right, bottom, ink(colour, 220))
    slots = view.in_view()
    updated = ages(sim, slots) == 0
    _, x, y, how_many = view.sample(slots[updated], UPDATED)
    side = max(MARK_UNITS, MARK_LEAST_PX / sketch.zoom)
    edge = side + EDGE_PX / sketch.zoom
    sketch.areas(x - edge, y - edge, x + edge, y + edge, ink(BLACK, 200))
    sketch.areas(x - side, y - side, x + side, y + side, ink(WHITE, 255))
    share = updated.mean() if len(slots) else 0.0
    words = {"place": "bands", "tile": "tiles", "id": "ids"}[by]
    sketch.explain(f"by {words}, one step in {schedule.period}, {share:.0%} of the agents in view just updated",
                   *(() if schedule.by_id else (Key(ORANGE, "due in the last step"), Key(SKY, "in the next one"))),
                   Key(WHITE, f"updated ({how_many})"))


def draw_links(sketch: Sketch, view: OverlayView) -> None:
    links = view.sim.links
    if not links.fresh:
        sketch.explain(NOT_BUILT)
        return
    a, b = links.pairs
    (ax, ay), (bx, by) = view.positions(a), view.positions(b)
    rect = sketch.rect
    shown = np.flatnonzero((np.maximum(ax, bx) >= rect.left) & (np.minimum(ax, bx) <= rect.right)
                           & (np.maximum(ay, by) >= rect.top) & (np.minimum(ay, by) <= rect.bottom))
    every = -(-len(shown) // LINKS)
    shown = shown[::every or 1]
    stretch = np.abs(np.hypot(ax - bx, ay - by)[shown] / max(view.sim.settings.links.rest, 1e-9) - 1)
    inks = scale_inks(stretch / FULL_STRETCH, 255, 255)
    sketch.lines(ax[shown], ay[shown], bx[shown], by[shown], inks, width=2, shadow=SHADOW)
    sketch.explain(f"{len(a):,} links" + (f" (1 in {every} drawn)" if every > 1 else ""), Key(SCALE[0], "at rest"),
                   Key(SCALE[-1], "twice as long, or longer"))


def draw_life(sketch: Sketch, view: OverlayView) -> None:
    """Flash where agents were born and died lately."""
    sim = view.sim
    for turnover in sim.life.lately:
        left = 1 - (sim.tick - 1 - turnover.tick) / LATELY
        if 0 < left <= 1:  # neither long ago nor in a future that was left
            for (x, y), colour in ((turnover.died, VERMILION), (turnover.born, WHITE)):
                side = (FLASH_PX + left) / sketch.zoom
                sketch.areas(x - side, y - side, x + side, y + side, ink(colour, round(255 * left)))
    sketch.explain("births and deaths of the last steps", Key(WHITE, "born"), Key(VERMILION, "died"))


# --- what is inspected -----------------------------------------------------------------------------------------------

def _size(sketch: Sketch) -> float:
    """The share of their full size that marks have."""
    return min(max(sketch.zoom, LEAST_SIZE), 1.0)


def draw_agent(sketch: Sketch, view: OverlayView, slot: int, around: Around | None, neighbours: Ints) -> None:
    """Mark candidates grey, neighbours green, each with a line, and the agent with its cell and its reach."""
    x, y = view.positions(np.array([slot], np.int32))
    if around:
        if around.reach:
            sketch.boxes(*around.reach, ink(BLACK, 200), 2, dash=6)
        if around.own:
            sketch.boxes(*around.own, ink(ORANGE), 2)
        _mark(sketch, *view.positions(around.candidates[:CANDIDATES]), ink(GREY))
        other_x, other_y = view.positions(neighbours[:CANDIDATES])
        sketch.lines(x, y, other_x, other_y, ink(GREEN, 200))
        _mark(sketch, other_x, other_y, ink(GREEN))
    radius, size = RING_PX * _size(sketch) / sketch.zoom, _size(sketch)
    sketch.circles(x, y, radius, ink(BLACK), width=5 if size == 1 else 3)
    sketch.circles(x, y, radius, ink(WHITE), width=2 if size == 1 else 1)


def draw_box(sketch: Sketch, box: Rect) -> None:
    sketch.areas(*box, ink(WHITE, 40))
    sketch.boxes(*box, ink(BLACK), 3)
    sketch.boxes(*box, ink(WHITE), 1, dash=6)


def _mark(sketch: Sketch, x: Doubles, y: Doubles, colour: int) -> None:
    largest = MARK_PX * _size(sketch)
    for half, each in ((largest, ink(BLACK)), (largest - 1, colour)):
        side = half / sketch.zoom
        sketch.areas(x - side, y - side, x + side, y + side, each)


# --- labels ----------------------------------------------------------------------------------------------------------

def draw_labels(sketch: Sketch, view: OverlayView) -> None:
    person_px = UNITS * sketch.zoom
    if person_px < LEAST_PX:
        return
    is_named, alpha = person_px >= NAMED_PX, round(255 * min(max((person_px - LEAST_PX) / 2, 0.3), 1))
    for name, count, more, line in _counted(sketch, view):
        sketch.tag([(name, DIM), (count, TEXT), *more] if is_named else [(count, TEXT)], _beside(line), alpha)
    for name, (x, y) in view.sim.config.scene.labels.items() if is_named else ():
        sketch.tag([(name, TEXT)], [("center", x, y, 0, 0)], alpha)


def _counted(sketch: Sketch, view: OverlayView) -> Iterator[tuple[str, str, tuple[Part, ...], Line]]:
    """The name of a door or area, how many people it counts, what else there is to say, and the line to write that beside."""
    sim = view.sim
    if not sim.config.events:  # in a scenario with events areas only serve those
        for name, area in sim.config.measure.areas.items():
            sketch.boxes(*area, ink(WHITE), 2, dash=8)
            yield name, f"{inside(name, sim):,}", (), Line(area[0], area[1], area[2], area[1])
        return
    rates = sim.counts.flows(RATE_S)
    for number, (name, ends) in enumerate(sim.config.measure.lines.items()):
        found = opening(sim.terrain, sim.terrain.version, Line(*ends))
        rate = f"{rates[-1, number] if len(rates) else 0:.1f}/s"
        yield (name, f"{sim.counts.of_line(name):,}", ((rate, ACCENT) if found else ("blocked", WARM),), found or Line(*ends))


def _beside(line: Line) -> tuple[Spot, Spot]:
    """Past one end of a line, or past the other where the screen or a panel leaves no room."""
    x0, y0, x1, y1 = line
    if abs(x1 - x0) > abs(y1 - y0):
        return ("midleft", max(x0, x1), y0, BESIDE_PX, 0), ("midright", min(x0, x1), y0, -BESIDE_PX, 0)
    return ("midbottom", x0, min(y0, y1), 0, -BESIDE_PX), ("midtop", x0, max(y0, y1), 0, BESIDE_PX)


@lru_cache(16)
def opening(terrain: Terrain, version: int, line: Line) -> Line | None:
    """Return the longest free part of a line in a version of the terrain; None if a wall within a tile of it blocks it."""
    blocked, tile = terrain.walls.blocked, float(terrain.walls.tile)
    start, way = np.array(line[:2]), np.subtract(line[2:], line[:2])
    length = float(np.hypot(*way))
    steps = max(round(length / tile * 4), 1)
    points = start + way * ((np.arange(steps) + 0.5) / steps)[:, None]
    aside = np.array((-way[1], way[0])) * (tile / length)
    columns, rows = (np.stack((points - aside, points, points + aside), axis=-1).T / tile).astype(int).swapaxes(0, 1)
    free = blocked[rows.clip(0, blocked.shape[0] - 1), columns.clip(0, blocked.shape[1] - 1)] == 0
    runs = np.flatnonzero(np.diff(free[1].astype(int), prepend=0, append=0)).reshape(-1, 2)
    first, end = runs[np.argmax(runs[:, 1] - runs[:, 0])] if len(runs) else (0, 0)
    if not free[:, first:end].any(axis=1).all():
        return None
    return Line(*(start + way * (first / steps)).tolist(), *(start + way * (end / steps)).tolist())
