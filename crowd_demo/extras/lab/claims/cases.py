"""Cases whose arms take turns: crowds that differ in techniques, and functions that do the same work in different ways."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from crowd_demo.config.loader import load_config
from crowd_demo.config.memory import AGENT, shortage
from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import with_values
from crowd_demo.extras.lab.claims.claim import AGAIN, Figures, Found
from crowd_demo.host.compiling.loading import LoadingProgress, load_program
from crowd_demo.measure.comparison import TimedBlock, collect, costs_of, counters_of, interleave
from crowd_demo.measure.crowd_variant import CrowdVariant, Picture, picture_hash
from crowd_demo.measure.experiment import Slice
from crowd_demo.measure.largest import crowd_of
from crowd_demo.registry.entries import Value
from crowd_demo.sim.metrics.locality import locality

WARM_UP = 8  # steps
READ = ("candidates_per_agent", "neighbours_per_agent")  # counters that stand before others
Values = Mapping[str, Value]  # techniques by path


class Arm(Protocol):
    """One of the things that are compared in a case."""

    def run(self, steps: int) -> TimedBlock: ...

    def result(self) -> str:
        """A hash of what it has computed so far: what arms that do the same work must agree on."""

    def figures(self) -> Figures:
        """Exact counters, of which tables have a column each."""


class CallArm:
    """A function as an arm: each step is one call. Untimed, `before` makes what it gets, and `after` an array of what it
    returned, by which its work is held against that of others.
    """

    def __init__(self, call: Callable[..., object], before: Callable[[], object] = lambda: None,
                 after: Callable[..., npt.ArrayLike] = np.asarray, figures: Figures | None = None) -> None:
        self._call, self._before, self._after, self._figures = call, before, after, figures or {}
        self._digest = hashlib.blake2b(digest_size=8)

    def run(self, steps: int) -> TimedBlock:
        times_ms = np.zeros(steps, np.float32)
        for step in range(steps):
            given = self._before()
            began = time.perf_counter()
            made = self._call(given)
            times_ms[step] = (time.perf_counter() - began) * 1e3
            self._digest.update(np.ascontiguousarray(self._after(made)).tobytes())
        return TimedBlock(steps, {"call": times_ms})

    def result(self) -> str:
        return self._digest.hexdigest()

    def figures(self) -> Figures:
        return self._figures


class CrowdArm:
    """A crowd as an arm, with its kernels compiled; with `picture` it is also drawn after each step, and then its picture
    counts for the hash. `measure` returns figures of the last state, which stand before the counters.
    """

    def __init__(self, config: Config, picture: bool = False, measure: Callable[[CrowdArm], Figures] | None = None) -> None:
        loaded = load_program(config, picture, LoadingProgress())
        self.sim = loaded.sim
        self.variant = CrowdVariant(self.sim, Picture(self.sim, loaded.scene) if loaded.scene else None)
        self._counters: list[Mapping[str, float]] = []
        self._measure = measure

    def run(self, steps: int) -> TimedBlock:
        block = self.variant.run(steps).stages
        self._counters += block.counters
        return block

    def result(self) -> str:
        picture = self.variant.picture
        return self.sim.state_hash() + (picture_hash(picture) if picture else "")

    def figures(self) -> Figures:
        counters = {name: counted for name, counted in counters_of(self._counters).items() if counted}
        read = {name: counters[name] for name in READ if name in counters}
        return {**(self._measure(self) if self._measure else {}), **read, **counters, "workers": self.sim.workers}


def memory_order(crowd: CrowdArm) -> Figures:
    """How well neighbours lie in memory: shares of the reads of a sample of agents."""
    found = locality(crowd.sim)
    return {"near_reads": found.same_or_next_line, "l1_misses": found.miss_rate}


class TimedCase(NamedTuple):
    """Interleaved arms, block by block; the first one is measured twice. `arms` make them, one after the other.

    `same` are those that must have one hash: all if None. An arm that raises ValueError while it is made is left out. A case
    that needs more memory than there is is refused.
    """

    name: str
    size: int
    arms: Mapping[str, Callable[[], Arm]]
    steps: int = 10  # of a block
    seconds: float = 10.0
    same: Sequence[str] | None = None
    workers: int = os.cpu_count() or 1
    bytes_each: int = AGENT  # an agent and arm
    warm_up: int = WARM_UP

    def run(self, blocks: int) -> Generator[Slice, None, Found]:
        if short := shortage(self.size * self.bytes_each * (len(self.arms) + 1)):
            raise ValueError(short)
        load_before = max(os.getloadavg()[0] - 1, 0.0) if hasattr(os, "getloadavg") else 0.0  # of other processes
        first = next(iter(self.arms))
        made: dict[str, Arm] = {}
        left_out: dict[str, str] = {}
        for name, make in {**self.arms, first + AGAIN: self.arms[first]}.items():
            yield Slice(f"{name}: getting ready", 0)
            try:
                made[name] = make()
            except ValueError as why:
                left_out[name] = str(why)
        if first not in made or len(made) < 3:
            raise ValueError("; ".join(f"{name}: {why}" for name, why in left_out.items()))
        turns = []
        for turn in interleave(made, [self.steps] * blocks, self.warm_up):
            turns.append(turn)
            yield Slice(turn.name, len(turns) / ((blocks + 1) * len(made)))
        measured = collect(made, turns)
        costs = {name: costs_of(of_arm) for name, of_arm in measured.items()}
        return Found(
            self.name, self.size, self.workers, self.steps,
            {name: np.sum([cost.ms for cost in of_arm.values()], axis=0).tolist() for name, of_arm in costs.items()},
            {name: [np.sum([*block.times_ms.values()], axis=0).astype(float).round(5).tolist() for block in of_arm]
             for name, of_arm in measured.items()},
            {name: {stage: cost.ms.tolist() for stage, cost in of_arm.items()} for name, of_arm in costs.items()},
            {name: arm.figures() for name, arm in made.items()}, {name: arm.result() for name, arm in made.items()},
            [*self.arms, first + AGAIN] if self.same is None else self.same, load_before, left_out)


class CountedCase(NamedTuple):
    """What is counted, not timed: `counted` yields each arm with its figures."""

    name: str
    size: int
    counted: Callable[[], Iterator[tuple[str, Figures]]]
    seconds: float = 1.0

    def run(self, blocks: int) -> Generator[Slice, None, Found]:
        figures: dict[str, Figures] = {}
        for name, counted in self.counted():
            figures[name] = counted
            yield Slice(name, 0)
        return Found(self.name, self.size, 1, 0, figures=figures)


# --- crowds ----------------------------------------------------------------------------------------------------------

def configured(name: str, agents: int, values: Values | None = None, **settings: object) -> Config:
    """A shipped configuration with so many agents at its own density, and its world and view as large as they need.

    `settings` are other keys, with `__` for a dot.
    """
    plain = load_config(name, {path.replace("__", "."): value for path, value in settings.items()})
    config = crowd_of(plain, agents)
    return config.model_copy(update={"optimizations": with_values(config.optimizations, values or {})})


def crowds(name: str, agents: int, arms: Mapping[str, Values], picture: bool = False,
           measure: Callable[[CrowdArm], Figures] | None = None, **settings: object) -> dict[str, Callable[[], Arm]]:
    """An arm for each of these sets of techniques."""
    def make(values: Values) -> Callable[[], Arm]:
        return lambda: CrowdArm(configured(name, agents, values, **settings), picture, measure)

    return {arm: make(values) for arm, values in arms.items()}
