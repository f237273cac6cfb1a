"""On processors with narrower registers a register of sixteen is several, and every bit is the same.

The compiler is told of another processor and writes machine code for it: one with AVX2, and one with SSE2 alone. This is the
cheap part of `benchmarks/platforms.py`, which also has ARM.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from crowd_demo.config.loader import load_config
from crowd_demo.sim.interaction.runs import interact_lanes
from crowd_demo.sim.simulation import Simulation

CROWDS = {"20k-flock": ("agents=300", "world.width=500", "world.height=400"),
          "20k": ("agents=300", "map=null", "world.width=500", "world.height=400"),
          "crates": ("agents=200", "world.width=600", "world.height=500")}
STEPS = 20
PROCESSORS = {"x86-64-v3": ["ymm"], "x86-64": []}  # the wide registers that each has


def hashes() -> dict[str, str]:
    found = {}
    for name, settings in CROWDS.items():
        sim = Simulation(load_config(name, list(settings)))
        sim.step(STEPS)
        found[name] = sim.state_hash()
    return found


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="these are x86 processors")
@pytest.mark.parametrize("processor", PROCESSORS)
def test_narrower_registers_give_the_same_crowd(processor: str, tmp_path: Path) -> None:
    told = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": "", "CROWD_DEMO_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, __file__], env={**os.environ, **told}, capture_output=True, encoding="utf-8",
                          check=True)
    found = json.loads(done.stdout)
    assert found.pop("registers") == PROCESSORS[processor], "machine code for that processor"
    assert found == hashes()


def main() -> None:
    found = hashes()
    code = "".join(cast(Any, interact_lanes).entry.inspect_asm().values())
    print(json.dumps({**found, "registers": [name for name in ("ymm", "zmm") if name in code]}))


if __name__ == "__main__":
    main()
