"""The README tells the truth about its own commands, and links of all pages lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
PICTURES = ROOT.resolve() / "docs/pictures"  # not in a source archive
FOLDERS = ("crowd_demo", "tests", "docs", "benchmarks", "assets", "examples")
pytestmark = pytest.mark.quick


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    lines = (line.lstrip("#").strip() for line in page.read_text("utf-8").splitlines() if line.startswith("#"))
    return {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in lines}


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in page.read_text("utf-8").split("](")[1:]:
            path, _, heading = target.split(")")[0].partition("#")
            if "://" not in path and (PICTURES.is_dir() or PICTURES not in (page.parent / path).resolve().parents):
                linked = page.parent / path if path else page
                assert linked.exists(), f"{page.name}: {path}"
                assert not heading or heading in anchors(linked), f"{page.name}: {path}#{heading}"


def test_every_python_file_that_a_page_names_exists() -> None:
    """By its path from the top of the repository, or by the end of it: `sim/world.py`, `world.py`."""
    here = {f"/{path.relative_to(ROOT).as_posix()}" for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for name in re.findall(r"`([\w./-]+\.py)`", page.read_text("utf-8")):
            assert any(path.endswith(f"/{name}") for path in here), f"{page.name}: {name}"


def test_its_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """With fewer agents and steps than the page has."""
    code = README.split("```python")[1].split("```")[0].replace("50_000", "500").replace("step(100)", "step(3)")
    exec(compile(code, "README.md", "exec"), {})
    assert "candidates_per_agent" in capsys.readouterr().out
