"""The program in a window: a run (main), its frames (loop), its state (program), its parts; and a run's options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crowd_demo.host.recording.format import Save, Script


@dataclass(frozen=True)
class RunOptions:
    """`frames` None runs until the window closes; a `report` to `STDOUT` goes to standard output.

    `headless` runs without a window and without a limit of frames per second; `render` False draws no picture either.
    The folders of `screenshot`, `report` and `record` exist when the run begins. With `load` the run begins in a saved state;
    with `replay` it does what was recorded, and does not compare hashes before the tick `replay_from`. `config_name` is what
    --config named; `trace` is where the run is written as a Chrome trace. `tour` is a name or a path; without a window it
    plays itself. `why` is a stage that the report explains.
    """

    headless: bool = False
    frames: int | None = None
    render: bool = True
    screenshot: Path | None = None
    report: Path | None = None
    record: Path | None = None
    load: Save | None = None
    replay: Script | None = None
    replay_from: int = 0
    config_name: str | None = None
    trace: Path | None = None
    tour: str | None = None
    why: str = ""

    @property
    def is_interactive(self) -> bool:
        """True for a plain interactive run; whatever is measured, kept or compared needs all kernels at once."""
        measured = self.frames or self.screenshot or self.report or self.record or self.load or self.replay or self.trace
        return not (self.headless or measured)
