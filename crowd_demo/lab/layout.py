"""Columns against records: the flock's inner loop over a structure of arrays and over an array of structures.

    crowd-demo layout [agents]

Every agent has the 48 agents around it in memory as candidates (as in a cell list after a sort) and adds up what the flock
adds up, in integers, so both layouts must give the same sums. A record holds all fields of a bird (32 bytes) or of a person
(68), of which the loop reads four. `sorted` reads candidates one after the other, `scattered` in a random order, as in
memory that has not been sorted for long. Rounds are interleaved and medians shown, so other load on the machine slows all
layouts alike.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Float, Floats, Int, Ints
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.sim.behaviours.people_rules import PeopleColumns
from crowd_demo.sim.store.columns import Columns, MovingColumns, dtypes_of

CANDIDATES = 48
SIGHT_SQ = np.float32(24**2)
ROUNDS = 15


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
    seen = np.int32(dx * dx + dy * dy < SIGHT_SQ)
    count, x, y, to_vx, to_vy = sums
    return (count + seen, x + seen * np.int32(dx * np.float32(256)), y + seen * np.int32(dy * np.float32(256)),
            to_vx + seen * np.int32(vx * np.float32(256)), to_vy + seen * np.int32(vy * np.float32(256)))


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


def record_of(kind: type[Columns]) -> np.dtype[np.void]:
    """The columns of a behaviour as the fields of a record."""
    return np.dtype(list(dtypes_of(kind).items()))


def sums_of(agents: int) -> Sums:
    return Sums(*(np.zeros(agents, np.int32) for _ in Sums._fields))


def contenders(agents: int, scattered: bool, workers: int) -> dict[str, Launch]:
    """One call for each layout, over the same agents; its last argument are the sums that it writes."""
    rng = np.random.default_rng(1)
    size = agents + CANDIDATES
    order = np.arange(size, dtype=np.int32)
    if scattered:
        rng.shuffle(order)
    x, y, vx, vy = (rng.uniform(0, 60, size).astype(np.float32) for _ in range(4))
    launches = {"columns": launch(sum_columns, workers, x, y, vx, vy, order, sums_of(agents))}
    for kind in (MovingColumns, PeopleColumns):
        records = np.zeros(size, record_of(kind))
        records["x"], records["y"], records["vx"], records["vy"] = x, y, vx, vy
        launches[f"records of {records.itemsize} bytes"] = launch(sum_records, workers, records, order, sums_of(agents))
    return launches


def measure(launches: dict[str, Launch], rounds: int = ROUNDS) -> dict[str, float]:
    """Median milliseconds of each; the first round is not timed, and the calls take turns."""
    times: dict[str, list[float]] = {name: [] for name in launches}
    for turn in range(rounds + 1):
        for name, contender in launches.items():
            start = time.perf_counter()
            contender.run()
            if turn:
                times[name].append((time.perf_counter() - start) * 1e3)
    return {name: float(np.median(all_of_them)) for name, all_of_them in times.items()}


def main(agents: int = 250_000, workers: int = 1) -> None:
    print(f"{agents:,} agents, {CANDIDATES} candidates each, {workers} worker: medians of {ROUNDS} interleaved rounds")
    for scattered in (False, True):
        for name, ms in measure(contenders(agents, scattered, workers)).items():
            print(f"{'scattered' if scattered else 'sorted':10} {name:20} {ms:8.2f} ms  {ms * 1e6 / agents:7.1f} ns an agent")
