"""The diagrams of docs/techniques.md are those that the script draws, and the page shows each of them."""

from pathlib import Path

import pytest
from scripts import load_script

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.quick
def test_diagrams_are_drawn_again_alike_and_shown(tmp_path: Path) -> None:
    script = load_script("tools/diagrams.py")
    script.main(["--out", str(tmp_path)])
    page, kept = (DOCS / "techniques.md").read_text("utf-8"), DOCS / "pictures/techniques"
    assert sorted(path.name for path in kept.iterdir()) == sorted(f"{name}.svg" for name in script.DIAGRAMS)
    for name in script.DIAGRAMS:
        assert (tmp_path / f"{name}.svg").read_bytes() == (kept / f"{name}.svg").read_bytes()
        assert f"(pictures/techniques/{name}.svg)" in page
