"""The settings of the toy's behaviour."""

from crowd_demo.config.behaviours import BehaviourSettings
from crowd_demo.config.section import number


class GnatSettings(BehaviourSettings):
    """Gnats that follow those with lower ids."""

    radius: float = number(20, 0, 4096, "units", "follow others nearer than this")
