"""Crowds small enough to be checked by brute force."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowd_demo.config.loader import load_config
from crowd_demo.sim.simulation import Simulation

F = np.float32


def simulation(name: str = "1k", **settings: Any) -> Simulation:
    """A shipped configuration with changes; dots are written as double underscores."""
    return Simulation(load_config(name, [f"{key.replace('__', '.')}={value}" for key, value in settings.items()]))


def shuffle(sim: Simulation, seed: int) -> None:
    """Put the agents into another order in memory, as a sort by something else would."""
    order = np.random.default_rng(seed).permutation(sim.agents.count)
    sim.agents.back[:, :sim.agents.count] = sim.agents.front[:, order]
    sim.agents.swap()
