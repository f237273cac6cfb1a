"""Pictures of a crowd on a map, and of one gap in it, before and after people choose by the crowds on the route.

    python benchmarks/flow_pictures.py MAP X Y [--steps 12000] [--out docs/pictures/flow]

Writes map.png and gap.png: 2,000 people of `20k`, on the left without the four numbers that keep crowds flowing, on the right
with them. X, Y is the middle of the gap, in world units (`crowd-demo lab motion --flow` lists the busiest). Needs matplotlib.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from crowd_demo.config.loader import load_config
from crowd_demo.config.resources import assets_folder
from crowd_demo.render.figures.sprites import load_manifest, state_colours
from crowd_demo.sim.simulation import Simulation

BEFORE = {"crowd.choice_length": 0, "crowd.reconsider_s": 0, "crowd.pass_by": 0, "crowd.shoulders": 0}
AROUND = 260.0  # world units to each side of a gap: 10 m


def crowd_of(path: str, steps: int, changes: dict[str, Any]) -> Simulation:
    sim = Simulation(load_config("20k", {"agents": 2000, "map": path, "camera.center": None, "camera.zoom": None, **changes}))
    sim.step(steps)
    return sim


def draw(axes: Any, sim: Simulation, size: float) -> None:
    """Draw walls, and people in the colours of their states."""
    walls = sim.terrain.walls
    c: Any = sim.agents.by_id()
    colours = np.array([state_colours(load_manifest(assets_folder()))[name] for name in sim.behaviour.states]) / 255
    extent = (0, sim.terrain.columns * float(walls.tile), sim.terrain.rows * float(walls.tile), 0)
    axes.imshow(sim.terrain.blocked, cmap="Greys", vmax=3, extent=extent, interpolation="nearest")
    axes.scatter(c.x, c.y, size, colours[c.state], linewidths=0)
    axes.set(xticks=[], yticks=[])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("map")
    parser.add_argument("x", type=float)
    parser.add_argument("y", type=float)
    parser.add_argument("--steps", type=int, default=12_000)
    parser.add_argument("--out", type=Path, default=Path("docs/pictures/flow"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    crowds = {"before": crowd_of(args.map, args.steps, BEFORE), "now": crowd_of(args.map, args.steps, {})}
    for name, size in (("map", 1.5), ("gap", 60)):
        figure = Figure((9, 4.6), 90, layout="constrained")
        for axes, (title, sim) in zip(figure.subplots(1, 2), crowds.items(), strict=True):
            draw(axes, sim, size)
            states = ", ".join(f"{count:,} {state}" for state, count in sim.states().items())
            axes.set_title(f"{title}: {states}", fontsize="small", loc="left")
            if name == "gap":
                axes.set(xlim=(args.x - AROUND, args.x + AROUND), ylim=(args.y + AROUND, args.y - AROUND))
        figure.savefig(args.out / f"{name}.png", metadata={"Software": None})


if __name__ == "__main__":
    main()
