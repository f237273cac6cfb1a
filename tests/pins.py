"""What is pinned: the state hash and the work counters of every shipped configuration at tick 300, `1m` at tick 60, and of
every behaviour in every structure, with and without lanes, at tick 60.

`python tests/pins.py > tests/pins.json` makes the file anew, and `python benchmarks/platforms.py --pin` the hashes of each
tick for other platforms. A change that is not meant to change the crowd may not need them.
Two workers, whatever the machine: counters of registers depend on how rows are shared.
"""

import itertools
import json
import sys
from pathlib import Path
from typing import Any

from crowd_demo.config.loader import load_config
from crowd_demo.config.resources import list_configs
from crowd_demo.registry.built_in import OWN_BEHAVIOURS as BEHAVIOURS
from crowd_demo.registry.techniques import BUILT_IN as TECHNIQUES
from crowd_demo.sim.simulation import Simulation

FILE = Path(__file__).parent / "pins.json"
WORKERS = 2
MANY = 100_000  # agents: no quick test
STEPS = {"1m": 60}  # whose steps take long; else 300
OLDER: dict[str, tuple[str, dict[str, Any], int]] = {  # what the program began with, and what recordings were made with
    "20k-flock as it was": ("20k-flock", {"flock.separate_by": "offset", "flock.blind": 0}, 300),  # in commit 1fe08e2
    "5k as it was": ("5k", {"optimizations.avoidance": "anticipate", "crowd.detour": 2}, 300)}
TIMED = "imbalance"  # the one counter that depends on which worker was faster


def cases() -> dict[str, tuple[str, dict[str, Any], int]]:
    """Configuration, changes and steps of each pin, by its name."""
    shipped: dict[str, tuple[str, dict[str, Any], int]] = {name: (name, {}, STEPS.get(name, 300)) for name in list_configs()}
    structures = next(technique.choices for technique in TECHNIQUES if technique.path == "neighbours")
    small: dict[str, tuple[str, dict[str, Any], int]] = {
        f"{behaviour.name}/{structure}/{simd}": (
            "1k", {"behaviour": behaviour.name, "optimizations.neighbours": structure, "optimizations.simd": simd}, 60)
        for behaviour, structure, simd in itertools.product(BEHAVIOURS, structures, (True, False))}
    return shipped | OLDER | small


def is_large(name: str) -> bool:
    config, changes, _ = cases()[name]
    return load_config(config, changes).agents >= MANY


def measure(name: str) -> dict[str, Any]:
    config, changes, steps = cases()[name]
    sim = Simulation(load_config(config, {**changes, "optimizations.threads": WORKERS}))
    sim.step(steps)
    counters = {counter: value for counter, value in sorted(sim.profile.counters.items()) if counter != TIMED}
    return {"hash": sim.state_hash(), "counters": counters}


if __name__ == "__main__":
    json.dump({name: measure(name) for name in cases()}, sys.stdout, indent=1)
    print()
