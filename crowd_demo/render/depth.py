"""Depth order: visible agents from the back to the front, by (drawn y, id).

`full` sorts them all at once. `bands` is a counting sort into bands of 32 pixels, each of which is cut into parts of
equal height, about as many as there are agents: so an agent is nearly in its place, and insertion moves it a step or
two. The bands are independent, so workers share them. A part that holds many agents is merged from runs of 16, so no
crowd costs O(n^2). Both ways give exactly the same order. About O(n), at worst O(n log n); `bands` allocates nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Int, Ints, Keys, with_room
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.render.drawing import Moving, drawn

BAND_PX = 32
MAX_BANDS = 4096
RUN = 16
MAX_PARTS = 1 << 16  # of all bands


class Scale(NamedTuple):
    """The band of a drawn y is floor((y - top) * per_unit), clamped to [0, bands)."""

    top: np.float32
    per_unit: np.float32
    bands: int


class Pile(NamedTuple):
    """Sort keys (drawn y in the high half, id in the low one) and the slots of the agents that they belong to."""

    keys: Keys
    slots: Ints


def scale(top: float, bottom: float, zoom: float) -> Scale:
    """Bands of `BAND_PX` pixels over the world's y in [top, bottom], wider where that takes more than `MAX_BANDS`."""
    height = max(bottom - top, 1e-3)
    per_unit = min(zoom / BAND_PX, MAX_BANDS / height)
    return Scale(np.float32(top), np.float32(per_unit), min(MAX_BANDS, int(height * per_unit) + 1))


def full(slots: Ints, agents: Moving, ahead: np.float32) -> Ints:
    """Sort all visible agents at once, in NumPy."""
    y = agents.y[slots] + agents.vy[slots] * ahead
    return slots[np.lexsort((agents.id[slots], y))]


@device
def sort_key(y: Float, number: Int) -> Int:
    """A uint64 that sorts like (y, number).

    The bits of a float sort like an unsigned integer once the sign bit is flipped, or all bits of a negative number.
    """
    bits = np.float32(y + 0.0).view(np.uint32)
    bits = np.uint32(~bits) if bits >> np.uint32(31) else np.uint32(bits | np.uint32(0x80000000))
    return np.uint64(np.uint64(bits) << np.uint64(32)) | np.uint64(np.uint32(number))


@formula
def part_of(y: Float, scale: Scale, parts: int) -> int:
    """The parts of band b are [parts * b, parts * (b + 1))."""
    part = (y - scale.top) * (scale.per_unit * np.float32(parts))
    return int(max(0, min(part, np.float32(scale.bands * parts - 1))))


