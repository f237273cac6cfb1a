"""From a name to a `Config`, or to one line for each mistake, all of them at once.

A line reads `FILE:LINE: key.path: what is wrong (did you mean ...?)`; for a value from elsewhere its origin stands in
place of the file: `--set:1: agents: ...`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from crowd_demo.config import yaml12
from crowd_demo.config.events import missing_destinations
from crowd_demo.config.memory import too_large
from crowd_demo.config.model import WIDEST, Config
from crowd_demo.config.resources import beside, find_config, find_map, list_maps, text_of
from crowd_demo.config.section import Section, explain
from crowd_demo.config.yaml12 import KeyPath, Location, Mistake
from crowd_demo.registry.built_in import READ_PATHS
from crowd_demo.registry.entries import load
from crowd_demo.registry.texts import say_once

MAX_LINES = 20  # that list mistakes
_MISSING = object()
Parsed = TypeVar("Parsed")
Read = TypeVar("Read", bound=Section)


class ConfigError(ValueError):
    """Mistakes in a configuration: `lines` has one line per mistake, at most `MAX_LINES`, then the number of others."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        found = sorted(mistakes)
        self.lines = [str(mistake) for mistake in found[:MAX_LINES]]
        if rest := found[MAX_LINES:]:
            self.lines.append(str(Mistake(Location(rest[0].location.origin), (), f"and {len(rest):,} more")))
        super().__init__("\n".join(self.lines))


class Override(NamedTuple):
    location: Location
    path: KeyPath
    value: object


def load_config(name_or_path: str | Path, overrides: Mapping[str, object] | Iterable[str] = ()) -> Config:
    """Read a configuration: a path, a file of `./configs`, or a shipped name such as "20k".

    `overrides` are `"key.path=value"` texts, or a mapping, nested or with dotted keys.
    Raises ConfigError with every mistake.
    """
    return ReadConfig.read(name_or_path, as_overrides(overrides)).config


def as_overrides(overrides: Mapping[str, object] | Iterable[str]) -> list[Override]:
    """What `load_config` takes, as a list. Raises ConfigError."""
    if isinstance(overrides, Mapping):
        return list(_flatten(overrides))
    if isinstance(overrides, str) or not isinstance(overrides, Iterable):
        overrides = [overrides]
    return parse_overrides(overrides, "overrides")


def parse_overrides(texts: Iterable[str], origin: str) -> list[Override]:
    """`key.path=value` each; the value is a YAML 1.2 scalar, or one in quotes, or a [list]. Raises ConfigError."""
    return parse_each(texts, origin, "key.path=value", lambda location, path, value: Override(location, path, _value(value)))


def parse_each(texts: Iterable[str], origin: str, form: str,
               parsed: Callable[[Location, KeyPath, str], Parsed]) -> list[Parsed]:
    """Return what is parsed from texts of a form such as `key.path=value`. Raises ConfigError with every mistake."""
    found, mistakes = [], []
    for number, text in enumerate(texts, 1):
        location = Location(origin, number)
        key, equals, value = (part.strip() for part in str(text).partition("="))
        path = _split(key)
        try:
            if not equals or not all(path):
                raise ValueError(f"must be {form}, not {text!r}")
            found.append(parsed(location, path, value))
        except (ValueError, yaml12.UnreadableError) as error:
            mistakes.append(Mistake(location, path, str(error)))
    if mistakes:
        raise ConfigError(mistakes)
    return found


