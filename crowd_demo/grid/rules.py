"""Rules for pairs of neighbours, which kernels are compiled for.

A kernel gets a rule as an argument whose type names it. The name has a hash of all that the rule's code depends on,
so what is compiled of a kernel for it can be kept on disk like any other, and is not found any more when the rule has
changed.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, ParamSpec, TypeVar

from numba import types
from numba.extending import NativeValue, models, overload, register_model, typeof_impl, unbox

from crowd_demo.compute.arrays import Float, Values
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.numba_plain import IN_KERNELS

P = ParamSpec("P")
R = TypeVar("R")
_functions: dict[str, Callable[..., object]] = {}  # by the names of their rules
_rules: dict[Callable[..., object], PairRule] = {}


class PairRule(NamedTuple):
    """A rule as an argument of a kernel. Each has a class of its own, by which Numba finds its type at once."""


class RuleType(types.Type):  # type: ignore[misc]
    """The type of one rule; there is nothing in its value."""

    def __init__(self, rule: str) -> None:
        super().__init__(f"rule({rule})")
        self.rule = rule


register_model(RuleType)(models.OpaqueModel)


@typeof_impl.register(PairRule)
def _type_of(rule: PairRule, context: object) -> RuleType:
    return RuleType(type(rule).__name__)


@unbox(RuleType)
def _nothing(kind: RuleType, value: object, c: Any) -> NativeValue:
    return NativeValue(c.context.get_dummy_value())


def pair_rule(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function of one pair of neighbours a rule for `Grid.sum`.

    `rule(dx, dy, me, other)` returns what `other` adds for `me`: a number, a truth value, or a tuple of them. (dx, dy)
    leads from me to the other. `me` and `other` are tuples of their values in the columns that `sum` was given.

    A rule runs in lanes, for sixteen points at a time, if it contains only arithmetic, comparisons, `abs`, `min`,
    `max`, `select` and `root` of `crowd_demo.grid`, numbers of its own module, and other rules. Numbers take the type
    of what they are combined with. With anything else that Numba compiles, such as `if` or `math.exp`, a rule runs
    for one point at a time. The bits are the same.
    """
    formula(function)
    name = name_of(function)
    _rules[function], _functions[name] = type(name, (PairRule,), {})(), function
    return function


def rule_of(function: Callable[..., object]) -> PairRule:
    """Return a function that was made a rule as an argument of kernels. Raises ValueError for any other."""
    if function not in _rules:
        raise ValueError(f"rule: must be a function under @pair_rule, not {function!r:.60}")
    return _rules[function]


def name_of(function: Callable[..., object]) -> str:
    """Return a name for a function and all that its code depends on, the same in all processes."""
    content = repr(_content(function, []))
    return f"{function.__qualname__}-{hashlib.blake2b(content.encode(), digest_size=12).hexdigest()}"


def _content(value: object, met: list[object]) -> object:
    """What code that names a value depends on."""
    value = getattr(value, "py_func", value)
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


def contribution(rule: PairRule, dx: Float, dy: Float, me: Values, other: Values) -> Float:
    """Return what the rule makes of a pair."""


@overload(contribution, jit_options={**IN_KERNELS, "forceinline": True}, strict=False)
def _contribution(rule: Any, dx: Any, dy: Any, me: Any, other: Any) -> Callable[..., object]:
    function = _functions[rule.rule]
    return lambda rule, dx, dy, me, other: function(dx, dy, me, other)
