"""How many runs this machine can make at a time, and how long all of them take, about."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from crowd_demo.config.maps import read_map
from crowd_demo.config.memory import PROGRAM, available_bytes, needed_bytes
from crowd_demo.config.model import Config
from crowd_demo.config.resources import find_map, list_maps
from crowd_demo.ensemble.plan import Plan, Run

TIMED_S = 5.0  # so long one run is watched, at most


class Capacity(NamedTuple):
    """What one machine can do."""

    cores: int
    run_bytes: int  # of the largest run, in a process of its own
    fit: int | None  # so many at a time fit into memory; None where the system does not say

    @property
    def at_once(self) -> int:
        return self.cores if self.fit is None else max(1, min(self.cores, self.fit))


def capacity(configs: Iterable[Config]) -> Capacity:
    """Of this machine, now."""
    largest, free = max(map(run_bytes, configs)), available_bytes()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Capacity(cores, largest, None if free is None else free // largest)


def run_bytes(config: Config) -> int:
    """Bytes that a run takes, about. It draws nothing."""
    tiles = destinations = 0
    if config.map is not None and config.map not in list_maps():
        found = read_map(find_map(config.map))
        tiles, destinations = found.kinds.size, int(found.marks.max()) + 1
    parts = needed_bytes(config, tiles, destinations)
    return PROGRAM + sum(size for part, size in parts.items() if part != "window")


def run_seconds(plan: Plan, run: Run) -> float:
    """Seconds that a run takes: its crowd is made here, and stepped for a while; its kernels are compiled already."""
    from crowd_demo.sim.simulation import Simulation

    began = time.perf_counter()
    sim = Simulation(run.config)
    sim.step()
    made = time.perf_counter()
    while sim.tick < plan.steps and time.perf_counter() - made < TIMED_S:
        sim.step()
    stepped = sim.tick - 1
    return made - began + (time.perf_counter() - made) / max(stepped, 1) * plan.steps


def all_seconds(runs: Sequence[Run], timed: Run, seconds: float) -> float:
    """Seconds of all runs one after another, if a run takes as long as one of its agents does in the run that was timed."""
    return sum(seconds * max(run.config.agents, 1) / max(timed.config.agents, 1) for run in runs)
