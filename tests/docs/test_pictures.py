"""Each picture of the docs is on some page."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.quick
@pytest.mark.skipif(not (ROOT / "docs/pictures").is_dir(), reason="a source archive has no pictures of the pages")
def test_each_picture_is_shown_by_a_page() -> None:
    pages = "".join(page.read_text("utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    pictures = [path for path in (ROOT / "docs/pictures").rglob("*") if path.suffix in (".png", ".jpg")]
    assert pictures and [path.name for path in pictures if f"/{path.name})" not in pages] == []
