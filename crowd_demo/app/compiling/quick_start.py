"""A start with much to compile begins with exact choices that are compiled soonest; the configured ones follow."""

from __future__ import annotations

from crowd_demo.app.compiling.ahead import Ahead
from crowd_demo.app.compiling.compilers import FEW
from crowd_demo.compute.jit import CACHE_LASTS, is_on_disk
from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import with_values
from crowd_demo.registry.entries import Value
from crowd_demo.registry.techniques import TECHNIQUES

MOST_AGENTS = 50_000  # with those choices a larger crowd would hardly move


def quick_values(config: Config, ahead: Ahead) -> dict[str, Value]:
    """Exact values, by path, with which there is much less to compile than with those configured; none if that is not so."""
    configured = config.optimizations
    quick = {technique.path: technique.quick for technique in TECHNIQUES
             if technique.quick not in (None, configured.get(technique.path))}
    most, least = (sum(not is_on_disk(call) for call in ahead.missing(options, overlays=False))
                   for options in (configured, with_values(configured, quick)))
    return quick if CACHE_LASTS and config.agents <= MOST_AGENTS and most - least > FEW else {}
