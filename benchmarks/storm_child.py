"""The program, watched: `python storm_child.py FOLDER OPTIONS...` writes lines of JSON to `frames` and `memory` in the folder.

A frame of more than a second is a line, with whether something was measured in it. A signal SIGUSR1 is a line about memory.
Before the window opens all kernels are loaded that the configurations in FOLDER/configs may call and that are on disk, and all
pictures; so what grows afterwards is neither. Titles that end with `at rest` open without panels, which take up to 15 MB.
"""

import ctypes
import json
import signal
import sys
import time
from itertools import chain
from pathlib import Path

from crowd_demo.app.loop import Loop
from crowd_demo.app.program import Program
from crowd_demo.cli.main import command
from crowd_demo.compute.jit import compile_launches, is_on_disk
from crowd_demo.config.loader import load_config
from crowd_demo.host.compiling.ahead import KernelFinder
from crowd_demo.host.report import memory_mb
from crowd_demo.host.system import free_cycles

assert sys.platform == "linux"

LONG_S = 1.0
MB = 1 << 20


class MallocState(ctypes.Structure):
    """`mallinfo2` of glibc, in bytes and blocks."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "mapped", "usmblks", "fsmblks", "used", "free", "keepcost")]


def write_line(path: Path, said: dict[str, object]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(said) + "\n")


def watch_frames(path: Path) -> None:
    """Write a line for each frame that takes longer than a second, and whether something was measured in it."""
    frame = Loop.frame

    def watched(self: Loop) -> None:
        began, measuring = time.perf_counter(), self.program.experiments.dialog is not None
        frame(self)
        if (took_s := time.perf_counter() - began) > LONG_S:
            write_line(path, {
                "frame_s": round(took_s, 3), "measuring": measuring or self.program.experiments.dialog is not None,
                "config": self.program.config_name, "agents": self.program.sim.agents.count, "tick": self.program.sim.tick,
                "techniques": self.program.sim.optimizations.model_dump(mode="json")})

    Loop.frame = watched  # type: ignore[method-assign]


def watch_memory(path: Path) -> None:
    """Write a line about memory whenever SIGUSR1 comes, after garbage was collected and freed memory given back."""
    take_over, state = Program.take_over, ctypes.CDLL(None).mallinfo2
    state.restype = MallocState

    def without_panels(self: Program, previous: Program) -> None:
        take_over(self, previous)
        if self.config.window.title.endswith("at rest"):
            self.panels.now = self.panels.now._replace(hud="off")

    def tell(*_: object) -> None:
        free_cycles()
        malloc = state()
        write_line(path, {"used_mb": (malloc.used + malloc.mapped) / MB, "resident_mb": memory_mb()["current"]})

    Program.take_over = without_panels  # type: ignore[method-assign]
    signal.signal(signal.SIGUSR1, tell)


def load_kernels(configs: Path) -> None:
    """Load the kernels of each configuration, of each single other choice, and of all colour modes, if they are on disk."""
    for path in sorted(configs.glob("*.yaml")):
        config = load_config(str(path))
        ahead = KernelFinder(config)
        for launch in chain(ahead.missing(config.optimizations), ahead.missing_anywhere(config.optimizations)):
            if is_on_disk(launch):
                compile_launches((launch,))


if __name__ == "__main__":
    folder = Path(sys.argv.pop(1))
    watch_frames(folder / "frames")
    watch_memory(folder / "memory")
    load_kernels(folder / "configs")
    command()
