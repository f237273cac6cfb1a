"""The largest crowd of which a frame takes no longer than a sixtieth of a second, here and with these techniques.

A frame is a picture of the window's size, and as many steps as fall into it: `step_hz` / 60. Its median counts; HUD and
presenting are not in it. The world grows with the crowd, so that as many agents share a unit of area as in the
configuration, and a map is stretched. The view keeps its zoom, or goes on to show the whole world. Each number gets a
crowd of its own, as it begins, and `WARM_UP` frames that do not count. Near the limit more frames are measured.

The ladder leads from everything off to everything on: each rung has what those below it have, and something more. All
rungs have one model: what chooses a model has its present value on each, or the rungs would not compute the same crowd.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles
from crowd_demo.config.memory import too_large
from crowd_demo.config.model import Config, Optimizations, with_values
from crowd_demo.config.section import MAX_AGENTS
from crowd_demo.measure.comparison import DRAW, STEP, TimedBlock
from crowd_demo.measure.experiment import Compile, Slice, TextTable, crowd_json, header, with_progress
from crowd_demo.measure.proof import CrowdVariant, Picture, all_pairs_s
from crowd_demo.measure.statistics import LEAST_BLOCKS, Interval, factor, interval_json, median_interval, milliseconds
from crowd_demo.registry.entries import MODEL, Value
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES, yaml_word
from crowd_demo.sim.simulation import Simulation

FPS = 60
LIMIT_MS = 1000 / FPS
FIRST = 1000  # agents with which the search begins
WARM_UP = 16  # frames: the longest period of staggering
BLOCK = 8  # frames
FEW_BLOCKS, MAX_BLOCKS = 3, 24
CLEAR = 1.4  # a median so many times above or below the limit needs no more than `FEW_BLOCKS`
HOPELESS = 4.0  # frames so many times above the limit need not be warm
NO_HOPE_AT_ALL = 40.0  # brute force of which a step is expected to take so many times the limit is not tried
LONGEST_SIDE = 65_536.0  # of a world
USUAL_TRIES = 10  # of a search
NEVER = Interval(math.inf, math.inf, math.inf)
PRECISION = 0.02  # of the largest number: less than the noise of a measurement
Fits = Callable[[int], Generator[Slice, None, bool]]  # whether a number fits, found in slices
COLUMNS = ("techniques", "agents", "step ms", "draw ms", "frame ms", "95%", "times")
HOW_TO_READ = (f"The largest crowd whose median frame takes at most {LIMIT_MS:.1f} ms ({FPS} FPS), in a world that grows"
               " with it. Times: relative to the line above.")


class Measured(NamedTuple):
    agents: int
    step: Interval
    draw: Interval
    frame: Interval  # with as many steps as fall into it


class Answer(NamedTuple):
    """The largest crowd of a rung, None where not even one agent fits; `bound` says what ended the search if not time."""

    rung: Rung
    measured: Measured | None
    bound: str

    def cells(self, below: Measured | None) -> tuple[str, ...]:
        """Of a table; `below` is the answer of the rung below, to which this one has added something."""
        found = self.measured
        if found is None:
            return (self.rung.name, "none", *("-" for _ in COLUMNS[2:]))
        between = f"{found.frame.low:.1f}-{found.frame.high:.1f}" if found.frame.known else "-"
        return (self.rung.name, f"{found.agents:,}{'+' * bool(self.bound)}",
                *map(milliseconds, (found.step, found.draw, found.frame)), between,
                factor(found.agents / below.agents) if below else "")

    def record(self) -> dict[str, object]:
        found = self.measured
        times = {} if found is None else {"step_ms": interval_json(found.step), "draw_ms": interval_json(found.draw),
                                          "frame_ms": interval_json(found.frame)}
        return {"name": self.rung.name, "optimizations": self.rung.options.model_dump(mode="json"),
                "agents": found.agents if found else 0, "bound": self.bound, **times}


class Largest:
    """An experiment: search for each rung, from the answer before on. `answers` are those found so far."""

    def __init__(self, config: Config, rungs: Sequence[Rung], compile_for: Compile, most: int = MAX_AGENTS) -> None:
        """`most` agents are tried. Raises ValueError for a crowd of none."""
        if not config.agents:
            raise ValueError("agents: a crowd of none has no density to keep")
        self.config, self.rungs = config, rungs
        self.answers: list[Answer] = []
        self.done = False
        self._most, self._bound = min(most_agents(config), (most, "the request"))
        self._compile_for = compile_for

    def run(self) -> Iterator[Slice]:
        start = FIRST
        for number, rung in enumerate(self.rungs):
            for text in self._compile_for(rung.options):
                yield Slice(f"{rung.name}: {text}", number / len(self.rungs))
            answer = yield from self._search(rung, start, number)
            self.answers.append(answer)
            start = answer.measured.agents if answer.measured else FIRST
        self.done = True

    def _search(self, rung: Rung, start: int, number: int) -> Generator[Slice, None, Answer]:
        found: list[Measured] = []

        def fits(agents: int) -> Generator[Slice, None, bool]:
            part = (number + min(len(found) / USUAL_TRIES, 1)) / len(self.rungs)
            config = crowd_of(self.config, agents).model_copy(update={"optimizations": rung.options})
            last = "".join(f" ({each.agents:,} took {each.frame.value:.1f} ms)" for each in found[-1:])
            found.append((yield from with_progress(measure(config), f"{rung.name}: {agents:,} agents?{last}", part, 0)))
            return found[-1].frame.value <= LIMIT_MS

        largest = yield from largest_number(start, self._most, fits)
        measured = next((each for each in reversed(found) if each.agents == largest), None)
        return Answer(rung, measured, self._bound if largest == self._most else "")

    def table(self) -> TextTable:
        """In the order of the search; each rung beside the one below it."""
        before = [None, *(answer.measured for answer in self.answers)]
        return TextTable(COLUMNS, [answer.cells(below if answer.rung.adds else None)
                                   for answer, below in zip(self.answers, before, strict=False)])

    def notes(self) -> Sequence[str]:
        """How to read the table, and a line for each thing but time that ended a search."""
        bounds = dict.fromkeys(answer.bound for answer in self.answers if answer.bound)
        return [HOW_TO_READ, *(f"+: not more, because of {bound}" for bound in bounds)]

    def record(self) -> dict[str, object]:
        """`complete` says whether every rung was searched."""
        config = self.config
        techniques = {path: config.optimizations.get(path) for path in BY_PATH}
        return {**header("largest"), **crowd_json(config, techniques), "agents": config.agents, "limit_ms": LIMIT_MS,
                "complete": self.done, "rungs": [answer.record() for answer in self.answers]}


def measure(config: Config) -> Generator[float, None, Measured]:
    """Measure the frames of a crowd for as long as it takes to tell whether they fit."""
    if all_pairs_s(config.agents, config.optimizations.get) * 1e3 > NO_HOPE_AT_ALL * LIMIT_MS:
        return Measured(config.agents, NEVER, NEVER, NEVER)
    sim, rate = Simulation(config), config.time.step_hz / FPS
    crowd = CrowdVariant(sim, Picture(sim))
    yield 0.0
    cold: list[TimedBlock] = []
    while len(cold) < WARM_UP and not is_hopeless(cold, rate):
        cold.append(crowd.run(1).frame)
        yield 0.0
    blocks: list[TimedBlock] = []
    while not (is_hopeless(cold, rate) or is_clear(blocks, rate)):
        blocks.append(crowd.run(BLOCK).frame)
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
    bounds = {MAX_AGENTS: "the most that the program can have",
              int(config.agents * (LONGEST_SIDE / longest) ** 2): "the largest world"}
    most = min(bounds)
    bound, tiles = bounds[most], 1 if config.map else 0  # the tiles of a map do not become more
    while too_large(crowd_of(config, most), tiles, 0) and most > 1:
        most, bound = int(most * 0.9), "memory"
    return most, bound


# --- what blocks say -------------------------------------------------------------------------------------------------

def frames_ms(blocks: Sequence[TimedBlock], rate: float) -> Doubles:
    """float64[blocks]: the median frame of each, with `rate` steps a frame."""
    return np.array([rate * np.median(block.times_ms[STEP]) + np.median(block.times_ms[DRAW]) for block in blocks], np.float64)


def is_hopeless(cold: Sequence[TimedBlock], rate: float) -> bool:
    """Return whether three frames in a row are far too slow, after the first one, which makes what is made once."""
    return len(cold) > FEW_BLOCKS and bool(frames_ms(cold[-FEW_BLOCKS:], rate).min() > HOPELESS * LIMIT_MS)


def is_clear(blocks: Sequence[TimedBlock], rate: float) -> bool:
    """Return whether it is known if they fit, or more frames would not help."""
    if len(blocks) < FEW_BLOCKS:
        return False
    frame = median_interval(frames_ms(blocks, rate))
    far = not LIMIT_MS / CLEAR < frame.value < LIMIT_MS * CLEAR
    known = len(blocks) >= LEAST_BLOCKS and not frame.low <= LIMIT_MS <= frame.high
    return far or known or len(blocks) == MAX_BLOCKS


def measured_of(agents: int, blocks: Sequence[TimedBlock], rate: float) -> Measured:
    step, draw = (median_interval(np.array([np.median(block.times_ms[part]) for block in blocks])) for part in (STEP, DRAW))
    return Measured(agents, step, draw, median_interval(frames_ms(blocks, rate)))


# --- the search ------------------------------------------------------------------------------------------------------

def largest_number(start: int, most: int, fits: Fits, precision: float = PRECISION) -> Generator[Slice, None, int]:
    """Return the largest number from 1 to `most` that fits; 0 if none does.

    Bracket it by doubling or halving, then bisect. If a number fits, so do all below it. The least that does not fit is at
    most `precision` above the answer, or 1. It is asked a second time, and if it fits then the search goes on above: other
    load on a machine makes things slower only.
    """
    low, number = 0, min(max(start, 1), most)
    while True:
        high = most + 1
        while low < number < high:
            if (yield from fits(number)):
                low, number = number, min(2 * number, most)
            else:
                high, number = number, number if low else number // 2
        while high - low > max(precision * low, 1):  # bisect at three digits of the geometric mean if possible
            middle = math.isqrt(low * high)
            rounded = int(float(f"{middle:.2e}"))
            middle = rounded if low < rounded < high else min(max(middle, low + 1), high - 1)
            if (yield from fits(middle)):
                low = middle
            else:
                high = middle
        if high > most or not (yield from fits(high)):
            return low
        low, number = high, min(2 * high, most)


# --- the ladder ------------------------------------------------------------------------------------------------------

class Rung(NamedTuple):
    """Techniques, and whether they are those of the rung below and something more."""

    name: str
    options: Optimizations
    adds: bool = False


# What each rung adds, techniques by path or a value of one, and its name, in which {} is the value of the first. Where the
# first one is on already, there is no such rung.
STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("+ cell lists", ("neighbours=linked",)),
    ("+ neighbours: {}", ("neighbours", "cell_size", "leaf_size", "rebuild")),
    ("+ reorder: {}", ("reorder.when", "reorder.every", "reorder.drift", "curve")),
    ("+ SIMD lanes", ("simd",)),
    ("+ stagger", ("stagger.avoidance", "stagger.by", "stagger.sight", "stagger.paths")),
    ("+ culling, depth order, blitter", ("cull", "depth", "blitter")),
    ("+ threads: {}", ("threads",)),
)


def present_and_rungs(present: Optimizations, ladder: bool = True) -> list[Rung]:
    """The present techniques, and then the rungs, unless the highest is the present one."""
    found = list(rungs(present)) if ladder else []
    return found if found and found[-1].options == present else [Rung("as now", present), *found]


def rungs(present: Optimizations) -> Iterator[Rung]:
    """Everything off first; on is the present value, or the default of what is off at present.

    The last rung has everything on, also what is not named above.
    """
    optional = [technique for technique in TECHNIQUES if technique.kind is not MODEL]
    options = with_values(present, {technique.path: technique.baseline for technique in optional})
    yield Rung("everything off", options)
    for name, added in STEPS:
        first, *others = (_value(entry, present) for entry in added)
        if name == STEPS[-1][0]:
            others = [_value(technique.path, present) for technique in optional]
        path, value = first
        changes = options.get(path) != value
        options = with_values(options, dict([first, *others]))
        if changes:
            yield Rung(name.format(yaml_word(value)), options, adds=True)


def _value(entry: str, present: Optimizations) -> tuple[str, Value]:
    """The path, and the value that is named or else the one that is on."""
    path, _, named = entry.partition("=")
    technique, value = BY_PATH[path], present.get(path)
    return path, named or (technique.default if value == technique.baseline else value)
