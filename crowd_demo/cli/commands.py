"""The commands: a line about each, and the module that has its `parser()` and its `run(args)`, which returns an exit code."""

from __future__ import annotations

RUN = "run"  # the command if none is named

COMMANDS = {
    RUN: "open a window and run a configuration; the command if none is named",
    "replay": "make a recorded run again, and compare its state hashes",
    "sweep": "measure one technique at each of its values",
    "ablate": "switch off each technique in turn: what each one buys",
    "flocks": "measure how birds keep together, come apart and come together",
    "largest": "find the largest crowd at 60 frames a second, also from brute force to all techniques",
    "ensemble": "make many runs, seeds times settings, here or on a cluster; one table",
    "motion": "measure how people move: how near, how crowded, how often they turn, who is stuck",
    "validate": "hold how people walk against the literature",
    "layout": "measure columns against records",
    "memory": "compare ways to store components with their formulas",
}


def module_of(name: str) -> str:
    return f"crowd_demo.cli.{name}"


def listed() -> str:
    """A line for each command."""
    return "\n".join(f"  {name:10}{about}" for name, about in COMMANDS.items())
