"""The diagrams of docs/techniques.md are those that the script draws, and the page shows each of them."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from diagrams import DIAGRAMS, main  # noqa: E402


@pytest.mark.quick
def test_diagrams_are_drawn_again_alike_and_shown(tmp_path: Path) -> None:
    main(["--out", str(tmp_path)])
    page, kept = (ROOT / "docs/techniques.md").read_text("utf-8"), ROOT / "docs/pictures/techniques"
    assert sorted(path.name for path in kept.iterdir()) == sorted(f"{name}.svg" for name in DIAGRAMS)
    for name in DIAGRAMS:
        assert (tmp_path / f"{name}.svg").read_bytes() == (kept / f"{name}.svg").read_bytes()
        assert f"(pictures/techniques/{name}.svg)" in page