class ReadConfig(NamedTuple):
    config: Config
    locations: dict[KeyPath, Location]  # by present names

    @classmethod
    def read(cls, name_or_path: str | Path, overrides: Iterable[Override] = ()) -> ReadConfig:
        """Raises ConfigError with every mistake of the file and of the overrides."""
        path, data, locations, mistakes = read_keys(name_or_path, find_config)
        return cls._of(data, locations, mistakes, path.parent, overrides)

    @classmethod
    def of(cls, data: dict[str, object], origin: str, overrides: Iterable[Override] = ()) -> ReadConfig:
        """The same for a whole configuration that the program wrote; its mistakes name the origin."""
        if isinstance(given := data.get("window"), dict):  # what a user prefers may take the place of a default
            defaults = Config.model_validate({}).window.model_dump(mode="json")
            data["window"] = {key: value for key, value in given.items() if defaults.get(key, _MISSING) != value}
        return cls._of(data, {(): Location(origin)}, [], Path(), overrides)

    @classmethod
    def _of(cls, data: dict[str, object], locations: dict[KeyPath, Location], mistakes: list[Mistake], folder: Path,
            overrides: Iterable[Override]) -> ReadConfig:
        for override in overrides:
            _apply(override, data, locations)
        config, found = _validate(data, folder)
        mistakes += [Mistake(location_of(locations, key), key, text) for key, text in found]
        if config is None or mistakes:
            raise ConfigError(mistakes)
        return cls(config, locations)

    def refuse(self, paths: Iterable[str], text: str) -> ConfigError:
        """Return an error that says the same of several keys, where each was given."""
        keys = (_split(path) for path in paths)
        return ConfigError(Mistake(location_of(self.locations, key), key, text) for key in keys)


def read_keys(name: str | Path, find: Callable[[str | Path], Path]) -> tuple[
        Path, dict[str, object], dict[KeyPath, Location], list[Mistake]]:
    """Read the file that `find` finds; return its path, its data, where each key stands, and what did not stop the reader.

    Raises ConfigError for a file that cannot be read, or is no lines of key: value.
    """
    try:
        path = find(os.fsdecode(name))
    except (TypeError, ValueError) as error:
        raise ConfigError([Mistake(Location(str(name) or "''"), (), str(error))]) from None
    try:
        data, locations, mistakes = yaml12.read_file(path)
    except yaml12.UnreadableError as error:
        raise ConfigError(error.mistakes) from None
    if not isinstance(data, dict):
        raise ConfigError([Mistake(Location(str(path), 1), (), "must be lines of key: value")])
    return path, data, locations, mistakes


def read_section(model: type[Read], name: str | Path,
                 find: Callable[[str | Path], Path]) -> tuple[Read, dict[KeyPath, Location]]:
    """Read a file that is one section; return it, and where each key stands. Raises ConfigError with every mistake."""
    _, data, locations, mistakes = read_keys(name, find)
    try:
        found = model.model_validate(data)
    except ValidationError as error:
        mistakes += [Mistake(location_of(locations, key), key, text) for key, text in explain(error, model)]
    if mistakes:
        raise ConfigError(mistakes)
    return found, locations


def _validate(data: dict[str, object], folder: Path) -> tuple[Config | None, list[tuple[KeyPath, str]]]:
    """Validate, leave out what is wrong, and validate again, because a mistake can hide others."""
    mistakes: list[tuple[KeyPath, str]] = []
    while True:
        try:
            config = Config.model_validate(data)
            break
        except ValidationError as error:
            found = explain(error, Config)
            blamed = {path for path, _ in mistakes}  # a key that is blamed again has its default by now
            mistakes += [mistake for mistake in found if mistake[0] not in blamed]
            removed = [_remove(data, path) for path, _ in found]
            if not all(removed):
                return None, mistakes
    doubts: Iterable[str] = ()
    if config.behaviour == "playback" and (name := config.playback.file) is not None:
        from crowd_demo.config.maps import TRAJECTORIES, Metres

        try:
            path = beside(name, folder)
            if path is None or path.suffix.lower() not in TRAJECTORIES:
                raise ValueError(f"{name!r} is not a file ({', '.join(TRAJECTORIES)})")
            paths = load(READ_PATHS)(path, Metres(*config.map_scale))
            if not (fps := config.playback.fps or paths.fps):
                raise ValueError(f"{path}: has no frame rate; playback.fps, or --fps, specifies it")
            playback = config.playback.model_copy(update={"file": text_of(path)})
            config, doubts = config.model_copy(update={  # the walkable area is the map of a configuration without one
                "playback": playback, "map": config.map or text_of(path),
                "agents": int((paths.frame == 0).sum())}), paths.doubts(fps)
        except ValueError as error:
            return config, [*mistakes, (("playback", "file"), str(error))]
    tiles = destinations = 0
    if config.map is not None:
        try:
            config, tiles, destinations = _with_map(find_map(config.map, folder), config)
        except ValueError as error:
            return config, [*mistakes, (("map",), str(error))]
    for doubt in doubts if not mistakes else ():
        say_once(f"{config.playback.file}: {doubt}")
    mistakes += missing_destinations(config.events, config.measure.doors, destinations or config.crowd.destinations)
    large = too_large(config, tiles, destinations)
    return config, [*mistakes, large] if large else mistakes


