"""A start with much to compile begins with exact choices that are compiled soonest; the configured ones follow."""

from __future__ import annotations

from collections.abc import Sequence

from crowd_demo.app.compiling.ahead import Ahead
from crowd_demo.app.compiling.compilers import FEW
from crowd_demo.compute.jit import CACHE_LASTS, Call, is_on_disk
from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import with_values
from crowd_demo.registry.entries import Value
from crowd_demo.registry.techniques import TECHNIQUES

MOST_AGENTS = 50_000  # with those choices a larger crowd would hardly move


def quick_values(config: Config, ahead: Ahead, calls: Sequence[Call]) -> dict[str, Value]:
    """Exact values, by path, with which there is much less to compile than for `calls`, those of the configured ones.

    None where that is not so.
    """
    most = to_compile(calls)
    if most <= FEW or config.agents > MOST_AGENTS or not CACHE_LASTS:
        return {}
    configured = config.optimizations
    quick = {technique.path: technique.quick for technique in TECHNIQUES
             if technique.quick not in (None, configured.get(technique.path))}
    least = to_compile(ahead.missing(with_values(configured, quick), overlays=False))
    return quick if quick and most - least > FEW else {}


def to_compile(calls: Sequence[Call]) -> int:
    """How many of them are not in the cache."""
    return sum(not is_on_disk(call) for call in calls)
