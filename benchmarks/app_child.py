"""The whole program without a window, HUD and pictures included: answers with a line of JSON.

    python app_child.py arrays CONFIG FRAMES [KEY.PATH=VALUE]...    which arrays steady frames make
    python app_child.py frames CONFIG FRAMES [KEY.PATH=VALUE]...    milliseconds of the frames
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from crowd_demo.app.compiling.loading import Progress, load
from crowd_demo.app.loop import Loop
from crowd_demo.app.options import RunOptions
from crowd_demo.app.process.worker import Worker
from crowd_demo.app.program import Program
from crowd_demo.app.screen.window import open_window
from crowd_demo.config.loader import load_config

STEADY_FRAMES, STEADY_S = 150, 2.0  # until lists have grown, and each meter was read
WATCHED_FRAMES, WATCHED_S = 200, 2.0


def opened(config_name: str, overrides: Sequence[str]) -> Loop:
    config = load_config(config_name, list(overrides))
    open_window(config.window, headless=True)
    worker = Worker()
    loaded = worker.submit(lambda: load(config, True, Progress())).result()
    program = Program(config, loaded, config_name=config_name)
    return Loop(config, RunOptions(headless=True, frames=sys.maxsize), program, worker)


def run(loop: Loop, frames: int, seconds: float = 0.0) -> None:
    end = time.monotonic() + seconds
    for _ in range(frames):
        loop.frame()
    while time.monotonic() < end:
        loop.frame()


def arrays(loop: Loop, frames: int) -> dict[str, Any]:
    from made_arrays import is_allowed, made_arrays

    run(loop, STEADY_FRAMES, STEADY_S)
    with made_arrays(lambda job: loop.worker.submit(job).result()) as made:
        run(loop, WATCHED_FRAMES, WATCHED_S)
    places = Counter(str(each) for each in made if not is_allowed(each))
    return {"made": sum(places.values()), "places": dict(places.most_common())}


def frame_times(loop: Loop, frames: int) -> dict[str, Any]:
    run(loop, frames)
    profile = loop.program.sim.profile
    return {"frame_ms": profile.frame_ms(frames).tolist(), "no_stage_ms": float(np.median(profile.other_ms(frames)))}


def main() -> None:
    what, config, frames, *overrides = sys.argv[1:]
    found = {"arrays": arrays, "frames": frame_times}[what](opened(config, overrides), int(frames))
    print(json.dumps(found), flush=True)
    os._exit(0)  # without waiting for the worker's thread


if __name__ == "__main__":
    main()
