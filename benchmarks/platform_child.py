"""Step configurations and print the state hash after every tick: `python platform_child.py TICKS CONFIG ...`.

One JSON object a line: first what computes, then `{"config": ..., "hashes": [...]}` for each configuration, as soon as it is
known. Needs neither a window nor pygame, so it runs wherever Numba does. `benchmarks/platforms.py` starts it.
"""

import json
import platform
import sys
from typing import Any

import llvmlite.binding
import numba
import numpy

from crowd_demo.config.loader import load_config
from crowd_demo.sim.interaction.runs import interact_lanes
from crowd_demo.sim.simulation import Simulation

WORKERS = 2  # as in tests/pins.py; a hash does not depend on them
REGISTERS = "zmm", "ymm", "xmm"  # of x86, the widest first


def hashes(name: str, ticks: int) -> list[str]:
    """State hashes after each of the first ticks of a shipped configuration."""
    sim = Simulation(load_config(name, {"optimizations.threads": WORKERS}))
    found = []
    for _ in range(ticks):
        sim.step(1)
        found.append(sim.state_hash())
    return found


def machine() -> dict[str, str]:
    """What computes: processor, system and versions."""
    return {"machine": platform.machine(), "system": platform.system(), "python": platform.python_version(),
            "numba": numba.__version__, "llvmlite": llvmlite.__version__, "numpy": numpy.__version__,
            "processor": numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name()}


def registers() -> str:
    """The widest registers in the code of the interaction that was compiled here; empty elsewhere than on x86."""
    entry: Any = interact_lanes.entry  # type: ignore[attr-defined]
    code = "".join(entry.inspect_asm().values())
    return next((name for name in REGISTERS if f"%{name}" in code), "")


def main(ticks: int, names: list[str]) -> None:
    print(json.dumps(machine()), flush=True)
    for name in names:
        print(json.dumps({"config": name, "hashes": hashes(name, ticks)}), flush=True)
    print(json.dumps({"registers": registers()}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
