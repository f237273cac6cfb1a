"""From a name to a `Config`, or to one line for each mistake, all of them at once.

A line reads `FILE:LINE: key.path: what is wrong (did you mean ...?)`; a value from elsewhere names its origin in location
of the file: `--set:1: agents: ...`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from crowd_demo.config import yaml12
from crowd_demo.config.explain import explain
from crowd_demo.config.model import Config
from crowd_demo.config.resources import find_config, find_map, list_maps

KeyPath = yaml12.KeyPath
_MISSING = object()


class Location(NamedTuple):
    """Where a value was given: a line of a file, the n-th `--set`, or (line 0) an option by its name."""

    origin: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.origin}:{self.line}" if self.line else self.origin


class Mistake(NamedTuple):
    """What the user sees as one line, whatever the file held."""

    location: Location
    path: KeyPath
    text: str

    def __str__(self) -> str:
        path = ".".join(map(str, self.path)) or ("file" if self.location.line else "")
        line = f"{self.location}: {path if len(path) <= 80 else path[:76] + ' ...'}: " if path else f"{self.location}: "
        return "".join(character if character.isprintable() else repr(character)[1:-1] for character in line + self.text)


class ConfigError(ValueError):
    """All that is wrong with a configuration; `lines` has one line a mistake."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.lines = [str(mistake) for mistake in sorted(mistakes)]
        super().__init__("\n".join(self.lines))


class Override(NamedTuple):
    """A value that replaces what the file says."""

    location: Location
    path: KeyPath
    value: Any


def load_config(name_or_path: str | Path, overrides: Mapping[str, Any] | Iterable[str] = ()) -> Config:
    """Read a configuration: a path, a file of `./configs`, or a shipped name such as "20k".

    `overrides` are `"key.path=value"` texts, the value a YAML scalar, or a mapping, nested or with dotted keys.
    Raises ConfigError with every mistake.
    """
    if isinstance(overrides, Mapping):
        return Source.read(name_or_path, list(_flatten(overrides))).config
    texts = [overrides] if isinstance(overrides, str) else overrides
    return Source.read(name_or_path, parse_overrides(texts, "overrides")).config


def parse_overrides(texts: Iterable[str], origin: str) -> list[Override]:
    """`key.path=value` each; the value is a YAML 1.2 scalar, or one in quotes, or a [list]. Raises ConfigError."""
    overrides, mistakes = [], []
    for number, text in enumerate(texts, 1):
        location = Location(origin, number)
        key, equals, value = (part.strip() for part in text.partition("="))
        path = _split(key or "?")
        try:
            if not equals or not key:
                raise ValueError(f"must be key.path=value, not {text!r}")
            overrides.append(Override(location, path, _value(value)))
        except (ValueError, yaml12.UnreadableError) as error:
            mistakes.append(Mistake(location, path, str(error)))
    if mistakes:
        raise ConfigError(mistakes)
    return overrides


class Source(NamedTuple):
    """A configuration, and where its values came from."""

    config: Config
    locations: dict[KeyPath, Location]

    @classmethod
    def read(cls, name_or_path: str | Path, overrides: Iterable[Override] = ()) -> Source:
        """Raises ConfigError with every mistake of the file and of the overrides."""
        path, document = _read(name_or_path)
        data = document.data
        locations = {key: Location(str(path), line) for key, line in document.lines.items()}
        mistakes = [Mistake(Location(str(path), line), key, text) for line, key, text in document.mistakes]
        for override in overrides:
            _apply(override, data, locations)
        config, found = _validate(data, path.parent)
        mistakes += [Mistake(_location(locations, key), key, text) for key, text in found]
        if config is None or mistakes:
            raise ConfigError(mistakes)
        return cls(config, locations)


def _read(name: str | Path) -> tuple[Path, yaml12.Document]:
    try:
        path = find_config(name)
    except ValueError as error:
        raise ConfigError([Mistake(Location(str(name)), (), str(error))]) from None
    try:
        document = yaml12.read_file(path)
    except yaml12.UnreadableError as error:
        raise ConfigError([Mistake(Location(str(path), line), key, text) for line, key, text in error.mistakes]) from None
    if not isinstance(document.data, dict):
        raise ConfigError([Mistake(Location(str(path), 1), (), "must be lines of key: value")])
    return path, document


def _validate(data: dict[str, Any], folder: Path) -> tuple[Config | None, list[tuple[KeyPath, str]]]:
    """What is wrong can hide other mistakes: leave it out and look again."""
    mistakes: list[tuple[KeyPath, str]] = []
    while True:
        try:
            config = Config.model_validate(data)
            break
        except ValidationError as error:
            found = explain(error, Config)
            mistakes += found
            removed = [_remove(data, path) for path, _ in found]
            if not all(removed):
                return None, mistakes
    if config.map is None:
        return config, mistakes
    try:
        return config.model_copy(update={"map": _checked(find_map(config.map, folder))}), mistakes
    except ValueError as error:
        return config, [*mistakes, (("map",), str(error))]


def _checked(path: Path) -> str:
    """A map by a name that is found from anywhere. Raises MapError, a ValueError, for what is not a map."""
    if path in list_maps().values():
        return path.stem
    from crowd_demo.config.maps import read_map  # lazily: NumPy is not needed for the shipped ones

    read_map(path)
    return str(path)


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[Override]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield Override(Location("overrides"), _split(f"{prefix}{key}"), value)


def _split(key: str) -> KeyPath:
    """Dots separate keys, but the names of actions have dots of their own."""
    return tuple(key.split(".", 1) if key.startswith("keys.") else key.split("."))


def _value(text: str) -> Any:
    if len(text) > 1 and text[0] + text[-1] in ("[]", "{}", '""', "''"):
        return yaml12.read(text).data
    return yaml12.scalar(text)


def _apply(override: Override, data: dict[str, Any], locations: dict[KeyPath, Location]) -> None:
    """Put the value into the data; sections that are not there yet are made on the way."""
    *parents, name = override.path
    for depth, parent in enumerate(parents, 1):
        if not isinstance(data.get(str(parent)), dict):
            data[str(parent)] = {}
            locations[override.path[:depth]] = override.location
        data = data[str(parent)]
    data[str(name)] = override.value
    locations[override.path] = override.location


def _remove(data: dict[str, Any], path: KeyPath) -> bool:
    """False if it is not there: then a default is what is wrong."""
    *parents, name = map(str, path)
    for parent in parents:
        data = data.get(parent) or {}
    return data.pop(name, _MISSING) is not _MISSING


def _location(locations: dict[KeyPath, Location], path: KeyPath) -> Location:
    """Where the key was given, or else what contains it."""
    while path not in locations and path:
        path = path[:-1]
    return locations.get(path, Location("configuration"))
