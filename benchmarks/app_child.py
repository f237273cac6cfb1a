"""The whole program without a display server, HUD and pictures included: answers with a line of JSON.

    python app_child.py first-use CONFIG FRAMES KEY.PATH=VALUE      seconds from this choice until the crowd has it, with the
                                                                    compilers of a window
    python app_child.py looking CONFIG FRAMES colours|overlay [KEY.PATH=VALUE]...
                                                                    (picture, frame) in milliseconds, block by block, with
                                                                    each colour mode or each overlay in turn
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np

from crowd_demo.app.loop import Loop
from crowd_demo.app import RunOptions
from crowd_demo.app.program import Program
from crowd_demo.app.screen import open_window
from crowd_demo.config.loader import load_config
from crowd_demo.host.compiling.loading import LoadingProgress, load_program
from crowd_demo.host.system import Worker
from crowd_demo.measure.comparison import interleave
from crowd_demo.measure.experiment import result_of
from crowd_demo.registry.built_in import COLOURS, OVERLAYS
from crowd_demo.registry.techniques import BY_PATH

PICTURE = "cull", "depth", "ground", "lines", "blit"
FIRST_FRAMES, BLOCK_FRAMES = 2, 8  # the first ones after a switch make what is kept


def opened(config_name: str, overrides: Sequence[str], headless: bool) -> Loop:
    config = load_config(config_name, list(overrides))
    open_window(config.window, headless=True)
    worker = Worker()
    loaded = worker.submit(lambda: load_program(config, True, LoadingProgress())).result()
    options = RunOptions(headless=headless, frames=sys.maxsize, config_name=config_name)
    return Loop(Program(config, loaded, options), options, worker)


def first_use(config_name: str, frames: int, choice: str) -> float:
    """The choice is made after so many frames, and once the helpers are ready to compile."""
    loop = opened(config_name, (), headless=False)
    path, text = choice.split("=")
    technique, value = BY_PATH[path], next(each for each in BY_PATH[path].choices if str(each) == text)
    run_in_window(loop, lambda: loop.frames_left > sys.maxsize - frames)
    wait_for_helpers(loop)
    asked = time.perf_counter()
    loop.program.techniques.choose(technique, value)
    run_in_window(loop, lambda: loop.program.sim.optimizations.get(technique.path) != value)
    return time.perf_counter() - asked


def wait_for_helpers(loop: Loop) -> None:
    """Let frames pass until there are helpers, and each has answered: yes, there is a kernel without a name."""
    compilers = loop.program.techniques.switcher.compilers
    run_in_window(loop, lambda: not compilers._helpers)
    options = loop.program.sim.optimizations
    asking = [threading.Thread(target=helper.compile, args=("", options), daemon=True) for helper in compilers._helpers]
    for thread in asking:
        thread.start()
    run_in_window(loop, lambda: any(thread.is_alive() for thread in asking))


def run_in_window(loop: Loop, condition: Callable[[], bool]) -> None:
    while condition():
        loop.frame()
        loop.end_window_frame()


class Looking:
    """A variant: frames that show something besides. A block answers the medians of a picture and of a frame, ms."""

    def __init__(self, loop: Loop, colours: str = "looks", overlay: str = "") -> None:
        self._loop, self._colours, self._overlay = loop, colours, overlay

    def run(self, steps: int) -> tuple[float, float]:
        program = self._loop.program
        program.seeing.show_colours(self._colours)
        self._press(program)
        for _ in range(FIRST_FRAMES + steps):
            self._loop.frame()
        self._press(program)
        profile = program.sim.profile
        pictures = sum(profile.stage_ms(stage, steps) for stage in PICTURE if stage in profile.stages)
        return float(np.median(pictures)), float(np.median(profile.frame_ms(steps)))

    def _press(self, program: Program) -> None:
        if self._overlay:
            program.act(self._overlay)


def looking(config_name: str, frames: int, kind: str, *overrides: str) -> dict[str, list[tuple[float, float]]]:
    loop = opened(config_name, overrides, headless=True)
    names = OVERLAYS if kind == "overlay" else (name for name in COLOURS if name != "looks")
    variants = {"": Looking(loop), **{name: Looking(loop, **{kind: name}) for name in names}}
    return result_of(interleave(variants, [BLOCK_FRAMES] * (frames // BLOCK_FRAMES), BLOCK_FRAMES))


if __name__ == "__main__":
    what, config, frames, *overrides = sys.argv[1:]
    measured: Callable[..., object] = first_use if what == "first-use" else looking
    print(json.dumps(measured(config, int(frames), *overrides)), flush=True)
    os._exit(0)  # without waiting for the worker's thread
