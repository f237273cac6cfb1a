"""Rules for pairs of neighbours, which kernels are compiled for.

A kernel gets a rule as an argument whose type names it. The name has a hash of all that the rule's code depends on,
so what is compiled of a kernel for it can be kept on disk like any other, and is not found any more when the rule has
changed.

Columns of any number and type, and sums of what a rule returns, are tuples, for one point or for sixteen. Numba has no
loop over a tuple of arrays that differ, so the functions in the second half write the code for each element.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, ParamSpec, TypeVar

from llvmlite import ir
from numba import TypingError, types
from numba.extending import intrinsic

from crowd_demo.compute import llvm
from crowd_demo.compute.arrays import Float, Values
from crowd_demo.compute.dispatch import formula, generic, implements
from crowd_demo.compute.llvm import unpack_tuple
from crowd_demo.compute.simd import Lanes, lanes_of, mask, widened
from crowd_demo.compute.simd_memory import is_many, put_scattered, read_at

P = ParamSpec("P")
R = TypeVar("R")
_rules: dict[Callable[..., object], PairRule] = {}


class PairRule(NamedTuple):
    """A rule as an argument of a kernel: nothing but its class, which each has of its own."""


@generic
def contribution(rule: PairRule, dx: Float, dy: Float, me: Values, other: Values) -> Float:
    """Return what the rule makes of a pair."""


def pair_rule(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function of one pair of neighbours a rule for `Grid.sum`.

    `rule(dx, dy, me, other)` returns what `other` adds for `me`: a number, a truth value, or a tuple of them. (dx, dy)
    leads from me to the other. `me` and `other` are tuples of their values in the columns of `sum`.

    A rule runs in lanes, for sixteen points at a time, if it contains only arithmetic, comparisons, `abs`, `min`,
    `max`, `select` and `root` of `crowd_demo.grid`, numbers of its own module, and other rules. With anything else that
    Numba compiles, such as `if` or `math.exp`, it runs for one point at a time. The bits are the same.
    """
    formula(function)
    name = name_of(function)
    kind = __getattr__(name)
    implements(contribution, kind)(lambda rule, dx, dy, me, other: function(dx, dy, me, other))  # type: ignore[call-arg]
    _rules[function] = kind()
    return function


def __getattr__(name: str) -> Any:
    """Return the class of a rule, which what is kept on disk refers to; the rule itself may be in another program."""
    if "-" not in name:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, type(name, (PairRule,), {}))


def rule_of(function: Callable[..., object]) -> PairRule:
    """Return a function that was made a rule as an argument of kernels. Raises ValueError for any other."""
    if function not in _rules:
        raise ValueError(f"rule: must be a function under @pair_rule, not {function!r:.60}")
    return _rules[function]


def name_of(function: Callable[..., object]) -> str:
    """Return a name for a function and all that its code depends on, the same in all processes."""
    content = repr(_content(function, []))
    return f"{function.__name__}-{hashlib.blake2b(content.encode(), digest_size=12).hexdigest()}"


def _content(value: object, met: list[object]) -> object:
    """What code that names a value depends on."""
    value = getattr(value, "py_func", value)
    module, name = getattr(value, "__module__", None) or "", getattr(value, "__qualname__", None)
    if name and module.startswith("crowd_demo."):  # kernels are kept by the content of this package
        return module, name
    if isinstance(value, FunctionType):
        if value in met:
            return met.index(value)
        met.append(value)
        named = [value.__globals__[name] for name in value.__code__.co_names if name in value.__globals__]
        named += [cell.cell_contents for cell in value.__closure__ or ()] + list(value.__defaults__ or ())
        return _content(value.__code__, met), [_content(each, met) for each in named]
    if isinstance(value, CodeType):
        return value.co_code.hex(), value.co_names, [_content(each, met) for each in value.co_consts]
    if isinstance(value, tuple):
        return tuple(_content(each, met) for each in value)
    if isinstance(value, ModuleType | type):
        return value.__name__
    return (type(value).__name__, repr(value)) if isinstance(value, int | float | str | None) else uuid.uuid4().hex


