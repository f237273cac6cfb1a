"""How near in memory the neighbours lie: exact counts over the slots that a sample of agents reads, in the order of reading.

    same or next line   share of the reads that fall into the cache line of the read before, or the one after it
    miss rate           share of the reads that a simulated cache did not hold: set-associative, least recently used goes first

The reads are those of the see stage, one agent after the other in cell order, each candidate through `order`. The sample is
runs of agents that follow each other, all over the world; from `sample` >= agents on, it is every read of a step. A cache
starts empty, so the first read of a line always misses. Nothing here depends on the machine but the size that
`cache.size_kb: auto` stands for: its first-level data cache. About 0.5 ms for 256 birds, however many there are.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..jit import Call, device
from .grid import Cells
from .see_lists import Lists
from .see_runs import Runs

if TYPE_CHECKING:
    from .step import Simulation

RUN = 32  # agents of a run: the first of them finds the cache empty
MOST = 32_768  # reads, so that a point crowd does not hold up a frame
USUAL_KB = 32  # first-level data cache where the system does not say
WORD = 4  # bytes of a column's element


class Locality(NamedTuple):
    """Both shares are in [0, 1]; `reads` is how many were counted."""

    same_or_next_line: float
    miss_rate: float
    reads: int


@device
def touch(tags: Any, line: int) -> bool:
    """Read a line; says whether it was missing. int64[sets, ways]: each set's lines, the latest first."""
    lines = tags[line % tags.shape[0]]
    at, last = 0, lines.shape[0] - 1
    while at < last and lines[at] != line:
        at += 1
    missing = lines[at] != line
    while at > 0:
        lines[at] = lines[at - 1]
        at -= 1
    lines[0] = line
    return missing


class Reading(NamedTuple):
    """What one score is made with."""

    fields: Any  # int64[]: where each column that is read begins, in elements
    per_line: int  # elements of a line
    most: int  # reads, then it ends; -1 never
    tags: Any  # the cache
    counted: Any  # int64[4]: reads, near ones, misses of all columns, line of the last read


@device
def read(reading: Any, slot: int) -> None:
    """An agent reads another's columns."""
    counted = reading.counted
    if counted[0] != reading.most:
        line = slot // reading.per_line
        counted[0] += 1
        counted[1] += 0 <= line - counted[3] <= 1
        for field in reading.fields:
            counted[2] += touch(reading.tags, (field + slot) // reading.per_line)
        counted[3] = line


@device
def _read_around(cells: Any, cell: int, reading: Any) -> None:
    """An agent of that cell reads its candidates."""
    row, column = cell // cells.columns, cell % cells.columns
    left, right = max(column - cells.reach, 0), min(column + cells.reach, cells.columns - 1)
    for near in range(max(row - cells.reach, 0), min(row + cells.reach + 1, cells.rows)):
        for k in range(cells.start[near * cells.columns + left], cells.start[near * cells.columns + right + 1]):
            read(reading, cells.order[k])


@device
def read_cells(cells: Any, sample: int, run: int, reading: Any) -> None:
    """Runs of agents, evenly spread over the order, read their candidates."""
    agents, runs = cells.start[cells.columns * cells.rows], -(-sample // run)
    for number in range(runs):
        first = agents * number // runs
        cell = np.searchsorted(cells.start, first, "right") - 1
        for k in range(first, min(first + run, agents)):
            while cells.start[cell + 1] <= k:
                cell += 1
            _read_around(cells, cell, reading)


@device
def read_groups(groups: Any, sample: int, run: int, reading: Any) -> None:
    """The same, where candidates come as runs of an order."""
    start = groups.start[:groups.groups[0] + 1]
    agents, runs = start[-1], -(-sample // run)
    for number in range(runs):
        first = agents * number // runs
        group = np.searchsorted(start, first, "right") - 1
        for k in range(first, min(first + run, agents)):
            while start[group + 1] <= k:
                group += 1
            for part in range(groups.count[group]):
                for near in range(groups.first[group, part], groups.last[group, part]):
                    read(reading, groups.order[near])


@device
def read_lists(lists: Any, sample: int, run: int, reading: Any) -> None:
    """The same, where candidates come as lists; runs begin at cells evenly spread over the world."""
    cells, runs = lists.columns * lists.rows, -(-sample // run)
    for number in range(runs):
        cell, left = cells * number // runs, run
        while cell < cells and left > 0:
            slot = lists.head[cell]
            while slot >= 0 and left > 0:
                row, column = cell // lists.columns, cell % lists.columns
                for near in range(max(row - lists.reach, 0), min(row + lists.reach + 1, lists.rows)):
                    for beside in range(max(column - lists.reach, 0), min(column + lists.reach + 1, lists.columns)):
                        other = lists.head[near * lists.columns + beside]
                        while other >= 0:
                            read(reading, other)
                            other = lists.next[other]
                left -= 1
                slot = lists.next[slot]
            cell += 1


READERS = {Cells: read_cells, Runs: read_groups, Lists: read_lists}


def locality_call(sim: Simulation, sample: int = 256) -> Call:
    """The kernel with its arguments; the last of them, a `Reading`, gets the counts."""
    settings, agents, structure = sim.config.cache, sim.agents, sim.structure
    if sim.found_layout != agents.layout:
        sim.find_candidates()
        structure = sim.structure
    candidates = structure.candidates()
    run, most = (RUN, MOST) if sample < agents.count else (max(agents.count, 1), -1)
    fields = np.array([agents.kind._fields.index(name) for name in sim.behaviour.SEEN]) * agents.front.shape[1]
    reading = Reading(fields, settings.line_bytes // WORD, most, empty_cache(settings), np.array([0, 0, 0, -2]))
    return Call(READERS[type(candidates)], (candidates, min(sample, agents.count), run, reading))


def locality(sim: Simulation, sample: int = 256) -> Locality:
    """Of the agents where they lie now, read in the order in which the structure found them last (or finds them now)."""
    call = locality_call(sim, sample)
    call.run()
    reads, near, misses, _ = (int(count) for count in call.args[-1].counted)
    some = max(reads, 1)
    return Locality(near / some, misses / (some * len(sim.behaviour.SEEN)), reads)


def empty_cache(settings: Any) -> Any:
    """int64[sets, ways], no line in it."""
    size_kb = machine_cache_kb() if settings.size_kb == "auto" else settings.size_kb
    sets = max(1, size_kb * 1024 // (settings.line_bytes * settings.ways))
    return np.full((sets, settings.ways), -1, np.int64)


@cache
def machine_cache_kb() -> int:
    """First-level data cache of this machine's first core, where Linux tells."""
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        if level == "1" and kind != "Instruction" and size.endswith("K"):
            return int(size[:-1])
    return USUAL_KB
