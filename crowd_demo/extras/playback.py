"""Measured people: everybody is where a file of trajectories says (docs/model_birds_crates.md, "Playback").

    frame(t)    min(t / step_hz * fps, the last frame) after t steps
    present     whose first row is not later than frame(t), and whose last row not earlier
    p(t)        linear between the two rows around frame(t)
    v(t)        of that stretch, also at its end; 0 after the last frame
    neighbours  j != i with |p_i - p_j| < radius: counted, nobody avoids anybody

A state is a function of the tick: who was moved, taken out or brought in by hand is back or gone after the next step. Ids
are 0, 1, ... in the order of the file's ids, which are the column `person`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Doubles, Float, Floats, Int, Ints, Longs, Mask
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.simd import root, select, wrap32
from crowd_demo.config.behaviours import PlaybackSettings
from crowd_demo.config.maps import Metres, Origin
from crowd_demo.config.model import Config
from crowd_demo.config.resources import path_of
from crowd_demo.extras.importing.trajectory_files import Paths, read_paths
from crowd_demo.registry.texts import say_once
from crowd_demo.sim.behaviours.base import Behaviour
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import Position, Sums
from crowd_demo.sim.neighbours.schedule import BAND_RADII
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.terrain.tiles import Terrain
from crowd_demo.sim.world import Needs, World

MOVING, STANDING = range(2)
SLACK = 1.001  # for what float32 makes of a stretch
SAME_FRAME = 1e-9  # frames: nearer ones are the same


class PlaybackColumns(NamedTuple):
    """Columns of measured people; those of a crowd that its pictures need."""

    id: Ints
    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    avoidance_x: Floats
    avoidance_y: Floats
    next_update: Ints
    heading_x: Floats  # of the last stretch on which somebody moved, of length 1
    heading_y: Floats
    state: Ints  # MOVING, or STANDING
    timer: Floats  # always 0
    person: Ints  # the id in the file


class PlaybackRules(NamedTuple):
    radius_sq: np.float32  # within which others are neighbours


@implements(pairwise.accumulate, PlaybackRules)
def accumulate(rules: PlaybackRules, me: Position, other: Position, sums: Sums) -> Sums:
    count, sum_x, sum_y = sums
    dx, dy = me.x - other.x, me.y - other.y
    return count + select(dx * dx + dy * dy < rules.radius_sq, 1, 0), sum_x, sum_y


@implements(pairwise.finish, PlaybackRules)
def finish(rules: PlaybackRules, me: Position, sums: Sums) -> tuple[Float, Float, Int]:
    nothing = me.x - me.x
    return nothing, nothing, wrap32(sums[0]) - 1  # without the agent itself


@implements(pairwise.perceive, PlaybackRules)
def perceive(rules: PlaybackRules, me: Position, other: Position) -> tuple[Mask, Float]:
    dx, dy = me.x - other.x, me.y - other.y
    distance_sq = dx * dx + dy * dy
    return distance_sq < rules.radius_sq, root(distance_sq)


# --- who is where --------------------------------------------------------------------------------------------------------

class MeasuredWays:
    """The paths of a file in world units; a person is their number in the order of ids."""

    def __init__(self, paths: Paths, fps: float, terrain: Terrain, metre: float, settings: PlaybackSettings, up: bool) -> None:
        """`up` says which way y grows, if the map does not."""
        self._paths, self._fps = paths, fps
        corner = settings.corner or (float(paths.x.min()), float((paths.y.max if up else paths.y.min)()))
        self.origin = terrain.origin or Origin(*corner, up)
        points = self.origin.offsets(np.stack((paths.x, paths.y), axis=1)) * metre
        last = [float(np.nextafter(side, np.float32(0))) for side in (terrain.walls.width, terrain.walls.height)]
        within = points.clip(0, last)
        self._x, self._y = within.T + 0.0  # never -0
        outside = np.logical_or.reduceat((within != points).any(axis=1), paths.first[:-1])
        if terrain.origin and outside.any():  # the copy for compiling ahead has no map
            say_once(f"{settings.file}: {outside.sum()} of {len(outside)} people are outside; they are shown at the edge")
        self._begins, self._ends = paths.frame[paths.first[:-1]], paths.frame[paths.first[1:] - 1]
        self._span = paths.last_frame + 1
        self._key = np.repeat(np.arange(len(paths.ids)), np.diff(paths.first)) * self._span + paths.frame
        # velocities from each row to the next, units/s; a person's last one is that before
        first, steps = paths.first, np.diff(paths.frame, append=0).astype(np.float64)
        ends = first[1:] - 1
        steps[ends] = 1
        self._vx, self._vy = (np.diff(axis, append=0) / steps * fps for axis in (self._x, self._y))
        for velocity in (self._vx, self._vy):
            velocity[ends] = np.where(ends > first[:-1], velocity[ends - 1], 0)
        speed = np.hypot(self._vx, self._vy)
        self._state = np.where(speed < settings.standing, STANDING, MOVING).astype(np.int32)
        # directions of each row's stretch; where it has none, of the last one before, else of the next one, else down
        row, moves = np.arange(len(speed)), speed > 0
        begin = np.repeat(first[:-1], np.diff(first))
        before = np.maximum.accumulate(np.where(moves, row, -1))
        later = np.minimum.accumulate(np.where(moves, row, len(row))[::-1])[::-1]
        of = np.where(before >= begin, before, np.where(later < np.repeat(first[1:], np.diff(first)), later, row))
        moved = np.where(speed[of] > 0, speed[of], 1)
        self._heading_x, self._heading_y = self._vx[of] / moved, np.where(speed[of] > 0, self._vy[of] / moved, 1)

    def frame_at(self, seconds: float) -> float:
        """Return the frame at a time. A rounding error, as of 7 / 25 * 25, does not lead past a whole frame."""
        frame = seconds * self._fps
        return min(round(frame) if abs(frame - round(frame)) < SAME_FRAME else frame, self._span - 1)

    def present(self, seconds: float) -> Longs:
        frame = self.frame_at(seconds)
        return np.flatnonzero((self._begins <= frame) & (frame <= self._ends))

    def columns(self, who: Longs, seconds: float) -> dict[str, ArrayLike]:
        """Return the columns of people; who is not there is where they begin or end."""
        row, onward, part = self._rows(who, seconds)
        goes_on = seconds * self._fps <= self._span - 1
        return {"id": who.astype(np.int32), "x": self._x[row] + part * (self._x[onward] - self._x[row]),
                "y": self._y[row] + part * (self._y[onward] - self._y[row]),
                "vx": self._vx[row] if goes_on else 0.0, "vy": self._vy[row] if goes_on else 0.0,
                "heading_x": self._heading_x[row], "heading_y": self._heading_y[row],
                "state": self._state[row] if goes_on else STANDING, "person": self._paths.ids[who].astype(np.int32)}

    def measured(self, who: Longs, seconds: float) -> tuple[Doubles, Doubles]:
        """Return where people are as the file counts: x and y, float64[n], metres."""
        row, onward, part = self._rows(who, seconds)
        x, y = self._paths.x, self._paths.y
        return x[row] + part * (x[onward] - x[row]), y[row] + part * (y[onward] - y[row])

    def _rows(self, who: Longs, seconds: float) -> tuple[Longs, Longs, Doubles]:
        """Return the rows before and after a time, and which part of the way from one to the other is behind."""
        frame = np.clip(self.frame_at(seconds), self._begins[who], self._ends[who])
        row = np.searchsorted(self._key, who * self._span + np.floor(frame).astype(np.int64), side="right") - 1
        onward = np.minimum(row + 1, self._paths.first[who + 1] - 1)
        frames = self._paths.frame
        return row, onward, (frame - frames[row]) / np.maximum(frames[onward] - frames[row], 1)


class EnterAndLeave(Stage):
    """Who is there at the end of the step comes in, all others leave; everybody is where they were at its beginning."""

    name = "life"
    before_index = True

    def __init__(self, tracks: MeasuredWays | None, step_hz: float) -> None:
        self._tracks, self._step_hz = tracks, step_hz

    def wanted(self, world: World) -> bool:
        return self._tracks is not None

    def commit(self, world: World) -> None:
        self.fill(world, world.tick + 1)

    def fill(self, world: World, tick: int) -> None:
        if self._tracks is None:
            return
        agents, present = world.agents, self._tracks.present(tick / self._step_hz)
        ids = agents.columns.id[:agents.count].astype(np.int64)
        gone, new = ids[:0], ids[:0]
        if not np.array_equal(np.sort(ids), present):
            gone, new = np.setdiff1d(ids, present), np.setdiff1d(present, ids)
            agents.remove(gone, world.options.removal, world.workers)
            agents.close_gaps(world.workers)
            agents.spawn(**self._tracks.columns(new, world.tick / self._step_hz))
        world.fit()
        if put(world, self._tracks, world.tick / self._step_hz) > 0:  # somebody was moved by hand
            world.grid.outdated()
        world.profile.counters.update(births=float(len(new)), deaths=float(len(gone)))


def put(world: World, tracks: MeasuredWays, seconds: float) -> float:
    """Put everybody where they are at a time; return the square of the longest way."""
    count, columns = world.agents.count, world.agents.columns
    found = tracks.columns(columns.id[:count].astype(np.int64), seconds)
    from_x, from_y = columns.x[:count].copy(), columns.y[:count].copy()
    for name, values in found.items():
        getattr(columns, name)[:count] = values
    return float(((columns.x[:count] - from_x) ** 2 + (columns.y[:count] - from_y) ** 2).max(initial=0))


class FollowTracks(Stage):
    """Everybody goes on to where they are at the end of the step."""

    name = "move"

    def __init__(self, tracks: MeasuredWays | None, step_hz: float) -> None:
        self.tracks, self._step_hz = tracks, step_hz

    def commit(self, world: World) -> None:
        if self.tracks:
            world.farthest_sq[0, 0, 0] = put(world, self.tracks, (world.tick + 1) / self._step_hz)


# --- the behaviour -------------------------------------------------------------------------------------------------------

class Playback(Behaviour):
    """The behaviour *playback* (the interface is in base.py). Without a file nobody moves."""

    states: tuple[str, ...] = ("moving", "standing")

    def __init__(self, config: Config) -> None:
        self.settings, self._metre, self._step_hz = config.playback, config.measure.metre, config.time.step_hz
        file = self.settings.file
        self._paths = read_paths(path_of(file), Metres(*config.map_scale)) if file else None
        radius = self.settings.radius
        fastest = float(self._paths.speeds().max(initial=0)) if self._paths else 0.0
        self._rules = PlaybackRules(np.float32(radius) * np.float32(radius))
        self.needs = Needs(PlaybackColumns, radius, radius, BAND_RADII * radius,
                           top_speed=fastest * self._fps * self._metre * SLACK)
        self._enter = EnterAndLeave(None, self._step_hz)

    @property
    def _fps(self) -> float:
        """Frames a second; a file that does not say them is refused when its configuration is read."""
        return self.settings.fps or (self._paths and self._paths.fps) or 1.0

    def stages(self, world: World) -> Sequence[Stage]:
        tracks = self._paths and MeasuredWays(self._paths, self._fps, world.terrain, self._metre, self.settings,
                                              world.config.world.y_axis != "down")
        self._enter = EnterAndLeave(tracks, self._step_hz)
        return self._enter, FollowTracks(tracks, self._step_hz)

    def place(self, world: World) -> None:
        self._enter.fill(world, world.tick)

    def bounds(self, terrain: Terrain) -> Mapping[str, tuple[float, float]]:
        return {"state": (MOVING, STANDING), "timer": (0, 0)}

    def rules(self, world: World) -> PlaybackRules:
        return self._rules
