"""Where frames come from: a recording (`.replay`), a save (`.crowd`), a configuration or a simulation: a run of so many steps.

`frames` yields every k-th state of that run. A recording is replayed as it was made, and its state hashes are compared; where
it begins anew (a restart, a load) time goes on, and everybody is somebody else.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles, Ints, Longs
from crowd_demo.config.loader import Override, ReadConfig
from crowd_demo.config.maps import Origin
from crowd_demo.config.model import Config
from crowd_demo.extras.playback import FollowTracks, MeasuredWays, PlaybackColumns
from crowd_demo.host.recording.format import Save, read_recording, read_save, with_overrides
from crowd_demo.host.recording.recording import Player
from crowd_demo.sim.behaviours.people_rules import WAITING, PeopleColumns
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.store.state import Columns

RECORDING, SAVE = ".replay", ".crowd"
NOBODY = -1  # generation of an id that nobody had yet
AT_ZERO = Origin(0.0, 0.0, up=False)  # of a map that does not say where it is
State = tuple[int, Simulation]  # how many crowds began before this one, and the crowd


class Source(NamedTuple):
    """A run: it lasts `steps`, and `states` yields its state at the beginning and after each step."""

    name: str
    config: Config  # of its beginning
    agents: int  # at its beginning
    steps: int
    states: Callable[[], Iterator[State]]


class Frame(NamedTuple):
    """Who was where after so many steps of a source."""

    step: int  # since the beginning of the source
    crowd: int  # how many crowds began before this one: 0 but in recordings of a restart or a load
    columns: Columns  # in the order of ids: copies, which may be kept
    generations: Ints  # [n]: how often each of these ids was given up before, by a death or at an exit
    sim: Simulation  # in that state until the next frame is asked for


def frames(source: Source, every: int = 1, first: int = 0, last: int | None = None,
           stepped: Callable[[int], object] = lambda step: None) -> Iterator[Frame]:
    """Yield the states after the steps first, first + every, ... up to `last`, or to the end.

    `stepped` is called with each step that was reached, also between frames; what it raises ends the run. Raises ValueError
    where a recording cannot be replayed.
    """
    end = source.steps if last is None else min(last, source.steps)
    exchanges = Exchanges()
    for step, (crowd, sim) in zip(range(end + 1), source.states(), strict=False):
        stepped(step)
        exchanges.look(sim)
        if step >= first and (step - first) % every == 0:
            columns = sim.agents.by_id()
            generations = sim.agents.handles.generations[columns.id] + exchanges.count(columns.id)
            yield Frame(step, crowd, columns, generations, sim)


# --- the kinds -------------------------------------------------------------------------------------------------------

def read_source(name: str, seconds: float | None, overrides: Sequence[Override] = ()) -> Source:
    """Return the source that a path, or a configuration's name, stands for.

    `seconds` is how long a save or a configuration runs; a recording has None. Raises ValueError with a line for each mistake.
    """
    path = Path(name)
    suffix = path.suffix.lower()
    if suffix == RECORDING:
        if seconds is not None:
            raise ValueError("--seconds: a recording has an end of its own; see --to")
        if overrides:
            raise ValueError(f"{overrides[0].location.origin}: not with a recording, which brings its own configuration")
        script = read_recording(path)
        first = script.parts[0]
        agents = first.snapshot.agents if first.snapshot else first.config.agents

        def states() -> Iterator[State]:
            player = Player(script)
            sim = player.start(Simulation(first.config))
            while not player.parted:
                yield next(number for number, part in enumerate(script.parts) if part is player.part), sim
                sim = player.step()
            raise ValueError(player.verdict(sim.tick))

        steps = sum(part.end - part.first for part in script.parts)  # of one that was cut off: as it says for certain
        return Source(str(script.path), first.config, agents, steps, states)
    if seconds is None:
        raise ValueError("--seconds: a save or a configuration needs a number of seconds to run")
    if suffix == SAVE:
        saved = Save(path, with_overrides(read_save(path), str(path), overrides))

        def begin() -> Simulation:
            sim = Simulation(saved.snapshot.config)
            saved.restore(sim)
            return sim

        steps = round(seconds * saved.snapshot.config.time.step_hz)
        return _stepped(str(path), saved.snapshot.config, saved.snapshot.agents, steps, begin)
    config = ReadConfig.read(name, overrides).config
    return _stepped(name, config, config.agents, round(seconds * config.time.step_hz), partial(Simulation, config))


def of_simulation(sim: Simulation, steps: int) -> Source:
    """The next steps of a simulation, made by a copy: the simulation stays where it is."""
    return _stepped("a simulation", sim.config, sim.agents.count, steps, lambda: copy.deepcopy(sim))


def _stepped(name: str, config: Config, agents: int, steps: int, begin: Callable[[], Simulation]) -> Source:
    def states() -> Iterator[State]:
        sim = begin()
        while True:
            sim.let_events_happen()
            yield 0, sim
            sim.step()

    return Source(name, config, agents, steps, states)


class Exchanges:
    """Count how often each id went over to another person at an exit (docs/model_people.md, "Exits").

    Call `look` for every state of a crowd, one step after the other. A person at an exit waits there for one state, and is
    another person in the next: no longer waiting, and with a preferred speed drawn again.
    """

    def __init__(self) -> None:
        self._counts, self._speed = np.zeros(0, np.int32), np.zeros(0, np.float32)  # by id
        self._leaves = np.zeros(0, bool)

    def look(self, sim: Simulation) -> None:
        settings, agents = sim.config.crowd, sim.agents.count
        people, ways = sim.agents.view, sim.ways
        if not ways or not isinstance(people, PeopleColumns) or not (ways.exits or self._leaves.any()):
            return
        self._fit(sim.agents.handles.limit)
        ids, state, speed = people.id[:agents], people.state[:agents], people.speed[:agents]
        came = self._leaves[ids] & (state != WAITING)
        if settings.speed_min != settings.speed_max:
            came &= speed != self._speed[ids]
        self._counts[ids[came]] += 1
        self._leaves[:], self._speed[ids] = False, speed
        self._leaves[ids] = (state == WAITING) & (people.timer[:agents] > 0) & np.isin(
            people.goal[:agents], list(ways.exits))

    def count(self, ids: Ints) -> Ints:
        """Return int32[n]: how often each of these ids went over."""
        self._fit(int(ids.max(initial=-1)) + 1)
        return self._counts[ids]

    def _fit(self, limit: int) -> None:
        if more := max(limit - len(self._counts), 0):
            self._counts, self._speed, self._leaves = (
                np.pad(each, (0, more)) for each in (self._counts, self._speed, self._leaves))


# --- who is who from one frame to the next, and where ----------------------------------------------------------------

# The crowd's ids are used again, by newborns and by who comes in at an exit; with its generation an id is one person. In a
# crowd without either, numbers are ids. Measured people keep the ids and the positions of their file.

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
