"""What techniques do to the crowd: the three kinds, with the marks and words by which all of the program tells them.

An *exact* technique cannot change the crowd: the state hash stays the same. An *approximate* one does less work and changes
the motion a little. One of the *model* chooses among rules of behaviour, none of which is the truth of another: each value has
a crowd of its own, whatever the exact techniques do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES, is_approximate


class Kind(NamedTuple):
    """A kind of technique. `mark` stands beside such a technique where there is no room for the name."""

    name: str
    mark: str
    does: str  # to the crowd


EXACT = Kind("exact", "", "the same crowd")
APPROXIMATE = Kind("approximate", "~", "changes the motion")
MODEL = Kind("model", "≠", "another rule of behaviour")
KINDS = (EXACT, APPROXIMATE, MODEL)  # later ones change more
MARKED = (APPROXIMATE, MODEL)


def kind_of(technique: Technique, value: Value, get: Callable[[str], Value] | None = None) -> Kind:
    """Of a technique that is set to a value; `get` returns the present value of any other."""
    return MODEL if technique.model else APPROXIMATE if is_approximate(technique, value, get) else EXACT


def usual_kind(technique: Technique) -> Kind:
    """Of a technique with most of its values."""
    return MODEL if technique.model else EXACT if technique.exact else APPROXIMATE


def strongest(kinds: Iterable[Kind]) -> Kind:
    """The one that changes most."""
    return max(kinds, key=KINDS.index, default=EXACT)


def kind_of_all(values: Mapping[str, Value], get: Callable[[str], Value]) -> Kind:
    """Of techniques that are set to these values, by path, where `get` returns the present value of the others."""
    def value_of(path: str) -> Value:
        return values[path] if path in values else get(path)
    return strongest(kind_of(BY_PATH[path], value, value_of) for path, value in values.items())


def in_a_line() -> str:
    """The marks, and what has none, in one line."""
    choices = [f"{technique.label.strip()} {' and '.join(map(str, technique.approximate_choices))}"
               for technique in TECHNIQUES if technique.approximate_choices]
    marks = [f"{kind.mark} {kind.name}: {kind.does}" for kind in MARKED]
    return ";  ".join([f"{marks[0]} (so with {', '.join(choices)})", *marks[1:], f"no mark: exactly {EXACT.does}"])
