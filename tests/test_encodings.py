"""All text that is read or written names its encoding: by default it is that of the system, which is not UTF-8 everywhere."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick
ROOT = Path(__file__).parents[1]
FOLDERS = "crowd_demo", "tests", "benchmarks", "docs", "assets", "examples"
ENCODING_AT = {"read_text": 0, "write_text": 1}  # its place among the arguments
MODE_AT = {"open": 1, "fdopen": 1, "makefile": 0, "TemporaryFile": 0, "NamedTemporaryFile": 0}  # of functions
TEXT = "text", "universal_newlines"  # of a process


def unnamed(source: str) -> list[int]:
    """The lines of calls that read or write text in the encoding of the system."""
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


def test_all_text_names_its_encoding() -> None:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    found = {path.relative_to(ROOT): lines for path in files if (lines := unnamed(path.read_text("utf-8")))}
    assert not found


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
