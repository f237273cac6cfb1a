"""Scenes, and who walks them: people of this program, and of JuPedSim; and PedPy, which measures.

A scene is a floor, people with their starts and exits, and for how long; all in metres and seconds. Where its people
begin is the same in every program that walks it; for this program it becomes a map of tiles, they are placed before the
first step, and positions are recorded between steps. What happens within a step is the model's own. Whoever is on an
exit is taken out. Goals lie at its far end, and nobody gets there: at a goal people would stand and wait.

JuPedSim is used as a program of its own (LGPL), where it is installed (`pip install jupedsim`): https://www.jupedsim.org.
Each of its models walks with its own defaults. PedPy has some of the same measures: https://pedpy.readthedocs.io (the
extra `validation`).
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Generator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Bools, Doubles, Floats, Ints, Longs
from crowd_demo.config.loader import Override, ReadConfig
from crowd_demo.config.maps import MARKS
from crowd_demo.config.section import UNITS_A_METRE
from crowd_demo.config.yaml12 import Location
from crowd_demo.extras.trajectories import Rectangle, Trajectories, TrajectoryRecorder, crossings, density, speeds
from crowd_demo.registry.entries import Value
from crowd_demo.sim.behaviours.people_rules import WALKING, PeopleColumns
from crowd_demo.sim.fundamental_diagram import Line
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.store.state import views

TILE = 0.5  # metres: doors and corridors are multiples of a tile; a narrower one would let bodies come nearer to walls
FROM_WALLS = 0.25  # metres
JITTER = 0.075  # of the distance between neighbours, each way
MEAN_SPEED, SPEED_SPREAD = 1.34, 0.26  # Weidmann 1993, m/s
EXIT_DEPTH = 6.0  # more than the distance at which people who are stuck count as arrived
RING_MARGIN = 3.0  # beyond the ends of a ring: farther than anybody looks
RING_RUN = 25.0  # from there to the goals: farther than anybody walks before they are brought back

Point = tuple[float, float]


class Exit(NamedTuple):
    """People who want to leave walk `towards` this area, a unit vector along an axis."""

    area: Rectangle
    towards: Point

    def goal(self, x: float, y: float) -> Point:
        """Return the goal of somebody who begins at (x, y): straight on, as far as the area allows, at its far end."""
        area, edge = self.area, 0.5
        far_x = {1: area.right - edge, -1: area.left + edge}.get(round(self.towards[0]), x)
        far_y = {1: area.bottom - edge, -1: area.top + edge}.get(round(self.towards[1]), y)
        return (min(max(far_x, area.left + edge), area.right - edge), min(max(far_y, area.top + edge), area.bottom - edge))


class WalkGroup(NamedTuple):
    """People who begin in the same area, or at given places, and leave by the same exit."""

    people: int
    start: Rectangle
    exit: int
    speed: float | None = None  # desired, m/s; None: as the model draws them
    places: tuple[Point, ...] | None = None


class WalkScene(NamedTuple):
    """The floor and who walks on it. `ring`: the left end of the only floor is joined to its right end: nobody leaves.

    All borders are multiples of `tile`, metres.
    """

    floor: tuple[Rectangle, ...]
    exits: tuple[Exit, ...]
    groups: tuple[WalkGroup, ...]
    seconds: float
    ring: bool = False
    tile: float = TILE

    @property
    def people(self) -> int:
        return sum(group.people for group in self.groups)

    @property
    def bounds(self) -> Rectangle:
        every = *self.floor, *(each.area for each in self.exits)
        return Rectangle(min(part.left for part in every), min(part.top for part in every),
                         max(part.right for part in every), max(part.bottom for part in every))


def gate(passage: Rectangle) -> Line:
    """Return a line from wall to wall in the middle of a passage that leads to the right.

    It reaches into the walls, for who slides along one may be on its very border.
    """
    middle, into = (passage.left + passage.right) / 2, 0.1
    return Line(middle, passage.top - into, middle, passage.bottom + into)


def right_of(floor: Rectangle, gap: float = 0.0) -> Exit:
    """Return an exit along the whole right side of a floor, or so far beyond it."""
    return Exit(Rectangle(floor.right + gap, floor.top, floor.right + gap + EXIT_DEPTH, floor.bottom), (1, 0))


def left_of(floor: Rectangle, gap: float = 0.0) -> Exit:
    return Exit(Rectangle(floor.left - gap - EXIT_DEPTH, floor.top, floor.left - gap, floor.bottom), (-1, 0))


def above(floor: Rectangle) -> Exit:
    return Exit(Rectangle(floor.left, floor.top - EXIT_DEPTH, floor.right, floor.top), (0, -1))


def below(floor: Rectangle) -> Exit:
    return Exit(Rectangle(floor.left, floor.bottom, floor.right, floor.bottom + EXIT_DEPTH), (0, 1))


def ring(floor: Rectangle, groups: tuple[WalkGroup, ...], seconds: float) -> WalkScene:
    """Return a corridor closed to a ring; exit 0 is to the right, exit 1 to the left."""
    gap = RING_MARGIN + RING_RUN
    return WalkScene((floor,), (right_of(floor, gap), left_of(floor, gap)), groups, seconds, ring=True)


# --- where people begin ------------------------------------------------------------------------------------------------

class PlacedPeople(NamedTuple):
    """People by id, 0, 1, 2, ...: those of the first group first. Metres, m/s."""

    x: Doubles
    y: Doubles
    speed: Doubles
    group: Longs
    goal_x: Doubles
    goal_y: Doubles


def placed(scene: WalkScene, seed: int = 1) -> PlacedPeople:
    rng, starts = np.random.default_rng(seed), list[Point]()
    for group in scene.groups:
        starts += group.places or _starts(group, rng)
    number = np.repeat(np.arange(len(scene.groups)), [group.people for group in scene.groups])
    drawn = np.clip(rng.normal(MEAN_SPEED, SPEED_SPREAD, len(starts)), MEAN_SPEED / 3, MEAN_SPEED * 5 / 3)
    given = np.array([np.nan if group.speed is None else group.speed for group in scene.groups])[number]
    goals = [scene.exits[scene.groups[group].exit].goal(x, y) for group, (x, y) in zip(number, starts, strict=True)]
    (x, y), (goal_x, goal_y) = np.array(starts, float).T, np.array(goals, float).T
    return PlacedPeople(x, y, np.where(np.isnan(given), drawn, given), number, goal_x, goal_y)


def _starts(group: WalkGroup, rng: np.random.Generator) -> list[Point]:
    """Return positions near those of rows and columns that are as far apart as the area allows."""
    area, people = group.start, group.people
    width, height = max(area.width - 2 * FROM_WALLS, 0.0), max(area.height - 2 * FROM_WALLS, 0.0)
    shape = min(((columns, -(-people // columns)) for columns in range(1, people + 1)),
                key=lambda shape: abs(width / max(shape[0] - 1, 0.5) - height / max(shape[1] - 1, 0.5)))
    x, y = (low + FROM_WALLS + (np.arange(count) + 0.5) * side / count
            for low, side, count in ((area.left, width, shape[0]), (area.top, height, shape[1])))
    spots, most = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2), JITTER * math.sqrt(area.size / people)
    chosen = spots[rng.permutation(len(spots))[:people]] + rng.uniform(-most, most, (people, 2))
    return [(float(x), float(y)) for x, y in chosen]


# --- as a map of tiles -----------------------------------------------------------------------------------------------

class SceneMap:
    """The part of the plane that the map of a scene covers, `area`: everything in it, and a tile of wall around that."""

    def __init__(self, scene: WalkScene) -> None:
        left, top, right, bottom = scene.bounds
        self.scene, tile = scene, scene.tile
        self.area = Rectangle(*(math.floor(low / tile) * tile - tile for low in (left, top)),
                              *(math.ceil(high / tile) * tile + tile for high in (right, bottom)))

    def text(self) -> str:
        """Return the text of a .map file: tiles with their middle on the floor are free, exits are destinations."""
        area, scene, tile = self.area, self.scene, self.scene.tile
        columns, rows = round(area.width / tile), round(area.height / tile)
        x, y = np.meshgrid(area.left + (np.arange(columns) + 0.5) * tile, area.top + (np.arange(rows) + 0.5) * tile)
        tiles = np.full((rows, columns), "@")
        for part in [scene.bounds] if scene.ring else scene.floor:
            tiles[part.holds(x, y)] = "."
        for mark, each in zip(MARKS, scene.exits, strict=False):
            tiles[each.area.holds(x, y)] = mark
        return "\n".join([f"type octile\nheight {rows}\nwidth {columns}\nmap", *map("".join, tiles.tolist()), ""])

    def metres(self, x: Floats, y: Floats) -> tuple[Doubles, Doubles]:
        return x.astype(float) / UNITS_A_METRE + self.area.left, y.astype(float) / UNITS_A_METRE + self.area.top

    def units(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        across, down = np.asarray(x, float) - self.area.left, np.asarray(y, float) - self.area.top
        return (across * UNITS_A_METRE).astype(np.float32), (down * UNITS_A_METRE).astype(np.float32)


# --- who walks them -----------------------------------------------------------------------------------------------

class Measures(NamedTuple):
    """The measures that PedPy has, too."""

    crossings: Callable[[Trajectories, Line], tuple[Longs, Doubles]]
    speeds: Callable[[Trajectories, int, tuple[float, float] | None], tuple[Longs, Longs, Doubles]]
    density: Callable[[Trajectories, Rectangle], Doubles]


OWN = Measures(crossings, speeds, density)


FPS = 10  # frames a second
STEPS = 10  # a frame
STUCK_S = 60  # when nobody has left for so long, nobody will any more
ORIGIN = Location("validate")


class CrowdWalk(NamedTuple):
    name: str
    about: str
    techniques: Mapping[str, Value]  # by path
    settings: Mapping[str, Value] = {}  # of people, by name, where they are not the usual ones

    def why_not(self, scene: WalkScene) -> str:
        return ""

    def walk(self, scene: WalkScene, seed: int = 1) -> Generator[float, None, Trajectories]:
        """Walk until the scene's end or until all have left; yield how much is done, 0 to 1; return who was where."""
        scene_map = SceneMap(scene)
        sim = simulation(scene_map, self.techniques, self.settings, seed)
        people, who = placed(scene, seed), sim.agents.columns.id[:sim.agents.count].copy()
        c = cast(PeopleColumns, sim.agents.columns)
        groups = [scene.groups[number] for number in people.group[who]]
        x, y = scene_map.units(people.x[who], people.y[who])
        goal_x, goal_y = scene_map.units(people.goal_x[who], people.goal_y[who])
        speed = np.where([group.speed is None for group in groups], c.speed[:len(who)], people.speed[who] * UNITS_A_METRE)
        heading = np.array([scene.exits[group.exit].towards for group in groups], np.float32)
        values = {"x": x, "y": y, "goal_x": goal_x, "goal_y": goal_y, "speed": speed,
                  "goal": [group.exit for group in groups], "heading_x": heading[:, 0], "heading_y": heading[:, 1],
                  "state": WALKING}
        for name, value in values.items():  # everybody stands where they begin, about to walk to their goal
            getattr(c, name)[:len(who)] = value
        ring = ClosedRing(sim, scene_map) if scene.ring else None
        recorder, frames = TrajectoryRecorder(FPS), math.ceil(scene.seconds * FPS)
        while (ring.look(recorder) if ring else leave(sim, scene_map, recorder)) and recorder.frames <= frames:
            for _ in range(round(1 / sim.dt / FPS)):
                if ring:
                    ring.before_step()
                sim.step()
            yield recorder.frames / frames
        return recorder.trajectories()


