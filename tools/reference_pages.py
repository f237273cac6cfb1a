"""The pages of docs/reference, from the program's own entries."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crowd_demo.cli.arguments import COMMANDS, EXPERIMENTS, RUN, OptionGroup
from crowd_demo.cli.main import load_command
from crowd_demo.config.keys import key_text
from crowd_demo.config.model import Config
from crowd_demo.config.resources import about, list_configs, list_tours
from crowd_demo.registry.actions import HEADINGS
from crowd_demo.registry.built_in import OWN_COLOURS, OWN_OVERLAYS
from crowd_demo.registry.entries import GROUPS, ColourEntry, OverlayEntry
from crowd_demo.registry.readouts import READOUTS
from crowd_demo.registry.stages import STAGES
from crowd_demo.registry.techniques import TECHNIQUES, exactness, yaml_word

FOLDER = Path(__file__).resolve().parent.parent / "docs/reference"
MADE = "<!-- Made by tools/regenerate.py from the program. -->"
TECHNIQUE_TEXT = """The key toggles a technique, and with `Shift` selects its next value.
Where no value is off, false or 0, the key selects the next value, with `Shift` the previous one.

- **Exact** techniques never change the crowd: the state is identical bit by bit.
- **Approximate** techniques (`~`) do less work and change the crowd a little.
- **Model** (`≠`) means another rule of behaviour, not another way to compute the same one.
"""
KEY_TEXT = """`F1` shows all keys as they are printed on your keyboard, whatever its layout
([how](../troubleshooting.md#keys-on-other-layouts)). Section `keys` of a configuration changes them.
The keys of techniques are in [Techniques](techniques.md).
The wheel zooms at the pointer, and dragging pans. A click inspects an agent.
"""
SCENARIO_TEXT = """A configuration is a YAML file: a shipped name, a path, or a file in `./configs`.
`F2` lists all of them and opens one in the running window.
A key that a file leaves out has its default ([Configuration](configuration.md)).
"""
OVERLAY_TEXT = """`F10` lists the overlays, which draw over the crowd or on the ground. `Q` goes through the colour modes.
[Window](../window.md#overlays) explains how to use them. Neither changes the crowd.
"""
TOUR_TEXT = "`F3` or `--tour NAME` starts one ([how to write one](../tours.md))."
CONFIG_TEXT = """Every key of a configuration file, with its default. `--set KEY=VALUE` changes one on the command line, and
`--print-config` prints all values in effect. Invalid input is reported in one line with file, line and key.
"""
COMMAND_TEXT = "`crowd-demo COMMAND --help` prints the same.\n"
READING_TEXT = """The stages of step, draw and present add up to the frame. A plugin adds its stages to the step.
Tooltips in the window explain each reading further.
"""


def pages() -> dict[Path, str]:
    """The pages by their paths."""
    made = {
        "techniques": ("Techniques", TECHNIQUE_TEXT, technique_tables()),
        "keys": ("Keys", KEY_TEXT, key_tables()),
        "overlays": ("Overlays and colours", OVERLAY_TEXT, "\n\n".join((
            "## Overlays", pictures("overlay", OWN_OVERLAYS), "## Colour modes", pictures("colours", OWN_COLOURS)))),
        "scenarios": ("Scenarios and tours", SCENARIO_TEXT, "\n\n".join((
            "## Scenarios", listed(list_configs()), "## Tours", TOUR_TEXT, listed(list_tours())))),
        "configuration": ("Configuration", CONFIG_TEXT, "\n\n".join(setting_tables())),
        "command-line": ("Command line", COMMAND_TEXT, "\n\n".join(command_tables())),
        "readings": ("Stages and readings", READING_TEXT, "\n\n".join((
            "## Stages", table(("part", "stage", "what it does"), ((stage.part, stage.name, stage.about)
                                                                    for stage in STAGES.values())),
            "## Readings", table(("reading", "what it is"), ((label, readout.what) for label, readout in READOUTS.items()))))),
    }
    return {FOLDER / f"{name}.md": f"# {title}\n\n{MADE}\n\n{text}\n{content}\n"
            for name, (title, text, content) in made.items()}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join([f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in cells)])


def listed(files: Mapping[str, Path]) -> str:
    """Shipped files, each with its description."""
    return "\n".join(f"- `{name}`: {about(path)}" for name, path in files.items())


def pictures(kind: str, entries: Iterable[OverlayEntry | ColourEntry]) -> str:
    """What each overlay or colour mode shows, and its picture (gallery.py)."""
    named = ((getattr(entry, "label", entry.name), entry) for entry in entries)
    return "\n\n".join(f"**{label}**{'' if entry.name == label else f' (`{entry.name}`)'}: {entry.why}\n\n"
                       f"![{label}](../pictures/window/{kind}-{label}.jpg)" for label, entry in named)


def technique_tables() -> str:
    """A table for each group."""
    rows: dict[str, list[Sequence[str]]] = {group: [] for group in GROUPS}
    for technique in TECHNIQUES:
        choices = ", ".join(f"**{yaml_word(choice)}**" if choice == technique.default else yaml_word(choice)
                            for choice in technique.choices)
        rows[technique.group].append((f"`{technique.key}`" if technique.key else "", technique.label.strip(), technique.why,
                                      f"`{technique.path}`", choices, exactness(technique)))
    head = "key", "technique", "what it does", "YAML, under `optimizations`", "choices (**default**)", "crowd"
    return "\n\n".join(f"## {group.capitalize()}\n\n{GROUPS[group][0].upper()}{GROUPS[group][1:]}.\n\n{table(head, found)}"
                       for group, found in rows.items() if found)


def key_tables() -> str:
    """A table for each heading of the actions."""
    return "\n\n".join(
        f"## {heading}\n\n" + table(("key", "action", "what it does"), (
            (" ".join(f"`{key_text(key)}`" for key in entry.keys), f"`{name}`", entry.what)
            for name, entry in actions.items()))
        for heading, actions in HEADINGS.items())


def setting_tables() -> Iterator[str]:
    """Yield a table of the keys without a section, then one for each section."""
    schema = Config.model_json_schema()
    kinds: Mapping[str, Any] = schema["$defs"]
    sections = {name: kinds[each["$ref"].rpartition("/")[2]] for name, each in schema["properties"].items() if "$ref" in each}
    alone = {name: each for name, each in schema["properties"].items() if name not in sections}
    yield f"## Without a section\n\n{table(('key', 'default', 'meaning'), settings(alone, kinds))}"
    for name, kind in sections.items():
        yield (f"## {name}\n\n{kind.get('description', '')}\n\n"
               f"{table(('key', 'default', 'meaning'), settings(kind['properties'], kinds))}")


def settings(properties: Mapping[str, Any], kinds: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the rows of some keys, those of sections within them too."""
    for name, each in properties.items():
        below = [kinds[part["$ref"].rpartition("/")[2]] for part in (each, each.get("items", {}), *each.get("anyOf", ()))
                 if "$ref" in part]
        default = "" if each.get("default") is None else f"`{json.dumps(each['default'])}`"
        choices = f"{', '.join(map(str, each['enum']))}. " if "enum" in each else ""
        yield f"`{prefix}{name}`", default, choices + each.get("description", "")
        for kind in below:
            yield from settings(kind.get("properties", {}), kinds, f"{prefix}{name}.")


def command_tables() -> Iterator[str]:
    """Yield a chapter for each command: what it does, and its options."""
    for name, (_, what) in (COMMANDS | EXPERIMENTS).items():
        command = load_command(name)
        groups = [each if isinstance(each, OptionGroup) else OptionGroup([each]) for each in command.options]
        rows = [(f"`{option}{' ' + str(settings['metavar']) if settings.get('metavar') else ''}`",
                 str(settings.get("help", "")) % {"default": settings.get("default")})
                for group in groups for option, settings in group.options]
        usage = f"`crowd-demo {'' if name == RUN else name + ' '}[OPTION ...]`: {what}."
        yield f"## {name}\n\n{usage}\n\n{table(('option', ''), rows)}"
