"""Pages name commands, options, keys, files, configurations, counts and diagrams that exist; test_readme.py checks links."""

import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel
from scripts import load_script

from crowd_demo.cli.arguments import COMMANDS, EXPERIMENTS, RUN, parser_of
from crowd_demo.cli.main import load_command
from crowd_demo.config.keys import ACTIONS, key_text
from crowd_demo.config.loader import load_config
from crowd_demo.config.model import Config
from crowd_demo.config.resources import list_configs, list_tours
from crowd_demo.registry.built_in import OWN_COLOURS, OWN_OVERLAYS
from crowd_demo.registry.techniques import TECHNIQUES
from crowd_demo.version import __version__

ROOT = Path(__file__).parents[2]
PAGES = [path for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks/README.md")
         if "docs/reference" not in path.as_posix()]  # which the program writes
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in PAGES}
OPTIONS = {name: set(re.findall(r"--[a-z][a-z-]*", parser_of(name, load_command(name)).format_help()))
           for name in (*COMMANDS, *EXPERIMENTS)}
SCRIPTS = "".join(path.read_text("utf-8") for folder in ("tools", "benchmarks", "examples")
                  for path in (ROOT / folder).rglob("*.py"))
COUNTS = {"scenarios": len(list_configs()), "techniques": len(TECHNIQUES), "overlays": len(OWN_OVERLAYS),
          "colour modes": len(OWN_COLOURS), "tours": len(list_tours())}
FOREIGN_OPTIONS = {"--platform", "--cov", "--dashboard-address", "--host", "--no-dashboard"}
FREE_KEYS = {"ctrl+c", "ctrl+wheel", "esc", "enter"}
SECTIONS = "|".join(sorted({*Config.model_fields} - {"world", "cache"}))  # which are also names in the source
FIRST_LINE = "crowd-demo save"  # of a file, not a command


def codes() -> Iterator[tuple[str, str]]:
    """Yield (page, code): inline code, and each line of blocks without a language, a continued one as one."""
    for page, text in TEXTS.items():
        for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            lines = re.sub(r"\\\n\s*", "", block).splitlines() if not language else []
            yield from ((page, re.sub(r"\s+#.*", "", line)) for line in lines)
        prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
        yield from ((page, " ".join(code.split())) for code in re.findall(r"`([^`]+)`", prose))


def wrong_command(code: str) -> Iterator[str]:
    """Yield what does not exist of a command line of the program."""
    words = [word for part in code.split("&&") if part.strip().startswith("crowd-demo ") for word in shlex.split(part)[1:]]
    count = 2 if " ".join(words[:2]) in EXPERIMENTS else 1 if words and words[0][0] not in "-[." and words[0].islower() else 0
    name = " ".join(words[:count]) or RUN
    if name not in OPTIONS:
        yield name
        return
    yield from (word for word in words if re.match(r"--[a-z]", word) and word.partition("=")[0] not in OPTIONS[name])
    values = dict(itertools.pairwise(words))
    for option, there in (("--config", list_configs()), ("--tour", list_tours())):
        if (value := values.get(option, "")) and not re.search(r"[./]", value) and value.islower() and value not in there:
            yield f"{option} {value}"


def has_key(section: type[BaseModel], names: list[str]) -> bool:
    field = section.model_fields.get(names[0])
    below = field.annotation if field and len(names) > 1 else None
    return has_key(below, names[1:]) if isinstance(below, type) and issubclass(below, BaseModel) else field is not None


@pytest.mark.parametrize("page", TEXTS)
@pytest.mark.quick
def test_what_a_page_names_exists(page: str) -> None:
    found = []
    keys = {key_text(key).lower().replace("shift+", "") for entry in ACTIONS.values() for key in entry.keys}
    for code in [code for where, code in codes() if where == page]:
        if (code.startswith("crowd-demo ") or " && crowd-demo " in code) and not code.startswith(FIRST_LINE):
            found += [f"{code}: {wrong}" for wrong in wrong_command(code)]
        elif code.startswith("keys: "):
            load_config("1k", yaml.safe_load(code))
        elif code.startswith("--"):
            known = set.union(*OPTIONS.values()) | FOREIGN_OPTIONS
            named = re.findall(r"(?<!\S)--[a-z][a-z-]*", code)
            found += [word for word in named if word not in known and word not in SCRIPTS]
        for path in re.findall(r"(?:^|\s)((?:\.ci|tests|tools|docs|configs|examples|benchmarks)/[\w./-]+\.(?:\w+))", code):
            found += [path] * (not (ROOT / path).exists())
        for key in re.findall(rf"(?:^|--set )((?:{SECTIONS})(?:\.[a-z_]+)+)(?==|$)", code):
            found += [key] * (not has_key(Config, key.split(".")))
        if re.fullmatch(r"((Ctrl|Shift)\+)+\S+|F\d+|Esc|Enter", code):
            found += [code] * (code.lower().replace("shift+", "") not in keys | FREE_KEYS)
    for count, what in re.findall(r"\b(\d+) (" + "|".join(COUNTS) + r")\b", TEXTS[page]):
        found += [f"{count} {what}, not {COUNTS[what]}"] * (int(count) != COUNTS[what])
    assert not found, found


@pytest.mark.quick
def test_the_citation_has_the_version() -> None:
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


# --- The diagrams of docs/techniques.md are those that the script draws, and the page shows each of them -------------

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.quick
def test_diagrams_are_drawn_again_alike_and_shown(tmp_path: Path) -> None:
    script = load_script("tools/diagrams.py")
    script.main(["--out", str(tmp_path)])
    page, kept = (DOCS / "techniques.md").read_text("utf-8"), DOCS / "pictures/techniques"
    assert sorted(path.name for path in kept.iterdir()) == sorted(f"{name}.svg" for name in script.DIAGRAMS)
    for name in script.DIAGRAMS:
        assert (tmp_path / f"{name}.svg").read_bytes() == (kept / f"{name}.svg").read_bytes()
        assert f"(pictures/techniques/{name}.svg)" in page
