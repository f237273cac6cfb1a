"""The examples run, with small crowds, as a reader would start them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pygame
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
NOTEBOOK = """
import ast, json, sys, types

shown = []
display = types.ModuleType("IPython.display")
display.Image, display.display = bytes, shown.append
sys.modules["IPython"], sys.modules["IPython.display"] = types.ModuleType("IPython"), display
names = {}
for number, cell in enumerate(json.load(open(sys.argv[1], encoding="utf-8"))["cells"]):
    if cell["cell_type"] == "code":
        cell = ast.parse("".join(cell["source"]), f"cell {number}")
        last = ast.Expression(cell.body.pop().value) if isinstance(cell.body[-1], ast.Expr) else ast.parse("None", mode="eval")
        exec(compile(cell, f"cell {number}", "exec"), names)
        value = eval(compile(last, f"cell {number}", "eval"), names)
        if hasattr(value, "_repr_html_"):
            assert value._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html')
            print("a page plays in the cell")
assert all(png.startswith(b"\\x89PNG") for png in shown)
print(len(shown), "pictures shown")
"""


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run([sys.executable, *command], env={**os.environ, "PYTHONPATH": paths, **environment},
                          capture_output=True, encoding="utf-8", timeout=600)


def test_a_technique_is_measured() -> None:
    done = run(str(EXAMPLES / "measure_technique.py"), "neighbours", "none", "sorted", "--agents", "300", "--steps", "5")
    assert done.returncode == 0, done.stderr
    first, second, verdict = done.stdout.splitlines()
    assert first.startswith("none ") and second.startswith("sorted ") and first.split()[-1] == second.split()[-1]
    assert verdict == "one crowd, to the last bit"


def test_an_approximate_technique_is_called_so() -> None:
    done = run(str(EXAMPLES / "measure_technique.py"), "stagger.avoidance", "1", "8", "--agents", "3000", "--steps", "5")
    assert done.stdout.splitlines()[-1] == "not the same crowd: this technique is approximate", done.stderr


def test_the_ladder_is_checked_and_measured() -> None:
    done = run(str(EXAMPLES / "ladder.py"), "--points", "1500", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    said, heads, *rows = done.stdout.splitlines()
    assert said.startswith("1,500 points") and said.endswith("identical bit by bit") and heads.startswith("version")
    pairs = {row.split()[0]: int(row.split()[2].replace(",", "")) for row in rows}
    assert list(pairs) == ["brute_force", "grid_of_lists", "counting_sort", "cell_order", "lanes", "threads"]
    assert pairs["brute_force"] == 1500**2 > pairs["lanes"] == pairs["threads"] > pairs["cell_order"] == pairs["counting_sort"]
    assert all(int(row.split()[5]) > 1 for row in rows[4:]), "lanes are packed instructions"


def test_one_version_of_the_ladder() -> None:
    done = run(str(EXAMPLES / "ladder.py"), "lanes", "--points", "300", "--rounds", "1")
    assert done.returncode == 0 and [line.split()[0] for line in done.stdout.splitlines()[2:]] == ["lanes"], done.stderr


def test_a_strip_of_pictures_is_saved(tmp_path: Path) -> None:
    target = tmp_path / "strip.png"
    done = run(str(EXAMPLES / "strip_of_pictures.py"), str(target), "--agents", "300", "--every", "3", "--size", "96")
    assert done.returncode == 0, done.stderr
    assert pygame.image.load(target).get_size() == (4 * 96, 96)


def test_lanes_are_the_same_to_the_last_bit() -> None:
    done = run(str(EXAMPLES / "lanes.py"))
    assert done.returncode == 0, done.stderr
    assert "after 60; one by one and in lanes the same to the last bit" in done.stdout


@pytest.mark.quick
def test_lanes_can_be_copied_as_six_files() -> None:
    """As docs/design/lanes.md says: all they need besides is `device`, and options of Numba."""
    files = {"simd", "simd_memory", "llvm", "dispatch", "hashing", "arrays"}
    needed = {(module, name) for file in files
              for module, name in re.findall(r"^from crowd_demo\.(\S+) import (.+)$",
                                             (ROOT / f"crowd_demo/compute/{file}.py").read_text("utf-8"), re.MULTILINE)
              if module not in {f"compute.{each}" for each in files}}
    assert needed - {("compute", "llvm")} == {("compute.jit", "device"), ("compute.numba_plain", "IN_KERNELS")}


def test_the_notebook_runs_from_top_to_bottom() -> None:
    done = run("-c", NOTEBOOK, str(EXAMPLES / "staggering.ipynb"), AGENTS="600", STEPS="6")
    assert done.returncode == 0, done.stderr
    assert "period   ms a step" in done.stdout and "1 pictures shown" in done.stdout
    errors = re.findall(r"^8 \[(.*)\]$", done.stdout, re.MULTILINE)[0].split()
    assert float(errors[0]) == 0 < float(errors[-1]) and len(errors) > 4 and "a page plays in the cell" in done.stdout


@pytest.mark.quick
def test_scripts_fit_on_a_screen() -> None:
    for script in EXAMPLES.glob("*.py"):
        assert len(script.read_text("utf-8").splitlines()) <= 60, script
