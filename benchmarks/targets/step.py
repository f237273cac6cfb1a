"""The flock's step against the same step in C."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import limit

from targets.base import Found, Session, SkippedError, Target

AT_MOST = 1.5


@lru_cache
def measured(agents: int, threads: int, blocks: int) -> limit.Found:
    """Raises SkippedError and ChildError."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return limit.measured(limit.compiled(Path(folder)), agents, threads, blocks)
        except limit.SkippedError as skip:
            raise SkippedError(str(skip)) from None


def measure(session: Session) -> Iterator[Found]:
    for agents in (20_000, 100_000, 1_000_000):
        for threads in (1, 2):
            found = measured(agents, threads, session.blocks())
            what = f"{agents:,} birds, {threads} thread{'s' * (threads > 1)}"
            yield Found(what, found.ratio, AT_MOST, interval=found.paired,
                        details={"ours_ms": found.ours.least, "c_ms": found.c.least})


TARGET = Target("step", "the flock's step against C with AVX-512", "ratio of the least steps at most 1.5",
                "blocks in turns with limit.cpp, the same density and rules (limit.py)", measure)
