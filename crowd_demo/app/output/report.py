"""The report of a run as JSON: `--report`; and all frames of the run, of which the profile holds only a thousand.

Times are milliseconds, over all frames but the first `warmup_frames`. A value that is unknown on this system is null.
"""

from __future__ import annotations

import json
import mmap
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, SupportsFloat

import numpy as np

from crowd_demo.app.output.files import write_file
from crowd_demo.app.process.streams import STDOUT
from crowd_demo.compute.arrays import Floats
from crowd_demo.measure.experiment import machine, versions
from crowd_demo.profile import HISTORY, OTHER, Profile, other_ms

if TYPE_CHECKING:
    from crowd_demo.config.model import Config
    from crowd_demo.sim.simulation import Simulation

MB = 1 << 20
OFTEN = HISTORY // 2  # frames after which `collect` is due


def report(config: Config, sim: Simulation, recorder: Recorder, warmup: int, startup_s: dict[str, float],
           interrupted: bool = False) -> dict[str, object]:
    """The report, of what JSON can say. `interrupted`: a signal ended the run."""
    return {
        "interrupted": interrupted,
        "agents": sim.agents.count,
        "frames": warmup + recorder.frames,
        "warmup_frames": warmup,
        "steps": sim.tick,
        "seed": config.seed,
        "config": config.model_dump(mode="json", exclude={"optimizations"}),
        "optimizations": sim.optimizations.model_dump(mode="json"),
        "state_hash": sim.state_hash(),
        "frame_ms": summary(recorder.frame_ms()),
        "phases_ms": {stage: median(times) for stage, times in recorder.stage_ms().items()},
        "stages": stages(recorder),
        "counters": dict(sim.profile.counters),
        "states": sim.states(),
        "rss_mb": memory_mb(),
        "startup_s": {name: round(seconds, 3) for name, seconds in startup_s.items()},
        "versions": versions(),
        "threads": {"layer": _threading_layer(), "workers": sim.world.workers},
        "machine": machine(),
    }


def _threading_layer() -> str:
    from crowd_demo.compute.jit import threading_layer

    return threading_layer()


def write_report(content: Mapping[str, object], path: Path) -> None:
    """Write it to the file (files.py says how) or to standard output. Raises OSError."""
    text = json.dumps(content, indent=2, allow_nan=False) + "\n"
    if path == STDOUT:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_file(path, text.encode())


def stages(recorder: Recorder) -> dict[str, dict[str, float | None]]:
    """What a frame is made of: means that add up to the mean frame, and shares that add up to 1."""
    times_ms, frames_ms = recorder.stage_ms(), recorder.frame_ms()
    times_ms[OTHER] = other_ms(frames_ms, times_ms.values())
    whole = frames_ms.sum(dtype=np.float64)
    return {stage: {"median_ms": median(ms), "mean_ms": rounded(ms.mean(dtype=np.float64)) if ms.size else None,
                    "share": rounded(ms.sum(dtype=np.float64) / whole) if whole else None}
            for stage, ms in times_ms.items()}


def median(times_ms: Floats) -> float | None:
    return rounded(np.median(times_ms)) if times_ms.size else None


def summary(times_ms: Floats) -> dict[str, float | None]:
    if not times_ms.size:
        return dict.fromkeys(("median", "p95", "p99", "max"))
    p95, p99 = np.percentile(times_ms, (95, 99))
    return {"median": median(times_ms), "p95": rounded(p95), "p99": rounded(p99), "max": rounded(times_ms.max())}


def rounded(value: SupportsFloat) -> float:
    return round(float(value), 4)


def memory_mb() -> dict[str, float | None]:
    """Resident memory of this process: now, and the most so far."""
    current = peak = None
    with suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text("utf-8").split()[1])
        current = round(pages * mmap.PAGESIZE / MB, 1)
    if sys.platform != "win32":
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MB, 1)
    return {"current": current, "peak": peak}


class Recorder:
    """Copies what `profile` has measured; frames before the recorder was made do not count."""

    def __init__(self, profile: Profile) -> None:
        self.frames = 0
        self._profile = profile
        self._taken = profile.frames
        self._frame_ms: list[Floats] = []
        self._stage_ms: dict[str, list[Floats]] = {}

    @property
    def is_due(self) -> bool:
        return self._profile.frames - self._taken >= OFTEN

    def collect(self) -> None:
        """Copy the frames since the last call. Call between frames, at least every `OFTEN` frames."""
        new = self._profile.frames - self._taken
        if not new:
            return
        self._frame_ms.append(self._profile.frame_ms(new).copy())
        for stage in self._profile.stages:
            earlier = self._stage_ms.setdefault(stage, [np.zeros(self.frames, np.float32)])
            earlier.append(self._profile.stage_ms(stage, new).copy())
        self._taken += new
        self.frames += new

    def frame_ms(self) -> Floats:
        return np.concatenate([np.zeros(0, np.float32), *self._frame_ms])

    def stage_ms(self) -> dict[str, Floats]:
        """By stage, in the order of the frame."""
        return {stage: np.concatenate(parts) for stage, parts in self._stage_ms.items()}
