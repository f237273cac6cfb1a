"""The numbers of a configuration that can be changed while its crowd runs: those of its behaviour, and of links if it has any.

`Config.numbers` says which these are. All that is said of one derives from its field (`number` in section.py), so
those of plugins are among them.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from crowd_demo.config.explain import close_to, explain
from crowd_demo.config.model import FIXED, Config
from crowd_demo.config.section import Section, number_of

Number = int | float


def value_of(config: Config, path: str) -> Number:
    """Return the value of a number, by its path in a configuration."""
    section, _, key = path.partition(".")
    value: Number = getattr(getattr(config, section), key)
    return value


def with_numbers(config: Config, values: Mapping[str, Number]) -> Config:
    """Return the configuration with other numbers, by path, all of them at once.

    Raises ValueError, in one line, for one that is unknown, cannot be changed, or is out of its range.
    """
    known = {number.path: number for number in config.numbers}
    changed: dict[str, dict[str, Number]] = {}
    for path, value in values.items():
        if path not in known:
            raise ValueError(f"{path[:60]}{why_unknown(config, path)}{close_to(path, known)}")
        if known[path].live == "no":
            raise ValueError(f"{path}{FIXED}{known[path].why_not}")
        section, _, key = path.partition(".")
        changed.setdefault(section, {})[key] = value
    for name, those in changed.items():
        config = _with_section(config, name, those)
    return config


def why_unknown(config: Config, path: str) -> str:
    """Return why there is no such number, in words that follow its path."""
    if path != "time.step_hz":
        return " is not a number of the present behaviour"
    return f"{FIXED}{number_of(path, type(config.time).model_fields['step_hz'], is_whole=False).why_not}"


def _with_section(config: Config, name: str, values: Mapping[str, Number]) -> Config:
    """Return the configuration with other values in one section, which hold together with each other and with the others."""
    section: Section = getattr(config, name)
    given = {key: getattr(section, key) for key in section.model_fields_set}
    try:
        changed = type(section).model_validate({**given, **values})
        others = {key: getattr(config, key) for key in Config.model_fields}
        return Config.model_validate({**others, name: changed})
    except ValidationError as error:
        prefix = () if error.title == "Config" else (name,)
        path, text = explain(error, Config, prefix)[0]
        raise ValueError(f"{'.'.join(map(str, path))}: {text}") from None
