"""The whole program without a window, HUD and pictures included: answers with a line of JSON.

    python app_child.py keys CONFIG FRAMES [KEY.PATH=VALUE]...      milliseconds from a press of F1, at a random moment,
                                                                    until the help is shown or hidden
    python app_child.py first-use CONFIG FRAMES KEY.PATH=VALUE      seconds from this choice until the crowd has it, with the
                                                                    compilers of a window
    python app_child.py colours CONFIG FRAMES [KEY.PATH=VALUE]...   milliseconds of pictures with each colour mode, in turns
    python app_child.py overlays CONFIG FRAMES [KEY.PATH=VALUE]...  milliseconds of frames with each overlay, in turns
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pygame

from crowd_demo.app.loop import Loop
from crowd_demo.app.options import RunOptions
from crowd_demo.app.program import Program
from crowd_demo.app.screen.window import open_window
from crowd_demo.config.loader import load_config
from crowd_demo.host.compiling.loading import LoadingProgress, load_program
from crowd_demo.host.system import Worker
from crowd_demo.measure.comparison import interleave
from crowd_demo.measure.experiment import result_of
from crowd_demo.registry.built_in import COLOURS, OVERLAYS
from crowd_demo.registry.techniques import BY_PATH

PICTURE = "cull", "depth", "ground", "lines", "blit"
FIRST_FRAMES, FRAMES_A_BLOCK = 2, 8  # the first ones after a switch make what is kept
LONGEST_PAUSE_S = 0.1  # from one key to the next


def opened(config_name: str, overrides: Sequence[str], headless: bool = True) -> Loop:
    config = load_config(config_name, list(overrides))
    open_window(config.window, headless=True)
    worker = Worker()
    loaded = worker.submit(lambda: load_program(config, True, LoadingProgress())).result()
    options = RunOptions(headless=headless, frames=sys.maxsize, config_name=config_name)
    return Loop(Program(config, loaded, options), options, worker)


def run(loop: Loop, frames: int) -> None:
    for _ in range(frames):
        loop.frame()


class HelpKey:
    """Presses F1 again and again, a random while after the last one was answered; `waited_ms` until the window showed it."""

    def __init__(self, program: Program) -> None:
        self.waited_ms: list[float] = []
        self._program = program
        self._answered = threading.Event()
        self._pressed: tuple[float, bool] | None = None  # when, and whether the list of keys was shown then
        self._flip = pygame.display.flip
        pygame.display.flip = self._shown
        threading.Thread(target=self._press, daemon=True).start()

    def _press(self) -> None:
        rng = np.random.default_rng(0)
        while True:
            time.sleep(rng.uniform(0.01, LONGEST_PAUSE_S))
            self._answered.clear()
            self._pressed = time.perf_counter(), self._program.dialogs.top is None
            pygame.event.post(pygame.Event(pygame.KEYDOWN, key=pygame.K_F1, mod=0))
            self._answered.wait()

    def _shown(self) -> None:
        self._flip()
        if self._pressed and (self._program.dialogs.top is None) != self._pressed[1]:
            self.waited_ms.append((time.perf_counter() - self._pressed[0]) * 1e3)
            self._pressed = None
            self._answered.set()


def key_waits(loop: Loop, frames: int) -> dict[str, Any]:
    loop.frame()
    key = HelpKey(loop.program)
    run(loop, frames)
    return {"waited_ms": key.waited_ms}


def first_use(config_name: str, frames: int, choice: str) -> dict[str, Any]:
    """The choice is made after so many frames, and once the helpers are ready to compile."""
    loop = opened(config_name, (), headless=False)
    path, text = choice.split("=")
    technique, value = BY_PATH[path], next(each for each in BY_PATH[path].choices if str(each) == text)
    run_in_window(loop, lambda: loop.frames_left > sys.maxsize - frames)
    wait_for_helpers(loop)
    asked = time.perf_counter()
    loop.program.techniques.choose(technique, value)
    run_in_window(loop, lambda: loop.program.sim.optimizations.get(technique.path) != value)
    return {"seconds": time.perf_counter() - asked}


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
        run(self._loop, FIRST_FRAMES + steps)
        self._press(program)
        profile = program.sim.profile
        pictures = sum(profile.stage_ms(stage, steps) for stage in PICTURE if stage in profile.stages)
        return float(np.median(pictures)), float(np.median(profile.frame_ms(steps)))

    def _press(self, program: Program) -> None:
        if self._overlay:
            program.act(self._overlay)


def interleaved(variants: dict[str, Looking], frames: int) -> dict[str, list[tuple[float, float]]]:
    return result_of(interleave(variants, [FRAMES_A_BLOCK] * (frames // FRAMES_A_BLOCK), FRAMES_A_BLOCK))


def colour_modes(loop: Loop, frames: int) -> dict[str, Any]:
    variants = {"": Looking(loop), **{name: Looking(loop, name) for name in COLOURS if name != "looks"}}
    return {name: [picture for picture, _ in blocks] for name, blocks in interleaved(variants, frames).items()}


def overlays(loop: Loop, frames: int) -> dict[str, Any]:
    variants = {"": Looking(loop), **{name: Looking(loop, overlay=name) for name in OVERLAYS}}
    return {name: [frame for _, frame in blocks] for name, blocks in interleaved(variants, frames).items()}


OF_LOOP = {"keys": key_waits, "colours": colour_modes, "overlays": overlays}


def main() -> None:
    what, config, frames, *overrides = sys.argv[1:]
    if what == "first-use":
        found = first_use(config, int(frames), *overrides)
    else:
        found = OF_LOOP[what](opened(config, overrides), int(frames))
    print(json.dumps(found), flush=True)
    os._exit(0)  # without waiting for the worker's thread


if __name__ == "__main__":
    main()
