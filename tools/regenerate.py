"""Make again what is derived from the program: `python tools/regenerate.py`.

    configs/schema.json    from the models of the configuration
    tours/schema.json      from those of a tour
    docs/reference/        all pages, from entries, signatures, docstrings and comments
    docs/tutorials/behaviour.md   the code of examples/first_behaviour
    docs/tours.md          the numbers of a tour
    crowd_demo/registry/terms.py   the terms of docs/model*.md in which numbers stand
    README.md, docs/findings.md   what techniques are worth, with --worth REPORT: that of `crowd-demo ablate --config 20k`
    docs/pictures/         only with --pictures, for it takes minutes; window/ is made by gallery.py
    assets/scenarios/      the pictures of the menu of scenarios, with --pictures too

`--check` writes nothing and fails where something is not up to date. What is made stands between `<!-- name -->` and
`<!-- /name -->`; the code of the tutorial between such marks that name a file, or a file and one of its parts.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from types import FunctionType, MethodType
from typing import Any

from pydantic import BaseModel

from crowd_demo.app.controls import Outcome
from crowd_demo.cli.arguments import COMMANDS, EXPERIMENTS, OptionGroup
from crowd_demo.cli.main import load_command
from crowd_demo.config.keys import key_text
from crowd_demo.config.model import Config
from crowd_demo.config.resources import about, list_configs, list_tours
from crowd_demo.config.tour import NUMBERS, Tour
from crowd_demo.host import report
from crowd_demo.host.recording.recording import Player
from crowd_demo.registry import entries
from crowd_demo.registry.actions import HEADINGS
from crowd_demo.registry.built_in import MEASURES, OWN_COLOURS, OWN_OVERLAYS
from crowd_demo.registry.entries import GROUPS, ColourEntry, OverlayEntry
from crowd_demo.registry.plugins import installed
from crowd_demo.registry.stages import READOUTS, STAGES
from crowd_demo.registry.techniques import TECHNIQUES, exactness, yaml_word

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/reference"
MADE = "<!-- Made by tools/regenerate.py from the program. -->"
TECHNIQUE_TEXT = """The key toggles a technique, and with `Shift` selects its next value.
Where no value is off, false or 0, the key selects the next value, with `Shift` the previous one.
In brackets are the key under `optimizations` and its values, with the **default**.

