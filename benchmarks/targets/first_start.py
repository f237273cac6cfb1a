"""A first start, with an empty cache of kernels, in a window and without one, against another commit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from first_window import first_start, missing_tools
from variants import ColdVariant

from crowd_demo.measure.comparison import collect, interleave
from crowd_demo.measure.statistics import ratio_interval
from targets.base import Found, Session, SkippedError, Target, median, on_linux

CONFIG = "20k"
BAR_S, MOVING, ALL, CPU, PEAK_MB = 1.5, 0.22, 0.5, 0.6, 500
WATCHED_S = 75.0  # for memory: until the other choices have been compiled for a while


def measure(session: Session) -> Iterator[Found]:
    on_linux()
    yield from _without_window(session)
    if missing := missing_tools():
        raise SkippedError(f"the window needs {' and '.join(missing)}")
    yield from _in_window(session)


def _without_window(session: Session) -> Iterator[Found]:
    """All kernels of the configuration are waited for there."""
    before, now = session.installs()
    variants = {"before": ColdVariant(before, CONFIG, {}), "now": ColdVariant(now, CONFIG, {})}
    found = collect(variants, interleave(variants, [1] * session.blocks(6), 0))
    for kind, bound in (("wall", ALL), ("cpu", CPU)):
        of_now, of_before = (np.array([float(each[kind].times_ms[kind][0]) for each in found[name]])
                             for name in ("now", "before"))
        ratio = ratio_interval(of_now, of_before)
        yield Found(f"{CONFIG} without a window, all kernels, {kind}", ratio.value, bound, interval=ratio,
                    details={"before_s": float(np.median(of_before)) / 1e3, "s": float(np.median(of_now)) / 1e3})


def _in_window(session: Session) -> Iterator[Found]:
    before, now = session.installs()
    pairs = [(first_start(before, CONFIG), first_start(now, CONFIG)) for _ in range(1 if session.quick else 3)]
    yield Found(f"{CONFIG} in a window, progress bar, s", median(here.bar_s for _, here in pairs), BAR_S)
    yield Found(f"{CONFIG} in a window, first moving picture", median(here.moving_s / there.moving_s for there, here in pairs),
                MOVING, details={"seconds": [(there.moving_s, here.moving_s) for there, here in pairs]})
    yield Found(f"{CONFIG} in a window, all processes, MB", first_start(now, CONFIG, WATCHED_S).peak_mb, PEAK_MB)


TARGET = Target("first-start", "a start with an empty cache of kernels",
                f"moving picture {MOVING}, all kernels {ALL}, CPU {CPU}, {PEAK_MB} MB",
                "`crowd-demo --headless --frames 1` of both commits in turns, wall and CPU; and in a window of Xvfb until two"
                " pictures of the crowd differ, then for memory until other choices have been compiled", measure)
