"""Slow, obvious version of the locality score: the list of all reads, then a cache of ordered dictionaries."""

from collections import OrderedDict
from itertools import pairwise
from typing import Any


def reads_of(cells: Any) -> list[int]:
    """The slots that all agents read, in the order of reading."""
    members = [cells.order[a:b].tolist() for a, b in pairwise(cells.start)]
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
