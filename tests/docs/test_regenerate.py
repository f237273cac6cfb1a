"""`tools/regenerate.py` has been run: schema, README and tutorial are what the program says."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from scripts import load_script

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def regenerate() -> ModuleType:
    return load_script("tools/regenerate.py")


def test_nothing_derived_is_out_of_date(regenerate: ModuleType) -> None:
    for path, text in regenerate.derived().items():
        assert path.read_text("utf-8") == text, f"{path.name}: run python tools/regenerate.py"


def test_the_tutorial_shows_all_of_its_code(regenerate: ModuleType) -> None:
    page = (ROOT / "docs/tutorial.md").read_text("utf-8")
    for path in (ROOT / "examples/first_behaviour").rglob("*"):
        if path.suffix in (".py", ".toml"):
            for part in regenerate.parts(path.read_text("utf-8")).values():
                assert part.strip() in page, path


def test_marks_that_are_missing_are_an_error(regenerate: ModuleType) -> None:
    assert regenerate.between("a\n<!-- x -->\nold\n<!-- /x -->\nb", "x", "new") == "a\n<!-- x -->\nnew\n<!-- /x -->\nb"
    with pytest.raises(ValueError, match="no marks <!-- y -->"):
        regenerate.between("a <!-- x -->", "y", "new")