# --- columns, and sums of what a rule returns ------------------------------------------------------------------------

@intrinsic
def read_columns(context, columns, index):
    """Return columns[k][index] for all columns, at one index or at sixteen as for `gather`. A number stays."""
    many = is_many(index)
    read = [kind if not isinstance(kind, types.Array) else lanes_of(kind.dtype) if many else kind.dtype
            for kind in columns]
    record = types.Tuple(read)
    return record(columns, index), lambda c, b, s, a: c.make_tuple(b, record, [
        read_at(c, b, c.get_data_type(kind.dtype), llvm.data_of(c, b, kind, value), index, a[1], many)
        if isinstance(kind, types.Array) else value
        for kind, value in zip(columns, unpack_tuple(b, a[0], len(columns)), strict=True)])


def values_of(returned: types.Type) -> list[types.Type]:
    return list(returned) if isinstance(returned, types.BaseTuple) else [returned]


@intrinsic
def number_of_values(context, values):
    """Return how many values are in a tuple; 0 for a value without a tuple."""
    count = values.count if isinstance(values, types.BaseTuple) else 0
    return types.int64(values), lambda c, b, s, a: llvm.number(llvm.I64, count)


@intrinsic
def no_sums(context, values, like, out):
    """Return a 0 for each value, of the type of the array `out`, as wide as `like`."""
    kind = lanes_of(out.dtype) if isinstance(like, Lanes) else out.dtype
    sums = types.UniTuple(kind, len(values_of(values)))
    return sums(values, like, out), lambda c, b, s, a: c.make_tuple(
        b, sums, [ir.Constant(c.get_value_type(kind), None)] * sums.count)


def _term(c, b: ir.IRBuilder, value: ir.Value, own: types.Type, kind: types.Type) -> ir.Value:
    if own == mask:
        one, zero = (widened(c, b, ir.Constant(ir.IntType(64), number), types.int64, kind) for number in (1, 0))
        return b.select(value, one, zero)
    if isinstance(own, Lanes) and own != kind:
        return (b.fpext if is_fraction(own) else b.sitofp)(value, kind.llvm)
    return widened(c, b, value, own, kind)


def is_fraction(kind: types.Type) -> bool:
    """Return whether a type, of a number, a register or a number in the source, is a float."""
    return isinstance(getattr(kind, "scalar", getattr(kind, "own", kind)), types.Float)


@intrinsic
def add_values(context, sums, wanted, values):
    kind, kinds = sums.dtype, values_of(values)
    if not is_fraction(kind) and any(map(is_fraction, kinds)):
        raise TypingError("a fraction does not fit a sum of whole numbers")

    def code(c, b, s, a):
        terms = unpack_tuple(b, a[2], len(kinds)) if isinstance(values, types.BaseTuple) else [a[2]]
        added = []
        for before, term, own in zip(unpack_tuple(b, a[0], sums.count), terms, kinds, strict=True):
            term = _term(c, b, term, own, kind)
            after = b.fadd(before, term) if is_fraction(kind) else b.add(before, term)
            added.append(b.select(a[1], after, before))
        return c.make_tuple(b, sums, added)
    return sums(sums, wanted, values), code


@intrinsic
def put_sums(context, out, slots, wanted, sums):
    """out[k, slots] = sums[k] for the lanes that are wanted; `out` has a row for each sum."""
    def code(c, b, s, a):
        _, length = unpack_tuple(b, llvm.create_struct_proxy(out)(c, b, a[0]).shape, 2)
        element = c.get_data_type(out.dtype)
        for row, value in enumerate(unpack_tuple(b, a[3], sums.count)):
            data = llvm.element(b, element, llvm.data_of(c, b, out, a[0]), b.mul(length, ir.Constant(length.type, row)))
            if isinstance(slots, Lanes):
                put_scattered(b, sums.dtype, data, a[1], a[2], value)
            else:
                llvm.store(b, value, llvm.element(b, element, data, a[1]))
        return c.get_dummy_value()
    return types.void(out, slots, wanted, sums), code
