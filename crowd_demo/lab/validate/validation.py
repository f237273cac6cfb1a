"""Everybody walks the scenes of all experiments; what is read from that is held against what the literature expects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations, with_values
from crowd_demo.lab.validate.crowd_walk import CrowdWalk
from crowd_demo.lab.validate.experiment import (
    OWN,
    Measures,
    Reading,
    SceneWalker,
    ValidationExperiment,
    WalkedScene,
    WalkedScenes,
)
from crowd_demo.measure.experiment import Compile, Progress, with_progress

PUSH = CrowdWalk("push", "`avoidance: push` and `contact: 0`: people are pushed by who is near, and have no bodies",
                 {"avoidance": "push", "overlap_passes": 0})
ANTICIPATE = CrowdWalk("anticipate", "`avoidance: anticipate` and `contact: 2`: people look ahead, and have bodies",
                       {"avoidance": "anticipate", "overlap_passes": 2})
MODELS = (PUSH, ANTICIPATE)


@dataclass
class ExperimentResult:
    """What one experiment gave: by the name of who walked it."""

    experiment: ValidationExperiment
    runs: dict[str, WalkedScenes] = field(default_factory=dict)
    readings: dict[str, list[Reading]] = field(default_factory=dict)
    by_pedpy: list[Reading] = field(default_factory=list)  # of one of them
    errors: dict[str, str] = field(default_factory=dict)  # what could not be computed, and why
    left_out: dict[str, str] = field(default_factory=dict)  # who cannot walk its scenes, and why


class Validation:
    """Runs in slices, can be stopped after any, and keeps its results so far, as the experiments of `measure` do."""

    def __init__(self, experiments: Sequence[ValidationExperiment], walkers: Sequence[SceneWalker], short: bool,
                 compile_for: Compile, pedpy: Measures | None) -> None:
        self.experiments, self.walkers, self.short, self.pedpy = experiments, walkers, short, pedpy
        self.models = [walker for walker in walkers if isinstance(walker, CrowdWalk)]  # of this program
        self.results: list[ExperimentResult] = []
        self.done = False
        self._compile_for = compile_for

    def run(self) -> Iterator[Progress]:
        for model in self.models:
            for line in self._compile_for(options_of(model)):
                yield Progress(line, 0)
        turns = [(experiment, walker) for experiment in self.experiments for walker in self.walkers]
        for number, (experiment, walker) in enumerate(turns):
            if not self.results or self.results[-1].experiment is not experiment:
                self.results.append(ExperimentResult(experiment))
            yield from self._walked(self.results[-1], walker, number / len(turns), 1 / len(turns))
        self.done = True

    def _walked(self, result: ExperimentResult, walker: SceneWalker, done: float, share: float) -> Iterator[Progress]:
        """Have the scenes of one experiment walked by one, and read the results."""
        experiment, name = result.experiment, walker.name
        scenes = experiment.scenes(self.short)
        if why := next(filter(None, map(walker.why_not, scenes.values())), ""):
            result.left_out[name] = why
            return
        runs: dict[float, WalkedScene] = {}
        part = share / len(scenes)
        try:
            for turn, (key, scene) in enumerate(scenes.items()):
                walked = yield from with_progress(walker.walk(scene), f"{experiment.title}, {key:g}: {name}",
                                                  done + turn * part, part)
                runs[key] = WalkedScene(scene, walked)
            result.readings[name] = list(experiment.read(runs, OWN))
            if self.pedpy and name == self.measured:
                result.by_pedpy = list(experiment.read(runs, self.pedpy))
            result.runs[name] = runs
        except Exception as error:  # another program's, or a scene's: the others go on, and the table says so
            result.errors[name] = " ".join(f"{type(error).__name__}: {error}".split())

    @property
    def measured(self) -> str:
        """Whose trajectories PedPy measures too: those of the last of this program's models."""
        return self.models[-1].name

    @property
    def failed(self) -> list[Reading]:
        """What this program's models fail."""
        return [reading for result in self.results for model in self.models
                for reading in result.readings.get(model.name, ()) if not reading.passes]


def options_of(model: CrowdWalk) -> Optimizations:
    return with_values(Config.model_validate({}).optimizations, model.techniques)