def simulation(scene_map: SceneMap, techniques: Mapping[str, Value], settings: Mapping[str, Value], seed: int) -> Simulation:
    """Return a simulation of the scene's floor with as many people, anywhere."""
    area, people = scene_map.area, scene_map.scene.people
    world = {"width": area.width * UNITS_A_METRE, "height": area.height * UNITS_A_METRE}
    overrides = [Override(ORIGIN, ("optimizations", *path.split(".")), value) for path, value in techniques.items()]
    overrides += [Override(ORIGIN, ("crowd", name), value) for name, value in {"reconsider_s": 0, **settings}.items()]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.map"
        path.write_text(scene_map.text(), "ascii")
        data = {"agents": people, "seed": seed, "behaviour": "crowd", "world": world, "map": str(path)}
        return Simulation(ReadConfig.of(data, ORIGIN.origin, overrides).config)


# --- how people leave: through the exits, or never, because the corridor is closed to a ring -------------------------

def leave(sim: Simulation, scene_map: SceneMap, recorder: TrajectoryRecorder) -> bool:
    """Record all positions, and remove people who are on an exit; return whether people are left."""
    c = sim.agents.by_id()
    x, y = scene_map.metres(c.x, c.y)
    recorder.add(c.id, x, y)
    out = np.any([each.area.holds(x, y) for each in scene_map.scene.exits], axis=0)
    if out.any():
        sim.agents.remove(c.id[out])
    return sim.agents.count > 0


