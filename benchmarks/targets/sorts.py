"""Frames beside a sort are as even as those of a run against itself, and those with one are not much longer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from compare import WARM_UP
from installs import here
from variants import ChildVariant

from crowd_demo.compute.arrays import Doubles
from crowd_demo.measure.comparison import BlockTimes, collect, interleave
from targets.base import Found, Session, Target, median

EVENNESS, WITH_SORT = 1.2, 1.5
CONFIGS = "20k-flock", "1m-flock"
SORTED = {"optimizations.reorder.when": "every", "optimizations.reorder.every": 60}
FRAMES = 60  # of a block: one of them sorts


def measure(session: Session) -> Iterator[Found]:
    for config in CONFIGS[:1] if session.quick else CONFIGS:
        install = here(installed=False)
        with ChildVariant(install, config, SORTED, True) as one, ChildVariant(install, config, SORTED, True) as other:
            variants = {"one": one, "other": other}
            timed = collect(variants, interleave(variants, [FRAMES] * session.blocks(), WARM_UP))
        frames = [frame_times(timed[name]) for name in variants]
        (plain, with_sort), (again, _) = frames
        yield Found(f"{config}: p99 / median without a sort, against itself", unevenness(plain) / unevenness(again), EVENNESS,
                    details={"p99_over_median": unevenness(plain)})
        yield Found(f"{config}: a frame with a sort", median(with_sort) / median(plain), WITH_SORT,
                    details={"median_ms": median(plain), "with_sort_ms": median(with_sort), "sorts": len(with_sort)})


def frame_times(blocks: Sequence[BlockTimes]) -> tuple[Doubles, Doubles]:
    """Milliseconds of the frames without a sort, and of those with one."""
    whole = np.concatenate([sum(each.frame.times_ms.values(), np.zeros(each.frame.steps)) for each in blocks])
    sorts = np.concatenate([each.stages.times_ms["reorder"] for each in blocks])
    usual = median(sorts.tolist())
    sorted_now = sorts > 10 * usual + 0.02  # a stage that only looks takes microseconds
    return whole[~sorted_now], whole[sorted_now]


def unevenness(frames: Doubles) -> float:
    return float(np.percentile(frames, 99) / np.median(frames))


TARGET = Target("sorts", "frames without and with a sort", "p99 / median at most 1.2 of a run against itself; with a sort 1.5",
                "two processes with the same crowd in turns, sorted every 60 steps", measure)
