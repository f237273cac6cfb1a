"""What others can observe of an agent, declared once, above the rules of a behaviour:

    @observes("x", "y", "half", ("lightness", lightness_of, "half"))
    class CrateRules(NamedTuple): ...

That makes the first four of the eight functions of pairwise.py. In formulas `me` and `other` are then records with these
fields, of one agent or of sixteen: `me.x`, `other.lightness`.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from crowd_demo.compute.dispatch import provide
from crowd_demo.compute.simd_memory import load, store, take
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import FLOATS, INTS

Field = str | tuple[Any, ...]
Kind = TypeVar("Kind", bound=type)
RECORDS: dict[type, Any] = {}  # by rules: the record that is observed, for formulas that make one
COLUMNS: dict[type, tuple[str, ...]] = {}  # by rules: the columns that others read
SOURCE = """
def copy_to_strip(rules, columns, slots, strip, at):
    floats, ints = strip
    {taken}
    {stored}

def read_columns(rules, columns, slot):
    {read}
    return Observed({values})

def read_strip(rules, strip, at):
    floats, ints = strip
    return Observed({of_strip})

def load_register(rules, strip, at):
    floats, ints = strip
    return Observed({of_register})
"""


def observes(*floats: Field, ints: Sequence[Field] = ()) -> Callable[[Kind], Kind]:
    """Declare what others can observe of an agent whose behaviour has the decorated rules.

    A field is a column, an array of the rules such as "rules.pull_x", or (name, formula, column, ...) for what a formula
    makes of columns. Raises ValueError for more than FLOATS or INTS of them.
    """
    if len(floats) > FLOATS or len(ints) > INTS:
        raise ValueError(f"others can observe at most {FLOATS} floats and {INTS} ints, not {len(floats)} and {len(ints)}")
    fields = [(_last(field), None, field) if isinstance(field, str) else field for field in (*floats, *ints)]
    arrays = tuple(dict.fromkeys(array for _, _, *some in fields for array in some))
    values = [f"make_{name}({', '.join(map(_last, some))})" if formula else name for name, formula, *some in fields]
    rows = [f"floats[{k}" for k in range(len(floats))] + [f"ints[{k}" for k in range(len(ints))]
    source = SOURCE.format(
        taken="; ".join(f"{_last(array)} = take({_path(array)}, slots)" for array in arrays),
        stored="; ".join(f"store({row}], at, {value})" for row, value in zip(rows, values, strict=True)),
        read="; ".join(f"{_last(array)} = {_path(array)}[slot]" for array in arrays), values=", ".join(values),
        of_strip=", ".join(f"{row}, at]" for row in rows), of_register=", ".join(f"load({row}], at)" for row in rows))

    def declare(kind: Kind) -> Kind:
        record: Any = namedtuple("Observed", [name for name, *_ in fields])  # type: ignore[misc]
        record.__name__, record.__qualname__ = f"{kind.__name__}Observed", f"{kind.__name__}.Observed"
        record.__module__, kind.Observed = kind.__module__, record  # type: ignore[attr-defined]  # pickle finds it there
        names = {f"make_{name}": formula for name, formula, *_ in fields}
        names |= {"Observed": record, "load": load, "store": store, "take": take, "__name__": kind.__module__}
        exec(compile(source, getattr(sys.modules[kind.__module__], "__file__", "observed"), "exec"), names)
        for each in (pairwise.copy_to_strip, pairwise.read_columns, pairwise.read_strip, pairwise.load_register):
            provide(each, names[each.__name__], kind)
        RECORDS[kind], COLUMNS[kind] = record, tuple(array for array in arrays if "." not in array)
        return kind
    return declare


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _path(array: str) -> str:
    return array if "." in array else f"columns.{array}"
