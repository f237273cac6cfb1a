"""The base of the configuration's sections: frozen, without unknown keys, strict about types; errors in plain words.

`number` and `Whole` declare a number with its unit and range, so that the JSON schema documents what is checked. A field of
type `Length`, `Speed` or `Area` takes a number of world units, or text with metres: `"0.46 m"`, `"1.34 m/s"`, `"30 m2"`.

Pydantic's errors become: what is legal, what was given, and what was probably meant. What is legal comes from the JSON
schema, so a message always agrees with what is checked.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, NamedTuple, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    JsonValue,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, ValidationError, core_schema

MAX_AGENTS = 32_000_000
UNITS_A_METRE = 26.0  # world units, for people: a body 12 units wide is 0.46 m
NUMBER = r"[0-9]+(\.[0-9]+)?"


class Section(BaseModel):
    """A mapping in the YAML. `key:` with nothing under it is an empty section."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, validate_default=True)

    @model_validator(mode="before")
    @classmethod
    def _null_as_empty_section(cls, data: object) -> object:
        return {} if data is None else plain(data)

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        errors = [InitErrorDetails(type=PydanticCustomError("order", "{text}", {"text": problem.text}), loc=problem.path,
                                   input=problem.value) for problem in self._problems()]
        if errors:
            raise ValidationError.from_exception_data(type(self).__name__, errors)
        return self

    def _problems(self) -> Iterator[Problem]:
        """Yield the values that do not go together."""
        yield from ()


def plain(value: object) -> object:
    """Return NumPy's numbers and arrays as Python's numbers and lists, and paths as text, also within lists and mappings."""
    if isinstance(value, Mapping):
        return {name: plain(child) for name, child in value.items()}
    if isinstance(value, list | tuple):
        return [plain(child) for child in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.tolist() if hasattr(value, "tolist") else value


def whole(name: str, value: object) -> int:
    """Return a whole number, of NumPy's or Python's, as Python's. Raises TypeError that names the argument."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name}: must be a whole number, not {value!r:.60}") from None


def require(name: str, value: object, kind: type) -> None:
    """Raise TypeError for an argument of another kind."""
    if not isinstance(value, kind):
        raise TypeError(f"{name}: must be a {kind.__name__}, not {value!r:.60}")


WITHOUT_POINT = BeforeValidator(lambda value: int(value) if isinstance(value, float) and value.is_integer() else value)
Whole = Annotated[int, WITHOUT_POINT]
"""A whole number, which may be written `1e5`, as in JSON schema."""


def number(default: float, low: float, high: float, unit: str, what: str, live: str = "step") -> Any:
    """A field of `low` to `high`; the unit may be empty.

    `live` says what a change does to a crowd that runs (model.py): "step", it holds from the next step on; "birth", for
    who is born from now on; or "no: " and the reason why it cannot be changed. Only numbers of behaviours and links are
    changed.
    """
    scope = f"{unit}, {low:.15g} to {high:.15g}" if unit else f"{low:.15g} to {high:.15g}"
    extra: dict[str, JsonValue] = {"unit": unit} if live == "step" else {"unit": unit, "live": live}
    return Field(default, ge=low, le=high, description=f"{what} ({scope})", json_schema_extra=extra)


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


def section(model: type[Section]) -> Any:
    """A field that holds a section with all its defaults."""
    return Field(default_factory=model)


class Problem(NamedTuple):
    """A value of a section that does not go together with others; `path` leads to its key."""

    path: tuple[str | int, ...]
    value: object
    text: str


# --- metres ----------------------------------------------------------------------------------------------------------

class InMetres(NamedTuple):
    """Makes a float field take text in metres as well."""

    suffix: str
    units: float  # world units in one of it
    example: str

    def from_text(self, value: object) -> object:
        """Return world units for text in metres; anything else as it is, for the field to judge."""
        found = re.fullmatch(f"({NUMBER}) ?{re.escape(self.suffix)}", value) if isinstance(value, str) else None
        return float(found[1]) * self.units if found else value

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.from_text, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        text = {"type": "string", "pattern": f"^{NUMBER} ?{re.escape(self.suffix)}$", "examples": [self.example]}
        return {"anyOf": [handler(schema), text]}


LENGTH = InMetres("m", UNITS_A_METRE, "0.46 m")
Length = Annotated[float, LENGTH]
Speed = Annotated[float, InMetres("m/s", UNITS_A_METRE, "1.34 m/s")]
Area = Annotated[float, InMetres("m2", UNITS_A_METRE**2, "1.5 m2")]


def metres(units: float) -> float:
    """A length, or a speed in metres a second."""
    return units / UNITS_A_METRE


def per_square_metre(per_square_unit: float) -> float:
    return per_square_unit * UNITS_A_METRE**2


# --- what differs ----------------------------------------------------------------------------------------------------

def differences(before: Mapping[str, object], after: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield (dotted path, value in `after`) of each value of two dumped configurations that is another one."""
    for key, value in after.items():
        old = before.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            yield from differences(old, value, f"{prefix}{key}.")
        elif value != old:
            yield f"{prefix}{key}", value


# --- errors in plain words -------------------------------------------------------------------------------------------

Schema = dict[str, Any]  # JSON schema
KeyPath = tuple[str | int, ...]  # keys of sections, and places in lists

OLD_BOOLEANS = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}


