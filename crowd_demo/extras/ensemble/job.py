"""One run, wherever it is carried out: its key, a `Job` that goes there as plain values, a `RunRow` that comes back.

The key says what the result depends on: what was asked for, and the code that makes it. Versions of libraries are no part of
it: the state hash does not depend on these, and that is tested whenever two machines make the same run.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import socket
import threading
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from crowd_demo.config.maps import bytes_of
from crowd_demo.config.model import Config
from crowd_demo.config.resources import PACKAGE, find_map
from crowd_demo.registry.plugins import sources
from crowd_demo.registry.texts import error_line
from crowd_demo.sim.snapshot import PACE_KEYS, VIEW_SECTIONS

MAKERS = ("compute", "config", "extras", "grid", "measure", "registry", "sim")  # folders whose code may decide the result
UNREAD = (VIEW_SECTIONS | {"seed", "map"}) - {"optimizations", "measure"}
ONE_RUN = threading.Lock()  # kernels are called from one thread at a time; a Dask worker may have several


class Job(BaseModel):
    """What a worker needs to know, in texts and numbers."""

    key: str
    config: str  # JSON
    steps: int
    every: int  # steps between two looks
    measures: tuple[str, ...]
    code: str  # fingerprint that the worker's program must have


class RunRow(BaseModel):
    """What came of a run. Without an error it has a state hash and all values; None where a measure does not apply."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    key: str
    values: dict[str, float | None] = {}  # by column
    steps: Annotated[int, Field(ge=0, lt=2**63)] = 0
    state_hash: Annotated[str, Field(pattern="^([0-9a-f]{32})?$")] = ""
    error: str = ""
    seconds: float = 0.0
    worker: str = ""  # machine and process
    cpu: str = ""
    versions: str = ""
    finished: float = 0.0  # seconds since 1970, by the clock of the machine that asked for it


def carry_out(job: Job, worker: str = "") -> RunRow:
    with ONE_RUN:
        began = time.perf_counter()
        try:
            state_hash, steps, values = _run(job)
            row = RunRow(key=job.key, values=values, steps=steps, state_hash=state_hash)
        except (Exception, SystemExit, GeneratorExit) as error:  # of any kind: a run that fails is a row
            row = RunRow(key=job.key, error=error_line(error))
        return row.model_copy(update={**_made_with(), "seconds": time.perf_counter() - began,
                                      "worker": worker or f"{socket.gethostname()}:{os.getpid()}"})


def _run(job: Job) -> tuple[str, int, dict[str, float | None]]:
    """Return the state hash, the steps made, and the values; an event that ends the run ends it here too."""
    from crowd_demo.extras.ensemble.measures import Sampler
    from crowd_demo.sim.simulation import Simulation

    if job.code != code_fingerprint():
        raise RuntimeError("this worker has another version of the program or of its plugins")
    sim = Simulation(Config.model_validate_json(job.config))
    sampler = Sampler(job.measures, sim)
    for done in range(0, job.steps, job.every):
        made = sim.play(min(job.every, job.steps - done))
        is_over = sim.events.end_tick is not None
        if made and (is_over or done + job.every <= job.steps):
            sampler.look()
        if is_over:
            break
    return sim.state_hash(), sim.tick, sampler.folded()


@cache
def _made_with() -> dict[str, str]:
    """The processor, and the versions of the program and of its libraries."""
    from crowd_demo.measure.experiment import machine, versions

    found = machine()
    return {"cpu": f"{found['cpu'] or platform.machine()} ({found['simd']})",
            "versions": ", ".join(f"{name} {version}" for name, version in versions().items())}


# --- the key of a run --------------------------------------------------------------------------------------------------

@cache
def _fingerprint(files: tuple[Path, ...]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for path in files:
        name = path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else path.name
        digest.update(hashlib.blake2b(name.encode()).digest() + hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def code_fingerprint() -> str:
    """Hash of the sources of the model, of all that measures it and of all plugins: 16 hex digits."""
    return _fingerprint((*own_sources(), *sources()))


def own_sources() -> list[Path]:
    """The program's own files in the fingerprint: whole folders, so that none is forgotten."""
    return sorted(path for folder in MAKERS for path in (PACKAGE / folder).rglob("*.py"))


def run_key(config: Config, steps: int, every: int, measures: Sequence[str], code: str) -> str:
    """The name of a run: 24 hex digits that say what it was asked for and what made it."""
    values = config.model_dump(mode="json", exclude=set(UNREAD))
    time = {name: value for name, value in values.pop("time").items() if f"time.{name}" not in PACE_KEYS}
    walls = hashlib.blake2b(bytes_of(find_map(config.map)), digest_size=8).hexdigest() if config.map else ""
    asked = {"config": values, "time": time, "seed": config.seed, "map": walls, "steps": steps,
             "every": every, "measures": sorted(measures), "code": code}
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def is_unread(path: str) -> bool:
    """Whether no key depends on this setting."""
    return path in PACE_KEYS or path.partition(".")[0] in UNREAD - {"seed", "map"}
