"""What a measurement of the table is, and what all of them share in a run of it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

from compare import WARM_UP, compared
from compare import Found as Compared
from installs import Install, at_commit, here
from variants import ChildVariant

from crowd_demo.measure.comparison import collect, interleave
from crowd_demo.measure.experiment import finite, interval_json
from crowd_demo.measure.statistics import UNKNOWN, Interval

Overrides = Mapping[str, object]
OLD_FLOCK: Overrides = {"flock.separate_by": "offset", "flock.blind": 0}  # the rules of commit 1fe08e2
OLD_CROWD: Overrides = {
    "optimizations.avoidance": "push", "optimizations.overlap_passes": 0, "crowd.speed_min": 40, "crowd.speed_max": 120,
    "crowd.speed_draws": 1, "crowd.wiggle": 40, "crowd.response": 6, "crowd.wait_s": 1, "crowd.room": 0,
    "crowd.detour": 0}
OLD_RULES: Mapping[str, Overrides] = {  # by configuration; with its picture, where a configuration shows something else today
    "20k": {**OLD_CROWD, "map": "plaza", "world.width": 4000, "world.height": 4000, "camera.center": [2000, 2000]},
    "100k": {**OLD_CROWD, "map": "plaza", "world.width": 9000, "world.height": 9000, "scene.ground": "stone"},
    "20k-flock": OLD_FLOCK, "1m-flock": {**OLD_FLOCK, "scene.colours": "looks"}}


class SkippedError(Exception):
    """Why this cannot be measured here."""


class Found(NamedTuple):
    """A number, and the bound that it should keep."""

    what: str
    value: float
    bound: float
    at_least: bool = False  # the bound is a lower one
    interval: Interval = UNKNOWN
    details: Mapping[str, object] = {}

    @property
    def verdict(self) -> str:
        if math.isnan(self.value):
            return "unknown"
        return "met" if (self.value >= self.bound if self.at_least else self.value <= self.bound) else "missed"

    def to_json(self) -> dict[str, object]:
        return {"what": self.what, "value": finite(self.value), "bound": self.bound, "at_least": self.at_least,
                "verdict": self.verdict, "interval": interval_json(self.interval), **self.details}


@dataclass
class Session:
    """A run of the table. What several measurements ask for is measured once."""

    against: str
    quick: bool = False
    _frames: dict[str, Compared] = field(default_factory=dict)

    def blocks(self, usual: int = 12) -> int:
        """Blocks of each variant; at least six, or there is no interval."""
        return 6 if self.quick else usual

    def installs(self) -> tuple[Install, Install]:
        """The other commit, and this repository, in the present environment. Raises InstallError."""
        return at_commit(self.against, installed=False), here(installed=False)

    def frames(self, config: str) -> Compared:
        """Frames and stages of a configuration against those of the other commit. Raises ChildError and InstallError."""
        if config not in self._frames:
            self._frames[config] = self._compared(config, OLD_RULES.get(config, {}))
        return self._frames[config]

    def _compared(self, config: str, own: Overrides) -> Compared:
        base, other = self.installs()
        repeat = f"{base.name} again"
        with ExitStack() as running:
            variants = {name: running.enter_context(ChildVariant(install, config, overrides, picture=True))
                    for name, install, overrides in ((base.name, base, {}), (repeat, base, {}), (other.name, other, own))}
            timed = collect(variants, interleave(variants, [30 if self.quick else 60] * self.blocks(), WARM_UP))
            hashes = {name: variant.end()[0] for name, variant in variants.items()}
        return compared(timed, hashes, base.name, repeat)


class Target(NamedTuple):
    """A line of the table."""

    name: str
    what: str
    target: str
    how: str
    measure: Callable[[Session], Iterable[Found]]  # raises SkippedError, ChildError and InstallError


def median(values: Iterable[float]) -> float:
    """nan of none."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return math.nan if not ordered else (ordered[middle] + ordered[~middle]) / 2


def on_linux() -> None:
    """Raises SkippedError elsewhere."""
    if not sys.platform.startswith("linux"):
        raise SkippedError("only where there is /proc")
