"""Flocks after 3,000 steps against their start: crowds that drift together or lose their order become slow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from child_arm import ChildArm
from compare import WARM_UP
from installs import here

from crowd_demo.measure.schedule import collect, interleave
from crowd_demo.measure.statistics import ratio_interval
from targets.base import Found, Session, Target

AT_MOST = 1.2
STEPS = 3000
PART = 500  # steps asked for at once
CONFIGS = "20k-flock", "1m-flock", "1m-flock-push", "births-250k"  # `clump` and `murmuration` draw together on purpose


def measure(session: Session) -> Iterator[Found]:
    for config in CONFIGS[:1] if session.quick else CONFIGS:
        install = here(installed=False)
        with ChildArm(install, config, {}, picture=False) as old, ChildArm(install, config, {}, picture=False) as young:
            for _ in range(STEPS // PART):
                old.run(PART)
            arms = {"old": old, "young": young}
            timed = collect(arms, interleave(arms, [12] * session.blocks(), WARM_UP))
        of_old, of_young = (np.array([float(np.mean(each.frame.times_ms["step"])) for each in timed[name]]) for name in arms)
        ratio = ratio_interval(of_old, of_young)
        yield Found(config, ratio.value, AT_MOST, interval=ratio,
                    details={"young_ms": float(np.median(of_young)), "old_ms": float(np.median(of_old))})


TARGET = Target("ageing", "flocks after 3,000 steps against their start", "mean step at most 1.2",
                "an old crowd and a young one in turns", measure)
