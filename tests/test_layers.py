"""Modules can be imported in any order. That none imports upwards or in a circle, import-linter checks (pyproject.toml)."""

from __future__ import annotations

import pkgutil
import random
import subprocess
import sys
from pathlib import Path

import pytest

import crowd_demo

ROOT = Path(__file__).parents[1]
IMPORT = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]"
PARSER = """
import contextlib, io, sys
from crowd_demo.cli import main
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    main(["--help"])
print(sorted({"numba", "pygame", "numpy"} & set(sys.modules)))
"""


def modules() -> list[str]:
    """All of the package but the one that runs the program when it is imported."""
    found = pkgutil.walk_packages(crowd_demo.__path__, f"{crowd_demo.__name__}.")
    return [module.name for module in found if not module.name.endswith("__main__")]


@pytest.mark.parametrize("seed", range(6))
def test_modules_can_be_imported_in_any_order(seed: int) -> None:
    """None needs that another one, which it does not import itself, was imported before."""
    names = modules()
    random.Random(seed).shuffle(names)
    done = subprocess.run([sys.executable, "-c", IMPORT, *names], cwd=ROOT, capture_output=True, encoding="utf-8")
    assert len(names) > 100 and not done.returncode, done.stderr


@pytest.mark.quick
def test_the_command_line_starts_without_what_takes_long_to_import() -> None:
    done = subprocess.run([sys.executable, "-c", PARSER], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "[]\n"
