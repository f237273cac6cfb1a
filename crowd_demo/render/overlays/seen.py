"""Which of some agents are on the screen, or a few of them, and where: for overlays, which look at all in each picture.

A worker writes what it finds in its share of the list to the same share of `Seen`. O(listed).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles, Ints, Longs
from crowd_demo.compute.jit import Call, call, kernel
from crowd_demo.render.camera import Rect
from crowd_demo.render.projection import Moving, drawn, hash_id


class Seen(NamedTuple):
    """The shares of the workers; what they have found stands at the beginning of each."""

    slots: Ints  # [listed]
    x: Doubles  # [listed], world units, as the next one
    y: Doubles
    found: Longs  # [workers]: how many each has found


@kernel
def find_seen(worker: int, workers: int, slots: Ints, agents: Moving, ahead: np.float32, view: Rect, mask: np.uint32,
              seen: Seen) -> None:
    """Find those of this worker's share of the list that are drawn in the view, its edges included.

    Of these only agents whose hashed id has no bit of the mask.
    """
    listed = slots.shape[0]
    first = at = listed * worker // workers
    for k in range(first, listed * (worker + 1) // workers):
        slot = np.uintp(slots[k])
        x = np.float64(drawn(agents.x[slot], agents.vx[slot], ahead))
        y = np.float64(drawn(agents.y[slot], agents.vy[slot], ahead))
        seen.slots[np.uintp(at)], seen.x[np.uintp(at)], seen.y[np.uintp(at)] = slots[k], x, y
        at += ((x >= view.left) & (x <= view.right) & (y >= view.top) & (y <= view.bottom)
               & (hash_id(agents.id[slot]) & mask == 0))
    seen.found[worker] = at - first


def seen_call(workers: int, slots: Ints, agents: Moving, ahead: np.float32, view: Rect, mask: int = 0) -> tuple[Call, Seen]:
    """Return the kernel, and what it writes."""
    listed = len(slots)
    seen = Seen(np.empty(listed, np.int32), np.empty(listed), np.empty(listed), np.zeros(workers, np.int64))
    return call(find_seen, workers, slots, agents, ahead, view, np.uint32(mask), seen), seen


def joined(seen: Seen) -> tuple[Ints, Doubles, Doubles]:
    """The slots of those that were found, in the order of the list, and x and y of each."""
    listed, workers = len(seen.slots), len(seen.found)
    firsts = [listed * worker // workers for worker in range(workers)]
    shares = [slice(first, first + found) for first, found in zip(firsts, seen.found.tolist(), strict=True)]
    slots, x, y = (np.concatenate([column[share] for share in shares]) for column in (seen.slots, seen.x, seen.y))
    return slots, x, y


def call_ahead(workers: int, agents: Moving) -> Call:
    """The kernel for nothing, to compile it ahead."""
    return seen_call(workers, np.zeros(0, np.int32), agents, np.float32(0), Rect(0.0, 0.0, 0.0, 0.0))[0]
