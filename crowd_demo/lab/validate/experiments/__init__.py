"""All experiments, in the order of the page; one file each."""

from crowd_demo.lab.validate.experiment import Experiment
from crowd_demo.lab.validate.experiments.bottleneck import BOTTLENECK
from crowd_demo.lab.validate.experiments.corner import CORNER
from crowd_demo.lab.validate.experiments.corridor import CORRIDOR
from crowd_demo.lab.validate.experiments.counterflow import COUNTERFLOW
from crowd_demo.lab.validate.experiments.crossing import CROSSING
from crowd_demo.lab.validate.experiments.door import DOOR
from crowd_demo.lab.validate.experiments.evacuation import EVACUATION
from crowd_demo.lab.validate.experiments.fundamental import FUNDAMENTAL
from crowd_demo.lab.validate.experiments.head_on import HEAD_ON

EXPERIMENTS: dict[str, Experiment] = {each.name: each for each in (
    CORRIDOR, FUNDAMENTAL, CORNER, BOTTLENECK, COUNTERFLOW, CROSSING, EVACUATION, HEAD_ON, DOOR)}
