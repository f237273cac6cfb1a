"""The order of drawing: none, one full sort, bands; by height of bands and count of agents; and what each frame keeps of the
order of the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import cycle

import numpy as np

from crowd_demo.compute.arrays import Ints, Longs
from crowd_demo.compute.jit import kernel, launch, run
from crowd_demo.extras.lab.claims.cases import Arm, CallArm, TimedCase, Values, configured, crowds
from crowd_demo.extras.lab.claims.claim import NOTES, Answer, Case, Claim, Figures, Found, LabScale
from crowd_demo.extras.lab.claims.judging import faster
from crowd_demo.render.depth import BAND_PX, Depth, Pile, full, scale, sort_key
from crowd_demo.render.drawing import Moving, drawn, moving
from crowd_demo.sim.simulation import Simulation

ARMS: dict[str, Values] = {name: {"depth": name} for name in ("full", "bands", "off")}
HEIGHTS = (4, 8, 16, BAND_PX, 64, 128, 512)  # pixels, at a zoom of 1
FULL_SORT, CLAIMED = "full sort", f"bands of {BAND_PX}"
FRAMES = 8  # that follow each other; they are drawn to and fro, so that each stands beside the one before
NOW = np.float32(0)  # a picture at a step
BYTES = 300  # an agent: its crowd, frames and orders


class CrowdFrames:
    """`FRAMES` frames of people who are all in view, and stay where they are in memory; and their orders of drawing."""

    def __init__(self, agents: int) -> None:
        sim = Simulation(configured("20k", agents, {"reorder.when": "off"}))
        self.height, self.slots = float(sim.terrain.walls.height), np.arange(sim.agents.count, dtype=np.int32)
        self.frames = list(self._stepped(sim))
        self.orders = [full(self.slots, frame, NOW) for frame in self.frames]

    def _stepped(self, sim: Simulation) -> Iterator[Moving]:
        for _ in range(FRAMES):
            sim.step()
            frame = moving(sim.agents.view)
            yield frame._replace(**{name: column[:len(self.slots)].copy() for name, column in frame._asdict().items()})

    def to_and_fro(self) -> Callable[[], Moving]:
        """A function that returns the next frame each time it is called. Each arm needs one of its own."""
        return cycle((*self.frames, *self.frames[-2:0:-1])).__next__

    def coherence(self) -> Figures:
        """From frame to frame: the share of people who change their place in the order, and by how many places all do."""
        places = [np.argsort(order) for order in self.orders]
        moved = np.abs(np.diff(places, axis=0))
        return {"change_place": float(np.mean(moved > 0)), "places": float(moved.mean())}


@lru_cache(maxsize=1)
def frames_of(agents: int) -> CrowdFrames:
    return CrowdFrames(agents)


@kernel
def insert(worker: int, workers: int, agents: Moving, ahead: np.float32, pile: Pile, passed: Longs) -> None:
    """Insertion sort of slots that begin in the last frame's order; passed[0] counts the exchanges of two neighbours."""
    for k in range(pile.slots.shape[0]):
        slot = pile.slots[k]
        key = sort_key(drawn(agents.y[slot], agents.vy[slot], ahead), agents.id[slot])
        to = k
        while to > 0 and pile.keys[to - 1] > key:
            pile.keys[to], pile.slots[to] = pile.keys[to - 1], pile.slots[to - 1]
            to -= 1
        pile.keys[to], pile.slots[to] = key, slot
        passed[0] += k - to


def full_sort(agents: int) -> Arm:
    crowd = frames_of(agents)
    return CallArm(lambda frame: full(crowd.slots, frame, NOW), crowd.to_and_fro())


def banded(agents: int, height: int) -> Arm:
    crowd, depth = frames_of(agents), Depth()
    bands = scale(0, crowd.height, BAND_PX / height)

    def ordered(frame: Moving) -> Ints:
        run(depth.launches(1, crowd.slots, frame, NOW, bands))
        return depth.ordered(len(crowd.slots))

    return CallArm(ordered, crowd.to_and_fro(), figures={"bands": bands.bands})


def inserted(agents: int) -> Arm:
    """From the order of the frame before."""
    crowd, passed = frames_of(agents), np.zeros(1, np.int64)
    pile = Pile(np.empty(len(crowd.slots), np.uint64), crowd.orders[0].copy())

    def ordered(frame: Moving) -> Ints:
        launch(insert, 1, frame, NOW, pile, passed).run()
        return pile.slots

    for frame in crowd.frames:
        ordered(frame)
    pile.slots[:] = crowd.orders[0]
    return CallArm(ordered, crowd.to_and_fro(), figures={
        **crowd.coherence(), "passed": float(passed[0]) / len(crowd.slots) / (FRAMES - 1)})


def sorts(agents: int) -> dict[str, Callable[[], Arm]]:
    def of_height(height: int) -> Callable[[], Arm]:
        return lambda: banded(agents, height)

    return {FULL_SORT: lambda: full_sort(agents), **{f"bands of {height}": of_height(height) for height in HEIGHTS},
            "from the last order": lambda: inserted(agents)}


def cases(scale: LabScale) -> Sequence[Case]:
    return [*(TimedCase(f"{size:,} people at zoom {zoom:g}", size,
                        crowds("20k", size, ARMS, picture=True, camera__zoom=zoom), steps=5, same=("full", "bands"),
                        seconds=2 + size * 5e-5)
              for size in scale.sizes(20_000, 100_000) for zoom in (0.2, 0.5)),
            *(TimedCase(f"{size:,} people in view, sorted by one core", size, sorts(size), steps=4, workers=1,
                        seconds=2 + size * 2e-5, bytes_each=BYTES // len(HEIGHTS))
              for size in scale.sizes(2_000, 20_000, 100_000, 250_000))]


def decide(found: Found) -> Answer:
    """Pictures by the stage; the sorts alone by the whole call."""
    if "bands" in found.blocks_ms:
        return faster(found, "bands", "full", stage="depth")
    return faster(found, CLAIMED, FULL_SORT)


CLAIM = Claim(
    "depth", "Are bands of Y enough for the order of drawing?",
    "bands of 32 pixels, sorted inside, give the order of a full sort for less", NOTES,
    "pictures with bands are those with a full sort, byte for byte, and the stage depth is faster; so is the sort alone,"
    " in the same order. Beside it stand other heights of bands, and an insertion into the last frame's order: which share"
    " of people change their place from frame to frame, by how many places all do, and how many others one passes", cases,
    decide, by_size=False)
