"""Modules can be imported in any order. That none imports upwards or in a circle, import-linter checks (pyproject.toml)."""

import ast
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


# --- all text that is read or written names its encoding -------------------------------------------------------------

FOLDERS = "crowd_demo", "tests", "benchmarks", "docs", "assets", "examples"
ENCODING_AT = {"read_text": 0, "write_text": 1}  # its place among the arguments
MODE_AT = {"open": 1, "fdopen": 1, "makefile": 0, "TemporaryFile": 0, "NamedTemporaryFile": 0}  # of functions
TEXT = "text", "universal_newlines"  # of a process


def unnamed(source: str) -> list[int]:
    """Return the line numbers of calls that read or write text without naming an encoding."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return sorted(call.lineno for call in calls if is_text(call) and "encoding" not in {word.arg for word in call.keywords})


def is_text(call: ast.Call) -> bool:
    """Does the call read or write text, and not name an encoding by its place?"""
    method = isinstance(call.func, ast.Attribute)
    name, given = getattr(call.func, "attr", getattr(call.func, "id", "")), {word.arg: word.value for word in call.keywords}
    if name in ENCODING_AT:
        return len(call.args) <= ENCODING_AT[name]
    if name not in MODE_AT:
        return any(word in given for word in TEXT)
    place = 0 if name == "open" and method else MODE_AT[name]  # of a path
    mode = call.args[place] if len(call.args) > place else given.get("mode")
    if mode is None:
        return "newline" in given if name == "open" and method else "Temporary" not in name
    return isinstance(mode, ast.Constant) and isinstance(mode.value, str) and set(mode.value) < set("rwxat+")


@pytest.mark.quick
def test_all_text_names_its_encoding() -> None:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    found = {path.relative_to(ROOT): lines for path in files if (lines := unnamed(path.read_text("utf-8")))}
    assert not found


@pytest.mark.quick
@pytest.mark.parametrize(("call", "is_unnamed"), [
    ("path.read_text()", True), ("path.read_text('utf-8')", False), ("path.write_text(text)", True),
    ("path.write_text(text, encoding='utf-8')", False), ("open(path)", True), ("open(path, 'rb')", False),
    ("open(path, 'w', encoding='utf-8')", False), ("path.open('w')", True), ("path.open(newline='')", True),
    ("path.open('rb')", False), ("tarfile.open(fileobj=file)", False), ("dialogs.open(dialog)", False),
    ("dialogs.open('birds')", False), ("window.open()", False), ("os.fdopen(1, 'w')", True), ("os.open(path, flags)", False),
    ("connection.makefile()", True), ("TemporaryFile()", False), ("TemporaryFile('w+')", True), ("run(command)", False),
    ("run(command, text=True)", True), ("run(command, encoding='utf-8')", False)])
def test_a_call_without_an_encoding_is_found(call: str, is_unnamed: bool) -> None:
    assert bool(unnamed(call)) == is_unnamed


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
