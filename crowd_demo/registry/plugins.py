"""Plugins: what other packages add, through the entry point group `crowd_demo`.

    [project.entry-points.crowd_demo]
    toys = "toys.plugin:PLUGIN"

`PLUGIN` is a `Plugin` (entries.py). All are read before the schema is built, and their sources are part of the kernel
cache's fingerprint. A plugin that cannot be loaded is left out and named on standard error; the program starts without it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from crowd_demo.registry.entries import Plugin

GROUP = "crowd_demo"


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


def _points() -> Iterator[EntryPoint]:
    yield from sorted(entry_points(group=GROUP), key=lambda point: point.name)


def _read(point: EntryPoint) -> Plugin | None:
    try:
        plugin = point.load()
        if not isinstance(plugin, Plugin):
            raise TypeError(f"{point.value} is a {type(plugin).__name__}, not a Plugin")
        return plugin
    except Exception as error:
        print(f"crowd-demo: plugin {point.name} is left out: {type(error).__name__}: {error}", file=sys.stderr)
        return None