@kernel
def count_parts(worker: int, workers: int, slots: Ints, agents: Moving, ahead: np.float32, scale: Scale, parts: int,
                keys: Keys, part: Ints, counts: Ints) -> None:
    """Write key and part of each of this worker's agents, and count the agents of each part: counts int32[workers, parts]."""
    mine = counts[worker]
    for k in range(scale.bands * parts):
        mine[k] = 0
    visible = slots.shape[0]
    for k in range(visible * worker // workers, visible * (worker + 1) // workers):
        slot = np.uintp(slots[k])
        y = drawn(agents.y[slot], agents.vy[slot], ahead)
        keys[k] = sort_key(y, agents.id[slot])
        part[k] = part_of(y, scale, parts)
        mine[np.uintp(part[k])] += 1


@device
def add_up(workers: int, bands: int, parts: int, counts: Ints, start: Ints, fullest: Ints) -> None:
    """start[band] = first index of a band; counts[worker, part] becomes the first index of that worker in it.

    fullest[band] = the most agents in one of its parts.
    """
    total = 0
    for band in range(bands):
        start[band], most = total, 0
        for part in range(np.uintp(band * parts), np.uintp((band + 1) * parts)):
            before = total
            for worker in range(np.uintp(workers)):
                own = int(counts[worker, part])
                counts[worker, part] = total
                total += own
            most = max(most, total - before)
        fullest[band] = most
    start[bands] = total


@kernel
def scatter(worker: int, workers: int, slots: Ints, keys: Keys, part: Ints, counts: Ints, pile: Pile) -> None:
    """Put keys and slots where their part lies; afterwards counts[workers - 1, part] is the end of a part."""
    mine, visible = counts[worker], slots.shape[0]
    for k in range(visible * worker // workers, visible * (worker + 1) // workers):
        at = np.uintp(part[k])
        to = np.uintp(mine[at])
        mine[at] += 1
        pile.keys[to] = keys[k]
        pile.slots[to] = slots[k]


@device
def _insert(first: int, last: int, pile: Pile) -> None:
    for k in range(first + 1, last):
        key, slot = pile.keys[k], pile.slots[k]
        to = k
        while to > first and pile.keys[to - 1] > key:
            pile.keys[to], pile.slots[to] = pile.keys[to - 1], pile.slots[to - 1]
            to -= 1
        pile.keys[to], pile.slots[to] = key, slot


@device
def _sort(first: int, last: int, pile: Pile, other: Pile) -> None:
    """Sort [first, last) of `pile`; `other` is scratch of the same size."""
    for run in range(first, last, RUN):
        _insert(run, min(run + RUN, last), pile)
    width = RUN
    while width < last - first:
        for at in range(first, last, 2 * width):
            middle, end = min(at + width, last), min(at + 2 * width, last)
            left, right = at, middle  # of two sorted runs, which are merged
            for to in range(at, end):
                from_left = right >= end or (left < middle and pile.keys[left] < pile.keys[right])
                source = left if from_left else right
                other.keys[to], other.slots[to] = pile.keys[source], pile.slots[source]
                left += from_left
                right += not from_left
        for k in range(first, last):
            pile.keys[k], pile.slots[k] = other.keys[k], other.slots[k]
        width *= 2


@kernel
def sort_bands(worker: int, workers: int, bands: int, parts: int, start: Ints, fullest: Ints, ends: Ints, pile: Pile,
               other: Pile) -> None:
    """Sort a share of the bands: a band belongs to a worker by the number of agents before it."""
    for band in range(bands):
        first, last = start[band], start[band + 1]
        if last > first and first * workers // start[bands] == worker:
            if fullest[band] <= RUN:
                _insert(first, last, pile)
                continue
            for part in range(band * parts, (band + 1) * parts):
                _sort(first, ends[part], pile, other)
                first = ends[part]


class Depth:
    def __init__(self) -> None:
        self._reserve(0, 1)

    def _reserve(self, agents: int, workers: int) -> None:
        self.part = np.empty(agents, np.int32)
        self.piles = tuple(Pile(np.empty(agents, np.uint64), np.empty(agents, np.int32)) for _ in range(2))
        self.counts = np.empty((workers, MAX_PARTS), np.int32)
        self.start, self.fullest = np.empty(MAX_BANDS + 1, np.int32), np.empty(MAX_BANDS, np.int32)

    def launches(self, workers: int, slots: Ints, agents: Moving, ahead: np.float32, scale: Scale) -> tuple[Launch, ...]:
        """The kernels of `bands`, in order; once they have run, the result is `ordered(len(slots))`."""
        if len(slots) > len(self.part) or workers > len(self.counts):
            self._reserve(max(with_room(len(slots)), len(self.part)), max(workers, len(self.counts)))
        pile, other = self.piles
        # of a band: a power of two, so that an agent's part tells its band
        parts = 1 << max(0, (min(len(slots), MAX_PARTS) // scale.bands).bit_length() - 1)
        return (
            launch(count_parts, workers, slots, agents, ahead, scale, parts, other.keys, self.part, self.counts),
            launch(add_up, workers, scale.bands, parts, self.counts, self.start, self.fullest),
            launch(scatter, workers, slots, other.keys, self.part, self.counts, pile),
            launch(sort_bands, workers, scale.bands, parts, self.start, self.fullest, self.counts[workers - 1], pile, other),
        )

    def ordered(self, visible: int) -> Ints:
        """Slots from back to front, int32[visible]; the array is overwritten by the next frame."""
        return self.piles[0].slots[:visible]
