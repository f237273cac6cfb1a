"""Flocks after 3,000 steps against their start: crowds that drift together or lose their order become slow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from compare import WARM_UP
from installs import here
from variants import ChildVariant

from crowd_demo.measure.comparison import collect, interleave
from crowd_demo.measure.statistics import ratio_interval
from targets.base import Found, Session, Target

AT_MOST = 1.2
STEPS = 3000
PART = 500  # steps asked for at once
CONFIGS = "20k-flock", "1m-flock", "1m-flock-push", "births-250k"  # `clump` and `murmuration` draw together on purpose


def measure(session: Session) -> Iterator[Found]:
    for config in CONFIGS[:1] if session.quick else CONFIGS:
        install = here(installed=False)
        with ChildVariant(install, config, {}, False) as old, ChildVariant(install, config, {}, False) as young:
            for _ in range(STEPS // PART):
                old.run(PART)
            variants = {"old": old, "young": young}
            timed = collect(variants, interleave(variants, [12] * session.blocks(), WARM_UP))
        of_old, of_young = (np.array([float(np.mean(each.frame.times_ms["step"])) for each in blocks])
                            for blocks in timed.values())
        ratio = ratio_interval(of_old, of_young)
        yield Found(config, ratio.value, AT_MOST, interval=ratio,
                    details={"young_ms": float(np.median(of_young)), "old_ms": float(np.median(of_old))})


TARGET = Target("ageing", "flocks after 3,000 steps against their start", "mean step at most 1.2",
                "an old crowd and a young one in turns", measure)
