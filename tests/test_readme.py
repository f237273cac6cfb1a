"""The README tells the truth about its own commands, and links of all pages lead somewhere."""

import itertools
import re
from pathlib import Path

import pytest
from covering import covering_rows
from hypothesis import given
from hypothesis import strategies as st
from scripts import load_script

from crowd_demo.profile import Profile

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
PICTURES = ROOT.resolve() / "docs/pictures"  # not in a source archive
FOLDERS = ("crowd_demo", "tests", "tools", "benchmarks", "assets", "examples")
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks/README.md"]
pytestmark = pytest.mark.quick


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    lines = (line.lstrip("#").strip() for line in page.read_text("utf-8").splitlines() if line.startswith("#"))
    return {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in lines}


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in page.read_text("utf-8").split("](")[1:]:
            path, _, heading = target.split(")")[0].partition("#")
            if "://" not in path and (PICTURES.is_dir() or PICTURES not in (page.parent / path).resolve().parents):
                linked = page.parent / path if path else page
                assert linked.exists(), f"{page.name}: {path}"
                assert not heading or heading in anchors(linked), f"{page.name}: {path}#{heading}"


def test_its_table_is_written_from_a_report_and_tells_slower_from_faster_from_neither() -> None:
    regenerate = load_script("tools/regenerate.py")
    verdicts = dict(zip(regenerate.ROWS, itertools.cycle(("slower", "faster", "same")), strict=False))
    times = {path: {"ms": {"value": 1.5}, "other": {"verdict": verdict, "ratio": {"value": 2.0, "low": 1.9, "high": 2.1}}}
             for path, verdict in verdicts.items()}
    rows = [{"technique": path, "step": time, "frame": time} for path, time in times.items()]
    written = regenerate.worth({"rows": rows}, "a run").splitlines()
    assert written[0] == "<!-- worth: a run -->" and written[-1] == "<!-- /worth -->"
    assert written[3:6] == ["| sorted grid (off: brute force) | 1.50 -> 3 | 2.00 times (1.90-2.10) |",
                            "| compiled blitter (off: pygame) |  | 2.00 times: it costs (1.90-2.10) |",
                            "| SIMD lanes | 1.50 -> 3 | no difference (1.90-2.10) |"]
    shown = regenerate.PART.search(README)[0].splitlines()
    assert [row.split("|")[1] for row in shown[3:-1]] == [row.split("|")[1] for row in written[3:-1]]
    for phrase, (page, technique) in regenerate.PHRASES.items():
        text = (ROOT / "docs" / page).read_text("utf-8")
        assert regenerate.with_figures(text, phrase, {"step": times[technique], "frame": times[technique]}) != text, phrase


def test_every_python_file_that_a_page_names_exists() -> None:
    """By its path from the top of the repository, or by the end of it: `sim/world.py`, `world.py`."""
    here = {f"/{path.relative_to(ROOT).as_posix()}" for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
    for page in PAGES:
        for name in re.findall(r"`([\w./-]+\.py)`", page.read_text("utf-8")):
            assert any(path.endswith(f"/{name}") for path in here), f"{page.name}: {name}"


def test_its_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """With fewer agents and steps than the page has."""
    code = README.split("```python")[1].split("```")[0].replace("50_000", "500").replace("step(100)", "step(3)")
    exec(compile(code, "README.md", "exec"), {})
    assert "candidates_per_agent" in capsys.readouterr().out


# --- covering arrays: all pairs are in them, they are small, and they are the same each time -------------------------

@given(sizes=st.lists(st.integers(1, 6), min_size=2, max_size=8))
def test_each_pair_of_values_is_in_some_row(sizes: list[int]) -> None:
    choices = {str(number): range(size) for number, size in enumerate(sizes)}
    rows = covering_rows(choices)
    assert rows == covering_rows(choices)
    for one, other in itertools.combinations(choices, 2):
        assert {(row[one], row[other]) for row in rows} == set(itertools.product(choices[one], choices[other]))
    most, second = sorted(sizes)[:-3:-1]
    assert most * second <= len(rows) <= 3 * most * second + len(sizes)  # eight parameters of four values: 46


# --- the record of a frame -------------------------------------------------------------------------------------------

def test_a_stage_that_seldom_runs_is_remembered_by_its_latest_run() -> None:
    profile = Profile()
    assert profile.last_run_ms("reorder") == 0
    for ms in (2.0, 0.0, 5.0, 0.0, 0.0):
        profile.begin_frame()
        if ms:
            profile.add("reorder", ms)
        profile.end_frame()
    assert profile.last_run_ms("reorder") == 5.0
    assert profile.stage_ms("reorder").tolist() == [2, 0, 5, 0, 0]


def test_the_last_second_is_that_of_the_frames_and_of_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [50.0]
    monkeypatch.setattr("crowd_demo.profile.time.perf_counter", lambda: now[0])
    profile = Profile()
    assert profile.recent_frames() == len(profile.recent_stepped()) == 0

    def frames(count: int, steps: int, each_s: float) -> None:
        for _ in range(count):
            now[0] += each_s
            for _ in range(steps):
                profile.begin_step()
                profile.end_step()
            profile.end_frame()

    frames(100, 1, 0.0625)
    assert profile.recent_frames() == len(profile.recent_stepped()) == 16
    frames(200, 0, 0.125)  # paused
    assert profile.recent_frames() == 8 and len(profile.recent_stepped()) == 16
    frames(5, 2, 3.0)
    assert profile.recent_frames() == len(profile.recent_stepped()) == 4, "at least"
