"""`crowd-demo validate`: people held against the literature.

    validation_experiment      scenes, readings with their expected ranges, a picture
    rooms, streams             the experiments by subject
    walkers                    models of this program and of JuPedSim walk a scene; PedPy
    validation                 runs all by all walkers, with all seeds, several scenes at a time; tables, JSON, the page

`EXPERIMENTS` has all of them in the order of the page. A new one stands beside others of its subject.
"""

from crowd_demo.extras.lab.validate.rooms import (
    AGAINST,
    BOTTLENECK,
    CHOICE,
    CORNER,
    CORRIDOR,
    DOOR,
    EVACUATION,
    HEAD_ON,
    QUEUES,
    WIDE_BOTTLENECK,
)
from crowd_demo.extras.lab.validate.streams import (
    BOTH_WAYS,
    COUNTERFLOW,
    CROSSING,
    FOUR_WAYS,
    FUNDAMENTAL,
    SINGLE_FILE,
    SPREAD,
)
from crowd_demo.extras.lab.validate.validation_experiment import ValidationExperiment

EXPERIMENTS: dict[str, ValidationExperiment] = {each.name: each for each in (
    CORRIDOR, FUNDAMENTAL, CORNER, BOTTLENECK, COUNTERFLOW, CROSSING, EVACUATION, HEAD_ON, DOOR,
    SINGLE_FILE, BOTH_WAYS, FOUR_WAYS, WIDE_BOTTLENECK, AGAINST, CHOICE, QUEUES, SPREAD)}
