"""A tour: a YAML of sentences and actions that leads through what the program shows, with numbers measured where it runs.

    # What the tour is about.
    config: 20k
    steps:
      - say: Everybody tests everybody; a step takes {step_ms} ms.
        do: {set: {neighbours: none}}
        mark: brute                       # later steps may name this one's numbers, as {brute.step_ms}
      - say: A grid makes the step {faster}.
        do: {set: {neighbours: buckets}}
        ask: Why is it not faster still?  # a question; its answer comes with the next key
        answer: Neighbours in space are still far apart in memory.
        bet: {ask: "How many times as fast will it be?", of: factor, low: 1, high: 500}  # a guess, before the grid is on

docs/tours.md says how to write one. Nothing here runs anything: app/tour.py plays it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, create_model

from crowd_demo.config.loader import ConfigError, Override, ReadConfig, location_of, read_section
from crowd_demo.config.model import CameraSettings, Config, field_of
from crowd_demo.config.resources import find_tour
from crowd_demo.config.section import MAX_AGENTS, Problem, Section, Whole, close_to, number, section
from crowd_demo.config.yaml12 import KeyPath, Location, Mistake
from crowd_demo.registry.entries import Value
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES
from crowd_demo.registry.texts import printable

NUMBERS = {
    "step_ms": "milliseconds per step",
    "interaction_ms": "of these, milliseconds of the stage interaction",
    "draw_ms": "milliseconds per frame for drawing the crowd",
    "frame_ms": "milliseconds per frame: a step, and drawing it",
    "fps": "frames per second",
    "agents": "number of agents",
    "candidates": "candidates per agent",
    "neighbours": "neighbours per agent",
    "drawn": "agents that were drawn",
    "near_reads": "share of reads in the same cache line as the previous read or in the next one, in percent",
    "factor": "previous time per step relative to the current one",
    "faster": "the same in words: 3.1 times as fast, about as fast, 1.4 times slower, neither clearly faster nor slower",
    "draw_factor": "previous time of drawing relative to the current one",
    "draw_faster": "the same in words",
}
"""Names allowed in {} in the texts of a tour."""

FACTORS = ("factor", "draw_factor")
WORDS = ("faster", "draw_faster")  # of these, what is no number
LONG_SCALE = 20  # times as large is the upper end of a scale for guesses that is logarithmic
BEFORE = "before"  # the mark of the numbers just before a step did what it does
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
NO_SETTINGS = ("set", "scenario", "restart")  # keys of `Actions` that are no settings themselves
MARK = re.compile("([a-z][a-z0-9_]*)?")
TECHNIQUE = "set."  # before the path of a technique, in the name of a setting


Text = Annotated[str, BeforeValidator(  # without the line ends of the file and without control characters
    lambda text: printable(" ".join(text.split())) if isinstance(text, str) else text), Field(min_length=1, max_length=400)]
Settings = Mapping[str, object]  # by name: a key of `Actions`, or `set.` and a technique's path

if TYPE_CHECKING:
    Techniques = Section
else:
    Techniques = create_model(
        "Techniques", __base__=Section, __module__=__name__,
        __doc__="Techniques by their path, such as stagger.avoidance, and the values that they get.",
        **{technique.path: field_of(technique) for technique in TECHNIQUES})


class Actions(Section):
    """Settings that a step of a tour changes. All others stay."""

    scenario: str = Field("", max_length=4096, description="configuration to open")
    set: Techniques = section(Techniques)
    agents: Whole = number(0, 0, MAX_AGENTS, "agents", "set the number of agents")
    speed: float = number(1.0, 0.01, 100, "", "simulated seconds per second of real time")
    pause: bool = Field(False, description="pause or resume")
    freeze: bool = Field(False, description="keep culling by the current view, or cull by the camera again")
    camera: CameraSettings = section(CameraSettings)
    restart: bool = Field(False, description="restart with the same seed, after the other settings")

    @property
    def techniques(self) -> Mapping[str, Value]:
        """The values that techniques get, by path."""
        return {path: getattr(self.set, path) for path in self.set.model_fields_set}

    @property
    def settings(self) -> Settings:
        given = {name: getattr(self, name) for name in self.model_fields_set if name not in NO_SETTINGS}
        return given | {TECHNIQUE + path: value for path, value in self.techniques.items()}


class Bet(Section):
    """A guess at a number, made before the step changes anything."""

    ask: Text = Field(description="the question")
    of: str = Field(max_length=100, description="the number to guess, named as in {}")
    low: float = number(1.0, 0, 1e9, "", "start of the scale for guesses")
    high: float = number(100.0, 0, 1e9, "", "end of the scale")

    @property
    def name(self) -> str:
        """The number, without its mark."""
        return self.of.rpartition(".")[2]

    def share_of(self, value: float) -> float:
        """How far along the scale a value is: from 0 to 1, at the ends for one outside."""
        inside = min(max(value, self.low), self.high)
        if self._is_logarithmic:
            return math.log(inside / self.low) / math.log(self.high / self.low)
        return (inside - self.low) / (self.high - self.low)

    def value_at(self, share: float) -> float:
        """The value so far along the scale, with two digits."""
        share = min(max(share, 0.0), 1.0)
        if self._is_logarithmic:
            return float(f"{self.low * (self.high / self.low) ** share:.2g}")
        return float(f"{self.low + (self.high - self.low) * share:.2g}")

    @property
    def _is_logarithmic(self) -> bool:
        return 0 < self.low * LONG_SCALE <= self.high


class Step(Section):
    """A sentence or two, and what is done before they are said."""

    say: Text = Field(description="the text")
    do: Actions = section(Actions)
    bet: Bet | None = Field(None, description="a guess to make before it")
    wait: Whole = number(60, 1, 600, "frames", "frames to measure, if the text has numbers")
    panels: bool = Field(False, description="the text is about the panels: if hidden, it names the key that shows them")
    why: Literal["", "time", "pairs", "instructions", "vector work", "bytes", "bandwidth", "lines missed", "processor",
                 "bottleneck"] = Field("", description="row of Why to show on the card of the last switch")
    mark: str = Field("", max_length=40, description="a name for the numbers of this step: small letters, digits and _")
    ask: Text | None = Field(None, description="a question")
    answer: Text | None = Field(None, description="its answer, shown with the next key")


class Page(NamedTuple):
    """What is shown at a time: a bet, what the step says, or the answer to its question."""

    step: int  # counted from 0
    text: str
    question: str = ""
    kind: Literal["bet", "step", "answer"] = "step"
    bet: Bet | None = None  # to be placed, or that the step decides

    @property
    def is_answer(self) -> bool:
        return self.kind == "answer"

    @property
    def settled(self) -> int:
        """The last step that has done what it does; -1 on the bet of the first one."""
        return self.step - (self.kind == "bet")

    @property
    def numbers(self) -> frozenset[str]:
        """The placeholders of its texts, and what its bet is of."""
        decides = {self.bet.of} if self.bet and self.kind == "step" else set[str]()
        return frozenset(PLACEHOLDER.findall(f"{self.text} {self.question}")) | decides


class Tour(Section):
    """A tour; `config` is the configuration with which it begins."""

    config: str = Field(min_length=1, max_length=4096, description="the configuration with which the tour begins")
    steps: list[Step] = Field(min_length=1, max_length=200, description="one after another")

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        return tuple(self._pages())

    def _pages(self) -> Iterator[Page]:
        for index, step in enumerate(self.steps):
            if step.bet:
                yield Page(index, step.bet.ask, kind="bet", bet=step.bet)
            yield Page(index, step.say, step.ask or "", bet=step.bet)
            if step.answer:
                yield Page(index, step.answer, step.ask or "", "answer")

    # --- what holds at a step ----------------------------------------------------------------------------------------

    def scenario_at(self, step: int) -> tuple[int, str]:
        """(the step that opened it, its name) of the configuration that a step is about."""
        opened = [index for index, each in enumerate(self.steps[:step + 1]) if each.do.scenario]
        return (opened[-1], self.steps[opened[-1]].do.scenario) if opened else (0, self.config)

    def settings_at(self, step: int) -> Settings:
        """All that the tour has set up to that step since its configuration was opened."""
        first, _ = self.scenario_at(step)
        found: dict[str, object] = {}
        for each in self.steps[first:step + 1]:
            found |= each.do.settings
        return found

    def settings_back(self, step: int, config: Config) -> Settings:
        """What brings a step that has opened nothing back to the one before it: as the tour, or else `config`, says."""
        before = self.settings_at(step - 1)
        return {name: before.get(name, configured(config, name)) for name in self.steps[step].do.settings}

    # --- mistakes that no single key shows ---------------------------------------------------------------------------

    def _problems(self) -> Iterator[Problem]:
        marks = [BEFORE]
        for index, step in enumerate(self.steps):
            if step.answer and not step.ask:
                yield Problem(("steps", index, "answer"), step.answer, "must have a question: ask")
            if not MARK.fullmatch(step.mark):
                yield Problem(("steps", index, "mark"), step.mark, f"must be small letters, digits and _, not {step.mark!r}")
            if step.mark in (BEFORE, *NUMBERS):
                yield Problem(("steps", index, "mark"), step.mark, f"must be another name: {step.mark} has a meaning")
            if step.bet:
                yield from _mistakes_of(step.bet, ("steps", index, "bet"), marks)
            for key in ("say", "ask", "answer"):
                if step.mark and key == "answer":
                    marks.append(step.mark)
                for problem in _unknown(getattr(step, key) or "", marks):
                    yield Problem(("steps", index, key), getattr(step, key), problem)


def _mistakes_of(bet: Bet, path: tuple[str | int, ...], marks: list[str]) -> Iterator[Problem]:
    for problem in _unknown(bet.ask, marks):
        yield Problem((*path, "ask"), bet.ask, problem)
    for problem in _unknown(f"{{{bet.of}}}", marks):
        yield Problem((*path, "of"), bet.of, problem)
    if bet.name in WORDS:
        yield Problem((*path, "of"), bet.of, f"must be a number, not words: {bet.name.replace('faster', 'factor')}")
    if "." in bet.of and bet.name not in FACTORS:
        yield Problem((*path, "of"), bet.of, f"must be a number of this step, or a factor: {' or '.join(FACTORS)}")
    if bet.high <= bet.low:
        yield Problem((*path, "high"), bet.high, f"must be more than low: {bet.low:g}")


def _unknown(text: str, marks: list[str]) -> Iterator[str]:
    """What is wrong with the placeholders of a text, where those marks are known."""
    for placeholder in PLACEHOLDER.findall(text):
        mark, _, number = placeholder.rpartition(".")
        if mark and mark not in marks:
            yield f"no earlier step has the mark {mark!r}{close_to(mark, marks)}"
        elif number not in NUMBERS:
            yield f"there is no number {number!r}{close_to(number, NUMBERS)}"


def configured(config: Config, name: str) -> object:
    """What a configuration says about a setting."""
    known: dict[str, Any] = {"agents": config.agents, "speed": config.time.speed, "pause": False, "freeze": False,
                             "camera": config.camera}
    return known[name] if name in known else config.optimizations.get(name.removeprefix(TECHNIQUE))


def technique_of(name: str) -> str:
    """The path of the technique that a setting is about; an empty text if it is about none."""
    path = name.removeprefix(TECHNIQUE)
    return path if name.startswith(TECHNIQUE) and path in BY_PATH else ""


def load_tour(name_or_path: str | Path) -> Tour:
    """Read a tour: a path, a file of `./tours`, or a shipped name such as "talk". Raises ConfigError with every mistake.

    The configurations that it opens are read too, so that none is found to be broken, or too large, in the middle of a
    talk.
    """
    tour, locations = read_section(Tour, name_or_path, find_tour)
    opened: list[tuple[KeyPath, str, int]] = [(("config",), tour.config, 0)]  # and how many agents
    for index, step in enumerate(tour.steps):
        if step.do.scenario:
            opened.append((("steps", index, "do", "scenario"), step.do.scenario, 0))
        if step.do.agents:
            opened.append((("steps", index, "do", "agents"), tour.scenario_at(index)[1], step.do.agents))
    for key, name, agents in opened:
        try:
            ReadConfig.read(name, [Override(Location(name), ("agents",), agents)] if agents else [])
        except ConfigError as error:
            raise ConfigError([Mistake(location_of(locations, key), key, error.lines[0])]) from None
    return tour
