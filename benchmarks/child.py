"""A crowd in a process of its own, driven through pipes: what benchmarks run in each installation that they compare.

    python child.py CONFIG OVERRIDES [picture]        OVERRIDES is a JSON object: key path -> value

It answers each line of standard input by one line of JSON: `STEPS` runs so many steps, with a picture after each one if asked
for, and answers their milliseconds; `end` answers state hash and threading layer. It uses only what the program has had
since commit 5c74cb94.
"""

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever libraries print is no answer
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    config, overrides, *picture = sys.argv[1:]

    import numba

    import crowd_demo
    try:
        measure = import_module("crowd_demo.measure.crowd_variant")  # where commits before 29 November 2026 have them
    except ImportError:
        measure = import_module("crowd_demo.measure.proof")

    sim = crowd_demo.Simulation(crowd_demo.load_config(config, json.loads(overrides)))
    variant = measure.CrowdVariant(sim, measure.Picture(sim) if picture else None)
    answer: dict[str, Any] = {"package": str(Path(crowd_demo.__file__).parent)}
    while True:
        print(json.dumps(answer), file=answers, flush=True)
        line = sys.stdin.readline().strip()
        if not line:
            return
        if line == "end":
            answer = {"state_hash": sim.state_hash(), "layer": numba.threading_layer()}
        else:
            block = variant.run(int(line))
            answer = {kind: {name: ms.tolist() for name, ms in timed.times_ms.items()}
                      for kind, timed in (("frame", block.frame), ("stages", block.stages))}


if __name__ == "__main__":
    main()
