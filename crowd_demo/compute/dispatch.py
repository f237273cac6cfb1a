"""Functions of which every behaviour has its own: when a kernel is compiled, the type of `rules` chooses.

    @asked
    def meet(rules, ...): '''What it is to do.'''        once, where kernels call it

    @of(FlockRules)
    def meet(rules, ...): ...                            once a behaviour

So kernels are written once for all behaviours, and nothing is chosen while they run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import overload

Function = Callable[..., Any]
_BODIES: dict[str, dict[Any, Function]] = {}


def asked(function: Function) -> Function:
    """Let the type of the first argument choose among the functions of this name; there must be one of that type."""
    bodies = _BODIES.setdefault(function.__name__, {})
    overload(function, strict=False)(lambda rules, *others: bodies.get(getattr(rules, "instance_class", None)))
    return function


def of(rules: type) -> Callable[[Function], Function]:
    """The decorated function does what the `asked` one of its name is to do, for rules of this type."""
    def define(body: Function) -> Function:
        _BODIES[body.__name__][rules] = body
        return body
    return define
