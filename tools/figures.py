"""Write README's table of what techniques are worth from the report of a run, with its date, commit and machine, and the
figures of that run on other pages.

    crowd-demo ablate --config 20k --report REPORT.json && python tools/figures.py REPORT.json
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ROWS = {
    "neighbours": "sorted grid (off: brute force)", "blitter": "compiled blitter (off: pygame)", "simd": "SIMD lanes",
    "stagger.sight": "line of sight every 8th step (approximate)",
    "stagger.avoidance": "avoidance every 3rd step (approximate)", "threads": "two threads",
    "reorder.when": "agents in cell order", "cull": "culling by cells",
    "avoidance": "slowing down (off: pushes, another model)", "overlap_passes": "overlap passes (off: another model)"}
PHRASES = {  # of other pages, with figures of a technique
    "a step of 20,000 people takes {on} ms instead of {off}": ("techniques.md", "neighbours"),
    "a frame of `20k` takes {low} to {high} times as long without it": ("techniques.md", "cull"),
    "Reordering makes a step of 20,000 people {step} times as fast, and a frame {frame} times": (
        "findings.md", "reorder.when")}
HEAD = "| `20k`, each technique turned off alone | ms per step | a frame takes |\n|---|---|---|"
PART = re.compile(r"<!-- worth.*?<!-- /worth -->", re.DOTALL)


def worth(report: dict[str, Any], about: str) -> str:
    """The table, between two comments; `report` is that of `crowd-demo ablate`."""
    measured = {row["technique"]: row for row in report["rows"]}
    rows = [f"| {text} | {_step(measured[path])} | {_frame(measured[path])} |" for path, text in ROWS.items()]
    return "\n".join((f"<!-- worth: {about} -->", HEAD, *rows, "<!-- /worth -->"))


def _step(row: dict[str, Any]) -> str:
    if row["technique"] in ("blitter", "cull"):
        return ""
    on, ratio = row["step"]["ms"]["value"], row["step"]["other"]["ratio"]["value"]
    return f"{on:.2f} -> {on * ratio:.3g}"


def _frame(row: dict[str, Any]) -> str:
    ratio, verdict = row["frame"]["other"]["ratio"], row["frame"]["other"]["verdict"]
    interval = f"({ratio['low']:.2f}-{ratio['high']:.2f})"
    if verdict not in ("slower", "faster"):
        return f"no difference {interval}"
    return f"{ratio['value']:.2f} times{': it costs' if verdict == 'faster' else ''} {interval}"


def with_figures(text: str, phrase: str, row: dict[str, Any]) -> str:
    """The text of a page with the figures of a technique in the places of the phrase."""
    on, step, frame = row["step"]["ms"]["value"], row["step"]["other"]["ratio"]["value"], row["frame"]["other"]["ratio"]
    said = phrase.format(on=f"{on:.1f}", off=f"{on * step:.0f}", step=f"{step:.2f}", frame=f"{frame['value']:.2f}",
                         low=f"{frame['low']:.2f}", high=f"{frame['high']:.2f}")
    pattern = re.sub(r"\\\{\w+\\\}", r"[\\d.]+", re.escape(phrase)).replace("\\ ", r"\s+")
    return re.sub(pattern, lambda _: said, text)


def main(argv: list[str]) -> int:
    if len(argv) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    report = json.loads(Path(argv[0]).read_text("utf-8"))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    machine = f"{report['machine']['cpu']}, {report['machine']['cores']} cores"
    about = f"crowd-demo ablate --config 20k; {date.today()}, {commit.stdout.strip()}, {machine}"
    page = ROOT / "README.md"
    page.write_text(PART.sub(lambda _: worth(report, about), page.read_text("utf-8")), "utf-8")
    for phrase, (name, technique) in PHRASES.items():
        page = ROOT / "docs" / name
        row = next(row for row in report["rows"] if row["technique"] == technique)
        page.write_text(with_figures(page.read_text("utf-8"), phrase, row), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
