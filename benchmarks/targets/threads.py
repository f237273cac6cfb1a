"""What a second thread gives, against what it gives the C program."""

from __future__ import annotations

from collections.abc import Iterator

from targets.base import Found, Session, Target
from targets.step import measured

AT_LEAST = 0.95
AGENTS = 1_000_000


def measure(session: Session) -> Iterator[Found]:
    one, two = (measured(AGENTS, threads, session.blocks()) for threads in (1, 2))
    gain, of_c = one.ours.least / two.ours.least, one.c.least / two.c.least
    yield Found(f"{AGENTS:,} birds", gain / of_c, AT_LEAST, at_least=True, details={"gain": gain, "gain_of_c": of_c})


TARGET = Target("threads", "two threads against one, step of 1,000,000", "at least 0.95 of C's gain",
                "the least steps of `step`", measure)
