"""Crowds that are measured: a crowd as a variant; and whether a switch left the crowd, or the picture, as it was.

    CrowdVariant  a simulation whose steps are timed, and a picture after each step if one is given
    Replicas      two copies take the same steps, with the old values and with the new ones
    Answers       where a step is too long for that: the pushes on 256 agents, from the same positions
    Pictures      for techniques of drawing: the same view, drawn both ways

Compile the kernels of a variant before the first block that counts. The time of a frame that belongs to no stage is the
stage `other`. The last three have `parts`, a generator that does the work beside a running crowd and yields after a
kernel or so: whoever wants to stop, stops asking for the next part. All parts belong to the thread that makes the
steps. docs/measuring.md says what is proved and what is not.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from itertools import pairwise
from typing import Literal, NamedTuple, Self

import numpy as np
import pygame

from crowd_demo.compute.arrays import Array, Doubles, Ints, Longs
from crowd_demo.compute.jit import Launch, run
from crowd_demo.config.model import with_values
from crowd_demo.config.resources import assets_folder
from crowd_demo.measure.comparison import DRAW, STEP, BlockTimes, InterleavedTiming, TimedBlock
from crowd_demo.profile import HISTORY, OTHER
from crowd_demo.registry.entries import Value
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.scene import Scene
from crowd_demo.sim.inspection import length_text
from crowd_demo.sim.neighbours.cell_structures import ROW, Brute
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import begun_hash
from crowd_demo.sim.store.agents import Agents, in_order
from crowd_demo.sim.store.state import Columns
from crowd_demo.sprites.pixels import frame_of, plain_surface

PAIR_NS = {True: 0.1, False: 1.0}  # with lanes and without: 36 and 390 ms for 20k birds on two threads


class Picture:
    """The configuration's first view, drawn into memory; as large as the window if no size is given. Needs no display."""

    def __init__(self, sim: Simulation, scene: Scene | None = None, size: tuple[int, int] | None = None) -> None:
        config, walls = sim.config, sim.terrain.walls
        size = size or (config.window.width, config.window.height)
        self.sim, self.scene, self.surface = sim, scene or Scene(sim, config, assets_folder()), plain_surface(size)
        self.camera = Camera((float(walls.width), float(walls.height)), size)
        self.camera.show(config.camera)
        self.frozen: Rect | None = None
        self.alpha = 0.0

    def draw(self) -> pygame.Surface:
        with self.scene.showing(self.sim):
            self.sim.prepare_picture()
            self.scene.draw(self.surface, self.camera, self.frozen, self.alpha)
        return self.surface


def picture_hash(picture: Picture) -> str:
    """Hash of the picture as it would be drawn now: 32 hex digits."""
    return hashlib.blake2b(picture.draw().get_buffer().raw, digest_size=16).hexdigest()


class CrowdVariant:
    """Each frame makes a step of `sim` and draws `picture`, if there is one. Nothing else may step `sim` meanwhile."""

    def __init__(self, sim: Simulation, picture: Picture | None = None) -> None:
        self.sim, self.picture = sim, picture

    def run(self, steps: int) -> BlockTimes:
        """Raises ValueError for more steps than a profile remembers."""
        if steps >= HISTORY:
            raise ValueError(f"a block of {steps} steps: the times of at most {HISTORY - 1} are kept")
        profile = self.sim.profile
        step_ms, draw_ms = np.zeros((2, steps), np.float32)
        for frame in range(steps):
            profile.begin_frame()
            began = time.perf_counter()
            self.sim.step()
            stepped = time.perf_counter()
            if self.picture:
                self.picture.draw()
            step_ms[frame], draw_ms[frame] = (stepped - began) * 1e3, (time.perf_counter() - stepped) * 1e3
            profile.end_frame()
        stages = {stage: profile.stage_ms(stage, steps).copy() for stage in profile.stages}
        return BlockTimes(
            TimedBlock(steps, {STEP: step_ms, DRAW: draw_ms} if self.picture else {STEP: step_ms}),
            TimedBlock(steps, {**stages, OTHER: profile.other_ms(steps)},
                      [record.counters for record in profile.records(steps)]))


