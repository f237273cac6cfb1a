"""The web site: pages and scenarios that play, all of whose links lead somewhere and none to another host by itself."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
from scripts import load_script

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def website() -> ModuleType:
    return load_script("tools/website.py")


@pytest.mark.quick
def test_links_lead_to_pages_of_the_site_or_become_words(website: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "design").mkdir()
    for name in ("index.md", "README.md", "window.md", "design/proof.md", "picture.png"):
        (tmp_path / name).write_text("", "utf-8")
    text = "[a](docs/window.md#tools) [b](crowd_demo/cli) ![c](docs/picture.png) [d](https://e.f) [g](#h) [i](README.md)"
    found = website.with_links(text, ROOT / "README.md", tmp_path / "README.md", tmp_path, ROOT)
    assert found == "[a](./window.md#tools) b ![c](./picture.png) [d](https://e.f) [g](#h) [i](./index.md)"
    text = "[a](../window.md) [b](../../README.md) [c](../../crowd_demo/app/loop.py)"
    found = website.with_links(text, ROOT / "docs/design/proof.md", tmp_path / "design/proof.md", tmp_path, ROOT)
    assert found == "[a](../window.md) [b](../index.md) c"


@pytest.mark.quick
def test_ten_shipped_scenarios_play(website: ModuleType) -> None:
    names = [scene.name for scene in website.SCENES]
    assert len(set(names)) == 10 and all((ROOT / f"configs/{name}.yaml").is_file() for name in names)


def test_a_small_site_has_all_pages_and_loads_nothing_from_elsewhere(website: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    website.site_of(tmp_path / "site", [website.Scene("1k", 1, agents=20)])
    site = tmp_path / "site"
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert pages <= {path.name for path in site.iterdir()} and (site / "play/1k.html").is_file()
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        assert not re.search(r"<(script|link|img)[^>]*(src|href)=\"?https?:", text), page
        if page.name == "index.html":
            for target in re.findall(r"(?:href|src)=\"([^\":#]+?)(?:#[^\"]*)?\"", text):
                path = page.parent / target
                assert path.exists() or (path / "index.html").exists(), (page, target)
