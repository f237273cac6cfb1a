"""A counting sort with prefix sums: O(n + buckets), stable, parallel, without allocation.

After three passes the items of bucket b are `order[start[b]:start[b + 1]]`, in their former order. Each worker counts
a contiguous share of the items in a histogram of its own; the prefix sum runs over (bucket, worker), so each worker
knows where its first item of a bucket belongs, and the result is the same for any number of workers. The first pass,
`count_share`, is a part of whatever kernel finds the keys: starting a kernel costs 30 us.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Ints, Longs
from crowd_demo.compute.jit import Launch, device, kernel, launch


class SortSpace(NamedTuple):
    """Working memory of one sort."""

    key: Ints  # [n + 16]: bucket of each item, the input
    order: Ints  # [n + 16]: items by bucket
    start: Ints  # [buckets + 17]: where each bucket begins in `order`, the end, and room for a register to read
    counts: Ints  # [workers, buckets + 1]: private histograms, then private write cursors
    sums: Longs  # [workers, workers]: each worker's items in each worker's share of the buckets


def sort_space(items: int, buckets: int, workers: int) -> SortSpace:
    return SortSpace(np.zeros(items + 16, np.int32), np.zeros(items + 16, np.int32), np.zeros(buckets + 17, np.int32),
                     np.zeros((workers, buckets + 1), np.int32), np.zeros((workers, workers), np.int64))


@device
def count_share(worker: int, workers: int, space: SortSpace, items: int, buckets: int) -> None:
    """Count this worker's items by bucket, and by every worker's share of the buckets."""
    mine, sums = space.counts[worker], space.sums[worker]
    for bucket in range(buckets):
        mine[bucket] = 0
    for item in range(items * worker // workers, items * (worker + 1) // workers):
        mine[np.uintp(space.key[item])] += 1
    for share in range(workers):
        total = 0
        for bucket in range(buckets * share // workers, buckets * (share + 1) // workers):
            total += mine[bucket]
        sums[share] = total


@kernel
def place_buckets(worker: int, workers: int, space: SortSpace, buckets: int) -> None:
    at = 0
    for other in range(workers):
        for earlier in range(worker):
            at += space.sums[other, earlier]
    for bucket in range(buckets * worker // workers, buckets * (worker + 1) // workers):
        space.start[bucket] = at
        for other in range(workers):
            count = space.counts[other, bucket]
            space.counts[other, bucket] = at
            at += count
    if worker == workers - 1:
        space.start[buckets] = at


@kernel
def place_items(worker: int, workers: int, space: SortSpace, items: int) -> None:
    cursor = space.counts[worker]
    for item in range(items * worker // workers, items * (worker + 1) // workers):
        bucket = np.uintp(space.key[item])
        space.order[np.uintp(cursor[bucket])] = item
        cursor[bucket] += 1


@kernel
def sort_buckets(worker: int, workers: int, space: SortSpace, buckets: int, rank: Ints) -> None:
    """Sort the items of each bucket by their rank, int32[n], all different.

    Shell sort of each bucket: they are short, and mostly in order already.
    """
    for bucket in range(buckets * worker // workers, buckets * (worker + 1) // workers):
        sort_bucket(space.order, space.start[bucket], space.start[bucket + 1], rank)


@device
def sort_bucket(order: Ints, first: int, last: int, rank: Ints) -> None:
    """Sort order[first:last] by rank."""
    gap = 1
    while 3 * gap < last - first:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(first + gap, last):
            item, at = order[k], k
            while at >= first + gap and rank[order[at - gap]] > rank[item]:
                order[at] = order[at - gap]
                at -= gap
            order[at] = item
        gap //= 3


def sort_launches(workers: int, space: SortSpace, items: int, buckets: int) -> tuple[Launch, ...]:
    """Return the second and third pass."""
    return launch(place_buckets, workers, space, buckets), launch(place_items, workers, space, items)
