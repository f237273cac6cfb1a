#!/usr/bin/env python
"""How often the interval of a card holds what `M` measures: random switches of techniques in a program without a window.

    python benchmarks/cards.py --switches 200
    python benchmarks/cards.py --switches 200 --busy 2     # beside two processes that count

Each switch is made in a running crowd, as a key makes it, and the card is read after its ten seconds. Then `M`
measures the new value against the old one, from the crowd as it was at the switch: some flocks are twice as dense ten
seconds later. All switches count; those whose card gives no interval, as a step is too long or memory takes minutes,
are counted by themselves. Install the extra `fast`: OpenMP's threads take long to wake while another crowd has one.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import random
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

from app_child import opened, run_in_window

from crowd_demo.measure.ablation import Measurement
from crowd_demo.measure.statistics import Interval
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import TECHNIQUES, inactive, is_drawn
from crowd_demo.render.hud.card import Span
from crowd_demo.sim.snapshot import Snapshot

CONFIGS = ("5k", "20k", "queues", "murmuration", "20k-flock", "crates")  # a sixth of the switches or so in each
SETTLED = 120  # frames before the first switch


class Answer(NamedTuple):
    """A switch, the factor on its card, and that of `M`: how many times as fast the new value is."""

    config: str
    path: str
    old: Value
    new: Value
    card: Interval
    measured: Interval

    @property
    def holds(self) -> bool:
        return self.card.low <= self.measured.value <= self.card.high


class Watched:
    """A program whose cards are on, frame by frame."""

    def __init__(self, name: str) -> None:
        self.loop = opened(name, ())
        self.program = self.loop.program
        self.program.cards.on, self.program.crowd.unpaced = True, False
        self._frames(SETTLED)

    def switch(self, technique: Technique, value: Value) -> Span | None:
        """Switch, wait for the end of the card, and return its first row; None where it has none."""
        self.program.techniques.choose(technique, value)
        run_in_window(self.loop, lambda: bool(self.program.techniques.switcher.pending))
        self._frames(2)
        trial = self.program.cards.trial
        assert trial
        run_in_window(self.loop, lambda: not trial.over)
        return next(iter(trial.card().spans), None)

    def measure(self, start: Snapshot, technique: Technique, other: Value) -> Interval:
        """How many times as fast `M` finds a technique's value in the snapshot, compared with `other`."""
        measurement = Measurement(start, technique.path, other, self.program.techniques.switcher.compile_one_by_one)
        self.program.techniques.switcher.compilers.pause_choices()  # the next frame lets them go on
        self.loop.worker.submit(lambda: [None for _ in measurement.run()]).result()
        assert measurement.found
        return (measurement.found.frame if is_drawn(technique) else measurement.found.step).ratio

    def choices(self) -> list[tuple[Technique, Value]]:
        """All that can be switched to: techniques that do something at present, but for brute force."""
        idle, get = inactive(self.program.sim.situation), self.program.sim.optimizations.get
        return [(technique, value) for technique in TECHNIQUES if technique.path not in idle for value in technique.choices
                if value != get(technique.path) and (technique.path, value) != ("neighbours", "none")]

    def _frames(self, count: int) -> None:
        end = self.loop.frames_left - count
        run_in_window(self.loop, lambda: self.loop.frames_left > end)


def main() -> int:
    parser = argparse.ArgumentParser(description="How often the interval of a card holds what M measures.")
    parser.add_argument("--switches", type=int, default=200)
    parser.add_argument("--busy", type=int, default=0, help="processes that count beside it")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--configs", nargs="+", default=CONFIGS)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rng, answers = random.Random(args.seed), list[Answer]()
    with busy(args.busy):
        for number, name in enumerate(args.configs):
            watched = Watched(name)
            for _ in range(args.switches * number // len(args.configs), args.switches * (number + 1) // len(args.configs)):
                technique, value = rng.choice(watched.choices())
                answers.append(answered(watched, name, technique, value))
                print(told(answers[-1]), flush=True)
    print(summary(answers))
    if args.json:
        args.json.write_text(json.dumps([each._asdict() for each in answers], indent=1), "utf-8")
    return 0


def answered(watched: Watched, name: str, technique: Technique, value: Value) -> Answer:
    start, old = watched.program.sim.snapshot(), watched.program.sim.optimizations.get(technique.path)
    span = watched.switch(technique, value)
    card = Interval(span.factor, span.low, span.high) if span else Interval(math.nan, -math.inf, math.inf)
    start = start._replace(techniques={**start.techniques, technique.path: value})
    return Answer(name, technique.path, old, value, card, watched.measure(start, technique, old))


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that do nothing but count."""
    processes = [multiprocessing.get_context("spawn").Process(target=count_on, daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.terminate()


def count_on() -> None:
    number = 0
    while True:
        number += 1


def told(answer: Answer) -> str:
    card, measured = answer.card, answer.measured
    holds = ("" if answer.holds else "  OUTSIDE") if card.known else "  no interval"
    found = "  ".join(f"{who} {each.value:6.3f} ({each.low:6.3f} - {each.high:6.3f})"
                      for who, each in (("card", card), ("M", measured)))
    return f"{answer.config:12} {answer.path:20} {answer.old!s:>10} -> {answer.new!s:<10} {found}{holds}"


def summary(answers: list[Answer]) -> str:
    known = [answer for answer in answers if answer.card.known]
    if not known:
        return f"{len(answers)} switches, none with an interval"
    return (f"{len(answers)} switches, {len(known)} with an interval, which holds the result of M"
            f" {sum(answer.holds for answer in known)} times; the median interval is"
            f" {width([answer.card for answer in known])}, that of M {width([answer.measured for answer in answers])}")


def width(intervals: list[Interval]) -> str:
    return f"±{statistics.median(math.sqrt(each.high / each.low) - 1 for each in intervals):.1%}"


if __name__ == "__main__":
    sys.exit(main())
