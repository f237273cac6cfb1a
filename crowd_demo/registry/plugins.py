"""Plugins: what other packages add, through the entry point group `crowd_demo`.

    [project.entry-points.crowd_demo]
    toys = "toys.plugin:PLUGIN"

`PLUGIN` is a `Plugin` (entries.py). All are read before the schema is built, and their sources are part of the kernel
cache's fingerprint. A plugin that cannot be loaded is left out and named on standard error; the program starts without it.
So is a single entry whose name is taken.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from crowd_demo.registry.entries import (
    FOLDS,
    GROUPS,
    BehaviourEntry,
    ColourEntry,
    MeasureEntry,
    OverlayEntry,
    Plugin,
    StageEntry,
    Technique,
)

GROUP = "crowd_demo"
RECORDS = {"techniques": Technique, "behaviours": BehaviourEntry, "overlays": OverlayEntry, "colours": ColourEntry,
           "stages": StageEntry, "measures": MeasureEntry}

RESERVED = ("get", "set", "prefix")  # what optimizations have beside the techniques

Entry = TypeVar("Entry")


@cache
def installed() -> tuple[Plugin, ...]:
    """The plugins of this environment, in the order of their names."""
    return tuple(plugin for point in _points() if (plugin := _read(point)))


@cache
def sources() -> tuple[Path, ...]:
    """Every source file of their packages, or of their modules if these are in no package."""
    found: set[Path] = set()
    for point in _points():
        spec = find_spec(point.module.partition(".")[0])
        if spec and spec.submodule_search_locations:
            for folder in spec.submodule_search_locations:
                found |= set(Path(folder).rglob("*.py"))
        elif spec and spec.origin:
            found.add(Path(spec.origin))
    return tuple(sorted(found))


def with_plugins(built_in: tuple[Entry, ...], of: Callable[[Plugin], tuple[Entry, ...]],
                 name: Callable[[Entry], str]) -> tuple[Entry, ...]:
    """Return the program's own entries, then those `of` each plugin; all have different names."""
    entries = list(built_in)
    for entry in (entry for plugin in installed() for entry in of(plugin)):
        if name(entry) in map(name, entries):
            print(f"crowd-demo: {type(entry).__name__} {name(entry)!r} of a plugin is left out: the name is taken",
                  file=sys.stderr)
        else:
            entries.append(entry)
    return tuple(entries)


def _points() -> Iterator[EntryPoint]:
    yield from sorted(entry_points(group=GROUP), key=lambda point: point.name)


def _read(point: EntryPoint) -> Plugin | None:
    try:
        plugin = point.load()
        if not isinstance(plugin, Plugin):
            raise TypeError(f"{point.value} must be a Plugin, not {plugin!r}")
        _check(plugin)
        return plugin
    except (Exception, SystemExit) as error:  # whatever its module does must not end the program
        print(f"crowd-demo: plugin {point.name} is left out: {type(error).__name__}: {error}", file=sys.stderr)
        return None


def _check(plugin: Plugin) -> None:
    """Raise TypeError or ValueError for what would only be noticed later, and then without the plugin's name."""
    for field, record in RECORDS.items():
        if not all(isinstance(entry, record) for entry in getattr(plugin, field)):
            raise TypeError(f"{field} must be a tuple of {record.__name__} records")
    for technique in plugin.techniques:
        from pydantic import BaseModel  # whose attributes are no names for fields

        if any(not part.isidentifier() or hasattr(BaseModel, part) or part in RESERVED for part in technique.path.split(".")):
            raise ValueError(f"technique {technique.path!r}: no such name can be had")
        if not technique.allows(technique.default):
            raise ValueError(f"technique {technique.path}: its default {technique.default!r} is none of its choices")
        if technique.quick is not None and not (technique.exact and technique.allows(technique.quick)):
            raise ValueError(f"technique {technique.path}: quick must be one of its choices, and the technique exact")
        if technique.group not in GROUPS:
            raise ValueError(f"technique {technique.path}: its group must be one of {', '.join(GROUPS)}")
    for measure in plugin.measures:
        if not measure.name.isidentifier() or measure.fold not in FOLDS:
            raise ValueError(f"measure {measure.name!r}: its name must be an identifier, its fold one of {', '.join(FOLDS)}")
    if plugin.scenarios is not None and not (isinstance(plugin.scenarios, Path) and plugin.scenarios.is_dir()):
        raise ValueError(f"scenarios must be the Path of a folder, not {str(plugin.scenarios)!r}")
