"""All claims that were asked for, case by case, and what was found, as `results.json`: kept after each case, read
again to go on, compared and merged with others. A lab runs in slices, and can be stopped after any.

    version, kind, versions, machine, state    as every record has them; `state` is how the machine was set when it began
    program, scale                             sources of the program (a hash), and how much was measured
    claims                                     by name: question, claim, source, verdict, and the cases with every sample
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import TypeAdapter, ValidationError

from crowd_demo.cli.arguments import print_error
from crowd_demo.compute.cache import PACKAGE
from crowd_demo.config.memory import read_bounded
from crowd_demo.extras.lab.claims import memory, peers, pictures, techniques
from crowd_demo.extras.lab.claims.claim import (
    AGAIN,
    Case,
    CaseFinding,
    Claim,
    Found,
    LabScale,
    blocks_of,
    claim_verdict,
    judged,
    pairs,
)
from crowd_demo.host.files import free_name
from crowd_demo.host.report import write_report
from crowd_demo.host.shell import duration
from crowd_demo.measure.experiment import Slice, TextTable, header, mapped
from crowd_demo.measure.statistics import factor, factors, independent_ratio, interval_json, median_interval, milliseconds
from crowd_demo.registry.texts import reason

SETTINGS = {
    "governor": Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    "no_turbo": Path("/sys/devices/system/cpu/intel_pstate/no_turbo"),
    "boost": Path("/sys/devices/system/cpu/cpufreq/boost"),
}
CLAIMS: dict[str, Claim] = {claim.name: claim for claim in (  # in the order of the report
    techniques.LADDER, techniques.SORT_INTERVAL, techniques.CURVES, memory.SORTED_MEMORY, memory.REMOVAL, memory.SPARSE_MEMORY,
    techniques.STRUCTURES, techniques.STAGGER, pictures.DEPTH, pictures.CULLING, pictures.BLITTERS, techniques.LIMITS,
    techniques.CONTACT, memory.LAYOUT, techniques.SCALING, techniques.DENSITY, peers.PEERS, peers.AGAINST_C)}
Kept = Mapping[tuple[str, str], Found]  # by claim and case
INTERACTION = "interaction"  # the stage that tests candidates
KIND, NAME = "lab", "results.json"
MAX_BYTES, MAX_ARMS = 64 << 20, 5000  # of a file that is read
FOUND = TypeAdapter(Found)


class ClaimFindings(NamedTuple):
    """A claim, what was found of it so far, and the cases that could not be tried, with the reason."""

    claim: Claim
    findings: list[CaseFinding]
    left_out: dict[str, str]


class LabRun:
    """`found` grows; `keep` is called after each case that was measured; `state` is how the machine was set when it
    began: governor, turbo, load and affinity, as far as the system says; what it does not say is null.

    Of claims that were not asked for by name, only what was kept of an earlier run is shown.
    """

    def __init__(self, claims: Sequence[Claim], scale: LabScale, asked: Container[str], kept: Kept | None = None,
                 keep: Callable[[LabRun], None] = lambda run: None) -> None:
        self.claims, self.scale = claims, scale
        self.found: list[ClaimFindings] = []
        affinity = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        load = list(os.getloadavg()) if hasattr(os, "getloadavg") else None
        self.state = {**{name: _setting(path) for name, path in SETTINGS.items()}, "load": load, "affinity": affinity}
        self.done = False
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
                    left.done_s += case.seconds
                    self._keep(self)
        self.done = True
        self._keep(self)

    def _measured(self, found: ClaimFindings, case: Case, where: str, left: TimeLeft) -> Iterator[Slice]:
        try:
            measured = yield from mapped(case.run(self.scale.blocks), lambda part: left.slice(
                f"{where}, {part.text}", case.seconds * part.part))
            found.findings.append(judged(found.claim, measured))
        except ValueError as error:
            found.left_out[case.name] = str(error)


class TimeLeft:
    """How long the rest takes: the seconds that are expected, times how much longer than expected it took so far.

    Until a tenth is done that factor is mixed with 1.
    """

    def __init__(self, expected_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._all, self.done_s, self._clock, self._began = max(expected_s, 1e-9), 0.0, clock, clock()

    def slice(self, text: str, within_s: float) -> Slice:
        """A slice of the whole; `within_s` of the present case's seconds are done."""
        done = min(self.done_s + within_s, self._all)
        return Slice(f"about {duration(self.left_s(done))} left ({text})", done / self._all)

    def left_s(self, done_s: float) -> float:
        sure = min(done_s / (0.1 * self._all), 1.0)
        slower = (self._clock() - self._began) / done_s if done_s > 0 else 1.0
        return (self._all - done_s) * (1 + sure * (slower - 1))


def _setting(path: Path) -> str | None:
    try:
        return path.read_text("utf-8").strip()
    except OSError:
        return None


# --- as a file -------------------------------------------------------------------------------------------------------

class Results(NamedTuple):
    head: Mapping[str, object]
    found: Mapping[tuple[str, str], Found]  # by claim and case

    @property
    def cpu(self) -> str:
        machine = self.head["machine"]
        assert isinstance(machine, dict)
        name = re.sub(r"\((R|TM)\)|\b(CPU|Processor)\b|@.*", "", str(machine.get("cpu", "?")))  # what all are called
        return f"{name.replace('  ', ' ').strip() or '?'} x{machine.get('cores', '?')}"


# --- written ---------------------------------------------------------------------------------------------------------