def all_pairs_s(agents: int, get: Callable[[str], Value]) -> float:
    """Seconds in which a step tests all pairs with these techniques, about; 0 with any neighbour structure.

    It may be minutes: nobody has to wait for one to know.
    """
    if get("neighbours") != "none":
        return 0.0
    return agents**2 / float(get("stagger.avoidance")) * PAIR_NS[bool(get("simd"))] * 1e-9


# --- what is found ---------------------------------------------------------------------------------------------------

Kind = Literal["running", "same", "differs", "apart", "sample"]
Values = Mapping[str, Value]  # of techniques, by path
Slots = Longs | slice
TOUCHED = 1 << 16  # numbers that are written in a part
FIRST = 3  # steps that both copies make before they are timed, interleaved
MAX_FRAME_MS = 1000 / 30  # a longer step is not made by copies, and a longer frame not timed: the window would stop
BANDS = 8


class Finding(NamedTuple):
    """What is known so far.

    running     nothing yet
    same        not a bit differs
    differs     it should be the same, and is not
    apart       it differs, as the technique is approximate or another model
    sample      the answers of a sample were compared, and are the same or, if the technique is no exact one, not quite
    """

    kind: Kind
    text: str


class ProofInParts:
    def __init__(self, sim: Simulation, old: Values, new: Values, doing: str) -> None:
        self.finding = Finding("running", doing)
        self._sim, self._values = sim, (old, new)

    def parts(self) -> Iterator[None]:
        """Do the work, and yield after each part."""
        raise NotImplementedError


def replicas_of(sim: Simulation, count: int = 1, stepped: bool = False) -> Generator[None, None, list[Simulation]]:
    """Copy the present crowd; yield after each part. Copies that are `stepped` need both sides of their memory."""
    replicas = []
    for _ in range(count):
        replicas.append(sim.replica())
        yield from touch(replicas[-1].agents.matrix)
        if stepped:
            yield from touch(replicas[-1].agents.back)
    state = sim.state()  # of this moment, so no part ends before all have it
    for replica in replicas:
        replica.restore(state)
    yield
    return replicas


def touch(array: Array) -> Iterator[None]:
    """Write zeros to new memory, a part at a time: the system provides it when it is first written to, which takes long."""
    numbers = array.reshape(-1)
    for at in range(0, len(numbers), TOUCHED):
        numbers[at:at + TOUCHED] = 0
        yield


def short(state_hash: str) -> str:
    """The first digits of a hash, for people to compare."""
    return f"{state_hash[:4]}…"


# --- steps -----------------------------------------------------------------------------------------------------------

