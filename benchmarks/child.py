"""A crowd in a process of its own, driven through pipes: what benchmarks run in each installation that they compare.

    python child.py CONFIG OVERRIDES [picture]        OVERRIDES is a JSON object: key path -> value

It answers each line of standard input by one line of JSON: `STEPS` runs so many steps, with a picture after each one if asked
for, and answers their milliseconds; `end` answers state hash and threading layer. It uses only what the program has had
under these names since commit 1fe08e2.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowd_demo import Simulation

Draw = Callable[[], object]
DEPTH = 32  # bits a pixel


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever libraries print is no answer
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    config, overrides, *picture = sys.argv[1:]

    import crowd_demo

    sim = crowd_demo.Simulation(crowd_demo.load_config(config, json.loads(overrides)))
    draw = drawing(sim) if picture else None
    answer: dict[str, Any] = {"package": str(Path(crowd_demo.__file__).parent)}
    while True:
        print(json.dumps(answer), file=answers, flush=True)
        line = sys.stdin.readline().strip()
        if not line:
            return
        answer = ending(sim) if line == "end" else block(sim, draw, int(line))


def drawing(sim: Simulation) -> Draw:
    """A function that draws the configuration's first view."""
    import pygame

    from crowd_demo.config.resources import assets_folder
    from crowd_demo.render.camera import Camera
    from crowd_demo.render.scene import Scene

    config, walls = sim.config, sim.terrain.walls
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    pygame.display.init()
    pygame.font.init()
    size = (config.window.width, config.window.height)
    screen = pygame.display.set_mode(size, depth=DEPTH)
    scene = Scene(sim, config, assets_folder())
    camera = Camera((float(walls.width), float(walls.height)), size)
    camera.look_at(*(config.camera.center or (camera.x, camera.y)), config.camera.zoom or camera.zoom)

    def draw() -> None:
        sim.prepare_picture()
        scene.draw(screen, camera)
    return draw


def block(sim: Simulation, draw: Draw | None, steps: int) -> dict[str, Any]:
    """Run a block. Answers milliseconds of each step, each picture and each stage."""
    profile = sim.profile
    step_ms, draw_ms = [], []
    for _ in range(steps):
        profile.begin_frame()
        begun = time.perf_counter()
        sim.step()
        stepped = time.perf_counter()
        if draw:
            draw()
        drawn = time.perf_counter()
        profile.end_frame()
        step_ms.append((stepped - begun) * 1e3)
        draw_ms.append((drawn - stepped) * 1e3)
    return {"frame": {"step": step_ms, **({"draw": draw_ms} if draw else {})},
            "stages": {stage: profile.stage_ms(stage, steps).tolist() for stage in profile.stages}}


def ending(sim: Simulation) -> dict[str, Any]:
    import numba

    return {"state_hash": sim.state_hash(), "layer": numba.threading_layer()}


if __name__ == "__main__":
    main()
