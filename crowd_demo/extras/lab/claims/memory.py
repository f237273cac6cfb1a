"""What memory costs: its order, gaps in it, and how components are stored.

The layouts run the flock's inner loop over columns (a structure of arrays) and over records (an array of structures).
Every agent has the 48 agents around it in memory as candidates (as in a cell list after a sort) and adds up what the
flock adds up, in integers, so all layouts must give the same sums. A record holds all fields of a bird (32 bytes) or of
a person (68), of which the loop reads four. Candidates are read in the order of memory, or in a random one, as in memory
that has not been sorted for long.

Components are stored by entity id and in a sparse set, and their bytes are compared with the formulas.
There are N possible entities, and a share U of them has the component, of C bytes. Both ways can tell which
ones have it:

    linear   C*N + N/8         an array by id, and a bit for each id
    sparse   8*N + C*N*U       two int32 for each id (id -> slot, slot -> id), and the components without gaps

The sparse set here adds 4*N for generations, which make handles to a dead agent invalid. Bytes are what `tracemalloc`
saw allocated, arrays and the objects around them. Sparse is smaller below U = 1 - 11.875 / C.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.extras.lab.claims.claim import (
    COMPACTING,
    SORTING,
    Arm,
    CallArm,
    Case,
    Claim,
    CountedCase,
    Figures,
    LabScale,
    TimedCase,
    Values,
    all_of,
    by_size,
    crowds,
    is_faster,
    is_true,
    memory_order,
)
from crowd_demo.measure.experiment import Slice
from crowd_demo.sim.behaviours.people_rules import PeopleColumns
from crowd_demo.sim.store.sparse_set import SparseSet
from crowd_demo.sim.store.state import MovingColumns, dtypes_of

CANDIDATES = 48
SIGHT_SQ = np.float32(24**2)
COMPONENTS = (8, 24, 32, 64, 68)  # bytes: of these, a position has 8, a bird 32 and a person 68
SHARES = (0.1, 0.5, 1.0)


# --- a query once agents are sorted: the scan that the source prints, and a real one ---------------------------------

WINDOW, SIDE, CELL = 100, 100.0, 10.0
UNSORTED, SORTED = "unsorted", "sorted"
SORTED_ARMS: dict[str, Values] = {UNSORTED: {"reorder.when": "off", "simd": False},
                                  SORTED: {"reorder.when": "every", "reorder.every": 60, "simd": False}}


def scan(x: Floats, y: Floats) -> Ints:
    """As it is printed: how many of the next 99 entries are nearer than 1. After a sort that is a different set."""
    count = np.zeros(len(x), np.int32)
    for i in range(len(x)):
        dx, dy = x[i + 1:i + WINDOW] - x[i], y[i + 1:i + WINDOW] - y[i]
        count[i] = np.sum(dx * dx + dy * dy < 1)
    return count


def printed(agents: int) -> dict[str, Callable[[], Arm]]:
    """Its two arms; the number of pairs that each finds shows whether they did the same work."""
    x, y = np.random.default_rng(0).uniform(0, SIDE, (2, agents)).astype(np.float32)
    order = np.argsort((x // CELL).astype(np.int32) * 65_536 + (y // CELL).astype(np.int32), kind="stable")

    def arm(x: Floats, y: Floats) -> Arm:
        return CallArm(lambda _: scan(x, y), figures={"agents": agents, "pairs_found": int(scan(x, y).sum())})

    return {UNSORTED: partial(arm, x, y), SORTED: partial(arm, x[order], y[order])}


def sorted_cases(scale: LabScale) -> Sequence[Case]:
    [most] = scale.sizes(10_000)
    return [TimedCase(f"the printed scan of {most:,}", most, printed(most), steps=1, seconds=8, same=(), workers=1, warm_up=1),
            *(TimedCase(f"{count:,} birds, their real neighbours", count,
                        crowds("20k-flock", count, SORTED_ARMS, measure=memory_order), steps=10, seconds=4 + count * 6e-5)
              for count in scale.sizes(20_000, 100_000, 1_000_000))]


SORTED_MEMORY = Claim(
    "sorted-memory", "How much faster does one sort make the same query?",
    "expect a ~1.5-3x speedup on the post-sort version", SORTING,
    "at least 1.5 times as fast; the printed scan reads a different set after the sort (pairs found), so birds with their real"
    " neighbours, one at a time without lanes, stand beside it", sorted_cases, is_faster(SORTED, UNSORTED, times=1.5))


# --- how the gap of a removed entity is closed: from the end, by a shift, or all at once -----------------------------

COLUMNS = 8  # of four bytes, beside the id
REMOVED = 1000
ORDERS = ("reverse", "forward", "random")


class Store(NamedTuple):
    """Columns int32[1 + COLUMNS, entities], ids first; where each id is, int32[entities]; and how many there are, int32[1]."""

    rows: Ints
    slot: Ints
    size: Ints


@device
def _move(store: Store, source: int, target: int) -> None:
    for row in range(store.rows.shape[0]):
        store.rows[row, target] = store.rows[row, source]
    store.slot[store.rows[0, target]] = target


@kernel
def swap_back(worker: int, workers: int, store: Store, ids: Ints) -> None:
    for k in range(ids.shape[0]):
        store.size[0] -= 1
        _move(store, store.size[0], store.slot[ids[k]])


@kernel
def shift(worker: int, workers: int, store: Store, ids: Ints) -> None:
    for k in range(ids.shape[0]):
        store.size[0] -= 1
        first = store.slot[ids[k]]
        for row in range(store.rows.shape[0]):
            for at in range(first, store.size[0]):
                store.rows[row, at] = store.rows[row, at + 1]
        for at in range(first, store.size[0]):
            store.slot[store.rows[0, at]] = at


@kernel
def deferred(worker: int, workers: int, store: Store, ids: Ints) -> None:
    """Mark all that go, then close the gaps in one pass."""
    for k in range(ids.shape[0]):
        store.slot[ids[k]] = -1
    kept = 0
    for at in range(store.size[0]):
        if store.slot[store.rows[0, at]] >= 0:
            _move(store, at, kept)
            kept += 1
    store.size[0] = kept


def numpy_delete(store: Store, ids: Ints) -> Store:
    rows = np.delete(store.rows, store.slot[ids], axis=1)
    store.slot[rows[0]] = np.arange(rows.shape[1], dtype=np.int32)
    return Store(rows, store.slot, np.array([rows.shape[1]], np.int32))


def who_is_left(store: Store) -> Ints:
    """Sorted ids, and with each its last column: the same for every way to remove."""
    rows = store.rows[[0, COLUMNS], :store.size[0]]
    return rows[:, np.argsort(rows[0])]


def removal_arms(entities: int, order: str) -> dict[str, Callable[[], Arm]]:
    every = np.arange(entities, dtype=np.int32)
    ids = (np.random.default_rng(0).permutation(every) if order == "random" else every if order == "forward"
           else every[::-1])[:min(REMOVED, entities // 2)].copy()
    full = Store(np.tile(every, (1 + COLUMNS, 1)), every, np.array([entities], np.int32))

    def copied() -> Store:
        return Store(*(column.copy() for column in full))

    def compiled(function: object) -> Callable[[], Arm]:
        def run(store: Store) -> Store:
            launch(function, 1, store, ids).run()  # type: ignore[arg-type]  # one of the kernels above
            return store
        return lambda: CallArm(run, copied, who_is_left)

    return {"shift": compiled(shift), "swap-back": compiled(swap_back), "deferred": compiled(deferred),
            "numpy.delete": lambda: CallArm(lambda store: numpy_delete(store, ids), copied, who_is_left)}


REMOVAL = Claim(
    "removal", "How should the gap of a removed entity be closed?",
    "all of 250,000 removed one by one: swap-back 0.69 to 1.07 ms; shifting 1.06 ms in reverse, 17.9 s at random, 37 s"
    " forward", COMPACTING,
    f"{REMOVED:,} entities of nine columns are removed: swap-back is faster than each other way, in every order",
    by_size(10_000, 100_000, 250_000, of_size=lambda size: [
        TimedCase(f"{size:,} entities, {order}", size, removal_arms(size, order), steps=2, seconds=1 + size * 2e-5, workers=1,
                  warm_up=1, bytes_each=100) for order in ORDERS]),
    is_faster("swap-back", "shift", "deferred", "numpy.delete"), by_size=False)


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


@kernel
def sum_columns(worker: int, workers: int, x: Floats, y: Floats, vx: Floats, vy: Floats, order: Ints, out: Sums) -> None:
    agents = out.size.shape[0]
    for agent in range(agents * worker // workers, agents * (worker + 1) // workers):
        me = np.uintp(order[agent])
        sums = np.int32(0), np.int32(0), np.int32(0), np.int32(0), np.int32(0)
        for k in range(np.uintp(agent), np.uintp(agent + CANDIDATES)):
            other = np.uintp(order[k])
            sums = _accumulate(x[other] - x[me], y[other] - y[me], vx[other], vy[other], sums)
        out.size[agent], out.x[agent], out.y[agent], out.vx[agent], out.vy[agent] = sums


@kernel
def sum_records(worker: int, workers: int, records: Records, order: Ints, out: Sums) -> None:
    agents = out.size.shape[0]
    for agent in range(agents * worker // workers, agents * (worker + 1) // workers):
        me = records[np.uintp(order[agent])]
        sums = np.int32(0), np.int32(0), np.int32(0), np.int32(0), np.int32(0)
        for k in range(np.uintp(agent), np.uintp(agent + CANDIDATES)):
            other = records[np.uintp(order[k])]
            sums = _accumulate(other.x - me.x, other.y - me.y, other.vx, other.vy, sums)
        out.size[agent], out.x[agent], out.y[agent], out.vx[agent], out.vy[agent] = sums


LAYOUTS = {"columns": None, "records of 32 bytes": MovingColumns, "records of 68 bytes": PeopleColumns}
LAYOUT_BYTES = 200  # an agent and layout


def layout(agents: int, scattered: bool, kind: type[tuple[object, ...]] | None, workers: int = 1) -> Launch:
    """Columns, or records of a bird or of a person, over the same agents; the last argument are the sums."""
    rng, order = np.random.default_rng(1), np.arange(agents + CANDIDATES, dtype=np.int32)
    if scattered:
        rng.shuffle(order)
    x, y, vx, vy = (rng.uniform(0, 60, len(order)).astype(np.float32) for _ in range(4))
    sums = Sums(*(np.zeros(agents, np.int32) for _ in Sums._fields))
    if not kind:
        return launch(sum_columns, workers, x, y, vx, vy, order, sums)
    records = np.zeros(len(order), list(dtypes_of(kind).items()))
    records["x"], records["y"], records["vx"], records["vy"] = x, y, vx, vy
    return launch(sum_records, workers, records, order, sums)


def layout_arm(agents: int, scattered: bool, kind: type[tuple[object, ...]] | None) -> Arm:
    loop = layout(agents, scattered, kind)
    return CallArm(lambda _: loop.run(), after=lambda _: np.array(loop.args[-1]),
                   figures={"candidates_per_agent": CANDIDATES})


LAYOUT = Claim(
    "layout", "Are columns (a structure of arrays) faster than records?", "what is read together should lie together", SORTING,
    "a loop over 48 candidates that reads four fields is faster over columns than over records of 32 bytes, in order and"
    " scattered",
    by_size(20_000, 250_000, 1_000_000, of_size=lambda size: [
        TimedCase(f"{size:,} agents, {'scattered' if scattered else 'in order'}", size,
                  {name: partial(layout_arm, size, scattered, kind) for name, kind in LAYOUTS.items()},
                  steps=1, seconds=1 + size * 3e-5, workers=1, warm_up=1, bytes_each=LAYOUT_BYTES)
        for scattered in (False, True)]),
    is_faster("columns", "records of 32 bytes"), by_size=False)


# --- by id against a sparse set --------------------------------------------------------------------------------------

class Storage(NamedTuple):
    """A way to store components, and the bytes that the formula gives it."""

    make: Callable[[int, int, float], object]  # (entities, component, used) -> what holds the memory
    formula: Callable[[int, int, float], float]


def make_linear(entities: int, component: int, used: float) -> tuple[Bytes, Bytes]:
    return np.zeros((entities, component), np.uint8), np.zeros(-(-entities // 8), np.uint8)


def make_sparse(entities: int, component: int, used: float) -> tuple[SparseSet, Bytes]:
    members, count = SparseSet(entities), round(entities * used)
    members.add_many(np.arange(count) * entities // max(count, 1))  # spread evenly over all
    return members, np.zeros((len(members), component), np.uint8)


STORAGES = {
    "linear": Storage(make_linear, lambda entities, component, used: component * entities + -(-entities // 8)),
    "sparse": Storage(make_sparse, lambda entities, component, used: 8 * entities + component * round(entities * used)),
}


def allocated_bytes(make: Callable[[], object]) -> int:
    """Bytes that are still allocated once it has been made."""
    tracemalloc.start()
    try:
        _kept = make()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


GENERATION = 4  # bytes an entity that this program's sparse set has for handles that notice a death
TIMES = 3  # measured; the least counts, for other threads may allocate something meanwhile
OBJECTS = 2048  # bytes of Python objects around the arrays, at most
PRINTED = {(24, "linear"): 14_125}  # an entry of its table for 1,000 entities that is not what its formula gives


def counted(entities: int, component: int) -> Generator[Slice, None, Mapping[str, Figures]]:
    found = dict[str, Figures]()
    for used in SHARES:
        for name, storage in STORAGES.items():
            make = partial(storage.make, entities, component, used)
            extra = GENERATION * entities if name == "sparse" else 0
            figures = {"bytes": min(allocated_bytes(make) for _ in range(TIMES)) - extra,
                       "formula": round(storage.formula(entities, component, used))}
            if entities == 1000 and (component, name) in PRINTED:
                figures["printed"] = PRINTED[component, name]
            found[f"{name}, {used:.0%} used"] = figures
            yield Slice(name, 0)
    return found


SPARSE_MEMORY = Claim(
    "sparse-memory", "When does a sparse set save memory?",
    "linear takes C N + N/8 bytes, sparse 8 N + C N U (N entities, C bytes, a share U used); a table for N = 1,000",
    COMPACTING,
    f"bytes allocated are within {OBJECTS} of the formula, without the 4 N of generations, which are this program's (its table"
    " has 14,125 for 24 bytes by id, where its formula gives 24,125)",
    lambda scale: [CountedCase(f"{count:,} entities, {component} bytes", count, partial(counted, count, component))
                   for count in dict.fromkeys((1_000, *scale.sizes(100_000, 1_000_000))) for component in COMPONENTS],
    lambda found: all_of(is_true(abs(each["bytes"] - each["formula"]) <= OBJECTS) for each in found.figures.values()),
    by_size=False)
