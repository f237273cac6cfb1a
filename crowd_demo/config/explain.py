"""Pydantic's errors in plain words: what is legal, what was given, and what was probably meant.

What is legal comes from the JSON schema, so a message always agrees with what is checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

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
    """What the schema allows, as words that follow "must be". A named type has a description of its own."""
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
