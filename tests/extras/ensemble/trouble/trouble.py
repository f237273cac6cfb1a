"""A plugin whose measures get a run into trouble."""

import os
import time
from pathlib import Path

from crowd_demo.registry.entries import MeasureEntry, Plugin

KILL = 9  # the signal, which has no name on Windows


def fails(sim):
    """Fails with an even seed."""
    if sim.config.seed % 2 == 0:
        raise ValueError("an even seed\nand more")
    return 1.0


def fails_later(sim):
    """Fails if it is told to; and measures what it is told."""
    if os.environ.get("FAIL"):
        raise ValueError("told to")
    return float(os.environ.get("MEASURED", "1"))


def kills(sim):
    """Kills its process with seed 3, always."""
    if sim.config.seed == 3:
        os.kill(os.getpid(), KILL)
    return 1.0


def kills_once(sim):
    """Kills its process with seeds 2 and 5, the first time."""
    mark = Path(os.environ["TROUBLE"]) / str(sim.config.seed)
    if sim.config.seed in (2, 5) and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), KILL)
    return 1.0


def prints(sim):
    """Prints, as a careless measure may."""
    print("what a surprise")
    os.write(1, b"and another")
    return 1.0


def lies(sim):
    """Changes the crowd if it is told to: the hash is another one."""
    if os.environ.get("LIES"):
        sim.agents.columns.x[0] += 1
    return 1.0


def waits(sim):
    """Takes as many seconds as it is told."""
    time.sleep(float(os.environ.get("WAIT", "0")))
    return 1.0


PLUGIN = Plugin(measures=tuple(MeasureEntry(measure.__name__, str(measure.__doc__), f"trouble:{measure.__name__}")
                               for measure in (fails, fails_later, kills, kills_once, prints, lies, waits)))
