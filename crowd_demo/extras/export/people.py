"""Who is who from one frame to the next, and where: in metres as the map or the played file counts, or in world units.

The crowd's ids are used again, by newborns and by who comes in at an exit; with its generation an id is one person. In a crowd
without either, numbers are ids. Measured people keep the ids and the positions of their file.
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Doubles, Longs
from crowd_demo.config.maps import Origin
from crowd_demo.extras.export.sources import Frame
from crowd_demo.extras.playback import FollowTracks, MeasuredWays, PlaybackColumns
from crowd_demo.sim.simulation import Simulation

NOBODY = -1  # generation of an id that nobody had yet
AT_ZERO = Origin(0.0, 0.0, up=False)  # of a map that does not say where it is


class PersonNumbers:
    """Numbers people in the order in which they appear, those of one frame by id. Call `of` for each frame.

    Measured people have the numbers of their file; but not after a restart, where everybody is somebody else.
    """

    def __init__(self) -> None:
        self.count = 0  # people so far
        self._crowd, self._next = 0, 0
        self._known = np.zeros((2, 0), np.int64)  # by id: number and generation

    def of(self, frame: Frame) -> Longs:
        """Return the number of each person of the frame, int64[n], in the order of ids."""
        ids, generations = frame.columns.id, frame.generations
        people = frame.columns.person if isinstance(frame.columns, PlaybackColumns) else None
        if people is not None:
            generations = np.zeros_like(generations)  # who was taken out by hand is the same person later
        more = max(int(ids.max(initial=-1)) + 1 - self._known.shape[1], 0)
        self._known = np.pad(self._known, ((0, 0), (0, more)), constant_values=NOBODY)
        if frame.crowd != self._crowd:
            self._crowd, self._known[1] = frame.crowd, NOBODY
        is_new = self._known[1, ids] != generations
        new, end = ids[is_new], self._next + int(is_new.sum())
        self._known[0, new] = np.arange(self._next, end) if people is None or frame.crowd else people[is_new]
        self._known[1, ids] = generations
        self._next = max(self._next, int(self._known[0, new].max(initial=-1)) + 1)
        self.count += len(new)
        return self._known[0, ids]


def measured_ways(sim: Simulation) -> MeasuredWays | None:
    """Return the paths of measured people, None for any other crowd."""
    return next((stage.tracks for stage in sim.stages if isinstance(stage, FollowTracks)), None)


def origin_of(sim: Simulation) -> Origin:
    """Return where the world's left upper corner is in metres, and which way y grows."""
    measured = measured_ways(sim)
    return measured.origin if measured else sim.terrain.origin or AT_ZERO


def positions(frame: Frame, metres: bool) -> tuple[Doubles, Doubles]:
    """Return x and y of everybody in the order of ids, float64[n]: metres as the map counts, or world units.

    Measured people are where their file says, to the last bit, unless they were moved by hand.
    """
    columns, sim = frame.columns, frame.sim
    x, y = columns.x.astype(np.float64), columns.y.astype(np.float64)
    if not metres:
        return x, y
    metre = sim.config.measure.metre
    x, y = origin_of(sim).metres(x / metre, y / metre)
    if ways := measured_ways(sim):
        exact = ways.measured(columns.id.astype(np.int64), sim.tick / sim.config.time.step_hz)
        for axis, column, found in zip((x, y), (columns.x, columns.y), exact, strict=True):
            is_same = np.abs(found - axis) * metre <= 2 * np.spacing(column)
            axis[is_same] = found[is_same]
    return x, y
