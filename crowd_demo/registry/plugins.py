"""Plugins: what other packages add, through the entry point group `crowd_demo`.

    [project.entry-points.crowd_demo]
    toys = "toys.plugin:PLUGIN"

`PLUGIN` is a `Plugin` (entries.py). All are read before the schema is built, and their sources are part of the kernel
cache's fingerprint. A plugin that cannot be loaded, or has an entry that cannot be right, is left out and named on standard
error; the program starts without it. So is a single entry whose name is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from reprlib import repr as short
from traceback import walk_tb
from typing import NamedTuple, TypeVar, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from crowd_demo.registry.entries import (
    BehaviourEntry,
    ColourEntry,
    MeasureEntry,
    Must,
    OverlayEntry,
    Plugin,
    StageEntry,
    Technique,
)
from crowd_demo.registry.texts import error_line, say

GROUP = "crowd_demo"
RECORDS = {"techniques": Technique, "behaviours": BehaviourEntry, "overlays": OverlayEntry, "colours": ColourEntry,
           "stages": StageEntry, "measures": MeasureEntry}

Entry = TypeVar("Entry", bound=tuple[object, ...] | Technique)


class Installed(NamedTuple):
    name: str
    packages: frozenset[str]  # that its code is in, or modules
    plugin: Plugin


@cache
def installed() -> tuple[Installed, ...]:
    """The plugins of this environment, in the order of their names."""
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return tuple(Installed(point.name, _packages(point, plugin), plugin) for point in points if (plugin := _read(point)))


@cache
def sources() -> tuple[Path, ...]:
    """Every source file of their packages, or of their modules if these are in no package."""
    found: set[Path] = set()
    for package in {package for each in installed() for package in each.packages}:
        spec = find_spec(package)
        if spec and spec.submodule_search_locations:
            for folder in spec.submodule_search_locations:
                found |= {path for path in Path(folder).rglob("*.py") if path.is_file()}
        elif spec and spec.origin:
            found.add(Path(spec.origin))
    return tuple(sorted(found))


def owner_of(module: str) -> str:
    """The name of the plugin that a module belongs to; "" for the program's own, and others."""
    return next((name for name, packages, _ in installed() if _top(module) in packages), "")


def raised_by(error: BaseException) -> str:
    """The name of the plugin in whose code an error was raised, or in what that called; "" for the program's own."""
    owners = [owner_of(frame.f_globals.get("__name__", "")) for frame, _ in walk_tb(error.__traceback__)]
    return next(filter(None, reversed(owners)), raised_by(error.__cause__) if error.__cause__ else "")


def with_plugins(built_in: tuple[Entry, ...], of: Callable[[Plugin], tuple[Entry, ...]],
                 names: Callable[[Entry], tuple[str, ...]], reserved: Collection[str] = ()) -> tuple[Entry, ...]:
    """Return the program's own entries, then those `of` each plugin whose names are free.

    `names` are paths, of keys with dots between them. A name is taken if an entry before, or what is `reserved`, has it, has a
    path that goes on from there, or has the beginning of the path.
    """
    entries = list(built_in)
    taken = {*reserved, *(name for entry in entries for name in names(entry))}
    for plugin, entry in ((found.name, entry) for found in installed() for entry in of(found.plugin)):
        clashes = sorted(other for other in taken if any(_is_within(name, other) or _is_within(other, name)
                                                         for name in names(entry)))
        if clashes:
            say(f"plugin {plugin}: {_called(entry)} is left out: {clashes[0]} is taken")
        else:
            entries.append(entry)
            taken.update(names(entry))
    return tuple(entries)


def _is_within(path: str, other: str) -> bool:
    return f"{path}.".startswith(f"{other}.")


def check(entry: tuple[object, ...] | Technique) -> None:
    """Raise TypeError or ValueError for an entry that would only fail later, and then without the plugin's name."""
    for field, hint in get_type_hints(type(entry), include_extras=True).items():
        value: object = getattr(entry, field)
        must: Must | None = next(iter(getattr(hint, "__metadata__", ())), None)
        what = must.be if must else hint.__name__ if isinstance(hint, type) else str(hint)
        wrong = f"{_called(entry)}: {field} must be {what}, not {short(value)}"
        try:
            _adapter(hint).validate_python(value)
        except ValidationError:
            raise TypeError(wrong) from None
        if must and not must.hold(value):
            raise ValueError(wrong)
    for mistake in entry.mistakes() if isinstance(entry, Technique) else ():
        raise ValueError(f"{_called(entry)}: {mistake}")


@cache
def _adapter(hint: type) -> TypeAdapter[object]:
    return TypeAdapter(hint, config=ConfigDict(strict=True, allow_inf_nan=False))


def _called(entry: tuple[object, ...] | Technique) -> str:
    return f"{type(entry).__name__} {short(entry.path if isinstance(entry, Technique) else entry[0])}"


def _top(code: str) -> str:
    """The package or the module in which "package.module:name" is."""
    return code.partition(":")[0].partition(".")[0]


def _packages(point: EntryPoint, plugin: Plugin) -> frozenset[str]:
    entries = (entry for field in RECORDS for entry in getattr(plugin, field))
    code = (getattr(entry, field, "") for entry in entries for field in ("code", "settings", "figures", "draw"))
    return frozenset(map(_top, (point.module, *code))) - {"", GROUP}


def _read(point: EntryPoint) -> Plugin | None:
    try:
        plugin = point.load()
        if not isinstance(plugin, Plugin):
            raise TypeError(f"{point.value} must be a Plugin, not {short(plugin)}")
        for field, record in RECORDS.items():
            entries = getattr(plugin, field)
            if not (isinstance(entries, tuple) and all(isinstance(entry, record) for entry in entries)):
                raise TypeError(f"{field} must be a tuple of {record.__name__} records")
            for entry in entries:
                check(entry)
        if plugin.scenarios is not None and not (isinstance(plugin.scenarios, Path) and plugin.scenarios.is_dir()):
            raise ValueError(f"scenarios must be the Path of a folder, not {str(plugin.scenarios)!r}")
        return plugin
    except BaseException as error:  # whatever its module does must not end the program
        if isinstance(error, KeyboardInterrupt) and type(error) is not KeyboardInterrupt:
            raise  # a signal to the program: `host.system.Interrupted`
        say(f"plugin {point.name} is left out: {error_line(error)}")
        return None