class Replicas(ProofInParts):
    """Two copies of a crowd take the same steps, one with the old values of techniques and one with the new ones.

    After each step the two are compared bit by bit. With a view, and unless frames take longer than `MAX_FRAME_MS`,
    those after the first `FIRST` steps are timed, interleaved, and compared after each half of a turn. The finding also
    has a hash, which takes longer than a step, so it is brought up to date less often: after 1, 2, 3, ... 8, 10, 12,
    15, ... steps. Exact techniques end at the first difference.

    steps    have been compared
    turns    the times; None where there are none, or none yet
    untimed  is True once it is known that there will be none
    """

    def __init__(self, sim: Simulation, old: Values, new: Values, exact: bool, view: DrawnView | None = None) -> None:
        super().__init__(sim, old, new, "two copies of the crowd are being made")
        self.steps = 0
        self.turns: InterleavedTiming | None = None
        self.untimed = view is None
        self._exact, self._view = exact, view and view.copy()

    def parts(self) -> Iterator[None]:
        """Copy the present crowd, and make steps for as long as somebody asks for the next part."""
        old, new = replicas = yield from replicas_of(self._sim, len(self._values), stepped=True)
        for replica, values in zip(replicas, self._values, strict=True):
            replica.optimizations = with_values(replica.optimizations, values)
        show_at, first_ms = 1, list[tuple[float, float]]()
        while True:
            if self.turns:
                yield from self.turns.half_turn()
                self.steps = FIRST + self.turns.steps
                if self.turns.turns and self.turns.frame_ms > MAX_FRAME_MS:  # a single block may be slow by chance
                    self.turns, self.untimed = None, True
            else:
                old_ms, new_ms = (yield from timed(old.launches())), (yield from timed(new.launches()))
                first_ms = [*first_ms[:FIRST], (old_ms, new_ms)]
                self.steps += 1
                if self.steps == FIRST and self._view:  # the first steps also allocate memory
                    self.untimed = max(map(min, zip(*first_ms, strict=True))) > MAX_FRAME_MS  # the slower copy's
                    pictured = (CrowdVariant(replica, SharedPicture(self._view, replica)) for replica in replicas)
                    self.turns = None if self.untimed else InterleavedTiming(*pictured)
            found = yield from apart(old, new)
            differs = self._exact and found.differing > 0
            if differs or self.steps >= show_at:
                self.finding = yield from self._finding(old, new, found)
                show_at = self.steps + max(self.steps // 4, 1)
            if differs:
                self.untimed = not self.turns
                return

    def _finding(self, old: Simulation, new: Simulation, found: Apart) -> Generator[None, None, Finding]:
        after_steps = f"after {self.steps:,} step" + "s" * (self.steps != 1)
        if found.differing and not self._exact:
            median, most = (length_text(old, distance) for distance in (found.median, found.largest))
            return Finding("apart", f"{after_steps} half are within {median} of where they would be, the farthest {most} away")
        before = yield from hash_of(old)
        if not found.differing:
            return Finding("same", f"same crowd: {short(before)} {after_steps}")
        after = yield from hash_of(new)
        return Finding("differs", f"THE CROWDS DIFFER {after_steps}: {short(before)} and {short(after)}")


def timed(launches: Iterator[Launch]) -> Generator[None, None, float]:
    """Run the kernels, each a part; return the milliseconds spent in them and between them."""
    spent_ns, began_ns = 0, time.perf_counter_ns()
    for launch in launches:
        launch.run()
        spent_ns += time.perf_counter_ns() - began_ns
        yield
        began_ns = time.perf_counter_ns()
    return (spent_ns + time.perf_counter_ns() - began_ns) * 1e-6


class Apart(NamedTuple):
    """Of all agents that one of the crowds has, the share that differs in any bit; distances of those that both have."""

    differing: float
    median: float = 0.0  # world units
    largest: float = 0.0


def apart(one: Simulation, other: Simulation) -> Generator[None, None, Apart]:
    """Compare agent by agent, whatever their order in memory is; a column at a time."""
    mine, theirs = shared(one.agents, other.agents)
    differing = np.zeros(len(one.agents.view.id[mine]), bool)
    for column, same in zip(one.agents.matrix, other.agents.matrix, strict=True):
        yield
        differing |= column[mine] != same[theirs]
    lonely = one.agents.count + other.agents.count - 2 * len(differing)
    if not (changed := int(differing.sum()) + lonely):
        return Apart(0.0)
    share = changed / (len(differing) + lonely)
    here, there = one.agents.view, other.agents.view
    distances = np.hypot(here.x[mine].astype(np.float64) - there.x[theirs], here.y[mine].astype(np.float64) - there.y[theirs])
    return Apart(share, float(np.median(distances)), float(distances.max())) if len(distances) else Apart(share)


def shared(one: Agents[Columns], other: Agents[Columns]) -> tuple[Slots, Slots]:
    """The slots in the one crowd, and in the other, of the agents that both have; of nobody if a broken kernel wrote ids."""
    mine, theirs = (crowd.view.id[:crowd.count] for crowd in (one, other))
    if np.array_equal(mine, theirs):
        return slice(one.count), slice(one.count)
    limit = max(one.handles.limit, other.handles.limit)
    if any(len(ids) and not 0 <= ids.min() <= ids.max() < limit for ids in (mine, theirs)):
        return slice(0), slice(0)
    where = np.full(limit, -1, np.int64)
    where[theirs] = np.arange(other.count)
    found = where[mine]
    return np.flatnonzero(found >= 0), found[found >= 0]


def hash_of(sim: Simulation) -> Generator[None, None, str]:
    """`Simulation.state_hash`, a column at a time."""
    columns = sim.agents.matrix[:, :sim.agents.count]
    digest, order = begun_hash(sim.tick, sim.agents.count), in_order(columns[0], sim.agents.handles.limit)
    for column in columns:
        yield
        digest.update(np.ascontiguousarray(column[order]).data)
    return digest.hexdigest()


# --- pictures --------------------------------------------------------------------------------------------------------

class DrawnView(NamedTuple):
    scene: Scene
    camera: Camera
    frozen: Rect | None = None
    alpha: float = 0.0

    def copy(self) -> Self:
        """The same view, also when people have moved their camera."""
        return self._replace(camera=self.camera.band(0, self.camera.size[1]))


class SharedPicture(Picture):
    """A copy of a crowd, drawn by the program's own scene, which meanwhile draws nothing else."""

    def __init__(self, view: DrawnView, sim: Simulation) -> None:
        self.sim, self.surface = sim, plain_surface(view.camera.size)
        self.scene, self.camera, self.frozen, self.alpha = view


class Pictures(ProofInParts):
    """The present view, drawn with the old values of techniques and with the new ones; for techniques of drawing.

    A copy of the crowd stands still while it is drawn, a band of the view at a time. Without an order of depth, whoever
    is drawn last is on top, so the picture depends on the order in which agents are found: it may differ.
    """

    def __init__(self, sim: Simulation, view: DrawnView, old: Values, new: Values) -> None:
        super().__init__(sim, old, new, "the view is being drawn both ways")
        self._view = view.copy()

    def parts(self) -> Iterator[None]:
        """Copy the present crowd, and draw each band twice."""
        (replica,) = yield from replicas_of(self._sim)
        digests = [hashlib.blake2b(digest_size=16) for _ in self._values]
        pixels = differing = 0
        ordered = True
        for camera in bands(self._view.camera):
            drawn = []
            for values, digest in zip(self._values, digests, strict=True):
                replica.optimizations = with_values(replica.optimizations, values)
                picture = SharedPicture(self._view._replace(camera=camera), replica)
                drawn.append(frame_of(picture.draw()) & np.uint32(0xFFFFFF))
                digest.update(drawn[-1].data)
                ordered &= replica.optimizations.depth != "off"
                yield
            pixels, differing = pixels + drawn[0].size, differing + int((drawn[0] != drawn[1]).sum())
        old, new = (short(digest.hexdigest()) for digest in digests)
        if not differing:
            self.finding = Finding("same", f"same picture: {old}")
        elif ordered:
            self.finding = Finding("differs", f"THE PICTURES DIFFER: {old} and {new}")
        else:
            self.finding = Finding("apart", f"{differing / max(pixels, 1):.1%} of the pixels differ: without depth order"
                                            " the last one drawn is on top")


def bands(camera: Camera) -> Iterator[Camera]:
    """Cut a view into at most `BANDS` views, one below the other."""
    ends = np.linspace(0, camera.size[1], min(BANDS, camera.size[1]) + 1).astype(int).tolist()
    for top, bottom in pairwise(ends):
        yield camera.band(top, bottom)


# --- answers ---------------------------------------------------------------------------------------------------------

# For crowds whose step is too long to be made beside the frames. A copy of the crowd stands still, and groups of
# agents that lie next to each other in memory are asked. Without an index, a group at a time. With one, four groups at
# a time, and all agents in the rows of cells around them: registers work where a quarter of a row is due
# (`worth_registers`), and their answers are to be compared too.

SAMPLE, GROUP, TOGETHER = 256, 16, 4
NOBODY: Doubles = np.zeros((2, 0))


class Answers(ProofInParts):
    """Ends at the first difference if the technique is exact."""

    def __init__(self, sim: Simulation, old: Values, new: Values, exact: bool) -> None:
        super().__init__(sim, old, new, "a copy of the crowd is being made")
        self._exact, self._size = exact, 0

    def parts(self) -> Iterator[None]:
        """Copy the present crowd, and ask all groups with the old values, then with the new ones."""
        (replica,), (old, new) = (yield from replicas_of(self._sim)), self._values
        groups, before = sample_groups(replica.agents.count), NOBODY
        self._size = sum(map(len, groups))
        self.finding = Finding("running", f"sample of {self._size}: the old answers are being found")
        for pushes in answers(replica, old, groups):
            before = np.hstack((before, pushes))
            yield
        after = NOBODY
        for pushes in answers(replica, new, groups):
            after = np.hstack((after, pushes))
            if after.size:
                self.finding = self._finding(before[:, :after.shape[1]], after)
            if self.finding.kind == "differs":
                return
            yield

    def _finding(self, before: Doubles, after: Doubles) -> Finding:
        agents, differing = before.shape[1], int((before != after).any(axis=0).sum())
        sample = f"sample of {agents}" + f", of {self._size}" * (agents < self._size)
        if differing and self._exact:
            return Finding("differs", f"THE ANSWERS DIFFER for {differing} agents: {sample}")
        if self._exact:
            return Finding("sample", f"same answers: {sample}")
        if differing:
            length = float(np.hypot(*before).mean())
            error = float(np.hypot(*(after - before)).mean()) / length if length else 0.0
            return Finding("sample", f"{differing / agents:.1%} of the pushes differ, by {error:.1%}: {sample}")
        return Finding("sample", f"same answers at one moment, not over time: {sample}")


def answers(replica: Simulation, values: Values, groups: list[Longs]) -> Iterator[Doubles]:
    """Yield the pushes of all groups in turn with those values, float64[2, agents]; and those of nobody in between."""
    replica.optimizations = with_values(replica.optimizations, values)
    for launch in replica.reindexing():
        launch.run()
        yield NOBODY
    world, columns = replica, replica.agents.columns
    rows = (columns.y[:replica.agents.count] / np.float32(world.grid.cell)).astype(np.int32)  # of cells
    brute = isinstance(replica.structure, Brute)
    for first in range(0, len(groups), 1 if brute else TOGETHER):
        asked = np.concatenate(groups[first:first + (1 if brute else TOGETHER)])
        columns.next_update[:] = world.schedule.due_below  # later than now
        columns.next_update[asked if brute else beside(rows, asked)] = 0
        yield NOBODY
        run(replica.structure.query(replica.optimizations.simd, world.rules, world.schedule))
        yield NOBODY
        run(replica.interaction.launches(world))
        yield np.stack((columns.avoidance_x[asked], columns.avoidance_y[asked])).astype(np.float64)


def sample_groups(count: int) -> list[Longs]:
    """Slots, spread evenly; a group begins where a row of the structure *none* does, if there are enough agents for that."""
    if count <= SAMPLE:
        return np.array_split(np.arange(count), -(-count // GROUP)) if count else []
    apart = count // (SAMPLE // GROUP)
    starts = np.arange(SAMPLE // GROUP) * apart
    starts -= starts % ROW if apart >= ROW else 0
    return [np.arange(start, start + GROUP) for start in starts]


def beside(rows: Ints, slots: Longs) -> Longs:
    """The slots of all agents in the rows of cells of some, and in those above and below."""
    near = np.zeros(int(rows.max()) + 3, bool)
    for step in range(3):
        near[rows[slots] + step] = True
    return np.flatnonzero(near[rows + 1])
