"""The bytes that kernels move, by formulas, and the rate at which this machine copies.

A kernel reads and writes each element of the agents' columns, of their order, of the index and of completed flow fields
once. Working memory (strips, histograms), cells and walls do not count: a lower bound.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from crowd_demo.compute.cache import folder
from crowd_demo.compute.jit import Launch, max_threads
from crowd_demo.grid.cells import Cells
from crowd_demo.host.files import write_file
from crowd_demo.sim.behaviours.people_rules import WAITING
from crowd_demo.sim.interaction.strips import CANDIDATES, DUE, NEIGHBOURS, Strips
from crowd_demo.sim.metrics.locality import BESIDE, WORD, Read
from crowd_demo.sim.neighbours.schedule import IdSchedule
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.flow_fields import UNREACHABLE

COPY_BYTES, COPY_S = 1 << 25, 0.2  # of a thread's array, beyond its caches; the time for measuring
MAX_COPIED = 1 << 29  # bytes of all arrays of a kind
AT, TOWARDS = ("x", "y"), ("goal_x", "goal_y")
WALKER = *AT, "vx", "vy", "state", "heading_x", "heading_y"
OBSERVED = {  # columns that agents read of their candidates, by the type of rules
    "FlockRules": (*AT, "vx", "vy"), "NearestRules": (*AT, "vx", "vy"), "HuntRules": (*AT, "vx", "vy", "kind"),
    "PushRules": AT, "AnticipateRules": WALKER, "SlowDownRules": (*WALKER, "speed"), "CrateRules": (*AT, "half"),
    "ContactRules": (*AT, "state", "heading_x", "heading_y", "id")}
MOVED = {"FlockRules": 4, "NearestRules": 4, "WalkRules": 6, "Shifts": 2}  # columns that a move writes, by the same
NOT_MOVED = "next_update", "goal_visible"  # columns that a move does not read


class Work(NamedTuple):
    """What a kernel does in a step; nan where there is no formula."""

    read: float  # bytes
    written: float
    due: float  # agents
    tested: float  # pairs of these
    kept: float


NO_WORK = Work(*5 * (math.nan,))

def work_of(launch: Launch, sim: Simulation) -> tuple[Work, Sequence[Read] | None]:
    """Return what a kernel does that has just run, and the columns that it reads; None where that is not known."""
    args, count, names = cast("tuple[Any, ...]", launch.args), sim.agents.count, sim.agents.names
    everybody = np.arange(count, dtype=np.int32)
    rules = next((kind for each in args for found in (getattr(each, "rules", None), each)
                  if (kind := type(found).__name__).endswith(("Rules", "Shifts"))), "")
    sums = next((each.counters.sum(axis=0) for each in args if isinstance(each, Strips)), np.zeros(8, np.int64))
    due, tested, kept = sums[[DUE, CANDIDATES, NEIGHBOURS]].tolist()
    slots = everybody[:0]  # of agents that are due by id
    if ids := next((each for each in args if isinstance(each, IdSchedule)), None):
        slots = everybody[args[1].id[:count] % ids.period == ids.phase]
        due = len(slots)
    reads, followed = list[Read]([(everybody, ("id",), count)] if ids else []), True
    more, written = 0.0, math.nan  # elements that are read beside those of columns, and written
    match launch.name:
        case "find_cells":
            reads, written = [(everybody, AT, count)], count
        case "place_buckets":
            written = args[2] + 1
        case "place_items":
            more, written = count, count
        case "move_rows":
            followed, more, written = False, (1 + len(names)) * count, len(names) * count
        case "move_lanes" | "move_scalar":
            moved = (*AT, *BESIDE) if rules == "Shifts" else [name for name in names if name not in NOT_MOVED]
            reads, written = [(everybody, moved, count)], MOVED.get(rules, math.nan) * count
        case "touch_rows":
            reads, more, written = [(args[1], OBSERVED[rules], count)], count, 2 * count
        case name if sums.any():
            reads = [(args[1] if isinstance(args[1], Cells) else None, OBSERVED.get(rules, sim.behaviour.observed), due)]
            known = rules in OBSERVED and not name.startswith(("interact_runs", "interact_limited"))
            more, written = 2 * count, 3 * due if known else math.nan
        case "check_sight":
            waits = args[1].state[slots] == WAITING
            reads += [(slots, (*AT, *TOWARDS, "state"), due), (slots[waits & args[4].any_solid], ("goal_visible",), due)]
            written = tested = int((~waits).sum())
            kept = int(args[1].goal_visible[slots[~waits]].sum())
        case "take_headings":
            reads.append((slots, (*AT, *TOWARDS, "goal", "goal_visible", "heading_x", "heading_y"), due))
            written = 2 * due
        case "ask_for_fields":
            wanted = [(slots, ("goal_visible",), due), (slots[args[1].goal_visible[slots] == 0], ("goal",), due)]
            reads, written = [*reads, *wanted] if args[2] else [], 0  # with all fields asked for it looks at nobody
        case "take_snapshot":
            pass  # what it reads counts in the next kernel
        case "set_prices":
            reads, written = [(everybody, AT, count)] * args[0], args[0] * args[-1][1].size / WORD
        case "fill_flow_fields":
            _, asked, made, chosen, plan, _, fields, _, tiles = args  # with `tiles` it completes no field
            directions = fields.direction[(made == 0) & (chosen == plan.number) & (asked.max(axis=0) > 0) & (tiles == 0)]
            more = (len(directions) * plan.targets.nbytes + 2 * int((directions != UNREACHABLE).sum())) / WORD
            written = directions.nbytes / WORD
        case _:
            followed = False
    read = more + sum(len(columns) * (len(of) if isinstance(of, np.ndarray) else count) for of, columns, _ in reads)
    return Work(WORD * read, WORD * written, due, tested, kept), reads if followed else None


@cache
def copy_bandwidth() -> float:
    """Return the bytes per second that all threads read and write while they copy; measured once and kept."""
    file = (folder() or Path(os.devnull)) / f"copy_bandwidth_{max_threads()}"
    with suppress(OSError, ValueError):
        return float(file.read_text("utf-8"))
    found = measured_bandwidth()
    with suppress(OSError):
        write_file(file, f"{found:.0f}\n".encode())
    return found


def measured_bandwidth(seconds: float = COPY_S, size: int = COPY_BYTES) -> float:
    """Return the best rate within so many seconds; other load only makes it lower."""
    threads = max_threads()
    size = min(size, MAX_COPIED // threads)
    arrays = [(np.ones(size, np.uint8), np.ones(size, np.uint8)) for _ in range(threads)]  # in memory
    best, end = 0.0, time.perf_counter() + seconds
    with ThreadPoolExecutor(threads) as pool:
        while (begun := time.perf_counter()) < end or not best:
            list(pool.map(lambda pair: np.copyto(*pair), arrays))
            best = max(best, 2 * size * threads / (time.perf_counter() - begun))
    return best
