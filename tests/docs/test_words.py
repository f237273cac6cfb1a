"""The program's texts are plain English: every text in the source, of configurations and of tours keeps these rules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
WINDOW = ("app", "registry", "render")  # folders whose texts the window shows
MAX_WORDS = 35
RULES = {
    "a rate takes per": r"\b(ms|MB|s|times|agents|people|steps|frames|pictures|bytes|pixels|passes|units|runs)"
                        r" an? (second|step|frame|picture|register|metre|agent|person|tile|cell|unit|run)\b",
    "begin with a noun": r"(?:^|[.:] )([Ww]ho|[Tt]hose who|[Ww]hat) (?!is\b|if\b|does\b|the\b|to\b)[a-z]",
    "whoever, whatever": r"\b(who|what|which)ever\b",
    "agents or people": r"\b(some|no|every|any)body\b",
    "a technique has no effect": r"\bin vain\b",
    "interleaved": r"\bin turns?\b",
    "again": r"\banew\b",
    "fixed": r"\bmend(s|ed|ing)?\b",
    "a percentage has no space": r"\d %(?!\w)",
    "a count": r"\bso many\b",
    "close or stop": r"\b(put away|give up|gives up|gave up)\b",
    "now": r"\bat present\b",
    "on average": r"\bon the mean\b",
    "tolerance": r"\bgive or take\b",
    "except for": r"\b(but for|as ever)\b",
    "which": r"\bof which\b",
    "belongs to": r"\bbelongs? into\b",
    "is not": r"(?<!here )\b(is|are|was|were) no (?!longer\b|more\b|less\b)\w",
    "by key, manual": r"\bby hand\b|\b(a|the) hand\b",
    "export": r"\bhand(s|ed)? on\b",
    "compare": r"\b(held|hold|holds) (\w+ )*against\b",
    "progress": r"\b(get|gets|got) on\b",
    "Ctrl+W": r"\b(Ctrl|Shift) [A-Z0-9]",
    "decimals": r"\b(quarter|third|half|thirtieth|sixtieth) of an? (second|minute|hour)\b",
    "the more, the more": r"\bthe more\b.*\bthe more\b",
}


def test_texts_keep_the_rules() -> None:
    every = list(texts())
    found = [f"{where}: {rule}: {text[:120]!r}" for where, text in every
             for rule, pattern in RULES.items() if re.search(pattern, text)]
    found += [f"{where}: {len(sentence.split())} words: {sentence[:120]!r}" for where, text in every
              for sentence in re.split(r"(?<=[.!?:;]) |\n", text) if len(sentence.split()) > MAX_WORDS]
    found += [f"{where}: a semicolon: {text[:120]!r}" for where, text in every
              if "; " in text and (where.startswith("tours/") or where.split("/")[1] in WINDOW)]
    assert not found, "\n".join([f"{len(found)} texts", *found])


def texts() -> Iterator[tuple[str, str]]:
    """Yield (where, text): texts with a space in them, an f-string with {} for each value."""
    for path in sorted((ROOT / "crowd_demo").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        nodes = list(ast.walk(tree))
        strings = [node for node in nodes if isinstance(node, ast.JoinedStr)]
        apart = {id(part) for string in strings for part in ast.walk(string)} | {
            id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # parts of f-strings, docstrings
        found = [(node.lineno, "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values))
                 for node in strings]
        found += [(node.lineno, node.value) for node in nodes
                  if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart]
        yield from ((f"{path.relative_to(ROOT)}:{line}", text) for line, text in found if " " in text)
    for path in sorted([*(ROOT / "configs").glob("*.yaml"), *(ROOT / "tours").glob("*.yaml")]):
        found = [(0, text) for text in leaves(yaml.safe_load(path.read_text("utf-8")))]
        yield from ((f"{path.relative_to(ROOT)}", text) for _, text in found if " " in text)


def leaves(data: object) -> Iterator[str]:
    """Yield the texts in YAML data."""
    if isinstance(data, dict | list):
        for each in data.values() if isinstance(data, dict) else data:
            yield from leaves(each)
    elif isinstance(data, str):
        yield data
