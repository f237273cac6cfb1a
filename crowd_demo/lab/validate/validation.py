"""Everybody walks the scenes of all experiments; what is read from that is held against what the literature expects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.lab.validate.crowd_walk import CrowdWalk
from crowd_demo.lab.validate.experiment import OWN, Experiment, Measures, Reading, Run, Runs, Walker
from crowd_demo.measure.experiment import Compile, Progress, with_progress

PUSH = CrowdWalk("push", "`avoidance: push` and `contact: 0`: people are pushed by who is near, and have no bodies",
                 {"optimizations.avoidance": "push", "optimizations.contact": 0})
ANTICIPATE = CrowdWalk("anticipate", "`avoidance: anticipate` and `contact: 2`: people look ahead, and have bodies",
                       {"optimizations.avoidance": "anticipate", "optimizations.contact": 2})
MODELS = (PUSH, ANTICIPATE)


@dataclass
class Result:
    """What one experiment gave: by the name of who walked it."""

    experiment: Experiment
    runs: dict[str, Runs] = field(default_factory=dict)
    readings: dict[str, list[Reading]] = field(default_factory=dict)
    by_pedpy: list[Reading] = field(default_factory=list)  # of one of them
    errors: dict[str, str] = field(default_factory=dict)  # what could not be computed, and why
    left_out: dict[str, str] = field(default_factory=dict)  # who cannot walk its scenes, and why


class Validation:
    """An experiment of `measure`: it runs in slices, can be stopped after any, and keeps its results so far."""

    def __init__(self, experiments: Sequence[Experiment], walkers: Sequence[Walker], short: bool, compile_for: Compile,
                 pedpy: Measures | None) -> None:
        self.experiments, self.walkers, self.short = experiments, walkers, short
        self.results: list[Result] = []
        self.pedpy = pedpy
        self.done = False
        self._compile_for = compile_for

    def run(self) -> Iterator[Progress]:
        for walker in self.walkers:
            if isinstance(walker, CrowdWalk):
                for line in self._compile_for(options_of(walker)):
                    yield Progress(line, 0)
        turns = [(experiment, walker) for experiment in self.experiments for walker in self.walkers]
        for number, (experiment, walker) in enumerate(turns):
            if not self.results or self.results[-1].experiment is not experiment:
                self.results.append(Result(experiment))
            yield from self._walked(self.results[-1], walker, number / len(turns), 1 / len(turns))
        self.done = True

    def _walked(self, result: Result, walker: Walker, done: float, share: float) -> Iterator[Progress]:
        """Have the scenes of one experiment walked by one, and read the results."""
        experiment, name = result.experiment, walker.name
        scenes = experiment.scenes(self.short)
        if why := next(filter(None, map(walker.why_not, scenes.values())), ""):
            result.left_out[name] = why
            return
        runs: dict[float, Run] = {}
        part = share / len(scenes)
        try:
            for turn, (key, scene) in enumerate(scenes.items()):
                walked = yield from with_progress(walker.walk(scene), f"{experiment.title}, {key:g}: {name}",
                                                  done + turn * part, part)
                runs[key] = Run(scene, walked)
            result.readings[name] = list(experiment.read(runs, OWN))
            if self.pedpy and name == self.measured:
                result.by_pedpy = list(experiment.read(runs, self.pedpy))
            result.runs[name] = runs
        except Exception as error:  # another program's, or a scene's: the others go on, and the table says so
            result.errors[name] = " ".join(f"{type(error).__name__}: {error}".split())

    @property
    def measured(self) -> str:
        """Whose trajectories PedPy measures too: those of the last of this program's models."""
        return [walker.name for walker in self.walkers if isinstance(walker, CrowdWalk)][-1]

    @property
    def failed(self) -> list[tuple[Experiment, str, Reading]]:
        """What this program's models fail."""
        own = {walker.name for walker in self.walkers if isinstance(walker, CrowdWalk)}
        return [(result.experiment, name, reading) for result in self.results for name, readings in result.readings.items()
                for reading in readings if name in own and not reading.passes]


def options_of(walker: CrowdWalk) -> Optimizations:
    options = Config.model_validate({}).optimizations.model_copy(deep=True)
    for path, value in walker.settings.items():
        options.set(path.removeprefix("optimizations."), value)  # type: ignore[arg-type]  # a mapping of any settings
    return options

