"""All experiments, in the order of the page. A new one may have a file of its own, or stand beside others of its subject."""

from crowd_demo.extras.lab.validate.experiments.corridors import CORNER, CORRIDOR, HEAD_ON
from crowd_demo.extras.lab.validate.experiments.doors import BOTTLENECK, DOOR, EVACUATION
from crowd_demo.extras.lab.validate.experiments.many_ways import BOTH_WAYS, FOUR_WAYS
from crowd_demo.extras.lab.validate.experiments.single_file import SINGLE_FILE
from crowd_demo.extras.lab.validate.experiments.streams import COUNTERFLOW, CROSSING, FUNDAMENTAL
from crowd_demo.extras.lab.validate.experiments.two_rooms import AGAINST, CHOICE
from crowd_demo.extras.lab.validate.experiments.wide_bottlenecks import WIDE_BOTTLENECK
from crowd_demo.extras.lab.validate.validation_experiment import ValidationExperiment

EXPERIMENTS: dict[str, ValidationExperiment] = {each.name: each for each in (
    CORRIDOR, FUNDAMENTAL, CORNER, BOTTLENECK, COUNTERFLOW, CROSSING, EVACUATION, HEAD_ON, DOOR,
    SINGLE_FILE, BOTH_WAYS, FOUR_WAYS, WIDE_BOTTLENECK, AGAINST, CHOICE)}
