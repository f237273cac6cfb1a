"""Moths for crowd-demo: what the program reads before anything is compiled."""

from crowd_demo.config.behaviours import BehaviourSettings
from crowd_demo.config.section import number
from crowd_demo.registry.entries import BehaviourEntry, Plugin


class MothSettings(BehaviourSettings):
    """Moths that circle lamps and keep clear of each other."""

    radius: float = number(12, 0, 4096, "units", "keep clear of others nearer than this")
    lamps: float = number(300, 1, 65_536, "units", "from one lamp to the next")
    pull: float = number(4, 0, 1000, "1/s^2", "of the nearest lamp, for each unit that it is away")
    separate: float = number(40, 0, 10_000, "1/s^2", "push away from others too near")
    speed: float = number(90, 0, 10_000, "units/s", "of flight")


PLUGIN = Plugin(behaviours=(
    BehaviourEntry("moths", "moths around lamps", "moths:MothSettings", "moths.behaviour:Moths",
                   "crowd_demo.render.figures.birds:BirdFigures"),))