class ClosedRing:
    """The corridor's right end is its left end.

    Before each step, who has left it on one side comes in on the other, and copies of those near an end stand beyond
    the other one, so that nobody sees a seam. Copies have ids of their own and live for one step. Everybody's goal is
    straight ahead.
    """

    def __init__(self, sim: Simulation, scene_map: SceneMap) -> None:
        floor = scene_map.scene.floor[0]
        self.sim, self.map, self.metres, self.people = sim, scene_map, floor.width, sim.agents.count
        (self.left, self.right), _ = scene_map.units([floor.left, floor.right], [0, 0])
        self.length = self.right - self.left
        self.margin = np.float32(RING_MARGIN * UNITS_A_METRE)
        self.laps = np.zeros(self.people, np.int64)

    def before_step(self) -> None:
        """Bring everybody back between the ends, and make the copies anew."""
        agents = self.sim.agents
        rows = agents.front[:, :agents.count][:, agents.columns.id[:agents.count] < self.people]
        c = views(PeopleColumns, rows)
        beyond = (c.x >= self.right).astype(np.int64) - (c.x < self.left)
        self.laps[c.id] += beyond
        c.x[:] -= beyond.astype(np.float32) * self.length
        c.goal_y[:] = c.y
        first = self._copies(rows, c.x < self.left + self.margin, self.length, self.people)
        last = self._copies(rows, c.x >= self.right - self.margin, -self.length, 2 * self.people)
        agents.restore(np.concatenate([rows, first, last], axis=1), np.zeros(3 * self.people, np.int32))

    def look(self, recorder: TrajectoryRecorder) -> bool:
        """Record all positions but those of copies, as if the corridor were endless; return True, since people stay."""
        c = self.sim.agents.by_id()
        x, y = self.map.metres(c.x[:self.people], c.y[:self.people])
        recorder.add(c.id[:self.people], x + self.laps * self.metres, y)
        return True

    def _copies(self, rows: Ints, chosen: Bools, shift: np.float32, first_id: int) -> Ints:
        copies = rows[:, chosen]
        c = views(PeopleColumns, copies)
        c.id[:] += first_id
        c.x[:] += shift
        return copies


