"""The program's texts are plain English: every text in the source, of configurations and of tours keeps these rules."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from crowd_demo.config.model import Config
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.sim.behaviours.avoidance import SHARPEST
from crowd_demo.sim.behaviours.contact import SHIFT_PARTS
from crowd_demo.sim.behaviours.people import SLOW

ROOT = Path(__file__).parents[2]
WINDOW = ("app", "registry", "render")  # folders whose texts the window shows
MAX_WORDS, MEAN_WORDS = 35, 22  # of a sentence, and on average over a page
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


@pytest.mark.quick
def test_texts_keep_the_rules() -> None:
    every = list(texts())
    found = [f"{where}: {rule}: {text[:120]!r}" for where, text in every
             for rule, pattern in RULES.items() if re.search(pattern, text)]
    found += [f"{where}: {len(sentence.split())} words: {sentence[:120]!r}" for where, text in every
              for sentence in re.split(r"(?<=[.!?:;]) |\n", text) if len(sentence.split()) > MAX_WORDS]
    found += [f"{where}: a semicolon: {text[:120]!r}" for where, text in every
              if "; " in text and (where.startswith("tours/") or where.split("/")[1] in WINDOW)]
    assert not found, "\n".join([f"{len(found)} texts", *found])


@pytest.mark.quick
@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="a source archive has no pages")
def test_pages_keep_the_rules() -> None:
    found = []
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")]):
        where, paragraphs = path.relative_to(ROOT), list(prose(path.read_text("utf-8")))
        sentences = [sentence for text in paragraphs for sentence in re.split(r"(?<=[.!?]) ", text)]
        found += [f"{where}: {rule}: {text[:120]!r}" for text in paragraphs
                  for rule, pattern in RULES.items() if re.search(pattern, text)]
        lengths = {sentence: len(sentence.split()) for sentence in sentences}
        found += [f"{where}: {length} words: {sentence[:120]!r}" for sentence, length in lengths.items() if length > MAX_WORDS]
        mean = sum(len(sentence.split()) for sentence in sentences) / len(sentences)
        found += [f"{where}: {mean:.1f} words per sentence"] * (mean > MEAN_WORDS)
    assert not found, "\n".join([f"{len(found)} passages", *found])


def prose(page: str) -> Iterator[str]:
    """Yield the prose of a page, paragraph by paragraph: no code, formulas, tables, headings, comments or addresses."""
    page = re.sub(r"```.*?```|(`)[^`]+`|<!--.*?-->", lambda found: "code" if found[1] else "", page, flags=re.DOTALL)
    page = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", page).replace("*", "").replace("!", "")
    for block in re.split(r"\n\s*\n|\n(?= *(?:-|\d+\.) )", re.sub(r"^(\||#| {4}).*$", "", page, flags=re.MULTILINE)):
        if text := " ".join(re.sub(r"^\s*(-|\d+\.) ", "", block).split()):
            yield text


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


# --- the words of docs/how_people_walk.md say what the formulas and the defaults say -------------------------------

DOCS = Path(__file__).parents[2] / "docs"
UNITS = 26  # in a metre
NTH = {2: "second", 3: "third", 4: "fourth", 8: "eighth"}


def words() -> str:
    """The page, in one line."""
    return " ".join((DOCS / "how_people_walk.md").read_text("utf-8").split())


@pytest.mark.quick
def test_its_numbers_are_the_defaults() -> None:
    people, told = Config.model_validate({}).crowd, words()
    stagger = {name: NTH[int(BY_PATH[f"stagger.{name}"].default)] for name in ("avoidance", "sight", "paths")}
    for sentence in (
            f"{(people.speed_min + people.speed_max) / 2 / UNITS:.2f} m/s on average",
            f"each person within {people.radius / UNITS:.1f} m", f"nearer than {people.gap / UNITS:.1f} m",
            f"within {people.ahead_s:g} s", f"straight behind at {people.behind:g}",
            f"less {people.standing / UNITS:.2f} m, has to last {people.headway_s:g} s",
            f"less than {people.in_way / UNITS:.1f} m beside their line", f"by {people.swerve:g} degrees at most",
            f"discs {2 * people.body / UNITS:.2f} m wide", f"no progress for {people.stuck_s:g} s",
            f"at neighbours in every {stagger['avoidance']} step, for the goal in every {stagger['sight']},"
            f" at the route in every {stagger['paths']}"):
        assert sentence in told, sentence
    assert (1 / people.response, people.wait_s, SLOW, SHIFT_PARTS, SHARPEST, people.creep) == (0.25, 30, 0.25, 1 / 3, 1, 1 / 5)
    assert (BY_PATH["avoidance"].default, BY_PATH["overlap_passes"].default) == ("slow_down", 2)


def of_slow_down(section: str, row: str) -> re.Match[str]:
    """Match the cell of `slow_down` in docs/validation.md: two stars if it failed (group 1), and its median (2)."""
    _, _, rest = (DOCS / "validation.md").read_text("utf-8").partition(f"\n### {section}\n")
    for line in rest.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 1 and cells[1] == row:
            found = re.match(r"(\*\*|)([\d.]+)", cells[3])
            assert found
            return found
    raise AssertionError(row)


@pytest.mark.quick
@pytest.mark.parametrize("section, row, sentence", [
    ("Flow through a bottleneck", "flow, 3 m over 1 m", "lets {:.2f} times as many people through as 1 m"),
    ("Speed against density, both ways", "speed at 0.5 people/m²", "in both directions people walk at {:.2f} m/s")])
def test_what_it_says_to_fail_is_what_was_measured(section: str, row: str, sentence: str) -> None:
    found = of_slow_down(section, row)
    assert found[1] and sentence.format(float(found[2])) in words()


@pytest.mark.quick
def test_both_pages_lead_there() -> None:
    for page in (DOCS / "validation.md", DOCS.parent / "README.md"):
        assert "how_people_walk.md#what-the-model-cannot-do" in page.read_text("utf-8")


# --- figures of docs/findings.md have their runs -----------------------------------------------------------------------

@pytest.mark.quick
def test_figures_of_the_findings_have_date_and_commit() -> None:
    sections = re.split(r"^(?=##)", (DOCS / "findings.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    measured = [text for text in sections if re.search(r"\d (ms|ns)\b|\d%|\d times", text)]
    assert len(measured) > 10
    assert [text.splitlines()[0] for text in measured if not re.search(r"<!-- 20\d\d-\d\d-\d\d [0-9a-f]{7,8}\b", text)] == []


# --- each picture of the docs is on some page ------------------------------------------------------------------------

@pytest.mark.quick
@pytest.mark.skipif(not (ROOT / "docs/pictures").is_dir(), reason="a source archive has no pictures of the pages")
def test_each_picture_is_shown_by_a_page() -> None:
    pages = "".join(page.read_text("utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    pictures = [path for path in (ROOT / "docs/pictures").rglob("*") if path.suffix in (".png", ".jpg")]
    assert pictures and [path.name for path in pictures if f"/{path.name})" not in pages] == []