def _with_map(path: Path, config: Config) -> tuple[Config, int, int]:
    """(configuration, tiles, destinations); its `map` is the path unless the map is shipped.

    One in metres says how large the world is, and how many exits there are if the configuration does not. The tiles of
    a shipped map are too few to matter, and its destinations matter only where people are sent to them or counted
    there.

    Raises MapError, a ValueError, for what is not a map, or one of an open world of another size.
    """
    shipped = path in list_maps().values()
    update: dict[str, object] = {"map": path.stem if shipped else text_of(path)}
    if shipped and not (config.measure.doors or any(event.do.send for event in config.events)):
        return config.model_copy(update=update), 0, 0
    from crowd_demo.config.maps import MapError, Metres, open_shape, read_map  # lazily: shipped maps need no NumPy

    metres = Metres(*config.map_scale)
    found = read_map(path, metres)
    if found.is_open and found.kinds.shape != (needed := open_shape(config.world.width, config.world.height)):
        raise MapError(f"{path}: an open world of this width and height has {needed[1]} x {needed[0]} tiles, the map"
                       f" has {found.kinds.shape[1]} x {found.kinds.shape[0]}")
    for note in found.notes:
        say_once(f"{path}: {note}")
    if found.origin:
        height, width = (side * metres.units for side in found.kinds.shape)
        if max(width, height) > WIDEST:
            raise MapError(f"{path}: {width:,.0f} x {height:,.0f} world units are too many (at most {WIDEST:,})")
        update["world"] = config.world.model_copy(update={"width": width, "height": height})
        if found.exits and "exits" not in config.crowd.model_fields_set and config.crowd.room > 0 and config.crowd.wait_s > 0:
            update["crowd"] = config.crowd.model_copy(update={"exits": found.exits})
    config = config.model_copy(update=update)
    if not shipped and "agents" not in config.model_fields_set:
        from crowd_demo.config.capacity import fitting_number

        config = config.model_copy(update={
            "agents": min(fitting_number(found, config) or config.agents, config.agents)})
    return config, found.kinds.size, int(found.marks.max()) + 1


def _flatten(values: Mapping[str, object], prefix: str = "") -> Iterator[Override]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield Override(Location("overrides"), _split(f"{prefix}{key}"), value)


def _split(key: str) -> KeyPath:
    """Split at dots, but not within the name of an action, which may have dots."""
    return tuple(key.split(".", 1) if key.startswith("keys.") else key.split("."))


def _value(text: str) -> object:
    if len(text) > 1 and text[0] + text[-1] in ("[]", "{}", '""', "''"):
        return yaml12.read(text).data
    return yaml12.scalar(text)


def _apply(override: Override, data: dict[str, object], locations: dict[KeyPath, Location]) -> None:
    """Put the value into the data, and add the sections around it that are missing."""
    path = override.path
    *parents, name = path
    for depth, parent in enumerate(parents, 1):
        section = data.get(str(parent))
        if not isinstance(section, dict):
            section = data[str(parent)] = {}
            locations[path[:depth]] = override.location
        data = section
    data[str(name)] = override.value
    locations[path] = override.location


def _remove(data: dict[str, object], path: KeyPath) -> bool:
    """Remove a value; False if it is not there, so that a default is what is wrong."""
    *parents, name = map(str, path)
    for parent in parents:
        section = data.get(parent)
        data = section if isinstance(section, dict) else {}
    return data.pop(name, _MISSING) is not _MISSING


def location_of(locations: dict[KeyPath, Location], path: KeyPath) -> Location:
    """Where the key was given, or else the section that contains it."""
    while path not in locations and path:
        path = path[:-1]
    return locations.get(path, Location("configuration"))