# --- JuPedSim --------------------------------------------------------------------------------------------------------

class JuPedSimWalk(NamedTuple):
    """One of its models, by the name of the model's class; that of its agents is the same with `AgentParameters`."""

    name: str
    about: str
    model: str
    random: bool = False  # does the model draw numbers?

    def why_not(self, scene: WalkScene) -> str:
        return "JuPedSim has no corridor that is closed to a ring" if scene.ring else ""

    def walk(self, scene: WalkScene, seed: int = 1) -> Generator[float, None, Trajectories]:
        import jupedsim
        import shapely

        def box(area: Rectangle) -> shapely.Polygon:
            return shapely.box(area.left, area.top, area.right, area.bottom)

        floor = shapely.unary_union([box(part) for part in (*scene.floor, *(each.area for each in scene.exits))])
        model, agent = (getattr(jupedsim, self.model + kind) for kind in ("", "AgentParameters"))
        drawn = {"rng_seed": seed} if self.random else {}
        sim = jupedsim.Simulation(model=model(**drawn), geometry=floor, dt=1 / (FPS * STEPS))
        exits = [sim.add_exit_stage(box(each.area)) for each in scene.exits]
        journeys = [sim.add_journey(jupedsim.JourneyDescription([stage])) for stage in exits]
        people, numbers = placed(scene, seed), {}
        for person, (x, y, speed, group) in enumerate(zip(*(column.tolist() for column in people[:4]), strict=True)):
            number = scene.groups[group].exit
            numbers[sim.add_agent(agent(position=(x, y), desired_speed=speed, journey_id=journeys[number],
                                        stage_id=exits[number]))] = person
        recorder, frames = TrajectoryRecorder(FPS), math.ceil(scene.seconds * FPS)
        left = 0  # the frame in which somebody did
        while sim.agent_count() and recorder.frames <= min(frames, left + STUCK_S * FPS):
            agents = [(numbers[agent.id], *agent.position) for agent in sim.agents()]
            recorder.add(*zip(*agents, strict=True))
            sim.iterate(STEPS)
            left = recorder.frames if sim.agent_count() < len(agents) else left
            yield recorder.frames / frames
        return recorder.trajectories()


