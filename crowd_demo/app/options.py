"""What the command line says about a run beside the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

STDOUT = Path("-")


@dataclass(frozen=True)
class RunOptions:
    """`frames` None runs until the window closes; a `report` to `STDOUT` goes to standard output.

    `headless` runs without a window and without a limit of frames a second; `render` False draws no picture either.
    The folders of `screenshot` and `report` exist when the run begins. `config_name` is what --config named; `trace` is where
    the run is written as a Chrome trace.
    """

    headless: bool = False
    frames: int | None = None
    render: bool = True
    screenshot: Path | None = None
    report: Path | None = None
    config_name: str | None = None
    trace: Path | None = None