def record_of(run: LabRun) -> dict[str, object]:
    return {**header(KIND), **fingerprint(run.scale), "state": run.state, "complete": run.done, "claims": {
        claim.name: {"question": claim.question, "claim": claim.claim, "source": claim.source,
                     "decided_by": claim.decided_by, "verdict": claim_verdict(claim, findings), "left_out": left_out,
                     "cases": [{**finding.found._asdict(), "answer": finding.answer, "warnings": finding.warnings,
                                "ratios": {arm: interval_json(ratio) for arm, ratio in finding.ratios.items()}}
                               for finding in findings]}
        for claim, findings, left_out in run.found}}


def fingerprint(scale: LabScale) -> dict[str, object]:
    """What must be the same for results to be gone on with, beside versions and machine."""
    return {"program": sources_hash(), "scale": scale._asdict()}


@cache
def sources_hash() -> str:
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


# --- read ------------------------------------------------------------------------------------------------------------

def read(path: Path) -> Results:
    """Raises ValueError with one line for what is no results of a lab."""
    try:
        data = read_bounded(path, MAX_BYTES)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {reason(error)}") from None
    if len(data) > MAX_BYTES:
        raise ValueError(f"{path}: is larger than {MAX_BYTES >> 20} MB")
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError(f"{path}: is not JSON") from None
    try:
        if content["kind"] != KIND or content["version"] != header(KIND)["version"]:
            raise ValueError(f"{path}: is not a results.json of a lab of this version")
        found = {(name, case["case"]): FOUND.validate_python({field: case[field] for field in Found._fields})
                 for name, claim in content["claims"].items() for case in claim["cases"]}
        assert isinstance(content["machine"], dict) and sum(len(each.blocks_ms) for each in found.values()) <= MAX_ARMS
    except (KeyError, TypeError, AttributeError, AssertionError, ValidationError):
        raise ValueError(f"{path}: is not a results.json of a lab") from None
    return Results(content, found)


def kept_of(results: Results, scale: LabScale) -> Kept | None:
    """What need not be measured again; None if it is of another machine, program or scale."""
    now = {**header(KIND), **fingerprint(scale)}
    return results.found if all(results.head.get(name) == value for name, value in now.items()) else None


def begun(claims: Sequence[Claim], scale: LabScale, folder: Path) -> LabRun:
    """Go on where the folder has results of this machine, program and scale; others are set aside."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    kept = kept_of(read(path), scale) if path.exists() else {}
    if kept is None:
        aside, kept = free_name(folder, path.suffix, [path]), {}
        path.rename(aside)
        print_error(f"lab: {path} is of another machine, program or scale: set aside as {aside.name}")
    shown = [claim for claim in CLAIMS.values() if claim in claims or any(name == claim.name for name, _ in kept)]
    return LabRun(shown, scale, {claim.name for claim in claims}, kept, lambda run: write_report(record_of(run), path))


# --- beside each other -----------------------------------------------------------------------------------------------

def compared(a: Results, b: Results) -> TextTable:
    """Every arm that both have: how many times as fast it is in `b`, with the interval, and whether the hashes
    agree."""
    rows = list[tuple[str, ...]]()
    for key in [key for key in a.found if key in b.found]:
        both = a.found[key], b.found[key]
        for arm in [arm for arm in both[0].arms if all(arm in each.blocks_ms for each in both)]:
            before, after = (np.asarray(each.blocks_ms[arm], np.float64) for each in both)
            times, hashes = independent_ratio(before, after), {each.hashes.get(arm) for each in both}
            rows.append((" ".join((*key, arm)), milliseconds(median_interval(before)),
                         milliseconds(median_interval(after)), factor(times.value), factors(times),
                         "-" if None in hashes else "same" if len(hashes) == 1 else "DIFFERS"))
    return TextTable(("claim, case, arm", "A ms", "B ms", "B is faster by", "95%", "hash"), rows)


def merged(all_of_them: Sequence[Results]) -> TextTable:
    """Nanoseconds an agent and core, a column a machine; and how many candidates an agent really read, which is
    exact."""
    rows = dict.fromkeys((key, arm) for results in all_of_them for key, found in results.found.items() for arm in found.arms
                         if "candidates_per_agent" in found.figures.get(arm, {}) and arm in found.blocks_ms)
    table = TextTable(("claim, case, arm", "read", *(results.cpu for results in all_of_them)), [])
    for key, arm in rows:
        every = [results.found.get(key) for results in all_of_them]
        figures = [found.figures.get(arm, {}) for found in every if found]
        read = {f"{each['candidates_per_agent']:.1f}" for each in figures if "candidates_per_agent" in each}
        table.rows.append((" ".join((*key, arm)), " or ".join(sorted(read)), *(
            f"{ns_per_agent(found, arm):,.1f}" if found and arm in found.blocks_ms else "-" for found in every)))
    return table


def ns_per_agent(found: Found, arm: str) -> float:
    return _core_ns(found, arm) / max(found.size, 1)


def ns_per_pair(found: Found, arm: str) -> float | None:
    """Nanoseconds of one core for a candidate that an agent is tested with; None where those were not counted."""
    stage = INTERACTION if INTERACTION in found.stages_ms.get(arm, {}) else ""
    return _core_ns(found, arm, stage) / number if (number := pairs(found, arm)) else None


def _core_ns(found: Found, arm: str, stage: str = "") -> float:
    workers = found.figures.get(arm, {}).get("workers", found.workers)
    return float(np.median(blocks_of(found, arm, stage))) * 1e6 * workers


def in_order(found: Found) -> Iterator[str]:
    """The names of the arms in the order of a table: the first, its repeat, and the others."""
    for arm in found.arms:
        yield arm
        if arm + AGAIN in found.blocks_ms:
            yield arm + AGAIN
