"""Neighbour structures with their cells and leaves: birds all over and in a clump, and crates of all sizes."""

from __future__ import annotations

from collections.abc import Sequence

from crowd_demo.extras.lab.claims.cases import TimedCase, Values, crowds
from crowd_demo.extras.lab.claims.claim import TAY, Answer, Case, Claim, Found, LabScale, all_of
from crowd_demo.extras.lab.claims.judging import faster

TREES: dict[str, Values] = {f"{tree} {leaf}": {"neighbours": tree, "leaf_size": leaf}
                            for tree in ("kd_tree", "aabb_tree") for leaf in (8, 32, 128)}
CELLS: dict[str, Values] = {"sorted": {"neighbours": "sorted"},
                            "sorted, half cells": {"neighbours": "sorted", "cell_size": 12},
                            "sorted, double cells": {"neighbours": "sorted", "cell_size": 48},
                            **{name: {"neighbours": name} for name in ("buckets", "linked", "z_grid")}}
ALL_PAIRS: dict[str, Values] = {"all pairs": {"neighbours": "none"}}
WIDE: dict[str, Values] = {name: values for name, values in CELLS.items() if "cell_size" not in values}
MAX_PAIRS = 10_000  # agents that are tested with all others


def cases(scale: LabScale) -> Sequence[Case]:
    small, *_ = scale.sizes(10_000)
    found: list[Case] = [TimedCase(f"{small:,} birds of radius 24", small,
                                   crowds("20k-flock", small, {**CELLS, **TREES, **ALL_PAIRS}), steps=5, seconds=8),
                         TimedCase(f"{small:,} birds of radius 50", small,
                                   crowds("20k-flock", small, {**WIDE, **TREES, **ALL_PAIRS}, flock__sight=50), steps=5,
                                   seconds=8),
                         TimedCase(f"{small:,} birds in a clump", small,
                                   crowds("clump", small, {**CELLS, **TREES}), steps=5, seconds=5)]
    for size in scale.sizes(100_000):
        found += [TimedCase(f"{size:,} birds", size, crowds("20k-flock", size, {**CELLS, **TREES}), steps=3, seconds=15),
                  TimedCase(f"{size:,} crates of 2 to 100 units", size, crowds("crates", size, {**WIDE, **TREES}), steps=3,
                            seconds=25)]
    return found


def decide(found: Found) -> Answer:
    """The grid against the kd-tree, and all pairs where they were tried; of crates the tree of boxes against the grid."""
    if "crates" in found.case:
        return faster(found, "aabb_tree 8", "sorted", times=1.1)
    pairs = [faster(found, "sorted", "all pairs", times=10)] if "all pairs" in found.blocks_ms else []
    return all_of([faster(found, "sorted", "kd_tree 32", times=1.1), *pairs])


CLAIM = Claim(
    "structures", "Which structure finds neighbours fastest, and with which cells and leaves?",
    "10,000 agents of radius 50 on 8 threads: all pairs 231.7 ms, kd-tree 9.08, grid 6.25; in a clump 256.8, 58.9, 36.0",
    TAY,
    "the sorted grid is 1.1 times as fast as the kd-tree with leaves of 32, and 10 times as fast as all pairs; of agents of"
    " very different sizes the tree of boxes with leaves of 8 is 1.1 times as fast as the grid; build (index), query and"
    " interaction stand apart", cases, decide, by_size=False)
