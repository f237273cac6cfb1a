"""The program, with its long frames written down: `python storm_child.py LINES OPTIONS...`; a line of JSON each."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from crowd_demo.app.loop import Loop
from crowd_demo.cli.main import command

LONG_S = 1.0


def watch(path: Path) -> None:
    """Write a line for each frame that takes longer than a second, and whether something was measured in it."""
    frame = Loop.frame

    def watched(self: Loop) -> None:
        began, measuring = time.perf_counter(), self.program.experiments.dialog is not None
        frame(self)
        if (took_s := time.perf_counter() - began) > LONG_S:
            said = {"frame_s": round(took_s, 3), "measuring": measuring or self.program.experiments.dialog is not None,
                    "config": self.program.config_name, "agents": self.program.sim.agents.count, "tick": self.program.sim.tick,
                    "techniques": self.program.sim.optimizations.model_dump(mode="json")}
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(said) + "\n")

    Loop.frame = watched  # type: ignore[method-assign]


if __name__ == "__main__":
    watch(Path(sys.argv.pop(1)))
    command()
