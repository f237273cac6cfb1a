"""Measure a technique: milliseconds per step with each of its values, and the proof that the crowd is identical.

    python examples/measure_technique.py neighbours none linked sorted aabb_tree --agents 5000
    python examples/measure_technique.py stagger.avoidance 1 2 4

The values are interleaved for several rounds, and the median counts, so a busy moment of the machine affects all values alike.
`crowd-demo sweep` does the same with intervals and counters.
"""

import argparse
import time
from statistics import median

from crowd_demo import Simulation, load_config

ROUNDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description="Milliseconds per step with each value of a technique.")
    parser.add_argument("technique", help="a path under `optimizations`, such as neighbours or reorder.every")
    parser.add_argument("values", nargs="+")
    parser.add_argument("--config", default="20k-flock")
    parser.add_argument("--agents", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=50, help="in each round")
    args = parser.parse_args()

    crowds = {value: Simulation(load_config(args.config, [f"agents={args.agents}", f"optimizations.{args.technique}={value}"]))
              for value in args.values}
    for crowd in crowds.values():
        crowd.step()  # compiles
    rounds = [{value: milliseconds(crowd, args.steps) for value, crowd in crowds.items()} for _ in range(ROUNDS)]

    hashes = {value: crowd.state_hash() for value, crowd in crowds.items()}
    for value in args.values:
        print(f"{value:12} {median(times[value] for times in rounds):8.3f} ms per step   {hashes[value]}")
    same = len(set(hashes.values())) == 1
    print("one crowd, to the last bit" if same else "not the same crowd: this technique is approximate")


def milliseconds(crowd: Simulation, steps: int) -> float:
    start = time.perf_counter()
    crowd.step(steps)
    return (time.perf_counter() - start) / steps * 1e3


if __name__ == "__main__":
    main()
