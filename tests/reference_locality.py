"""Slow, obvious version of the locality score: the list of all reads, then a cache of ordered dictionaries."""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise
from typing import Any


def reads_of(found: Any) -> list[int]:
    """The slots that all agents read, in the order of reading; rows of cells, runs or lists."""
    if hasattr(found, "first"):
        return [slot for group in range(found.groups[0]) for _ in range(found.start[group], found.start[group + 1])
                for run in range(found.count[group])
                for slot in found.order[found.first[group, run]:found.last[group, run]].tolist()]
    if hasattr(found, "head"):
        members = [_chain(head, found.next) for head in found.head.tolist()]
    else:
        members = [found.order[a:b].tolist() for a, b in pairwise(found.start)]
    return _reads_of_cells(found, members)


def _chain(slot: int, following: Any) -> list[int]:
    members = []
    while slot >= 0:
        members.append(slot)
        slot = int(following[slot])
    return members


def _reads_of_cells(cells: Any, members: list[list[int]]) -> list[int]:
    reads: list[int] = []
    for row in range(cells.rows):
        for column in range(cells.columns):
            around = [slot for y in range(row - cells.reach, row + cells.reach + 1) if 0 <= y < cells.rows
                      for x in range(column - cells.reach, column + cells.reach + 1) if 0 <= x < cells.columns
                      for slot in members[y * cells.columns + x]]
            reads += around * len(members[row * cells.columns + column])
    return reads


def same_or_next_line(reads: list[int], per_line: int) -> float:
    lines = [slot // per_line for slot in reads]
    return sum(b - a in (0, 1) for a, b in pairwise(lines)) / max(len(reads), 1)


def misses(lines: list[int], sets: int, ways: int) -> int:
    """Lines that were not in the cache when they were read."""
    held: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(sets)]
    missing = 0
    for line in lines:
        place = held[line % sets]
        missing += line not in place
        place[line] = None
        place.move_to_end(line)
        if len(place) > ways:
            place.popitem(last=False)
    return missing
