"""All claims that were asked for, case by case, and what was found, as `results.json`: kept after each case, read
again to go on, compared and merged with others. A lab runs in slices, and can be stopped after any.

    version, kind, versions, machine, state    as every record has them; `state` is how the machine was set when it began
    program, scale                             sources of the program (a hash), and how much was measured
    claims                                     by name: question, claim, source, verdict, and the cases with every sample

The report is `report.md` and `report.html` (one file, offline), with a plot of every block for each claim. Without
matplotlib there are no plots and no page of HTML: text and JSON say the same.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

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
    speed_up,
)
from crowd_demo.host.files import free_name, write_file
from crowd_demo.host.report import write_report
from crowd_demo.host.system import FAILED, OK, duration
from crowd_demo.measure.experiment import Slice, TextTable, figure_text, header, machine, mapped, markdown_table, versions
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


# --- the report ------------------------------------------------------------------------------------------------------

Figure = Any  # of matplotlib, which is optional
PLOTS = "plots"
ROW_INCHES, WIDTH_INCHES, DPI = 2.4, 9.0, 100
ROOM = 1.6  # rows that a claim's own picture takes
SHOWN_FIGURES, SHOWN_STAGES = 5, 3  # in a table; results.json has all
LINES = ".-", "x--"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555", "#a6761d", "#8c564b", "#17becf")
STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
table{border-collapse:collapse;margin:1rem 0;font-size:.9rem}td,th{padding:.2rem .7rem;border-bottom:1px solid #d0d7de;
text-align:right;vertical-align:top}td:first-child,th:first-child,.text td,.text th{text-align:left}td{white-space:nowrap}
.text td{white-space:normal}.warning{color:#9a3412}svg{max-width:100%;height:auto}
h2{margin-top:3rem;border-top:2px solid #d0d7de;padding-top:1rem}code{background:#f0f2f4;padding:0 .2rem}"""
HOW_TO_READ = ("Arms of a case took turns, block by block, in random order. *as fast*: how many times as fast as the first"
               " arm, with the interval of 95% of a bootstrap of the blocks' ratios; the first arm was measured twice, and"
               " *again* shows by how much it differs from itself. ns: of one core, per agent and step; ns per pair: of one"
               " core, for each candidate that an agent is tested with, of the stage interaction where there is one.")
Table = list[list[str]]  # the first row is the head


def write(run: LabRun, folder: Path) -> list[Path]:
    """Write the report; return the files. Raises OSError."""
    files = {folder / "report.md": markdown(run).encode()}
    if find_spec("matplotlib"):
        from matplotlib import rc_context

        pictures = dict[str, str]()
        (folder / PLOTS).mkdir(parents=True, exist_ok=True)
        for each in filter(is_timed, run.found):
            figure, svg, png, name = plot(each), io.StringIO(), io.BytesIO(), each.claim.name
            with rc_context({"svg.hashsalt": "lab"}):  # the same text for the same numbers
                figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
            figure.savefig(png, format="png", metadata={"Software": None})
            text = re.sub("<metadata>.*?</metadata>", "", svg.getvalue(), flags=re.DOTALL)
            pictures[name] = text[text.index("<svg"):]  # without the head of XML, so that it can stand in a page
            files |= {folder / PLOTS / f"{name}.svg": pictures[name].encode(),
                      folder / PLOTS / f"{name}.png": png.getvalue()}
        files[folder / "report.html"] = page(run, pictures).encode()
    for path, content in files.items():
        write_file(path, content)
    return list(files)


# --- what both say ---------------------------------------------------------------------------------------------------

