"""Compile what runs need, once and before any of them begins: their processes then load it from the kernel cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from crowd_demo.app.compiling.ahead import Ahead
from crowd_demo.app.compiling.compilers import Compilers
from crowd_demo.config.model import Config

Tell = Callable[[str, int, int], None]


def warm(configs: Iterable[Config], tell: Tell) -> None:
    """Compile the kernels of these configurations, with as many helper processes as pay."""
    for config in {_what_decides(config): config for config in configs}.values():
        with Compilers(config) as compilers:
            compilers.compile_first(Ahead(config, False).missing(config.optimizations), config.optimizations, tell)


def _what_decides(config: Config) -> str:
    """What decides which kernels there are: techniques and words; of other numbers only whether they are zero."""
    others = config.model_dump(exclude={"optimizations", "keys", "measure"})
    return f"{config.optimizations.model_dump()} {_without_numbers(others)}"


def _without_numbers(value: object) -> object:
    if isinstance(value, dict):
        return {name: _without_numbers(child) for name, child in value.items()}
    return value != 0 if isinstance(value, int | float) else value
