"""One run, wherever it is carried out: a `Job` goes there as plain values, and a `Row` comes back."""

from __future__ import annotations

import json
import os
import platform
import socket
import threading
import time
from functools import cache
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from crowd_demo.registry.texts import error_line

ONE_RUN = threading.Lock()  # kernels are called from one thread at a time; a Dask worker may have several


class Job(NamedTuple):
    """What a worker needs to know, in texts and numbers."""

    key: str
    config: str  # JSON
    steps: int
    every: int  # steps between two looks
    measures: tuple[str, ...]
    code: str  # fingerprint that the worker's program must have

    def text(self) -> str:
        """As a line."""
        return json.dumps(self)

    @classmethod
    def of(cls, text: str) -> Job:
        key, config, steps, every, measures, code = json.loads(text)
        return cls(key, config, steps, every, tuple(measures), code)


class Row(BaseModel):
    """What came of a run. Without an error it has a state hash and all values; None where a measure does not apply."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    key: str
    values: dict[str, float | None] = {}  # by column
    steps: Annotated[int, Field(ge=0)] = 0
    state_hash: Annotated[str, Field(pattern="^([0-9a-f]{32})?$")] = ""
    error: str = ""
    seconds: float = 0.0
    worker: str = ""  # machine and process
    cpu: str = ""
    versions: str = ""
    finished: float = 0.0  # seconds since 1970, by the clock of the machine that asked for it


def carry_out(job: Job, worker: str = "") -> Row:
    """Make the run in this process, and return its row, whatever happens."""
    with ONE_RUN:
        began = time.perf_counter()
        try:
            state_hash, values = _run(job)
            row = Row(key=job.key, values=values, steps=job.steps, state_hash=state_hash)
        except (Exception, SystemExit, GeneratorExit) as error:  # of any kind: a run that fails is a row
            row = Row(key=job.key, error=error_line(error))
        cpu, versions = _made_with()
        return row.model_copy(update={"seconds": time.perf_counter() - began, "cpu": cpu, "versions": versions,
                                      "worker": worker or f"{socket.gethostname()}:{os.getpid()}"})


def _run(job: Job) -> tuple[str, dict[str, float | None]]:
    from crowd_demo.config.model import Config
    from crowd_demo.ensemble.fingerprint import code_fingerprint
    from crowd_demo.ensemble.sampling import Sampler
    from crowd_demo.sim.simulation import Simulation

    if job.code != code_fingerprint():
        raise RuntimeError("this worker has another version of the program or of its plugins")
    sim = Simulation(Config.model_validate_json(job.config))
    sampler = Sampler(job.measures, sim)
    for done in range(0, job.steps, job.every):
        sim.step(min(job.every, job.steps - done))
        if done + job.every <= job.steps:
            sampler.look()
    return sim.state_hash(), sampler.folded()


@cache
def _made_with() -> tuple[str, str]:
    """The processor, and the versions of the program and of its libraries."""
    from crowd_demo.measure.record import machine, versions

    found = machine()
    text = ", ".join(f"{name} {version}" for name, version in versions().items())
    return f"{found['cpu'] or platform.machine()} ({found['simd']})", text
