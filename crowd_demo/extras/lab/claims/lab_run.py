"""All claims that were asked for, case by case. It runs in slices, can be stopped after any, and goes on where results are."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from crowd_demo.extras.lab.claims.claim import Case, CaseFinding, Claim, Found, LabScale
from crowd_demo.extras.lab.claims.judging import judged
from crowd_demo.host.streams import duration
from crowd_demo.measure.experiment import Slice

SETTINGS = {
    "governor": Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    "no_turbo": Path("/sys/devices/system/cpu/intel_pstate/no_turbo"),
    "boost": Path("/sys/devices/system/cpu/cpufreq/boost"),
}
Kept = Mapping[tuple[str, str], Found]  # by claim and case


class ClaimFindings(NamedTuple):
    """A claim, what was found of it so far, and the cases that could not be tried, with the reason."""

    claim: Claim
    findings: list[CaseFinding]
    left_out: dict[str, str]


class LabRun:
    """`found` grows; `keep` is called after each case that was measured; `state` is how the machine was set when it began.

    Of claims that were not asked for by name, only what was kept of an earlier run is shown.
    """

    def __init__(self, claims: Sequence[Claim], scale: LabScale, asked: Container[str], kept: Kept | None = None,
                 keep: Callable[[LabRun], None] = lambda run: None) -> None:
        self.claims, self.scale = claims, scale
        self.found: list[ClaimFindings] = []
        self.done, self.state = False, machine_state()
        self._asked, self._kept, self._keep = asked, kept or {}, keep

    def run(self) -> Iterator[Slice]:
        cases = {claim.name: claim.cases(self.scale) for claim in self.claims}
        left = TimeLeft(sum(case.seconds for claim in self.claims for case in cases[claim.name]
                            if claim.name in self._asked and (claim.name, case.name) not in self._kept))
        yield left.slice("starting", 0)
        for number, claim in enumerate(self.claims):
            found = ClaimFindings(claim, [], {})
            self.found.append(found)
            for case in cases[claim.name]:
                if kept := self._kept.get((claim.name, case.name)):
                    found.findings.append(judged(claim, kept))
                elif claim.name in self._asked:
                    where = f"{number + 1} of {len(self.claims)}, {claim.name}: {case.name}"
                    yield from self._measured(found, case, where, left)
                    left.finish(case.seconds)
                    self._keep(self)
        self.done = True
        self._keep(self)

    def _measured(self, found: ClaimFindings, case: Case, where: str, left: TimeLeft) -> Iterator[Slice]:
        parts: Generator[Slice, None, Found] = case.run(self.scale.blocks)
        try:
            while True:
                part = next(parts)
                yield left.slice(f"{where}, {part.text}", case.seconds * part.part)
        except StopIteration as end:
            found.findings.append(judged(found.claim, end.value))
        except ValueError as error:
            found.left_out[case.name] = str(error)


class TimeLeft:
    """How long the rest takes: the seconds that are expected, times how much longer than expected it took so far.

    Until a tenth is done that factor is mixed with 1.
    """

    def __init__(self, expected_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._all, self._done, self._clock, self._began = max(expected_s, 1e-9), 0.0, clock, clock()

    def finish(self, expected_s: float) -> None:
        self._done += expected_s

    def slice(self, text: str, within_s: float) -> Slice:
        """A slice of the whole; `within_s` of the present case's seconds are done."""
        done = min(self._done + within_s, self._all)
        return Slice(f"about {duration(self.left_s(done))} left ({text})", done / self._all)

    def left_s(self, done_s: float) -> float:
        sure = min(done_s / (0.1 * self._all), 1.0)
        slower = (self._clock() - self._began) / done_s if done_s > 0 else 1.0
        return (self._all - done_s) * (1 + sure * (slower - 1))


def machine_state() -> dict[str, object]:
    """Governor, turbo, load and affinity, as far as the system says; what it does not say is null."""
    affinity = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    load = list(os.getloadavg()) if hasattr(os, "getloadavg") else None
    return {**{name: _setting(path) for name, path in SETTINGS.items()}, "load": load, "affinity": affinity}


def _setting(path: Path) -> str | None:
    try:
        return path.read_text("utf-8").strip()
    except OSError:
        return None