SceneWalker = CrowdWalk | JuPedSimWalk

# With their defaults V2 of the first one walks just as it does; the social force model pushes people off the floor at
# a corner (RuntimeError), and the generalized centrifugal force model takes 14 s for the short crossing, where all get
# stuck.
WALKS = (
    JuPedSimWalk("CFSM", "JuPedSim's collision-free speed model (Tordeux 2016)", "CollisionFreeSpeedModel"),
    JuPedSimWalk("CFSM V3", "its third version, in which people turn away from others", "CollisionFreeSpeedModelV3"),
    JuPedSimWalk("AVM", "JuPedSim's anticipation velocity model (Xu 2021)", "AnticipationVelocityModel", random=True),
    JuPedSimWalk("WarpDriver", "JuPedSim's WarpDriver (Wolinski 2016)", "WarpDriverModel"))


def jupedsim_walkers() -> list[JuPedSimWalk]:
    """Return what the installed JuPedSim has of its models; none where it is not installed."""
    if not find_spec("jupedsim"):
        return []
    import jupedsim

    return [each for each in WALKS if hasattr(jupedsim, each.model)]


# --- PedPy -----------------------------------------------------------------------------------------------------------

def pedpy_measures() -> Measures | None:
    """Return the measures that PedPy has; None where it is not installed."""
    try:
        import pandas
        import pedpy
    except ImportError:
        return None

    def table(of: Trajectories) -> pedpy.TrajectoryData:
        return pedpy.TrajectoryData(pandas.DataFrame({"id": of.id, "frame": of.frame, "x": of.x, "y": of.y}), of.fps)

    def crossings(of: Trajectories, line: Line) -> tuple[Longs, Doubles]:
        _, found = pedpy.compute_n_t(traj_data=table(of), measurement_line=pedpy.MeasurementLine(
            [(line.x, line.y), (line.to_x, line.to_y)]))
        order = np.lexsort((found.id, found.frame))
        return found.id.to_numpy(np.int64)[order], found.frame.to_numpy(float)[order] / of.fps

    def speeds(of: Trajectories, step: int, axis: tuple[float, float] | None = None) -> tuple[Longs, Longs, Doubles]:
        direction = None if axis is None else np.array(axis)
        found = pedpy.compute_individual_speed(traj_data=table(of), frame_step=step, movement_direction=direction,
                                               speed_calculation=pedpy.SpeedCalculation.BORDER_EXCLUDE)
        found = found.sort_values(["id", "frame"])
        return found.id.to_numpy(np.int64), found.frame.to_numpy(np.int64), found.speed.to_numpy(float)

    def density(of: Trajectories, area: Rectangle) -> Doubles:
        corners = [(area.left, area.top), (area.right, area.top), (area.right, area.bottom), (area.left, area.bottom)]
        return pedpy.compute_classic_density(traj_data=table(of), measurement_area=pedpy.MeasurementArea(
            corners)).density.to_numpy(float)

    return Measures(crossings, speeds, density)
