"""The largest crowd at 60 frames a second, from all pairs to all techniques."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from crowd_demo.config.loader import load_config
from crowd_demo.config.optimizations import with_values
from crowd_demo.extras.lab.claims.claim import GRIDS, Answer, Case, Claim, Found, LabScale, all_of, is_true
from crowd_demo.host.compiling.ahead import KernelFinder, compile_missing
from crowd_demo.measure.experiment import Slice
from crowd_demo.measure.largest import Largest, Rung
from crowd_demo.registry.entries import Value

NAIVE, GRID, SORTED, LANES, THREADS, STAGGER = "naive", "+ grid", "+ sorted memory", "+ lanes", "+ threads", "+ stagger 3"
STEPS: dict[str, dict[str, Value]] = {  # what each rung adds
    NAIVE: {"neighbours": "none", "reorder.when": "off", "simd": False, "threads": 1, "stagger.avoidance": 1},
    GRID: {"neighbours": "linked"}, SORTED: {"neighbours": "sorted", "reorder.when": "every"}, LANES: {"simd": True},
    THREADS: {"threads": "auto"}, STAGGER: {"stagger.avoidance": 3}}
WANTED = {NAIVE: 400, GRID: 5_000, LANES: 10_000}  # of one core


def rungs() -> Iterator[Rung]:
    options = load_config("20k-flock").optimizations
    for name, values in STEPS.items():
        options = with_values(options, values)
        yield Rung(name, options, adds=name != NAIVE)


class LadderCase(NamedTuple):
    """A search on each rung, at one density; pictures are drawn by the fastest way on all of them."""

    name: str
    most: int
    seconds: float = 40.0

    def run(self, blocks: int) -> Generator[Slice, None, Found]:
        config = load_config("20k-flock")
        compile_for = partial(compile_missing, KernelFinder(config, render=True))
        search = Largest(config, list(rungs()), compile_for, self.most)
        yield from search.run()
        figures = {answer.rung.name: {"agents": answer.measured.agents, "frame_ms": round(answer.measured.frame.value, 3)}
                   for answer in search.answers if answer.measured}
        return Found(self.name, self.most, 1, 0, figures=figures)


def cases(scale: LabScale) -> Sequence[Case]:
    return [LadderCase("birds at the density of 20k-flock", scale.most, 40.0 if scale.most <= 250_000 else 120.0)]


def decide(found: Found) -> Answer:
    return all_of(is_true(found.figures.get(rung, {}).get("agents", 0) >= least) for rung, least in WANTED.items())


CLAIM = Claim(
    "ladder", "How many agents fit into 60 frames a second on each rung?",
    "on one core 400 with all pairs, 5,000 to 6,000 with a grid, 10,000 to 20,000 with lanes", GRIDS,
    "at least 400, 5,000 and 10,000 birds whose step and picture take 16.7 ms, on one core", cases, decide, by_size=False)