Techniques are exact unless marked. *Approximate* ones (`~` in the window) change the crowd a little. *Model* (`≠`) means
another rule of behaviour.
"""
KEY_TEXT = """`F1` shows all keys as they are printed on your keyboard, in any layout
([how](../troubleshooting.md#keys-on-other-layouts)). Section `keys` of a configuration changes them.
The keys of techniques are in [Techniques](techniques.md).
"""
SCENARIO_TEXT = """`--config` takes a shipped name, a path, or a file in `./configs`; `F2` lists all of them.
A key that a file leaves out has [its default](configuration.md).
"""
OVERLAY_TEXT = """`F10` lists the overlays, and `Q` goes through the colour modes ([how](../window.md#overlays)).
The action of an overlay is `show_` and its name, except `freeze`.
"""
TOUR_TEXT = "`F3` or `--tour NAME` starts one ([how to write one](../tours.md))."
CONFIG_TEXT = """Every key of a configuration file with its default and unit. `configs/schema.json` has the ranges.
Lengths are in world units: a pixel at zoom 1, and 1/26 m for people. Keys in `_s` are in seconds.
Each behaviour has `limit_scanned` and `limit_kept`, which `crowd` lists.
`--set KEY=VALUE` changes a key on the command line, and `--print-config` prints all values in effect.
"""
ELSEWHERE = {  # keys whose values another page lists
    "events": "[events of the scenario](../events.md)",
    "optimizations": "[Techniques](techniques.md) lists these keys, their values and defaults.",
    "scene.colours": "[the colour mode at the start](overlays.md#colour-modes)",
    "scene.overlays": "[overlays at the start](overlays.md#overlays)",
    "keys": "A key or a list of keys for an [action](keys.md), a [technique](techniques.md) or an [overlay](overlays.md).",
}
COMMAND_TEXT = "`crowd-demo COMMAND --help` prints the same. [What the commands share](../api.md#the-command-line).\n"
MODULES = ("crowd_demo", "crowd_demo.extras.ensemble", "crowd_demo.grid", "crowd_demo.sprites")
MEMBERS = {"Config": (), "Plan": (), "SpriteSheet": (), "Simulation": (
    "step", "play", "state_hash", "picture", "show", "trajectories", "populate", "place", "set_walls", "apply", "snapshot",
    "restore", "from_snapshot", "optimizations", "dt", "states", "population")}
ATTRIBUTES = {
    "Config": "[Its keys](configuration.md).",
    "Simulation": """- `agents.by_id()`: read-only copies of all columns in the order of ids
- `agents.count`, `tick`, `config`
- `history`: a list of (tick, action)
- `profile.counters`: counters of the last step, such as `candidates_per_agent`
- `profile.step_ms(last=1024)`: milliseconds per step by stage: the median of the steps in which it ran, times their share""",
}
API_TEXT = """[How to use it](../api.md). An invalid argument is a ValueError or TypeError, and changes nothing.
Members have the first sentence of their docstrings: `help` prints the rest.
"""
PLUGIN_TEXT = """The records in `crowd_demo.registry.entries` with the types and defaults of their fields
([how to](../api.md#plugins)).
"""
REPORT_TEXT = """`--report PATH` writes one JSON object about the last scenario shown.
Times are milliseconds over all frames except the first `warmup_frames`. A value that this system cannot measure is null.
"""
FILE_TEXT = "Nothing in a file is trusted when it is read, and files contain no pickles.\n"
FILES = {"Saves: `.crowd`": "sim.save_format", "Recordings: `.replay`": "host.recording.format",
         "Trajectories: `.txt`, `.sqlite`, `.parquet`, `.csv`": "extras.export.trajectories",
         "Tables of an ensemble": "extras.ensemble.table",
         "Records of measurements": "measure.experiment", "Times of the last second: `.csv`": "host.report"}
ERRORS = re.compile(r"\s*Raises (Value|Type)Error\b(?! and).*?\.(?=\s|$)", re.DOTALL)  # that all functions raise
COMMENTED = re.compile(r"^ +\"?(\w+)\"?: (.+?)(?: = (.+?))?,?(?:  # (.*))?$", re.MULTILINE)  # a field or key


def pages() -> dict[Path, str]:
    """The pages by their paths."""
    made = {
        "techniques": ("Techniques", TECHNIQUE_TEXT, technique_tables()),
        "keys": ("Keys", KEY_TEXT, key_lists()),
        "overlays": ("Overlays, colours, stages and readings", OVERLAY_TEXT, "\n\n".join((
            "## Overlays", pictures("overlay", OWN_OVERLAYS), "## Colour modes", pictures("colours", OWN_COLOURS),
            *reading_lists()))),
        "scenarios": ("Scenarios and tours", SCENARIO_TEXT, "\n\n".join((
            "## Scenarios", listed(list_configs()), "## Tours", TOUR_TEXT, listed(list_tours())))),
        "configuration": ("Configuration", CONFIG_TEXT, "\n\n".join(setting_lists())),
        "command-line": ("Command line", COMMAND_TEXT, "\n\n".join(command_lists())),
        "python": ("Python API", API_TEXT, "\n\n".join(api_entries())),
        "plugins": ("Plugin records", PLUGIN_TEXT, "\n\n".join(record_lists())),
        "report": ("Report", REPORT_TEXT, "\n\n".join(report_lists())),
        "files": ("File formats", FILE_TEXT, "\n\n".join(
            f"## {title}\n\n" + (inspect.getdoc(import_module(f"crowd_demo.{name}")) or "").partition("Format:\n\n")[2]
            for title, name in FILES.items())),
    }
    return {FOLDER / f"{name}.md": f"# {title}\n\n{MADE}\n\n{text}\n{content}\n"
            for name, (title, text, content) in made.items()}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join([f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in cells)])


def items(rows: Iterable[tuple[str, str]]) -> str:
    """A list of names, each with its text if there is any."""
    return "\n".join(f"- {name}{f': {text}' if text else ''}" for name, text in rows)


def listed(files: Mapping[str, Path]) -> str:
    """Shipped files, each with its description."""
    return items((f"`{name}`", about(path)) for name, path in files.items())


def pictures(kind: str, entries: Iterable[OverlayEntry | ColourEntry]) -> str:
    """What each overlay or colour mode shows, and its picture (gallery.py)."""
    named = ((getattr(entry, "label", entry.name), entry) for entry in entries)
    return "\n\n".join(f"**{label}**: {entry.why}\n\n"
                       f"![{label}](../pictures/window/{kind}-{label}.jpg)" for label, entry in named)


def technique_tables() -> str:
    """A list for each group."""
    rows: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
    for technique in TECHNIQUES:
        choices = ", ".join(f"**{yaml_word(choice)}**" if choice == technique.default else yaml_word(choice)
                            for choice in technique.choices)
        crowd = exactness(technique).removeprefix("exact").strip(" ()")
        rows[technique.group].append((f"`{technique.key}` **{technique.label}** (`{technique.path}`: {choices})",
                                      f"{technique.why}{f' ({crowd})' if crowd else ''}"))
    return "\n\n".join(f"## {group.capitalize()}\n\n{GROUPS[group][0].upper()}{GROUPS[group][1:]}.\n\n{items(found)}"
                       for group, found in rows.items() if found)


def key_lists() -> str:
    """A list for each heading of the actions; of numbered ones the first, whose text is about all."""
    return "\n\n".join(
        f"## {heading}\n\n" + items(
            (f"{' '.join(f'`{key_text(key)}`' for key in entry.keys)} (`{name}`)".lstrip(),
             entry.what * (entry.what != name.replace("_", " ")))
            for name, entry in actions.items() if not re.search(r"_[2-9]$", name))
        for heading, actions in HEADINGS.items())


def setting_lists() -> Iterator[str]:
    """Yield a list of the keys without a section, then one for each section."""
    schema = Config.model_json_schema()
    kinds: Mapping[str, Any] = schema["$defs"]
    sections = {name: kinds[each["$ref"].rpartition("/")[2]] for name, each in schema["properties"].items() if "$ref" in each}
    alone = {name: each for name, each in schema["properties"].items() if name not in sections}
    yield f"## Without a section\n\n{items(settings(alone, kinds))}"
    listed: dict[str, set[tuple[str, str]]] = {}
    for name, kind in sections.items():
        text, rows = kind.get("description", ""), list(settings(kind["properties"], kinds, section=f"{name}."))
        for other, found in listed.items():
            if shared := found & set(rows):  # keys that several behaviours have
                text += f" All keys of `{other}`." * (shared == found)
                rows = [row for row in rows if row not in shared]
        listed[name] = set(rows)
        content = f"{text}\n\n{items(rows)}"
        yield f"## {name}\n\n{ELSEWHERE.get(name, content)}"


def settings(properties: Mapping[str, Any], kinds: Mapping[str, Any], prefix: str = "",
             section: str = "") -> Iterator[tuple[str, str]]:
    """Yield some keys with their defaults and texts, those of sections within them too."""
    for name, each in properties.items():
        below = [kinds[part["$ref"].rpartition("/")[2]] for part in (each, each.get("items", {}), *each.get("anyOf", ()))
                 if "$ref" in part]
        named = all(f"{choice}: " in each.get("description", "") for choice in each.get("enum", ()))
        choices = "" if named else f"{', '.join(map(str, each['enum']))}; "
        elsewhere = ELSEWHERE.get(section + name, "")
        about = re.sub(r"(,? \(?)[\d.]+ to [\d^ -.]+\)$", lambda found: ")" if found[1] == ", " else "",
                       each.get("description", ""))  # without its range, which the schema has
        about = re.sub(r" \((?!degrees|pixels|bytes)[a-z ]+\)$", "", about)  # a number of things, of seconds or of units
        yield f"`{prefix}{name}: {json.dumps(each.get('default'))}`", elsewhere or choices + about
        for kind in [] if elsewhere else below:
            yield from settings(kind.get("properties", {}), kinds, f"{prefix}{name}.")


def command_lists() -> Iterator[str]:
    """Yield a chapter for each command: what it does, and its options."""
    seen: set[tuple[str, str]] = set()
    for name, (_, what) in (COMMANDS | EXPERIMENTS).items():
        command = load_command(name)
        groups = [each if isinstance(each, OptionGroup) else OptionGroup([each]) for each in command.options]
        rows = [(f"`{option}{' ' + str(settings['metavar']) if settings.get('metavar') else ''}`",
                 str(settings.get("help", "")) % {"default": settings.get("default")})
                for group in groups for option, settings in group.options]
        known = [f"`{row[0].strip('`').partition(' ')[0]}`" for row in rows if row in seen]
        same = f" As above: {', '.join(known)}." if known else ""
        yield f"## {name}\n\n{what[0].upper()}{what[1:]}.{same}\n\n{items(row for row in rows if row not in seen)}"
        seen.update(rows)


def api_entries() -> Iterator[str]:
    """Yield a chapter for each public module, with its functions and classes."""
    for name in MODULES:
        module = import_module(name)
        yield f"## {name.replace('.extras', '')}"
        for public, each in ((public, getattr(module, public)) for public in module.__all__):
            if callable(each):
                own = getattr(each, "_defn", each)  # what an intrinsic of Numba is made of
                call = signature(own)
                text = ERRORS.sub("", inspect.getdoc(own) or "")
                yield f"### {public}\n\n" + (f"`{call}`\n\n" if call != public else "") + text
            if inspect.isclass(each):
                yield from filter(None, (ATTRIBUTES.get(public, ""), members(each, MEMBERS.get(public, tuple(vars(each))))))


def members(kind: type, names: Sequence[str]) -> str:
    """A list of the methods and properties of a class that have a docstring, with its first sentence."""
    return items(
        (f"`{signature(each) if callable(each) else name}`",
         re.sub(r"^Return (?!to )", "", " ".join(each.__doc__.split()).partition(". ")[0].rstrip(".")))
        for name, each in ((name, getattr(kind, name)) for name in names if not name.startswith("_"))
        if isinstance(each, FunctionType | MethodType | property) and each.__doc__)


def signature(called: Any) -> str:
    """The call of a function or class without types; the name alone of a class without an `__init__` of its own."""
    function = called.__init__ if inspect.isclass(called) else called
    if not getattr(function, "__module__", "").startswith("crowd_demo"):
        return str(called.__name__)
    tree: Any = ast.parse(dedent(inspect.getsource(function))).body[0]
    tree.args.args = [each for each in tree.args.args if each.arg not in ("self", "cls", "context")]
    for each in (*tree.args.args, *tree.args.kwonlyargs, *filter(None, (tree.args.vararg,))):
        each.annotation = None
    result = ast.unparse(tree.returns) if tree.returns and function is called else "None"
    returns = f" -> {result}" if result != "None" else ""
    return f"{called.__name__}({ast.unparse(tree.args)}){returns}"


def record_lists() -> Iterator[str]:
    """Yield a list of fields for each record that plugins can use, then a list of the types of these fields."""
    for kind in (entries.Plugin, entries.Technique, entries.StageEntry, entries.BehaviourEntry, entries.OverlayEntry,
                 entries.ColourEntry, entries.MeasureEntry):
        yield f"## {kind.__name__}\n\n{inspect.getdoc(kind)}\n\n" + items(
            (f"`{name}: {each}{f' = {default}' if default else ''}`", comment)
            for name, each, default, comment in fields(kind))
    yield "## Types of fields\n\n" + items(
        (f"`{name}`", kind.__metadata__[0].be) for name, kind in vars(entries).items()
        if isinstance(getattr(kind, "__metadata__", [0])[0], entries.Must))


def fields(kind: Any) -> Iterator[tuple[str, str, str, str]]:
    """Yield the fields of a record, or the keys of a dictionary, from its source: name, type or value, default, comment."""
    body = re.sub(r'"""(.|\n)*?"""', "", inspect.getsource(kind)).partition("@property")[0]
    return (found for found in COMMENTED.findall(body))


def report_lists() -> Iterator[str]:
    """Yield the fields of a report, and those of its parts about a scenario and a replay."""
    for title, part in (("Report", report.report), ("`outcome`: of a scenario that asks a question", Outcome),
                        ("`replay`: of a replay", Player.report)):
        yield f"## {title}\n\n{items((f'`{name}`', what) for name, _, _, what in fields(part) if what)}"


def reading_lists() -> Iterator[str]:
    """Yield the lists of stages, readings and measures."""
    for part in dict.fromkeys(each.part for each in STAGES.values()):
        stages = [each for each in STAGES.values() if each.part == part]
        yield f"## Stages of {part}\n\n{items((f'`{each.name}`', each.about) for each in stages)}"
    yield "## Readings\n\nMeans of the last second unless noted. Tooltips add which values are good.\n\n" + items(
        (f"**{label}**", each.what) for label, each in READOUTS.items())
    yield "## Measures of a run\n\n" + items(
        (f"`{each.name}` ({', '.join(filter(None, (each.unit, each.fold, *each.behaviours)))})", each.why)
        for each in MEASURES.values())


SCHEMA, TUTORIAL = ROOT / "configs/schema.json", ROOT / "docs/tutorials/behaviour.md"
TOURS, TOUR_SCHEMA = ROOT / "docs/tours.md", ROOT / "tours/schema.json"
TERMS = ROOT / "crowd_demo/registry/terms.py"
EXAMPLE = ROOT / "examples/first_behaviour"
CHAPTERS = {  # pages of the model and chapters of them, by section of the configuration
    "crowd": ("model_people", "model_maps", "Birth"), "flock": ("The flock",),
    "hunt": ("Predators and prey", "The flock", "Birth"), "crates": ("The crates", "Birth"), "links": ("Links",),
    "playback": ("Playback",)}
TERMS_HEAD = '''"""For each number of the behaviours and of links the formula of docs/model*.md in which it stands.

Made by tools/regenerate.py from these pages.
"""

# ruff: noqa: E501

TERMS = {
'''
PICTURES = {
    "1m": ["--frames", "300", "--set", "window.hud=off"],
    "crates": ["--frames", "1500", "--set", "window.hud=off"],
    "murmuration": (DIVE := ["--frames", "1350", "--set", "window.hud=off", "--set", "camera.zoom=0.6",
                             "--set", "camera.center=[1500, 1090]"]),
}
ENSEMBLE_PICTURE = ["--config", "1k", "--seeds", "1-8", "--vary", "crowd.radius=20,30,40,50,60",
                    "--vary", "optimizations.avoidance=anticipate,slow_down", "--steps", "1200", "--every", "30",
                    "--measure", "stuck,speed,overlap", "--plot"]
FULL = ["--frames", "3000", "--set", "window.hud=off"]  # until then nobody queues or leaves
BARE = ["--set", "window.hud=off"]
SCENES = {  # others are shown at frame 300
    "100k": ["--frames", "900", *BARE, "--set", "camera.zoom=0.12", "--set", "camera.center=[6500, 6500]"],
    **{name: ["--frames", str(frames), *BARE] for name, frames in {
        "corridor": 3600, "crossing": 2100, "doorway": 1800, "evacuation": 2100, "evacuation-two-doors": 4200, "concert": 3000,
        "crush": 600}.items()},
    "1m": ["--frames", "60", *BARE], "murmuration": DIVE, "queues": FULL, "station": FULL,
    "predators": ["--frames", "300", *BARE, "--set", "camera.zoom=0.6", "--set", "camera.center=[2130, 1130]"],
    "push-20k": ["--frames", "600", *BARE, "--set", "camera.zoom=2.5", "--set", "camera.center=[1650, 1750]"]}
SCENARIOS = ROOT / "assets/scenarios"
ROWS = {  # of README's table of what techniques are worth
    "neighbours": "sorted grid (off: brute force)", "blitter": "compiled blitter (off: pygame)", "simd": "SIMD lanes",
    "stagger.sight": "line of sight every 8th step (approximate)",
    "stagger.avoidance": "avoidance every 3rd step (approximate)", "threads": "two threads",
    "reorder.when": "agents in cell order", "cull": "culling by cells",
    "avoidance": "slowing down (off: pushes, another model)", "overlap_passes": "overlap passes (off: another model)"}
PHRASES = {  # of other pages, with figures of a technique
    "Reordering makes a step of 20,000 people {step} times as fast, and a frame {frame} times": (
        "findings.md", "reorder.when")}
HEAD = "| `20k`, each technique turned off alone | ms per step | a frame takes |\n|---|---|---|"
PART = re.compile(r"<!-- worth.*?<!-- /worth -->", re.DOTALL)
SMALL_PX, COLOURS = (256, 144), 96  # of a scenario's picture: a file of at most 27 kB


def main() -> int:
    parser = argparse.ArgumentParser(description="Make again what is derived from the program.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where something is not up to date")
    parser.add_argument("--pictures", action="store_true", help="the pictures of the docs too")
    parser.add_argument("--worth", type=Path, metavar="REPORT", help="the figures of a report, on README and other pages")
    args = parser.parse_args()
    if installed():
        print("regenerate: plugins are installed, and would get into the schema and the pages", file=sys.stderr)
        return 1
    outdated = {path: text for path, text in derived().items() if not path.exists() or path.read_text("utf-8") != text}
    for path, text in outdated.items():
        print(f"{path.relative_to(ROOT)} {'is not up to date' if args.check else 'written'}")
        if not args.check:
            path.write_text(text, "utf-8")
    if args.pictures and not args.check:
        make_pictures()
    if args.worth and not args.check:
        write_figures(json.loads(args.worth.read_text("utf-8")))
    return 1 if args.check and outdated else 0


def derived() -> dict[Path, str]:
    """The files that are derived, or hold something that is, as they should be."""
    texts = {SCHEMA: schema(Config), TOUR_SCHEMA: schema(Tour), TERMS: terms_file(),
             TUTORIAL: with_code(TUTORIAL.read_text("utf-8")), **pages()}
    numbers = table(("number", ""), ((f"`{{{name}}}`", what) for name, what in NUMBERS.items()))
    return {**texts, TOURS: between(TOURS.read_text("utf-8"), "numbers", numbers)}


def schema(model: type[BaseModel]) -> str:
    return json.dumps(model.model_json_schema(), indent=2) + "\n"


# --- tables that follow from the registry ---------------------------------------------------------------------------

def terms_file() -> str:
    """A dictionary: for each number of the behaviours and of links the first formula of the model's pages that has it."""
    chapters = {path.stem: path.read_text("utf-8") for path in sorted((ROOT / "docs").glob("model*.md"))}
    for page in tuple(chapters.values()):
        chapters.update(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    lines = [f'    "{name}.{key}": {json.dumps(term)},' for name, titles in CHAPTERS.items()
             for key in type(getattr(Config.model_validate({}), name)).model_fields
             if (term := term_of(name, key, [chapters[title] for title in (*titles, "Neighbour limits")]))]
    return TERMS_HEAD + "\n".join(lines) + "\n}\n"


def term_of(name: str, key: str, chapters: Sequence[str]) -> str:
    """The first formula with a key, its full name first, of a line of its own or else within the text; empty without any."""
    for whole in (re.compile(rf"\b{name}\.{key}(?!\w)"), re.compile(rf"(?<![\w.]){key}(?!\w)")):
        for chapter in chapters:
            apart = (re.split(r"   +(?![ =])", line) for line in re.findall(r"^    (.*)$", chapter, re.MULTILINE))
            within = re.findall(r"`([^`]+)`", chapter.replace("\n", " "))
            for formula in (*(part for parts in apart for part in parts), *within):
                if whole.search(formula) and re.search(r"[-+*/<>=(]", formula) and not formula.startswith("("):
                    return re.sub(r"  +", " ", formula.strip().rstrip(","))
    return ""


def with_code(page: str) -> str:
    """The page with the present code between its marks."""
    for name in re.findall(r"<!-- ([^/\s]\S*\.(?:py|toml)\S*) -->", page):
        path, _, part = name.partition("#")
        text = (EXAMPLE / path).read_text("utf-8")
        language = {"py": "python"}.get(path.rpartition(".")[2], "toml")
        page = between(page, name, f"```{language}\n{parts(text)[part].strip()}\n```")
    return page


def parts(code: str) -> dict[str, str]:
    """What stands under each heading `# --- name ---`, and under "" what comes before the first."""
    first, *others = re.split(r"^# --- (.+?) -+$", code, flags=re.MULTILINE)
    return {"": first, **dict(zip(others[::2], others[1::2], strict=True))}


def between(text: str, name: str, content: str) -> str:
    """The text with the content between the marks of that name. Raises ValueError when these are missing."""
    before, start, rest = text.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"\n<!-- /{name} -->")
    if not (start and end):
        raise ValueError(f"there are no marks <!-- {name} --> and <!-- /{name} -->")
    return before + start + content + end + after


# --- what techniques are worth, and pictures -------------------------------------------------------------------------

def write_figures(report: dict[str, Any]) -> None:
    """Write the table of README with its date, commit and machine, and the figures of that run on other pages."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    machine = f"{report['machine']['cpu']}, {report['machine']['cores']} cores"
    about = f"crowd-demo ablate --config 20k; {date.today()}, {commit.stdout.strip()}, {machine}"
    page = ROOT / "README.md"
    page.write_text(PART.sub(lambda _: worth(report, about), page.read_text("utf-8")), "utf-8")
    for phrase, (name, technique) in PHRASES.items():
        page = ROOT / "docs" / name
        row = next(row for row in report["rows"] if row["technique"] == technique)
        page.write_text(with_figures(page.read_text("utf-8"), phrase, row), "utf-8")


def worth(report: dict[str, Any], about: str) -> str:
    """The table, between two comments; `report` is that of `crowd-demo ablate`."""
    measured, rows = {row["technique"]: row for row in report["rows"]}, list[str]()
    for path, text in ROWS.items():
        step, frame = measured[path]["step"], measured[path]["frame"]["other"]
        ms = step["ms"]["value"]
        change = "" if path in ("blitter", "cull") else f"{ms:.2f} -> {ms * step['other']['ratio']['value']:.3g}"
        ratio, costs = frame["ratio"], ": it costs" if frame["verdict"] == "faster" else ""
        known = frame["verdict"] in ("slower", "faster")
        takes = f"{ratio['value']:.2f} times{costs}" if known else "no difference"
        rows.append(f"| {text} | {change} | {takes} ({ratio['low']:.2f}-{ratio['high']:.2f}) |")
    return "\n".join((f"<!-- worth: {about} -->", HEAD, *rows, "<!-- /worth -->"))


def with_figures(text: str, phrase: str, row: dict[str, Any]) -> str:
    """The text of a page with the figures of a technique in the places of the phrase."""
    said = phrase.format(**{name: f"{row[name]['other']['ratio']['value']:.2f}" for name in ("step", "frame")})
    pattern = re.sub(r"\\\{\w+\\\}", r"[\\d.]+", re.escape(phrase)).replace("\\ ", r"\s+")
    return re.sub(pattern, lambda _: said, text)


def make_pictures() -> None:
    import gallery  # late: it imports the whole program, and is found only where this file is run as a script
    from PIL import Image

    pictures = ROOT / "docs/pictures"
    for name, options in PICTURES.items():
        take_picture(name, pictures / f"{name}.png", options)
    SCENARIOS.mkdir(exist_ok=True)
    for name in list_configs():
        take_picture(name, SCENARIOS / f"{name}.png", SCENES.get(name, ["--frames", "300", *BARE]))
        small = Image.open(SCENARIOS / f"{name}.png").convert("RGB").resize(SMALL_PX, Image.Resampling.BOX)
        small.quantize(COLOURS, dither=Image.Dither.NONE).save(SCENARIOS / f"{name}.png", optimize=True)
    with tempfile.TemporaryDirectory() as folder:  # 80 runs, and the picture that they give
        program("ensemble", *ENSEMBLE_PICTURE, "--out", folder)
        (pictures / "ensemble.png").write_bytes((Path(folder) / "plot.png").read_bytes())
    gallery.main(())


def take_picture(name: str, target: Path, options: Sequence[str]) -> None:
    program("--config", name, "--headless", *options, "--screenshot", str(target))
    print(target.relative_to(ROOT))


def program(*arguments: str) -> None:
    """Run `crowd-demo`, whatever lies in the working folder."""
    subprocess.run([sys.executable, "-P", "-m", "crowd_demo", *arguments], check=True)


if __name__ == "__main__":
    sys.exit(main())
