"""Memory locality of neighbours: exact counts over the slots that a sample of agents reads, in the order of reading.

    same or next line   share of the reads that fall into the cache line of the read before, or the one after it
    miss rate           share of the reads that a simulated cache did not hold: set-associative, least recently used goes first

The reads are those of interaction, one agent after the other in cell order, each candidate through `order`. The sample is
runs of consecutive agents, spread over the world; with `sample` >= agents it is every read of a step. A cache starts
empty, so the first read of a line always misses. Nothing here depends on the machine but the sizes of its caches:
`cache.size_kb: auto` is that of the first level. About 0.5 ms for 256 birds, however large the crowd.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Ints, Longs
from crowd_demo.compute.dispatch import generic, implements
from crowd_demo.compute.jit import Launch, device, launch, run
from crowd_demo.compute.simd import LANES
from crowd_demo.config.model import Cache
from crowd_demo.grid.cells import Cells
from crowd_demo.sim.interaction.runs import write_launch, written_out
from crowd_demo.sim.neighbours.schedule import everybody_due
from crowd_demo.sim.neighbours.structure import Candidates, Lists, Runs, holder_of
from crowd_demo.sim.simulation import Simulation

RUN = 32  # agents of a run
READS = 8_000_000  # of columns: more are not simulated for all agents, but for the first ones in cell order
MAX = 32_768  # reads, so that a crowd at one point does not delay a frame
TYPICAL = {1: (32, 8), 2: (1024, 16), 3: (16_384, 16)}  # kB and ways by level, where the system does not say
SYSTEM = Path("/sys/devices/system/cpu/cpu0/cache")
FILES = "level", "type", "size", "ways_of_associativity"
WORD = 4  # bytes of a column's element
BESIDE = "shift_x", "shift_y"  # arrays of contact, by slot as columns are
# Whose columns: those of candidates (None: of the structure's), which so many agents read; or of slots, their own.
Read = tuple[Candidates | Ints | None, Sequence[str], int]


class Locality(NamedTuple):
    """Both shares are in [0, 1]; `reads` is how many were counted."""

    same_or_next_line: float
    miss_rate: float
    reads: int


@device
def touch(tags: Longs, line: int) -> bool:
    """Read a line; return whether it was missing. tags int64[sets, ways]: each set's lines, the latest first."""
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


