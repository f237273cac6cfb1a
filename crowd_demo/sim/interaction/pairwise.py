"""What a behaviour says of the interaction: what others can observe of an agent, and what it makes of its neighbours.

There are two contracts: order-free sums over all neighbours, here, and the k nearest in a fixed order (nearest.py). The type
of `rules` chooses the behaviour (compute/dispatch.py): each has the eight functions below. The first four follow from a
declaration above its rules:

    @observes("x", "y", "half", ("lightness", lightness_of, "half"))
    class CrateRules(NamedTuple): ...

Then `me` and `other` are records with these fields, of one agent or of sixteen: `me.x`, `other.lightness`.
"""

# Generic functions have no body of their own.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Mask, Rules
from crowd_demo.compute.dispatch import generic, implements
from crowd_demo.compute.simd import no_sum
from crowd_demo.compute.simd_memory import gather, load, store, take
from crowd_demo.sim.store.columns import Columns

FLOATS, INTS = 7, 4  # that others can observe of an agent, at most
Observed = Any  # what others can observe of an agent, or of sixteen: x, y, and fields of the behaviour's own
Sums = tuple[Int, ...]  # what an agent, or each of sixteen, has added up over its neighbours
Strip = tuple[Floats, Ints]  # [FLOATS or INTS, capacity]: what can be observed of the candidates, one after the other
Field = str | tuple[Any, ...]
Kind = TypeVar("Kind", bound=type)

# --- what a behaviour defines ----------------------------------------------------------------------------------------

@generic
def copy_to_strip(rules: Rules, columns: Columns, slots: Int, strip: Strip, at: int) -> None:
    """Copy what others can observe of sixteen agents to the strip; `slots` begins with theirs, or is the first of a run."""


@generic
def read_columns(rules: Rules, columns: Columns, slot: Int) -> Observed:
    """Return what others can observe of the agent in a slot."""


@generic
def read_strip(rules: Rules, strip: Strip, at: Int) -> Observed:
    """Return the same of the agent at an index of the strip."""


@generic
def load_register(rules: Rules, strip: Strip, at: Int) -> Observed:
    """Return the same of sixteen agents that are contiguous in the strip."""


@generic
def no_sums(rules: Rules, like: Float) -> Sums:
    """Return the sums over no neighbours, by default three: a count, and sums along x and y. `like` gives the width."""


@generic
def accumulate(rules: Rules, me: Observed, other: Observed, sums: Sums) -> Sums:
    """Return the sums with `other` added. It may be the agent itself: `finish` subtracts what that adds."""


@generic
def finish(rules: Rules, me: Observed, sums: Sums) -> tuple[Float, Float, Int]:
    """Return (avoidance_x, avoidance_y, number of neighbours) from the sums."""


@generic
def perceive(rules: Rules, me: Observed, other: Observed) -> tuple[Mask, Float]:
    """Return (whether `other` is a neighbour, a measure of its distance by which neighbours are put in order).

    Only one agent at a time: for limits, and for behaviours that gather their nearest (nearest.py).
    """


# --- what it may define besides, and defaults ------------------------------------------------------------------------

@generic
def sum_capacity(rules: Rules) -> Int:
    """Return how many candidates the sums of a register have room for before they must be settled."""


@generic
def settle(rules: Rules, me: Observed, sums: Sums) -> Sums:
    """Return the sums of a register with room for as many again."""


@generic
def pack(rules: Rules, strip: Strip, members: Int, target: Strip, at: int) -> None:
    """Copy sixteen agents of a strip to contiguous elements of the target, so that they can be loaded as a register."""


@implements(no_sums, object)
def _count_and_vector(rules: Rules, like: Float) -> Sums:
    return no_sum(like), no_sum(like), no_sum(like)


@implements(pack, object)
def _pack_all(rules: Rules, strip: Strip, members: Int, target: Strip, at: int) -> None:
    for field in range(FLOATS):
        store(target[0][field], at, gather(strip[0][field], members))
    for field in range(INTS):
        store(target[1][field], at, gather(strip[1][field], members))


@implements(sum_capacity, object)
def _enough_for_all(rules: Rules) -> int:
    return 2**31


@implements(settle, object)
def _as_they_are(rules: Rules, me: Observed, sums: Sums) -> Sums:
    return sums


# --- what others can observe ------------------------------------------------------------------------------------------

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

def pack(rules, strip, members, target, at):
    floats, ints = strip
    to_floats, to_ints = target
    {packed}
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
        of_strip=", ".join(f"{row}, at]" for row in rows), of_register=", ".join(f"load({row}], at)" for row in rows),
        packed="; ".join(f"store(to_{row}], at, gather({row}], members))" for row in rows))

    def declare(kind: Kind) -> Kind:
        record: Any = namedtuple("Observed", [name for name, *_ in fields])  # type: ignore[misc]
        record.__name__, record.__qualname__ = f"{kind.__name__}Observed", f"{kind.__name__}.Observed"
        record.__module__, kind.Observed = kind.__module__, record  # type: ignore[attr-defined]  # pickle finds it there
        names = {f"make_{name}": formula for name, formula, *_ in fields}
        names |= {"Observed": record, "gather": gather, "load": load, "store": store, "take": take,
                  "__name__": kind.__module__}
        exec(compile(source, getattr(sys.modules[kind.__module__], "__file__", "observed"), "exec"), names)
        for each in (copy_to_strip, read_columns, read_strip, load_register, pack):
            implements(each, kind, by_rule=False)(names[each.__name__])
        RECORDS[kind], COLUMNS[kind] = record, tuple(array for array in arrays if "." not in array)
        return kind
    return declare


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _path(array: str) -> str:
    return array if "." in array else f"columns.{array}"
