"""What a lab has found, as `results.json`: kept after each case, read again to go on, compared and merged with others.

    version, kind, versions, machine, state    as every record has them; `state` is how the machine was set when it began
    program, scale                             sources of the program (a hash), and how much was measured
    claims                                     by name: question, claim, source, verdict, and the cases with every sample
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import TypeAdapter, ValidationError

from crowd_demo.compute.cache import PACKAGE
from crowd_demo.config.reading import read_bounded
from crowd_demo.extras.lab.claims.claim import AGAIN, Found, LabScale
from crowd_demo.extras.lab.claims.judging import blocks_of, claim_verdict, pairs
from crowd_demo.extras.lab.claims.lab_run import ClaimFindings, Kept, LabRun
from crowd_demo.measure.experiment import TextTable, header
from crowd_demo.measure.statistics import factor, factors, independent_ratio, interval_json, median_interval, milliseconds
from crowd_demo.registry.texts import reason

INTERACTION = "interaction"  # the stage that tests candidates
KIND, NAME = "lab", "results.json"
MAX_BYTES, MAX_ARMS = 64 << 20, 5000  # of a file that is read
FOUND = TypeAdapter(Found)


class Results(NamedTuple):
    """A file that was read."""

    path: Path
    head: Mapping[str, object]
    found: Mapping[tuple[str, str], Found]  # by claim and case

    @property
    def cpu(self) -> str:
        """The processor and its cores."""
        machine = self.head["machine"]
        assert isinstance(machine, dict)
        return f"{short_cpu(str(machine.get('cpu', '?')))} x{machine.get('cores', '?')}"


# --- written ---------------------------------------------------------------------------------------------------------

def record_of(run: LabRun) -> dict[str, object]:
    return {**header(KIND), **fingerprint(run.scale), "state": run.state, "complete": run.done,
            "claims": {each.claim.name: claim_json(each) for each in run.found}}


def claim_json(found: ClaimFindings) -> dict[str, object]:
    claim = found.claim
    return {"question": claim.question, "claim": claim.claim, "source": claim.source, "decided_by": claim.decided_by,
            "verdict": claim_verdict(claim, found.findings).text, "left_out": found.left_out,
            "cases": [{**finding.found._asdict(), "answer": finding.answer, "warnings": finding.warnings,
                       "ratios": {arm: interval_json(ratio) for arm, ratio in finding.ratios.items()}}
                      for finding in found.findings]}


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
        found = {(name, case["case"]): _found(case) for name, claim in content["claims"].items() for case in claim["cases"]}
        assert isinstance(content["machine"], dict) and sum(len(each.blocks_ms) for each in found.values()) <= MAX_ARMS
    except (KeyError, TypeError, AttributeError, AssertionError, ValidationError):
        raise ValueError(f"{path}: is not a results.json of a lab") from None
    return Results(path, content, found)


def _found(case: Mapping[str, object]) -> Found:
    return FOUND.validate_python({name: case[name] for name in Found._fields})


def kept_of(results: Results, scale: LabScale) -> Kept | None:
    """What need not be measured again; None if it is of another machine, program or scale."""
    now = {**header(KIND), **fingerprint(scale)}
    same = all(results.head.get(name) == value for name, value in now.items())
    return results.found if same else None


# --- beside each other -----------------------------------------------------------------------------------------------

def compared(a: Results, b: Results) -> TextTable:
    """Every arm that both have: how many times as fast it is in `b`, with the interval, and whether the hashes agree."""
    rows = list[tuple[str, ...]]()
    for key, ours in a.found.items():
        theirs = b.found.get(key)
        for arm in ours.arms if theirs else ():
            if arm in ours.blocks_ms and theirs and arm in theirs.blocks_ms:
                before, after = (np.asarray(each.blocks_ms[arm], np.float64) for each in (ours, theirs))
                times = independent_ratio(before, after)
                rows.append((" ".join((key[0], key[1], arm)), milliseconds(median_interval(before)),
                             milliseconds(median_interval(after)), factor(times.value),
                             factors(times), one_hash(ours, theirs, arm)))
    return TextTable(("claim, case, arm", "A ms", "B ms", "B is faster by", "95%", "hash"), rows)


def one_hash(ours: Found, theirs: Found, arm: str) -> str:
    if arm not in ours.hashes or arm not in theirs.hashes:
        return "-"
    return "same" if ours.hashes[arm] == theirs.hashes[arm] else "DIFFERS"


def merged(all_of_them: Sequence[Results]) -> TextTable:
    """Nanoseconds an agent and core, a column a machine; and how many candidates an agent really read, which is exact."""
    rows = dict.fromkeys((key, arm) for results in all_of_them for key, found in results.found.items() for arm in found.arms
                         if "candidates_per_agent" in found.figures.get(arm, {}) and arm in found.blocks_ms)
    return TextTable(("claim, case, arm", "read", *(results.cpu for results in all_of_them)),
                     [(" ".join((*key, arm)), _read(all_of_them, key, arm),
                       *(f"{ns_per_agent(found, arm):,.1f}" if found and arm in found.blocks_ms else "-"
                         for found in (results.found.get(key) for results in all_of_them))) for key, arm in rows])


def _read(all_of_them: Sequence[Results], key: tuple[str, str], arm: str) -> str:
    figures = [results.found[key].figures.get(arm, {}) for results in all_of_them if key in results.found]
    numbers = {f"{each['candidates_per_agent']:.1f}" for each in figures if "candidates_per_agent" in each}
    return " or ".join(sorted(numbers))


def ns_per_agent(found: Found, arm: str) -> float:
    """Nanoseconds of one core that a step takes for an agent."""
    return _core_ns(found, arm) / max(found.size, 1)


def ns_per_pair(found: Found, arm: str) -> float | None:
    """Nanoseconds of one core for a candidate that an agent is tested with; None where those were not counted."""
    stage = INTERACTION if INTERACTION in found.stages_ms.get(arm, {}) else ""
    return _core_ns(found, arm, stage) / number if (number := pairs(found, arm)) else None


def _core_ns(found: Found, arm: str, stage: str = "") -> float:
    workers = found.figures.get(arm, {}).get("workers", found.workers)
    return float(np.median(blocks_of(found, arm, stage))) * 1e6 * workers


def short_cpu(name: str) -> str:
    """Without what all processors are called."""
    return re.sub(r"\((R|TM)\)|\b(CPU|Processor)\b|@.*", "", name).replace("  ", " ").strip() or "?"


def in_order(found: Found) -> Iterator[str]:
    """The names of the arms in the order of a table: the first, its repeat, and the others."""
    for arm in found.arms:
        yield arm
        if arm + AGAIN in found.blocks_ms:
            yield arm + AGAIN
