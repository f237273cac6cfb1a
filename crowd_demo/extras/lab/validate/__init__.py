"""`crowd-demo validate`: people held against the literature.

    scenes             what walks where; models of this program and of JuPedSim walk it; PedPy
    rooms, streams     the experiments by subject
    validation         readings with their expected ranges; runs all experiments by all walkers, with all seeds, several
                       scenes at a time; tables, JSON, the page

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
from crowd_demo.extras.lab.validate.validation import ValidationExperiment

EXPERIMENTS: dict[str, ValidationExperiment] = {each.name: each for each in (
    CORRIDOR, FUNDAMENTAL, CORNER, BOTTLENECK, COUNTERFLOW, CROSSING, EVACUATION, HEAD_ON, DOOR,
    SINGLE_FILE, BOTH_WAYS, FOUR_WAYS, WIDE_BOTTLENECK, AGAINST, CHOICE, QUEUES, SPREAD)}
