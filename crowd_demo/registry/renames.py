"""Names that are others now, in one table: whatever a user's file or a plugin says by a former name goes on to work.

Configurations, `--set`, `--vary`, tours, `keys:`, preferences, saves, recordings and reports are read through
this table; what is written has the present names. What plugins' code calls by former names works until 0.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import TypeVar, cast

Path = tuple[str | int, ...]

TECHNIQUES = {"cap": "neighbour_limit", "contact": "overlap_passes"}  # paths
STAGES = {"see": "interaction"}
COLUMNS = {"push_x": "avoidance_x", "push_y": "avoidance_y", "look_at": "next_update", "sees": "goal_visible"}
NUMBERS = {"see_ms": "interaction_ms"}  # in the texts of tours
SECTIONS = {"cap": "neighbour_limit"}  # of the HUD, by which preferences fold them
SETTINGS = {
    ("crowd", "cap"): "max_speed_factor", ("crowd", "stuck_cap"): "stuck_max_speed_factor", ("crowd", "push"): "avoid_weight",
    ("crowd", "away"): "repulsion", ("crowd", "place"): "area_per_person", ("crates", "push"): "repulsion",
}
SETTINGS_OF_ALL = {"cap_scanned": "limit_scanned", "cap_neighbours": "limit_kept"}  # in the section of any behaviour
METHODS = {"calls": "launches", "calls_ahead": "launches_to_compile"}  # of a plugin's stages, colours and figures

Class = TypeVar("Class")
Function = TypeVar("Function", bound=Callable[..., object])


def current(names: dict[str, str], name: str) -> str:
    """Return the present name of what one of the tables above may have under a former one."""
    return names.get(name, name)


def current_path(path: Path) -> Path:
    """Return the present path of a key of a configuration or a tour."""
    match path:
        case ("optimizations" | "keys" as section, str(name)):
            return section, current(TECHNIQUES, name)
        case ("steps", place, "do", "set", str(name)):
            return "steps", place, "do", "set", current(TECHNIQUES, name)
        case (str(section), str(name)):
            return section, SETTINGS.get((section, name)) or current(SETTINGS_OF_ALL, name)
    return path


def current_dotted(path: str) -> str:
    """The same for a path with dots, such as `--vary` has."""
    return ".".join(map(str, current_path(tuple(path.split(".")))))


def rename_keys(data: object, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Rename the keys of nested mappings and lists in place; yield (path, mistake) for each that is given by both names."""
    if isinstance(data, list):
        for place, each in enumerate(data):
            yield from rename_keys(each, (*path, place))
    elif isinstance(data, dict):
        for key in list(data):
            yield from rename_keys(data[key], (*path, key))
            present = current_path((*path, key))[-1]
            if present == key:
                continue
            if present in data:
                yield (*path, key), f"is called {present} now, and that is given as well"
                del data[key]
            else:
                data[present] = data.pop(key)


def current_text(text: str) -> str:
    """Return a text of a tour with the present names of its numbers."""
    return re.sub(r"(?<=[{.])(\w+)(?=})", lambda found: current(NUMBERS, found[1]), text)


def with_present_methods(code: Class) -> Class:
    """Give a class of a plugin the present names of the methods that it defines by former ones."""
    if isinstance(code, type):
        for former, present in METHODS.items():
            method: Callable[..., object] | None = vars(code).get(former)
            if method and present not in vars(code):
                setattr(code, present, method)
    return code


def with_present_columns(formula: Function) -> Function:
    """Let a formula of a plugin read columns by former names; in kernels of its own it cannot."""
    code = cast(FunctionType, formula).__code__
    if not COLUMNS.keys().isdisjoint(code.co_names):
        cast(FunctionType, formula).__code__ = code.replace(co_names=tuple(current(COLUMNS, name) for name in code.co_names))
    return formula