def explain(error: ValidationError, model: type[BaseModel], prefix: KeyPath = ()) -> list[tuple[KeyPath, str]]:
    """(path of the key, what is wrong), one a key; `prefix` is the path of the validated part in the model."""
    found: dict[KeyPath, str] = {}
    errors = error.errors(include_url=False)
    for item in errors:
        if item["type"] == "too_short" and any(other["loc"][:-1] == item["loc"] for other in errors):
            continue  # too short without its wrong items, which are told
        path, schema = _walk(model, (*prefix, *item["loc"]))
        if item["type"] == "extra_forbidden":
            name = str(item["loc"][-1])
            siblings = list(_resolve(schema, model).get("properties", {}))
            elsewhere = (each for each in _paths(model, _schema(model), "") if not each.startswith("keys."))
            meant = close_to(name.lower(), siblings) or _meant(
                next((each for each in elsewhere if each.rpartition(".")[2] == name), ""))
            path, text = (*path, name), f"unknown key{meant}"
        elif item["type"] == "missing" and path[-1:] == item["loc"][-1:]:
            text = f"is missing; it must be {describe(schema, model)}"
        elif item["type"] == "order":
            text = item["msg"]
        else:
            value, words = item["input"], _words(schema, model)
            text = f"must be {describe(schema, model)}, not {show(value)}"
            if words == ["true", "false"] and isinstance(value, str) and value.lower() in OLD_BOOLEANS:
                text += _meant(OLD_BOOLEANS[value.lower()])
            elif isinstance(value, str):
                text += close_to(value.lower(), words)
        found.setdefault(path, text)
    return list(found.items())


def close_to(name: str, names: Iterable[str]) -> str:
    """`" (did you mean x?)"` for the nearest of the names, or an empty text."""
    return _meant(next(iter(get_close_matches(name, list(names), n=1)), ""))


def show(value: object) -> str:
    """A value as YAML writes it, shortened."""
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    if isinstance(value, dict):
        return "a section"
    text = repr(value)
    if len(text) > 40:
        return f"a list of {len(value)}" if isinstance(value, list | tuple) else text[:36] + " ..."
    return text


def describe(schema: Schema, model: type[BaseModel]) -> str:
    """Return what the schema allows, in words that follow "must be". A named type has its own description."""
    schema, named = _resolve(schema, model), "$ref" in schema
    if schema.get("type") == "object":
        return "a section (lines of key: value)"
    if named and "description" in schema:
        return str(schema["description"])
    if "anyOf" in schema:
        return " or ".join(describe(option, model) for option in schema["anyOf"])
    if words := _choices(schema):
        return words[0] if len(words) == 1 else "one of " + ", ".join(words)
    if "prefixItems" in schema:
        parts = [describe(item, model) for item in schema["prefixItems"]]
        return f"[{parts[0]}, ...], {len(parts)} values" if len(parts) > 2 > len(set(parts)) else f"[{', '.join(parts)}]"
    if "items" in schema:
        is_section = _resolve(schema["items"], model).get("type") == "object"
        items = "sections" if is_section else describe(schema["items"], model)
        sizes = [f"at {bound} {schema[key]}" for bound, key in (("least", "minItems"), ("most", "maxItems")) if key in schema]
        return ", ".join([f"a list of {items}", *sizes])
    if schema["type"] == "string" and "examples" in schema:
        return f'text such as "{schema["examples"][0]}"'
    if schema["type"] == "string":
        kind = "printable text" if "pattern" in schema else "text"
        least = f"{schema['minLength']} to " if "minLength" in schema else "at most "
        return kind + (f" of {least}{schema['maxLength']} characters" if "maxLength" in schema else "")
    limits = {"minimum": "from", "exclusiveMinimum": "more than", "maximum": "to" if "minimum" in schema else "and at most",
              "exclusiveMaximum": "and below"}
    bounds = {text: schema[key] for key, text in limits.items() if key in schema}
    kinds = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "null": "null"}
    return kinds[schema["type"]] + "".join(f" {text} {int(bound) if float(bound).is_integer() else bound}"
                                           for text, bound in bounds.items())


def _choices(schema: Schema) -> list[str]:
    """The words of an enumeration; some versions of pydantic write one of a single word as a constant."""
    return [str(word) for word in schema.get("enum", [schema["const"]] if "const" in schema else [])]


@cache
def _schema(model: type[BaseModel]) -> Schema:
    return model.model_json_schema()


def _resolve(schema: Schema, model: type[BaseModel]) -> Schema:
    if "$ref" not in schema:
        return schema
    target: Schema = _schema(model)["$defs"][schema["$ref"].rpartition("/")[2]]
    return target


def _walk(model: type[BaseModel], location: tuple[str | int, ...]) -> tuple[KeyPath, Schema]:
    """Follow a location as far as it consists of keys and of places in lists; pydantic adds members of unions."""
    schema, path = _schema(model), list[str | int]()
    for step in location:
        parent = _resolve(schema, model)
        options = (_resolve(option, model) for option in parent.get("anyOf", []))  # a section, or else such as null
        parent = next((option for option in options if option.get("type") == "object"), parent)
        named = parent.get("additionalProperties") or None  # what a name of the user's own stands for, if it may have one
        child = parent.get("items") if isinstance(step, int) else parent.get("properties", {}).get(step, named)
        if child is None:
            break
        path.append(step)
        schema = child
    return tuple(path), schema


def _words(schema: Schema, model: type[BaseModel]) -> list[str]:
    schema = _resolve(schema, model)
    if schema.get("type") == "boolean":
        return ["true", "false"]
    return _choices(schema) + [word for option in schema.get("anyOf", []) for word in _words(option, model)]


def _paths(model: type[BaseModel], schema: Schema, prefix: str) -> Iterator[str]:
    for name, child in _resolve(schema, model).get("properties", {}).items():
        yield prefix + name
        yield from _paths(model, child, f"{prefix}{name}.")


def _meant(suggestion: str) -> str:
    return f" (did you mean {suggestion}?)" if suggestion else ""
