"""A start with all kernels in the cache, until one picture has been drawn, against another commit."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import numpy as np
from variants import StartVariant

from crowd_demo.measure.comparison import collect, interleave
from crowd_demo.measure.statistics import ratio_interval
from targets.base import Found, Session, Target

AT_MOST = {"20k": 0.8, "1m-flock": 0.7}


def measure(session: Session) -> Iterator[Found]:
    for config, bound in list(AT_MOST.items())[:1 if session.quick else None]:
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            before, now = session.installs()
            variants = {"before": StartVariant(before, config, {}, one), "now": StartVariant(now, config, {}, other)}
            found = collect(variants, interleave(variants, [1] * session.blocks(8), 1))  # the first start compiles
        of_now, of_before = (np.array([float(each["wall"].times_ms["wall"][0]) for each in found[name]])
                             for name in ("now", "before"))
        ratio = ratio_interval(of_now, of_before)
        yield Found(config, ratio.value, bound, interval=ratio,
                    details={"before_ms": float(np.median(of_before)), "ms": float(np.median(of_now))})


TARGET = Target("warm-start", "a start with all kernels in the cache, until a picture", "20k: 0.8, a million: 0.7",
                "`crowd-demo --headless --frames 1` of both commits in turns, each with a cache of its own", measure)
