"""Generic functions: when a kernel is compiled, the type of the first argument chooses the body.

    @generic
    def accumulate(rules, ...): '''What it returns.'''         once, in the module that defines the contract

    @implements(pairwise.accumulate, FlockRules)
    def accumulate(rules, ...): ...                              once for each behaviour

So kernels are written once for all behaviours, and nothing is chosen while they run. An implementation names the function
it implements, so its module imports that function: the order of imports does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import types
from numba.extending import overload

P = ParamSpec("P")
R = TypeVar("R")
Body = TypeVar("Body", bound=Callable[..., object])

_bodies: dict[Callable[..., object], dict[type, Callable[..., object]]] = {}


def generic(function: Callable[P, R]) -> Callable[P, R]:
    """Let the type of the first argument choose among the implementations of this function."""
    bodies = _bodies.setdefault(function, {})

    def choose(first: types.Type, *others: types.Type) -> Callable[..., object] | None:
        return bodies.get(getattr(first, "instance_class", None))  # type: ignore[arg-type]
    overload(function, strict=False)(choose)
    return function


def implements(function: Callable[..., object], rules: type) -> Callable[[Body], Body]:
    """Make the decorated function the body of a generic one, for a first argument of this type."""
    def define(body: Body) -> Body:
        _bodies[function][rules] = body
        return body
    return define


def implementations(function: Callable[..., object]) -> frozenset[type]:
    """Return the types for which a generic function has a body."""
    return frozenset(_bodies[function])
