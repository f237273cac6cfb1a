"""Generic functions: when a kernel is compiled, the type of the first argument chooses the body.

    @generic
    def accumulate(rules, ...): '''What it returns.'''         once, in the module that defines the contract

    @implements(pairwise.accumulate, FlockRules)
    def accumulate(rules, ...): ...                              once for each behaviour

A body also serves subclasses that have none of their own, so the body for `object` serves all types. Bodies are formulas:
numbers in their source take the type of what they are combined with (formula.py). `@formula` defines a function with one body.

So kernels are written once for all behaviours, and nothing is chosen while they run. An implementation names the function
it implements, so its module imports that function: the order of imports does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from numba.extending import overload

from crowd_demo.compute.formula import with_number_rule
from crowd_demo.compute.numba_plain import IN_KERNELS

P = ParamSpec("P")
R = TypeVar("R")
Body = TypeVar("Body", bound=Callable[..., object])

_bodies: dict[Callable[..., object], dict[type, Callable[..., object]]] = {}


def generic(function: Callable[P, R]) -> Callable[P, R]:
    """Let the type of the first argument choose among the implementations of this function."""
    bodies = _bodies.setdefault(function, {})

    @overload(function, jit_options={**IN_KERNELS, "forceinline": True}, strict=False)
    def body_for(first: Any, *others: Any) -> Callable[..., object] | None:
        kinds = getattr(first, "instance_class", object).__mro__
        body = next((bodies[kind] for kind in kinds if kind in bodies), None)
        return body and with_number_rule(body)

    return function


def implements(function: Callable[..., object], *kinds: type) -> Callable[[Body], Body]:
    """Make the decorated formula the body of a generic function, for a first argument of one of these types."""
    def define(body: Body) -> Body:
        _bodies[function].update(dict.fromkeys(kinds, body))
        return body
    return define


def formula(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function that formulas and kernels call, written once for one number and for sixteen."""
    return implements(generic(function), object)(function)
