"""Counting sort with prefix sums: O(n + buckets), stable, parallel, nothing allocated.

After `sort_calls` have run, the items of bucket b are `order[start[b]:start[b + 1]]`, in their former order. Each worker
counts a contiguous share of the items in a histogram of its own; the prefix sum runs over (bucket, worker), so each worker
knows where its first item of a bucket belongs, and the result is the same for any number of workers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..jit import Call, device, kernel, prange


class SortSpace(NamedTuple):
    """Working memory of one sort."""

    key: Any  # int32[n]: bucket of each item, the input
    order: Any  # int32[n + 16]: items by bucket
    start: Any  # int32[buckets + 1]: where each bucket begins in `order`
    counts: Any  # int32[workers, buckets + 1]: private histograms, then private write cursors
    sums: Any  # int64[workers + 1]: items in each worker's share of the buckets


def sort_space(items: int, buckets: int, workers: int) -> SortSpace:
    return SortSpace(np.zeros(items + 16, np.int32), np.zeros(items + 16, np.int32), np.zeros(buckets + 1, np.int32),
                     np.zeros((workers, buckets + 1), np.int32), np.zeros(workers + 1, np.int64))


@device
def _count(worker: int, workers: int, space: Any, items: int, buckets: int) -> None:
    mine = space.counts[worker]
    for bucket in range(buckets):
        mine[bucket] = 0
    for item in range(items * worker // workers, items * (worker + 1) // workers):
        mine[np.uintp(space.key[item])] += np.int32(1)


@device
def _add_up(worker: int, workers: int, space: Any, buckets: int) -> None:
    total = 0
    for other in range(workers):
        for bucket in range(buckets * worker // workers, buckets * (worker + 1) // workers):
            total += space.counts[other, bucket]
    space.sums[worker] = total


@device
def _place_buckets(worker: int, workers: int, space: Any, buckets: int) -> None:
    at = 0
    for earlier in range(worker):
        at += space.sums[earlier]
    for bucket in range(buckets * worker // workers, buckets * (worker + 1) // workers):
        space.start[bucket] = at
        for other in range(workers):
            count = space.counts[other, bucket]
            space.counts[other, bucket] = at
            at += count
    if worker == workers - 1:
        space.start[buckets] = at


@device
def _place_items(worker: int, workers: int, space: Any, items: int) -> None:
    cursor = space.counts[worker]
    for item in range(items * worker // workers, items * (worker + 1) // workers):
        bucket = np.uintp(space.key[item])
        space.order[np.uintp(cursor[bucket])] = item
        cursor[bucket] += np.int32(1)


@kernel
def count(workers: int, space: Any, items: int, buckets: int) -> None:
    for worker in prange(workers):
        _count(worker, workers, space, items, buckets)


@kernel
def add_up(workers: int, space: Any, buckets: int) -> None:
    for worker in prange(workers):
        _add_up(worker, workers, space, buckets)


@kernel
def place_buckets(workers: int, space: Any, buckets: int) -> None:
    for worker in prange(workers):
        _place_buckets(worker, workers, space, buckets)


@kernel
def place_items(workers: int, space: Any, items: int) -> None:
    for worker in prange(workers):
        _place_items(worker, workers, space, items)


def sort_calls(workers: int, space: SortSpace, items: int, buckets: int) -> tuple[Call, ...]:
    """The four passes; keys lie in [0, buckets)."""
    return (Call(count, (workers, space, items, buckets)), Call(add_up, (workers, space, buckets)),
            Call(place_buckets, (workers, space, buckets)), Call(place_items, (workers, space, items)))
