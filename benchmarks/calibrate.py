"""Search for the settings of `avoidance: slow_down` with which people do best in the validation and do not jam in `20k`.

    python benchmarks/calibrate.py FILE [--minutes N] [--seed N]

Each trial changes some settings of the best so far, walks the scenes below with several seeds, and adds up how far each number
is outside of what is expected of it, or nearer to its limits than MARGIN; the worst seed of each number counts. Trials are
appended to FILE, a line of JSON each; the search goes on from the best line that is there, also when several run at a time.
"""

import argparse
import json
import math
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crowd_demo.config.loader import load_config
from crowd_demo.extras.lab.motion import motion_of, watch
from crowd_demo.extras.lab.validate import EXPERIMENTS
from crowd_demo.extras.lab.validate.scenes import OWN, CrowdWalk
from crowd_demo.extras.lab.validate.validation import Reading, WalkedScene
from crowd_demo.measure.experiment import result_of
from crowd_demo.sim.simulation import Simulation

BOUNDS: dict[str, tuple[float, float]] = {
    "headway_s": (0.2, 1.2), "standing": (7.0, 13.0), "in_way": (6.0, 17.0), "creep": (0.08, 0.24), "swerve": (15.0, 60.0),
    "swerve_ramp": (0.05, 1.5), "swerve_gain": (0.0, 1.0), "slow_aside": (1.0, 2.5)}
SCENES: dict[str, tuple[float, ...]] = {  # of each experiment; () are all
    "door": (), "rimea-12": (1.0, 3.0), "counterflow": (1.0, 2.0), "rimea-4": (1.0, 2.0, 3.0, 5.0),
    "rimea-16": (1.0, 1.5, 2.0), "both-ways": (0.5, 2.0), "evacuation": (1.0, 3.0), "imo-8": (0.0, 100.0),
    "crossing": (1.5,), "four-ways": (0.75,), "head-on": ()}
SEEDS = (1, 2, 3)
MARGIN = 0.05  # of a limit: a number that is nearer to it is short of what is wanted
JAM_STEPS, STUCK, TURNING = 2000, 0.007, 121.0  # of `20k`: a share, and degrees/s; more are too many
STRIDE = 0.12  # of a setting's bounds
Settings = dict[str, float]


class Trial(NamedTuple):
    """Settings, and by how much each number falls short with the worst seed; numbers that do not are left out."""

    settings: Settings
    short: Mapping[str, float]

    @property
    def total(self) -> float:
        return sum(self.short.values())


def shortfall(reading: Reading) -> float:
    """Return how far a number is outside of its limits less MARGIN, in margins; at most 4."""
    limits = [(reading.value - reading.low, reading.low), (reading.high - reading.value, reading.high)]
    if reading.low == reading.high or not math.isfinite(reading.value):
        return 0.0 if reading.passes else 3.0
    return max((min(4.0, 1 - inside / (MARGIN * abs(limit)))
                for inside, limit in limits if math.isfinite(limit) and limit not in (0, 1)), default=0.0)


def readings(settings: Settings, seed: int) -> Iterator[tuple[str, float]]:
    """Walk the scenes; yield (number, shortfall), the likeliest to fall short first."""
    people = CrowdWalk("slow_down", "", {"avoidance": "slow_down", "overlap_passes": 2}, settings)
    for name, numbers in SCENES.items():
        experiment = EXPERIMENTS[name]
        scenes = {number: experiment.scene(number, False) for number in numbers or experiment.numbers}
        runs = {number: WalkedScene(scene, result_of(people.walk(scene, seed))) for number, scene in scenes.items()}
        for reading in experiment.read(runs, OWN):
            yield f"{name}: {reading.what}", shortfall(reading)


def tried(settings: Settings, enough: float) -> Trial:
    """Try settings with one seed after the other, until they fall short by more than is enough to be worse.

    `20k` comes first: more people who are stuck than STUCK, and who turn than TURNING, count too.
    """
    sim = Simulation(load_config("20k", {"optimizations.avoidance": "slow_down",
                                         **{f"crowd.{name}": value for name, value in settings.items()}}))
    sim.step(JAM_STEPS)
    found = motion_of(sim, False)[0]
    stuck = found["stuck"] + found["queuing"]  # people held up; hardly any queue for a place
    turning = watch(sim)["turning"]
    short = {"20k: stuck": max(0.0, stuck / STUCK - 1) * 4, "20k: turning": max(0.0, turning / TURNING - 1) / MARGIN}
    for what, by in (reading for seed in SEEDS for reading in readings(settings, seed)):
        short[what] = max(by, short.get(what, 0.0))
        if sum(short.values()) > enough:
            break
    return Trial(settings, {what: round(by, 2) for what, by in short.items() if by > 0})


def changed(settings: Settings, rng: np.random.Generator) -> Settings:
    """Return settings of which one to four differ."""
    chosen = rng.choice(list(BOUNDS), rng.integers(1, 5), replace=False)
    new = dict(settings)
    for name in chosen:
        low, high = BOUNDS[name]
        new[name] = round(float(np.clip(settings[name] + rng.normal() * STRIDE * (high - low), low, high)), 3)
    return new


def best_of(file: Path) -> Trial | None:
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    trials = [Trial(each["settings"], each["short"]) for each in map(json.loads, lines)]
    return min(trials, key=lambda trial: trial.total, default=None)


def note(file: Path, trial: Trial) -> None:
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({"total": round(trial.total, 2), **trial._asdict()}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="trials are read from it and appended to it")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1, help="of the search, not of the walks")
    args = parser.parse_args()
    rng, end = np.random.default_rng(args.seed), time.monotonic() + 60 * args.minutes
    usual = load_config("20k").crowd
    if best_of(args.file) is None:
        note(args.file, tried({name: getattr(usual, name) for name in BOUNDS}, math.inf))
    while time.monotonic() < end:
        best = best_of(args.file)
        assert best is not None
        note(args.file, tried(changed(best.settings, rng), best.total))


if __name__ == "__main__":
    main()
