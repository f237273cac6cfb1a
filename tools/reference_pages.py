"""The pages of docs/reference, from the program's own entries, signatures, docstrings and comments."""

import ast
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from types import FunctionType, MethodType
from typing import Any

from crowd_demo.app.controls import Outcome
from crowd_demo.cli.arguments import COMMANDS, EXPERIMENTS, OptionGroup
from crowd_demo.cli.main import load_command
from crowd_demo.config.keys import key_text
from crowd_demo.config.model import Config
from crowd_demo.config.resources import about, list_configs, list_tours
from crowd_demo.host import report
from crowd_demo.host.recording.recording import Player
from crowd_demo.registry import entries
from crowd_demo.registry.actions import HEADINGS
from crowd_demo.registry.built_in import MEASURES, OWN_COLOURS, OWN_OVERLAYS
from crowd_demo.registry.entries import GROUPS, ColourEntry, OverlayEntry
from crowd_demo.registry.stages import READOUTS, STAGES
from crowd_demo.registry.techniques import TECHNIQUES, exactness, yaml_word

FOLDER = Path(__file__).resolve().parent.parent / "docs/reference"
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
            f"## {title}\n\n{file_format(name)}" for title, name in FILES.items())),
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


def file_format(name: str) -> str:
    """What the docstring of a module has about its files."""
    return (inspect.getdoc(import_module(f"crowd_demo.{name}")) or "").partition("Format:\n\n")[2]


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