@device
def _read(order: Ints, first: int, last: int, fields: Longs, per_line: int, most: int, tags: Longs, counted: Longs) -> None:
    """An agent reads order[first:last]; counted: reads, near ones, misses, line of the last read."""
    for k in range(first, last):
        if counted[0] == most:
            return
        slot = order[k]
        line = slot // per_line
        counted[0] += 1
        counted[1] += 0 <= line - counted[3] <= 1
        for field in fields:
            counted[2] += touch(tags, (field + slot) // per_line)
        counted[3] = line


@generic
def read_neighbours(candidates: Cells | Runs, group: int, fields: Longs, per_line: int, most: int, tags: Longs,
                    counted: Longs) -> None:
    """An agent of that cell or group reads its candidates."""


@implements(read_neighbours, Cells)
def _read_rows(cells: Cells, cell: int, fields: Longs, per_line: int, most: int, tags: Longs, counted: Longs) -> None:
    row, column = cell // cells.columns, cell % cells.columns
    left, right = max(column - cells.reach, 0), min(column + cells.reach, cells.columns - 1)
    for near in range(max(row - cells.reach, 0), min(row + cells.reach + 1, cells.rows)):
        first, last = cells.start[near * cells.columns + left], cells.start[near * cells.columns + right + 1]
        _read(cells.order, first, last, fields, per_line, most, tags, counted)


@implements(read_neighbours, Runs)
def _read_runs(runs: Runs, group: int, fields: Longs, per_line: int, most: int, tags: Longs, counted: Longs) -> None:
    for near in range(runs.count[group]):
        _read(runs.order, runs.first[group, near], runs.last[group, near], fields, per_line, most, tags, counted)


@device
def read_samples(candidates: Cells | Runs, groups: int, sample: int, run: int, fields: Longs, per_line: int, most: int,
                 tags: Longs, counted: Longs) -> None:
    """Runs of agents, evenly spread over the cells or groups, read their candidates."""
    agents = candidates.start[groups]
    runs = -(-sample // run)
    for number in range(runs):
        first = agents * number // runs
        group = holder_of(first, candidates.start, groups)
        for k in range(first, min(first + run, agents)):
            while candidates.start[group + 1] <= k:
                group += 1
            read_neighbours(candidates, group, fields, per_line, most, tags, counted)


def candidates_of(sim: Simulation) -> Candidates:
    """Return the candidates of all agents in the present structure, indexed if it is not fresh; lists are written out."""
    structure = sim.structure
    if not structure.fresh:
        run(structure.index(sim.tick))
        structure.built()
    run(structure.query(sim.optimizations.simd, sim.rules, everybody_due(sim.schedule)))
    candidates = structure.candidates()
    return written_out(candidates, sim.agents.count) if isinstance(candidates, Lists) else candidates


def locality_launch(sim: Simulation, candidates: Candidates, sample: int = 256, columns: Sequence[str] = (),
                    tags: Longs | None = None) -> tuple[Launch, Longs]:
    """Return the kernel's launch, and the int64[4] that it fills: reads, near ones, misses of all columns, last line.

    `columns` are those that agents read of others, unless given those that all behaviours of a kind observe. `tags` are
    those of a cache, unless given those of an empty one.
    """
    settings, agents = sim.config.cache, sim.agents
    run, most = (RUN, MAX) if sample < agents.count else (max(agents.count, 1), -1)
    names = *agents.names, *BESIDE
    fields = np.array([names.index(name) for name in columns or sim.behaviour.observed]) * agents.matrix.shape[1]
    counted = np.array([0, 0, 0, -2])
    per_line, sample = settings.line_bytes // WORD, min(sample, agents.count)
    assert not isinstance(candidates, Lists), "lists have to be written out first"
    groups = int(candidates.groups[0]) if isinstance(candidates, Runs) else candidates.columns * candidates.rows
    return launch(read_samples, candidates, groups, sample, run, fields, per_line, most,
                  empty_cache(settings) if tags is None else tags, counted), counted


def launches_to_compile(sim: Simulation) -> Iterator[Launch]:
    """Yield the launches of `locality` with the present options, to compile ahead; they are not to be run."""
    candidates = sim.structure.candidates()
    if isinstance(candidates, Lists):
        yield write_launch(candidates, sim.agents.count)[0]
        candidates = write_launch(candidates, sim.agents.count)[1]
    yield locality_launch(sim, candidates)[0]


def locality(sim: Simulation, sample: int = 256) -> Locality:
    """Return the locality of the present memory order, read in the order of the last index (built if there is none)."""
    launch, counted = locality_launch(sim, candidates_of(sim), sample)
    launch.run()
    reads, near, misses, _ = (int(count) for count in counted)
    some = max(reads, 1)
    return Locality(near / some, misses / (some * len(sim.behaviour.observed)), reads)


def missed_lines(sim: Simulation, level: Cache, reads: Iterable[Read], pairs: float) -> float:
    """Return the lines that a cache misses: of at most `READS` of columns, for agents with so many `pairs` each.

    A cache that all columns fit into has seen the same reads before, another one starts empty.
    """
    tags, count, missed = empty_cache(level), sim.agents.count, 0.0
    candidates: Candidates
    words = sum(len(columns) * (len(of) if isinstance(of, np.ndarray) else count) for of, columns, _ in reads)
    for _ in range(1 + (words * WORD <= tags.size * level.line_bytes)):
        missed = 0.0
        for of, columns, agents in reads:
            if isinstance(of, np.ndarray):  # each is its only candidate
                first = agents = len(of)
                candidates = Cells(of, np.arange(len(of) + 1 + LANES, dtype=np.int32), len(of), 1, 0)
            else:
                first = int(max(min(count, READS / max(pairs * len(columns), 1)), 1))
                candidates = of or candidates_of(sim)
            each, counted = locality_launch(sim, candidates, count, columns, tags)
            each._replace(args=(*each.args[:2], first, max(first, 1), *each.args[4:])).run()  # one run, in cell order
            missed += float(counted[2]) * agents / max(first, 1)
    return missed


def empty_cache(settings: Cache) -> Longs:
    """Return the tags of an empty cache, int64[sets, ways]; overwritten by the next call."""
    size_kb = machine_caches()[1][0] if settings.size_kb == "auto" else settings.size_kb
    sets = max(1, size_kb * 1024 // (settings.line_bytes * settings.ways))
    tags = _tags(sets, settings.ways)
    tags[:] = -1
    return tags


@cache
def _tags(sets: int, ways: int) -> Longs:
    return np.empty((sets, ways), np.int64)


@cache
def machine_caches(system: Path = SYSTEM) -> Mapping[int, tuple[int, int]]:
    """Return kB and ways of the first core's data caches by level, from Linux's /sys, else `TYPICAL` ones."""
    found = dict(TYPICAL)
    for index in system.glob("index*"):
        with suppress(OSError, ValueError):
            level, kind, size, ways = ((index / name).read_text("utf-8").strip() for name in FILES)
            if kind != "Instruction":
                found[int(level)] = int(size.removesuffix("K")), max(int(ways), 1)
    return found
