"""The README tells the truth about the registry and its own commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowd_demo.config.resources import list_configs
from crowd_demo.techniques import table

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
pytestmark = pytest.mark.quick


def test_table_of_techniques_is_the_registry() -> None:
    assert table() in README, "python -c 'from crowd_demo.techniques import table; print(table())'"


def test_every_shipped_configuration_is_named() -> None:
    for name in list_configs():
        assert f"`{name}`" in README


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in page.read_text().split("](")[1:]:
            path = target.split(")")[0]
            if "://" not in path:
                assert (page.parent / path).exists(), f"{page.name}: {path}"
