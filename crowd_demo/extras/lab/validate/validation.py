"""Everybody walks the scenes of all experiments; what is read from that is held against what the literature expects.

This program's models walk them once for each seed, and the worst one counts; other programs have the first seed.
page.py makes tables of the results.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field

from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations, with_values
from crowd_demo.extras.lab.validate.validation_experiment import (
    OWN,
    Measures,
    Reading,
    SeededReading,
    ValidationExperiment,
    WalkedScene,
    WalkedScenes,
    WalkScene,
)
from crowd_demo.extras.lab.validate.walkers import CrowdWalk, SceneWalker
from crowd_demo.extras.trajectories import Trajectories
from crowd_demo.measure.experiment import Compile, Slice, result_of, with_progress

PUSH = CrowdWalk("push", "`avoidance: push` and `overlap_passes: 0`: people are pushed by who is near, and have no bodies",
                 {"avoidance": "push", "overlap_passes": 0})
ANTICIPATE = CrowdWalk("anticipate", "`avoidance: anticipate` and `overlap_passes: 2`: people look ahead, and have bodies",
                       {"avoidance": "anticipate", "overlap_passes": 2})
SLOW_DOWN = CrowdWalk("slow_down", "`avoidance: slow_down` and `overlap_passes: 2`, the default: they slow down, too",
                      {"avoidance": "slow_down", "overlap_passes": 2})
MODELS = (PUSH, ANTICIPATE, SLOW_DOWN)


POLL_S = 0.1

Walk = Generator[float, None, Trajectories]
Begin = Callable[[SceneWalker, WalkScene, int], Walk]  # the last is the seed


@dataclass
class ExperimentResult:
    """What one experiment gave: by the name of who walked it. Pictures and PedPy get the first seed alone."""

    experiment: ValidationExperiment
    runs: dict[str, WalkedScenes] = field(default_factory=dict)
    readings: dict[str, list[SeededReading]] = field(default_factory=dict)
    by_pedpy: list[Reading] = field(default_factory=list)  # of one of them
    errors: dict[str, str] = field(default_factory=dict)  # what could not be computed, and why
    left_out: dict[str, str] = field(default_factory=dict)  # who cannot walk its scenes, and why


Walks = dict[float, tuple[WalkScene, Walk]]  # by what the scenes differ in


Turn = tuple[ValidationExperiment, SceneWalker, str, list[Walks]]  # who walks, why not, and for each seed its walks


class Validation:
    """Runs in slices, can be stopped after any, and keeps its results so far, as the experiments of `measure` do."""

    def __init__(self, experiments: Sequence[ValidationExperiment], walkers: Sequence[SceneWalker], short: bool,
                 compile_for: Compile, pedpy: Measures | None, seeds: int = 1, processes: int = 1) -> None:
        self.experiments, self.walkers, self.short, self.pedpy = experiments, walkers, short, pedpy
        self.models = [walker for walker in walkers if isinstance(walker, CrowdWalk)]  # of this program
        self.seeds, self.processes = range(1, seeds + 1), processes
        self.results: list[ExperimentResult] = []
        self.done = False
        self._compile_for = compile_for

    def run(self) -> Generator[Slice, None, None]:
        for model in self.models:
            for line in self._compile_for(options_of(model)):
                yield Slice(line, 0)
        with walks_in(self.processes) as begin:
            turns = deque(self._turn(experiment, walker, begin)
                          for experiment in self.experiments for walker in self.walkers)
            share = 1 / len(turns)
            for number in range(len(turns)):
                turn = turns.popleft()  # whose walks need not be kept
                if not self.results or self.results[-1].experiment is not turn[0]:
                    self.results.append(ExperimentResult(turn[0]))
                yield from self._walked(self.results[-1], turn, number * share, share)
        self.done = True

    def _turn(self, experiment: ValidationExperiment, walker: SceneWalker, begin: Begin) -> Turn:
        scenes = experiment.scenes(self.short)
        why_not = next(filter(None, map(walker.why_not, scenes.values())), "")
        wanted = self.seeds if walker in self.models else self.seeds[:1]
        seeds = [] if why_not else [{key: (scene, begin(walker, scene, seed)) for key, scene in scenes.items()}
                                    for seed in wanted]
        return experiment, walker, why_not, seeds

    def _walked(self, result: ExperimentResult, turn: Turn, done: float, share: float) -> Iterator[Slice]:
        """Let one model walk the scenes of an experiment, and read the numbers from that."""
        experiment, walker, why_not, seeds = turn
        name = walker.name
        if why_not:
            result.left_out[name] = why_not
            return
        by_seed: list[list[Reading]] = []
        part = share / len(seeds)
        try:
            for number, walks in enumerate(seeds):
                title = f"{experiment.title}, {name}, seed {self.seeds[number]}"
                runs = yield from _runs(walks, title, done + number * part, part)
                by_seed.append(list(experiment.read(runs, OWN)))
                result.readings[name] = [SeededReading(each) for each in zip(*by_seed, strict=True)]
                if number == 0:
                    if self.pedpy and name == self.measured:
                        result.by_pedpy = list(experiment.read(runs, self.pedpy))
                    result.runs[name] = runs
        except Exception as error:  # another program's, or a scene's: the others go on, and the table says so
            result.readings.pop(name, None)
            result.errors[name] = " ".join(f"{type(error).__name__}: {error}".split())

    @property
    def measured(self) -> str:
        """Whose trajectories PedPy measures too: those of the last of this program's models."""
        return self.models[-1].name

    @property
    def failed(self) -> list[SeededReading]:
        """What this program's models fail."""
        return [reading for result in self.results for model in self.models
                for reading in result.readings.get(model.name, ()) if not reading.passes]


def _runs(walks: Walks, title: str, done: float, share: float) -> Generator[Slice, None, WalkedScenes]:
    """Wait for all scenes of one seed."""
    runs: dict[float, WalkedScene] = {}
    part = share / len(walks)
    for number, (key, (scene, walk)) in enumerate(walks.items()):
        walked = yield from with_progress(walk, f"{title}, {key:g}", done + number * part, part)
        runs[key] = WalkedScene(scene, walked)
    return runs


def options_of(model: CrowdWalk) -> Optimizations:
    return with_values(Config.model_validate({}).optimizations, model.techniques)


# --- where scenes are walked: in this process, or several at a time in processes of their own ------------------------

# A walk is a generator: it yields how much of it is done, 0 to 1, and returns who was where. Those of other processes
# begin in the order in which they are requested, before their results are needed.

@contextmanager
def walks_in(processes: int) -> Iterator[Begin]:
    """Return what begins walks, in so many processes; they end with the context."""
    if processes == 1:
        yield lambda walker, scene, seed: walker.walk(scene, seed)
        return
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _be_a_worker)
    try:
        yield lambda walker, scene, seed: _awaited(pool.submit(_walked, walker, scene, seed))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():  # they may be in the middle of a walk
            process.terminate()


def _awaited(future: Future[Trajectories]) -> Walk:
    while not wait((future,), POLL_S).done:
        yield 0.0
    return future.result()


def _be_a_worker() -> None:
    """Leave Ctrl-C to the program, and end when it does, whatever ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_program, daemon=True).start()


def _end_with_the_program() -> None:
    program = multiprocessing.parent_process()
    assert program
    program.join()
    os._exit(0)


def _walked(walker: SceneWalker, scene: WalkScene, seed: int) -> Trajectories:
    return result_of(walker.walk(scene, seed))
