"""The numbers of a configuration that can be changed while its crowd runs: those of its behaviour, and of links if it has any.

All that is said of one derives from its field (`number` in section.py), so those of plugins are among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from crowd_demo.config.explain import close_to, explain
from crowd_demo.config.model import Config
from crowd_demo.config.section import InMetres, Section

Number = int | float
LIMITS = frozenset({"limit_scanned", "limit_kept"})  # they count with the technique neighbour_limit alone
FIXED = " cannot be changed while the crowd runs: "


class NumberSetting(NamedTuple):
    """A number of the settings; `live` is "step", "birth" or "no", and `why_not` says why it is the last.

    Values and bounds are in world units, of which the unit that people see has `scale`.
    """

    path: str
    unit: str
    low: float
    high: float
    is_whole: bool
    about: str
    live: str = "step"
    why_not: str = ""
    scale: float = 1.0

    @property
    def key(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def counts_with_limit_alone(self) -> bool:
        return self.key in LIMITS


def numbers_of(config: Config) -> tuple[NumberSetting, ...]:
    """Return the numbers of the behaviour, and those of links if there are any, in the order of their sections."""
    names = [config.behaviour, *(["links"] if config.links.pattern != "none" else [])]
    return tuple(number for name in names for number in _of_section(name, getattr(config, name)))


def _of_section(name: str, section: Section) -> Iterator[NumberSetting]:
    for key, field in type(section).model_fields.items():
        value = getattr(section, key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield number_of(f"{name}.{key}", field, isinstance(value, int))


def number_of(path: str, field: FieldInfo, is_whole: bool) -> NumberSetting:
    """Return what a field says of its number."""
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    bounds = {bound: getattr(each, bound) for each in field.metadata for bound in ("ge", "le") if hasattr(each, bound)}
    live, _, why_not = str(extra.get("live", "step")).partition(": ")
    unit, about, scale = str(extra.get("unit", "")), field.description or "", 1.0
    for metres in (each for each in field.metadata if isinstance(each, InMetres)):
        unit, scale = metres.suffix.replace("2", "²"), metres.units
        about = f"{about.rpartition(' (')[0]} ({unit}, {bounds['ge'] / scale:.3g} to {bounds['le'] / scale:.3g})"
    return NumberSetting(path, unit, bounds["ge"], bounds["le"], is_whole, about, live, why_not, scale)


def value_of(config: Config, path: str) -> Number:
    """Return the value of a number, by its path in a configuration."""
    section, _, key = path.partition(".")
    value: Number = getattr(getattr(config, section), key)
    return value


def with_numbers(config: Config, values: Mapping[str, Number]) -> Config:
    """Return the configuration with other numbers, by path, all of them at once.

    Raises ValueError, in one line, for one that is unknown, cannot be changed, or is out of its range.
    """
    known = {number.path: number for number in numbers_of(config)}
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
