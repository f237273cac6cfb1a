"""The code on the API page runs as it stands, one block after the other, and prints what its comments say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from crowd_demo import Simulation
from crowd_demo.cli.arguments import COMMANDS, EXPERIMENTS, parser_of
from crowd_demo.cli.main import load_command

PAGE = (Path(__file__).parents[2] / "docs/api.md").read_text("utf-8")
COMING = "picture", "step_ms"


def test_all_blocks_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)):
        if hasattr(Simulation, "picture") or not any(word in block for word in COMING):
            exec(compile(block, f"block {number} of api.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "overrides:1: agnts: unknown key (did you mean agents?)" in printed
    assert "threads: must be auto or a whole number from 1 to 64, not 0" in printed
    assert names["birds"].x.dtype == "float32" and not names["birds"].x.flags.writeable
    if "picture" in names:
        assert names["picture"].shape == (180, 320, 3)


@pytest.mark.quick
def test_every_option_and_field_is_on_the_page() -> None:
    from crowd_demo.host import report
    for name in (*COMMANDS, *EXPERIMENTS):
        assert f"| `{name}" in PAGE, name
        for option in re.findall(r"--[a-z-]+", parser_of(name, load_command(name)).format_help()):
            assert option == "--help" or f"`{option}" in PAGE, option
    for field in re.findall(r'^        "(\w+)":', Path(report.__file__).read_text("utf-8"), re.MULTILINE):
        assert f"`{field}`" in PAGE, field
