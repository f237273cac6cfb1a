"""The ladder from everything off to everything on: each rung has what those below it have, and something more.

All rungs have one model: what chooses a model has its present value on each, or the rungs would not compute the same crowd.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crowd_demo.config.optimizations import Optimizations, with_values
from crowd_demo.registry.entries import MODEL, Value
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES, yaml_word


class Rung(NamedTuple):
    """Techniques, and whether they are those of the rung below and something more."""

    name: str
    options: Optimizations
    adds: bool = False


STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("+ cell lists", ("neighbours=linked",)),
    ("+ neighbours: {}", ("neighbours", "cell_size", "leaf_size", "rebuild")),
    ("+ reorder: {}", ("reorder.when", "reorder.every", "reorder.drift", "curve")),
    ("+ SIMD lanes", ("simd",)),
    ("+ stagger", ("stagger.avoidance", "stagger.by", "stagger.sight", "stagger.paths")),
    ("+ culling, depth order, blitter", ("cull", "depth", "blitter")),
    ("+ threads: {}", ("threads",)),
)
"""What each rung adds, techniques by path or a value of one, and its name, in which {} is the value of the first.

Where the first one is on already, there is no such rung."""


def present_and_rungs(present: Optimizations, ladder: bool = True) -> list[Rung]:
    """The present techniques, and then the rungs, unless the highest is the present one."""
    found = list(rungs(present)) if ladder else []
    return found if found and found[-1].options == present else [Rung("as now", present), *found]


def rungs(present: Optimizations) -> Iterator[Rung]:
    """Everything off first; on is the present value, or the default of what is off at present.

    The last rung has everything on, also what is not named above.
    """
    optional = [technique for technique in TECHNIQUES if technique.kind is not MODEL]
    options = with_values(present, {technique.path: technique.baseline for technique in optional})
    yield Rung("everything off", options)
    for name, added in STEPS:
        first, *others = (_value(entry, present) for entry in added)
        if name == STEPS[-1][0]:
            others = [_value(technique.path, present) for technique in optional]
        path, value = first
        changes = options.get(path) != value
        options = with_values(options, dict([first, *others]))
        if changes:
            yield Rung(name.format(yaml_word(value)), options, adds=True)


def _value(entry: str, present: Optimizations) -> tuple[str, Value]:
    """The path, and the value that is named or else the one that is on."""
    path, _, named = entry.partition("=")
    technique, value = BY_PATH[path], present.get(path)
    return path, named or (technique.default if value == technique.baseline else value)
