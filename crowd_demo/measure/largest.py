"""The largest crowd of which a frame takes no longer than a sixtieth of a second, here and with these techniques.

A frame is a picture of the window's size, and as many steps as fall into it: `step_hz` / 60. Its median counts; HUD and
presenting are not in it. The world grows with the crowd, so that as many agents share a unit of area as in the configuration,
and a map is stretched. The view keeps its zoom, or goes on to show the whole world. Each number gets a crowd of its own, as it
begins, and `WARM_UP` frames that do not count. Near the limit more frames are measured.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles
from crowd_demo.config.memory import too_large
from crowd_demo.config.model import MOST_AGENTS, Config
from crowd_demo.config.resources import assets_folder
from crowd_demo.measure.arm import Block
from crowd_demo.measure.crowd import DRAW, STEP, FrameArm, Picture
from crowd_demo.measure.experiment import Compile, Progress, with_progress
from crowd_demo.measure.ladder import Rung
from crowd_demo.measure.pairs import all_pairs_s
from crowd_demo.measure.search import largest
from crowd_demo.measure.statistics import LEAST_BLOCKS, Interval, median_interval
from crowd_demo.render.scene import Scene
from crowd_demo.sim.simulation import Simulation

FPS = 60
LIMIT_MS = 1000 / FPS
FIRST = 1000  # agents with which the search begins
WARM_UP = 16  # frames: the longest period of staggering
BLOCK = 8  # frames
FEW_BLOCKS, MOST_BLOCKS = 3, 24
CLEAR = 1.4  # a median so many times above or below the limit needs no more than `FEW_BLOCKS`
HOPELESS = 4.0  # frames so many times above the limit need not be warm
NO_HOPE_AT_ALL = 40.0  # brute force of which a step is expected to take so many times the limit is not tried
LONGEST_SIDE = 65_536.0  # of a world
USUAL_TRIES = 10  # of a search
NEVER = Interval(math.inf, math.inf, math.inf)


class Measured(NamedTuple):
    """Milliseconds with so many agents."""

    agents: int
    step: Interval
    draw: Interval
    frame: Interval

    @property
    def fits(self) -> bool:
        return self.frame.value <= LIMIT_MS


class Answer(NamedTuple):
    """The largest crowd of a rung, None where not even one agent fits; `bound` says what ended the search if not time."""

    rung: Rung
    measured: Measured | None
    bound: str


class Largest:
    """An experiment: search for each rung. `answers` are those found so far."""

    def __init__(self, config: Config, rungs: Sequence[Rung], compile_for: Compile, start: int = FIRST) -> None:
        """The first search begins at `start`, each other one at the answer before. Raises ValueError for a crowd of none."""
        if not config.agents:
            raise ValueError("agents: a crowd of none has no density to keep")
        self.config, self.rungs = config, rungs
        self.answers: list[Answer] = []
        self.done = False
        self._most, self._bound = most_agents(config)
        self._start, self._compile_for = start, compile_for

    def run(self) -> Iterator[Progress]:
        start = self._start
        for number, rung in enumerate(self.rungs):
            for text in self._compile_for(rung.options):
                yield Progress(f"{rung.name}: {text}", number / len(self.rungs))
            answer = yield from self._search(rung, start, number)
            self.answers.append(answer)
            start = answer.measured.agents if answer.measured else self._start
        self.done = True

    def _search(self, rung: Rung, start: int, number: int) -> Generator[Progress, None, Answer]:
        found: dict[int, Measured] = {}
        search, text = largest(start, self._most), ""
        try:
            agents = next(search)
            while True:
                part = (number + min(len(found) / USUAL_TRIES, 1)) / len(self.rungs)
                config = crowd_of(self.config, agents).model_copy(update={"optimizations": rung.options})
                measured = yield from with_progress(measure(config), f"{rung.name}: {agents:,} agents?{text}", part, 0)
                found[agents], text = measured, f" ({agents:,} took {measured.frame.value:.1f} ms)"
                agents = search.send(measured.fits)
        except StopIteration as end:
            return Answer(rung, found.get(end.value), self._bound if end.value == self._most else "")


def measure(config: Config) -> Generator[float, None, Measured]:
    """Measure the frames of a crowd for as long as it takes to tell whether they fit."""
    if all_pairs_s(config.agents, config.optimizations.get) * 1e3 > NO_HOPE_AT_ALL * LIMIT_MS:
        return Measured(config.agents, NEVER, NEVER, NEVER)
    sim, rate = Simulation(config), config.time.step_hz / FPS
    arm = FrameArm(sim, Picture(Scene(sim, config, assets_folder())))
    yield 0.0
    cold: list[Block] = []
    while len(cold) < WARM_UP and not is_hopeless(cold, rate):
        cold.append(arm.run(1))
        yield 0.0
    blocks: list[Block] = []
    while not (is_hopeless(cold, rate) or is_clear(blocks, rate)):
        blocks.append(arm.run(BLOCK))
        yield 0.0
    return measured_of(config.agents, blocks or cold[1:], rate)


def crowd_of(config: Config, agents: int) -> Config:
    """The configuration with so many agents, in a world that has grown or shrunk with them."""
    side = math.sqrt(agents / config.agents)
    world, center = config.world, config.camera.center
    view = {"center": (center[0] * side, center[1] * side)} if center else {}
    return config.model_copy(update={
        "agents": agents, "camera": config.camera.model_copy(update=view),
        "world": world.model_copy(update={"width": world.width * side, "height": world.height * side})})


def most_agents(config: Config) -> tuple[int, str]:
    """How many there can be, and why not more."""
    longest = max(config.world.width, config.world.height)
    bounds = {MOST_AGENTS: "the most that the program can have",
              int(config.agents * (LONGEST_SIDE / longest) ** 2): "the largest world"}
    most = min(bounds)
    bound, tiles = bounds[most], 1 if config.map else 0  # the tiles of a map do not become more
    while too_large(crowd_of(config, most), tiles, 0) and most > 1:
        most, bound = int(most * 0.9), "memory"
    return most, bound


# --- what blocks say -------------------------------------------------------------------------------------------------

def frames_ms(blocks: Sequence[Block], rate: float) -> Doubles:
    """float64[blocks]: the median frame of each, with `rate` steps a frame."""
    return np.array([rate * np.median(block.times_ms[STEP]) + np.median(block.times_ms[DRAW]) for block in blocks], np.float64)


def is_hopeless(cold: Sequence[Block], rate: float) -> bool:
    """Are three frames in a row far too slow, after the first one, which makes what is made once?"""
    return len(cold) > FEW_BLOCKS and bool(frames_ms(cold[-FEW_BLOCKS:], rate).min() > HOPELESS * LIMIT_MS)


def is_clear(blocks: Sequence[Block], rate: float) -> bool:
    """Is it known whether they fit, or would more frames not help?"""
    if len(blocks) < FEW_BLOCKS:
        return False
    frame = median_interval(frames_ms(blocks, rate))
    far = not LIMIT_MS / CLEAR < frame.value < LIMIT_MS * CLEAR
    known = len(blocks) >= LEAST_BLOCKS and not frame.low <= LIMIT_MS <= frame.high
    return far or known or len(blocks) == MOST_BLOCKS


def measured_of(agents: int, blocks: Sequence[Block], rate: float) -> Measured:
    step, draw = (median_interval(np.array([np.median(block.times_ms[part]) for block in blocks])) for part in (STEP, DRAW))
    return Measured(agents, step, draw, median_interval(frames_ms(blocks, rate)))