def case_table(found: Found) -> Table:
    """A row an arm: time, how many times as fast, what was counted, and the hash.

    Stages are those between which the arms differ most, in the order of the step; none if there is only one. Figures
    are those in which the arms differ, or all if there is one arm.
    """
    timed, every = bool(found.blocks_ms), list(dict.fromkeys(stage for each in found.stages_ms.values() for stage in each))
    medians = {name: [float(np.median(blocks_of(found, arm, name))) for arm in found.arms] for name in every}
    largest = sorted(every, key=lambda name: min(medians[name]) - max(medians[name]))[:SHOWN_STAGES]
    stages = [name for name in every if name in largest] if len(every) > 1 else []
    shown = [found.figures[arm] for arm in found.arms if arm in found.figures]
    names = [name for name in dict.fromkeys(name for figures in found.figures.values() for name in figures)
             if len(found.arms) == 1 or len({each.get(name) for each in shown}) > 1][:SHOWN_FIGURES]
    paired = timed and any(pairs(found, arm) for arm in found.arms)
    times = ["ms", "as fast", "95%", "ns", *["ns per pair"] * paired, *(f"{stage} ms" for stage in stages)] * timed
    rows = [["", *times, *(name.replace("_", " ") for name in names), *["hash"] * bool(found.hashes)]]
    for arm in in_order(found):
        ratio, cells = speed_up(found, arm), list[str]()
        if timed:
            as_fast = ("1", "-") if arm == next(iter(found.blocks_ms)) else (factor(ratio.value), factors(ratio))
            cells += [milliseconds(median_interval(blocks_of(found, arm))), *as_fast,
                      f"{ns_per_agent(found, arm):,.1f}", *[figure_text(ns_per_pair(found, arm))] * paired]
        cells += [figure_text(float(np.median(blocks_of(found, arm, stage)))) for stage in stages]
        figures = found.figures.get(arm, {})
        rows.append([arm, *cells, *(figure_text(figures.get(name)) for name in names),
                     *[found.hashes.get(arm, "")[:8]] * bool(found.hashes)])
    return rows


def is_timed(each: ClaimFindings) -> bool:
    return any(finding.found.blocks_ms for finding in each.findings)


def content(run: LabRun) -> Iterator[tuple[str, Any]]:
    """Yield the parts of the report, each with its kind (as `IN_TEXT` and `ON_PAGE`); of a plot the claim's name."""
    yield "title", "Claims, put to the test"
    found = machine()
    yield "text", f"{found['cpu']}, {found['cores']} cores, {found['simd']}, {found['os']}"
    yield "text", ", ".join(f"{name} {value}" for name, value in versions().items())
    yield "text", ", ".join(f"{name} {value}" for name, value in run.state.items() if value is not None)
    yield "verdicts", [["claim", "question", "source", "verdict"],
                       *([each.claim.name, each.claim.question, f"{each.claim.claim} ({each.claim.source})",
                          claim_verdict(each.claim, each.findings)] for each in run.found)]
    yield "reading", HOW_TO_READ
    for each in run.found:
        yield "claim", each.claim
        yield "verdict", claim_verdict(each.claim, each.findings)
        for finding in each.findings:
            yield "case", f"{finding.found.case}: {finding.answer}"
            yield "table", case_table(finding.found)
            yield from (("warning", warning) for warning in finding.warnings)
        yield from (("text", f"{case}: not tried here: {why}") for case, why in each.left_out.items())
        if is_timed(each):
            yield "plot", each.claim.name


# --- text ------------------------------------------------------------------------------------------------------------

IN_TEXT: Mapping[str, Callable[[Any], str]] = {
    "title": "# {}".format, "text": str, "verdicts": markdown_table, "reading": str,
    "claim": lambda claim: (f"## {claim.name}\n\n{claim.question}\n\n**Claim** ({claim.source}): {claim.claim}\n\n"
                            f"**Decided by**: {claim.decided_by}"),
    "verdict": "**Verdict**: {}".format, "case": "### {}".format, "table": markdown_table,
    "warning": "- warning: {}".format, "plot": f"![every block]({PLOTS}/{{}}.png)".format}


def markdown(run: LabRun) -> str:
    kinds = IN_TEXT.keys() - (set() if find_spec("matplotlib") else {"plot"})
    return "\n\n".join(IN_TEXT[kind](part) for kind, part in content(run) if kind in kinds) + "\n"


# --- page ------------------------------------------------------------------------------------------------------------

def as_html(table: Table, kind: str = "numbers") -> str:
    head, *rows = table
    cells = "".join(f"<th>{cell}</th>" for cell in head)
    return f'<table class="{kind}"><tr>{cells}</tr>' + "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows) + "</table>"


def linked(table: Table) -> str:
    head, *rows = table
    return as_html([head, *(
        [f'<a href="#{name}">{name}</a>', escape(question), escape(claim), f"<b>{escape(verdict)}</b>"]
        for name, question, claim, verdict in rows)], "text")


