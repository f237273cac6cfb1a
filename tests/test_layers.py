"""Modules can be imported in any order. That none imports upwards or in a circle, import-linter checks (pyproject.toml)."""

import pkgutil
import random
import subprocess
import sys
from pathlib import Path

import pytest

import crowd_demo
from crowd_demo.registry.texts import error_line, printable

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


@pytest.mark.parametrize("seed", range(3))
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


# --- the type checker sees kernels: a dropped or a wrong argument is an error ----------------------------------------

HEAD = """
from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.compute.jit import device, launch
from crowd_demo.sim.store.agents import move_rows

@device
def add(x: Floats, at: int) -> None: ...

def host(rows: Ints, x: Floats) -> None:
"""
WRONG = ("launch(move_rows, 2, rows, rows, 5)", "launch(move_rows, 2, rows, rows, rows, 5)", "move_rows(2, rows, rows, 5)",
         "add(x)")


def test_the_type_checker_sees_kernels(tmp_path: Path) -> None:
    lines = ["launch(move_rows, 2, rows, rows, 5, rows)", "add(x, 3)", *WRONG]
    (tmp_path / "host.py").write_text(HEAD + "".join(f"    {line}\n" for line in lines), "utf-8")
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--follow-imports", "silent", str(tmp_path / "host.py")]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=Path(__file__).parents[1])
    first = len(HEAD.splitlines()) + 1
    found = {int(line.split(":")[1]) - first for line in done.stdout.splitlines() if ": error:" in line}
    assert found == set(range(2, len(lines))), done.stdout


# --- what others wrote, in one line ----------------------------------------------------------------------------------


@pytest.mark.quick
def test_what_cannot_be_printed_is_escaped() -> None:
    assert printable("a\nb\x1b[2J\u202e\ud800 é") == r"a\nb\x1b[2J\u202e\ud800 é"


@pytest.mark.quick
def test_an_error_is_its_kind_and_its_first_line() -> None:
    assert error_line(ValueError("this\nand that")) == "ValueError: this" and error_line(KeyError()) == "KeyError"
    assert error_line(ValueError("\x1b[2J")) == r"ValueError: \x1b[2J" and len(error_line(ValueError("x" * 5000))) == 400
