"""Ways to store agents, measured.

`crowd-demo lab columns [agents]` runs the flock's inner loop over columns (a structure of arrays) and over records (an array
of structures). Every agent has the 48 agents around it in memory as candidates (as in a cell list after a sort) and
adds up what the flock adds up, in integers, so both layouts must give the same sums. A record holds all fields of a
bird (32 bytes) or of a person (68), of which the loop reads four. `sorted` reads candidates one after the other,
`scattered` in a random order, as in memory that has not been sorted for long. Rounds are interleaved and medians shown,
so other load on the machine slows all layouts alike.

`crowd-demo lab memory [entities]` stores components by entity id and in a sparse set, and compares their bytes with the
formulas. There are N possible entities, and a share U of them has the component, of C bytes. Both ways can tell which
ones have it:

    linear   C*N + N/8         an array by id, and a bit for each id
    sparse   8*N + C*N*U       two int32 for each id (id -> slot, slot -> id), and the components without gaps

The sparse set here adds 4*N for generations, which make handles to a dead agent invalid. Bytes are what `tracemalloc`
saw allocated, arrays and the objects around them. Sparse is smaller below U = 1 - 11.875 / C.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Longs
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.sim.behaviours.people_rules import PeopleColumns
from crowd_demo.sim.store.sparse_set import SparseSet
from crowd_demo.sim.store.state import MovingColumns, dtypes_of

CANDIDATES = 48
SIGHT_SQ = np.float32(24**2)
ROUNDS = 15
COMPONENTS = (8, 32, 68)  # bytes: a position; a bird; a person
SHARES = (0.1, 0.5, 1.0)


# --- columns against records -----------------------------------------------------------------------------------------

class Sums(NamedTuple):
    """int32[n] each: the sums over an agent's neighbours."""

    size: Ints
    x: Ints
    y: Ints
    vx: Ints
    vy: Ints


Sum = tuple[Int, Int, Int, Int, Int]
Records = NDArray[np.void]


@device
def _accumulate(dx: Float, dy: Float, vx: Float, vy: Float, sums: Sum) -> Sum:
    """The sums after one more candidate; the same operations for both layouts."""
    near = np.int32(dx * dx + dy * dy < SIGHT_SQ)
    count, x, y, to_vx, to_vy = sums
    return (count + near, x + near * np.int32(dx * np.float32(256)), y + near * np.int32(dy * np.float32(256)),
            to_vx + near * np.int32(vx * np.float32(256)), to_vy + near * np.int32(vy * np.float32(256)))


@device
def _store(out: Sums, agent: int, sums: Sum) -> None:
    out.size[agent], out.x[agent], out.y[agent], out.vx[agent], out.vy[agent] = sums