ON_PAGE: Mapping[str, Callable[[Any], str]] = {
    "title": lambda text: f"<h1>{escape(text)}</h1>", "text": lambda text: f"<p>{escape(text)}</p>", "verdicts": linked,
    "reading": lambda text: "<p>" + re.sub(r"\*(.+?)\*", r"<i>\1</i>", escape(text)) + "</p>",
    "claim": lambda claim: (f'<h2 id="{claim.name}">{escape(claim.question)}</h2>'
                            f"<p><b>Claim</b> ({escape(claim.source)}): {escape(claim.claim)}</p>"
                            f"<p><b>Decided by</b>: {escape(claim.decided_by)}</p>"),
    "verdict": lambda text: f"<p><b>Verdict: {escape(text)}</b></p>", "case": lambda text: f"<h3>{escape(text)}</h3>",
    "table": lambda table: as_html([[*map(escape, row)] for row in table]),
    "warning": lambda text: f'<p class="warning">{escape(text)}</p>'}


def page(run: LabRun, plots: Mapping[str, str]) -> str:
    body = (plots[part] if kind == "plot" else ON_PAGE[kind](part) for kind, part in content(run))
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Claims, put to the test</title>'
            f"<style>{STYLE}</style>{''.join(body)}</html>\n")


# --- plots -----------------------------------------------------------------------------------------------------------

def plot(each: ClaimFindings) -> Figure:
    """A row a case: every block by turn, so that a trend, two modes or an outlier is seen, and how blocks are
    distributed."""
    from matplotlib.figure import Figure

    timed = [finding.found for finding in each.findings if finding.found.blocks_ms]
    figure = Figure((WIDTH_INCHES, ROW_INCHES * (len(timed) + ROOM * bool(each.claim.draw))), DPI, layout="constrained")
    heights = (len(timed), ROOM) if each.claim.draw else (len(timed),)
    upper, *lower = figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    if each.claim.draw:
        each.claim.draw(lower[0].subplots(), timed)
    rows = upper.subplots(len(timed), 2, squeeze=False, sharey="row", width_ratios=(3, 1))
    for (turns, spread), found in zip(rows, timed, strict=True):
        for number, arm in enumerate(in_order(found)):
            colour, blocks = COLOURS[number % len(COLOURS)], found.blocks_ms[arm]
            style = LINES[number // len(COLOURS) % len(LINES)]  # of more arms than colours the others are dashed
            turns.plot(range(1, len(blocks) + 1), blocks, style, color=colour, linewidth=0.8, markersize=5, label=arm)
            spread.plot([number] * len(blocks), blocks, ".", color=colour, markersize=4, alpha=0.5)
            spread.plot([number - 0.3, number + 0.3], [np.median(blocks)] * 2, color=colour, linewidth=2)
        turns.set_title(found.case, loc="left", fontsize="small")
        turns.set_ylabel("ms per step")
        medians, many = list(map(np.median, found.blocks_ms.values())), len(found.blocks_ms) > len(COLOURS)
        turns.set_yscale("log" if 0 < 5 * min(medians) < max(medians) else "linear")  # which shows all of them
        turns.legend(fontsize="xx-small" if many else "x-small", labelspacing=0.2 if many else None, frameon=False,
                     loc="center right", bbox_to_anchor=(-0.16, 0.5))
        spread.set_xticks([])
        for axes in (turns, spread):
            axes.spines[["top", "right"]].set_visible(False)
    rows[-1][0].set_xlabel("turn")
    return figure


def conclude(run: LabRun, folder: Path) -> int:
    """Print the verdicts and write the report; return the exit code."""
    rows = [(each.claim.name, claim_verdict(each.claim, each.findings), each.claim.question) for each in run.found]
    first, second = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
    print(*(f"{name:{first}}  {found:{second}}  {question}" for name, found, question in rows), sep="\n")
    try:
        files = write(run, folder)
    except OSError as error:
        print_error(f"lab: cannot write the report: {reason(error)}")
        return FAILED
    print(f"\n{files[-1]} written" + ("" if run.done else "; run it again to go on"))
    differ = [f"{each.claim.name}, {finding.found.case}" for each in run.found for finding in each.findings
              if not finding.found.one_hash]
    if differ:
        print_error(f"THE CROWDS DIFFER in {'; '.join(differ)}")
    return FAILED if differ else OK
