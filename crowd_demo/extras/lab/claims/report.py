"""The report of a lab: `report.md` and `report.html` (one file, offline), with a plot of every block for each claim.

Without matplotlib there are no plots and no page of HTML: text and JSON say the same.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from crowd_demo.cli.arguments import print_error
from crowd_demo.extras.lab.claims.claim import Found, blocks_of, claim_verdict, pairs, speed_up
from crowd_demo.extras.lab.claims.results import ClaimFindings, LabRun, in_order, ns_per_agent, ns_per_pair
from crowd_demo.host.files import write_file
from crowd_demo.host.shell import FAILED, OK
from crowd_demo.measure.experiment import figure_text, machine, markdown_table, versions
from crowd_demo.measure.statistics import factor, factors, median_interval, milliseconds
from crowd_demo.registry.texts import reason

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