@kernel
def sum_columns(worker: int, workers: int, x: Floats, y: Floats, vx: Floats, vy: Floats, order: Ints, out: Sums) -> None:
    agents = out.size.shape[0]
    for agent in range(agents * worker // workers, agents * (worker + 1) // workers):
        me = np.uintp(order[agent])
        sums = np.int32(0), np.int32(0), np.int32(0), np.int32(0), np.int32(0)
        for k in range(np.uintp(agent), np.uintp(agent + CANDIDATES)):
            other = np.uintp(order[k])
            sums = _accumulate(x[other] - x[me], y[other] - y[me], vx[other], vy[other], sums)
        _store(out, agent, sums)


@kernel
def sum_records(worker: int, workers: int, records: Records, order: Ints, out: Sums) -> None:
    agents = out.size.shape[0]
    for agent in range(agents * worker // workers, agents * (worker + 1) // workers):
        me = records[np.uintp(order[agent])]
        sums = np.int32(0), np.int32(0), np.int32(0), np.int32(0), np.int32(0)
        for k in range(np.uintp(agent), np.uintp(agent + CANDIDATES)):
            other = records[np.uintp(order[k])]
            sums = _accumulate(other.x - me.x, other.y - me.y, other.vx, other.vy, sums)
        _store(out, agent, sums)


def sums_of(agents: int) -> Sums:
    return Sums(*(np.zeros(agents, np.int32) for _ in Sums._fields))


def layouts(agents: int, scattered: bool, workers: int) -> dict[str, Launch]:
    """One call for each layout, over the same agents; its last argument are the sums that it writes."""
    rng = np.random.default_rng(1)
    size = agents + CANDIDATES
    order = np.arange(size, dtype=np.int32)
    if scattered:
        rng.shuffle(order)
    x, y, vx, vy = (rng.uniform(0, 60, size).astype(np.float32) for _ in range(4))
    launches = {"columns": launch(sum_columns, workers, x, y, vx, vy, order, sums_of(agents))}
    for kind in (MovingColumns, PeopleColumns):
        records = np.zeros(size, list(dtypes_of(kind).items()))
        records["x"], records["y"], records["vx"], records["vy"] = x, y, vx, vy
        launches[f"records of {records.itemsize} bytes"] = launch(sum_records, workers, records, order, sums_of(agents))
    return launches


def measure(launches: dict[str, Launch], rounds: int = ROUNDS) -> dict[str, float]:
    """Median milliseconds of each; the first round is not timed, and the calls take turns."""
    times: dict[str, list[float]] = {name: [] for name in launches}
    for turn in range(rounds + 1):
        for name, each in launches.items():
            start = time.perf_counter()
            each.run()
            if turn:
                times[name].append((time.perf_counter() - start) * 1e3)
    return {name: float(np.median(all_of_them)) for name, all_of_them in times.items()}


def layout(agents: int, workers: int = 1) -> None:
    print(f"{agents:,} agents, {CANDIDATES} candidates each, {workers} worker: medians of {ROUNDS} interleaved rounds")
    for scattered in (False, True):
        for name, ms in measure(layouts(agents, scattered, workers)).items():
            print(f"{'scattered' if scattered else 'sorted':10} {name:20} {ms:8.2f} ms  {ms * 1e6 / agents:7.1f} ns an agent")


# --- by id against a sparse set --------------------------------------------------------------------------------------

class Storage(NamedTuple):
    """A way to store components, and the bytes that the formula gives it."""

    make: Callable[[int, int, float], object]  # (entities, component, used) -> what holds the memory
    formula: Callable[[int, int, float], float]


def make_linear(entities: int, component: int, used: float) -> tuple[Bytes, Bytes]:
    present = np.zeros(-(-entities // 8), np.uint8)
    return np.zeros((entities, component), np.uint8), present


def make_sparse(entities: int, component: int, used: float) -> tuple[SparseSet, Bytes]:
    members = SparseSet(entities)
    members.add_many(members_of(entities, used))
    return members, np.zeros((len(members), component), np.uint8)


STORAGES = {
    "linear": Storage(make_linear, lambda entities, component, used: component * entities + -(-entities // 8)),
    "sparse": Storage(make_sparse, lambda entities, component, used: 8 * entities + component * round(entities * used)),
}


def members_of(entities: int, used: float) -> Longs:
    """Ids spread evenly over all, int64[round(entities * used)]."""
    count = round(entities * used)
    return np.arange(count) * entities // max(count, 1)


def allocated_bytes(make: Callable[[], object]) -> int:
    """Bytes that are still allocated once it has been made."""
    tracemalloc.start()
    try:
        kept = make()
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    del kept
    return size


def measured_bytes(storage: Storage, entities: int, component: int, used: float) -> int:
    return allocated_bytes(lambda: storage.make(entities, component, used))


def memory(most: int) -> None:
    row = "{:>9} {:>5} {:>4} {:>12} {:>12} {:>12} {:>12} {:>12}".format
    print(row("entities", "bytes", "used", "linear", "formula", "sparse", "formula", "+ gen."))
    for entities in (*(count for count in (1_000, 100_000) if count < most), most):
        for component in COMPONENTS:
            for used in SHARES:
                case = entities, component, used
                linear, sparse = (measured_bytes(storage, *case) for storage in STORAGES.values())
                wanted, hoped = (round(storage.formula(*case)) for storage in STORAGES.values())
                numbers = (f"{size:,}" for size in (linear, wanted, sparse, hoped, hoped + 4 * entities))
                print(row(entities, component, used, *numbers), "linear" if linear < sparse else "sparse", "is smaller")
