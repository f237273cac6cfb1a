"""Events of a scenario: what happens by itself, at a time or once a condition holds.

    events:
      - {at: 20 s, do: {walls: {rectangle: [100, 40, 120, 80], build: false}}, say: the doors open}
      - {at: 30 s, do: {send: {to: [0, 1], leave: true}}, say: everybody out, clock: true}
      - {hand: block the left door, do: {walls: {rectangle: [100, 40, 120, 80]}}}
      - {when: left < 1%, say: nearly all are out, end: true}

Nothing here runs anything: sim/events.py does. Docs: docs/events.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from crowd_demo.config.section import (
    MAX_AGENTS,
    NUMBER,
    WITHOUT_POINT,
    InMetres,
    Length,
    Problem,
    Section,
    Whole,
    close_to,
    number,
    section,
)

MAX_SECONDS, MAX_TICKS, MAX_EVENTS = 86_400, 10_000_000, 100
SECONDS = InMetres("s", 1.0, "20 s")
Seconds = Annotated[float, Field(ge=0, le=MAX_SECONDS), SECONDS]
Ticks = Annotated[int, Field(ge=0, le=MAX_TICKS), WITHOUT_POINT]
AgentCount = Annotated[int, Field(ge=0, le=MAX_AGENTS), WITHOUT_POINT]
Coordinate = Annotated[float, Field(ge=-131_072, le=131_072)]
Place = Annotated[tuple[Coordinate, Coordinate], Field(strict=False)]  # YAML gives a list
Numbers = Annotated[tuple[Annotated[int, Field(ge=0, le=63), WITHOUT_POINT], ...], Field(strict=False)]
Edges = Annotated[tuple[Coordinate, Coordinate, Coordinate, Coordinate], Field(strict=False)]

PRINTABLE = r"^[^\x00-\x1f]*$"

OF_PEOPLE = ("stuck", "waiting", "queuing")  # states
MEASURES: Mapping[str, str] = {
    "agents": "agents that are there",
    "left": "the same; with % of the number at the start",
    "stuck": "people who are stuck, or with % their share",
    "waiting": "people who wait at a goal, or with % their share",
    "queuing": "people in a queue, for a goal or behind others; with % their share",
    "inside": "inside NAME: agents in that area of measure.areas, or with % their share",
    "passed": "passed NAME: how often that line of measure.lines was crossed, or how many left by that door",
    "time": "seconds of the crowd's time",
}
NAMED = {"inside": "areas", "passed": "lines"}  # where their names stand under `measure`
SHARES = ("left", *OF_PEOPLE, "inside")  # that % can be said of
_CONDITION = re.compile(
    r"(?P<measure>[a-z]+)(?: +(?P<place>[A-Za-z][A-Za-z0-9_-]*))?"
    rf" *(?P<compare><=|>=|<|>|=) *(?P<value>{NUMBER}) *(?P<unit>%|s)?")


class Condition(NamedTuple):
    """`measure` of `place`, if it has one, compared with a number; in percent of everybody if `share`."""

    measure: str
    place: str
    compare: str
    value: float
    share: bool

    def holds(self, found: float) -> bool:
        """Compare a number that was found, in percent if `share`."""
        return {"<": found < self.value, "<=": found <= self.value, ">": found > self.value, ">=": found >= self.value,
                "=": found == self.value}[self.compare]


def condition_of(text: str) -> Condition:
    """Raises ValueError, in one line."""
    found = _CONDITION.fullmatch(text.strip())
    if not found:
        raise ValueError(f'must be a measure compared with a number, such as "left < 1%", not {text[:40]!r}')
    measure, place, unit = found["measure"], found["place"] or "", found["unit"] or ""
    if measure not in MEASURES:
        raise ValueError(f"no measure {measure[:40]!r}{close_to(measure, MEASURES) or '; there are ' + ', '.join(MEASURES)}")
    if bool(place) != (measure in NAMED):
        raise ValueError(f"{measure} takes no name" if place else f"{measure} needs a name of measure.{NAMED[measure]}")
    if unit == "%" and measure not in SHARES:
        raise ValueError(f"{measure} is not a share: leave out the %")
    if unit == "s" and measure != "time":
        raise ValueError(f"{measure} is not a time: leave out the s")
    return Condition(measure, place, found["compare"], float(found["value"]), unit == "%")


class WallRectangle(Section):
    """Tiles whose middles lie in a rectangle become wall, or free."""

    rectangle: Edges = Field(description="[left, top, right, bottom], world units")
    build: bool = Field(True, description="build walls, or tear them down")

    def _problems(self) -> Iterator[Problem]:
        left, top, right, bottom = self.rectangle
        if not (left < right and top < bottom):
            yield Problem(("rectangle",), self.rectangle,
                          "must be [left, top, right, bottom], with left < right and top < bottom")


class Point(Section):
    at: Place = Field(description="[x, y], world units")


class Disc(Point):
    radius: Length = number(52, 0, 65_536, "units", "how far it reaches")


class Newcomers(Disc):
    """A number of agents come in, on free tiles around a place."""

    count: Whole = number(100, 1, MAX_AGENTS, "agents", "how many")


class Pull(Disc):
    radius: Length = number(260, 0.01, 65_536, "units", "how far it reaches")
    strength: float = number(2, 0.01, 100, "", "strength")
    seconds: Seconds = Field(0, description=f"duration; 0: to the end (0 to {MAX_SECONDS})")


class Fright(Pull):
    seconds: Annotated[float, Field(ge=0.1, le=MAX_SECONDS), SECONDS] = Field(
        4, description=f"how long it lasts (0.1 to {MAX_SECONDS})")


class Sending(Section):
    """People walk to the nearest of some destinations."""

    to: Numbers = Field(min_length=1, max_length=64, description="destinations, counted from 0: each goes to the nearest")
    inside: str = Field("", max_length=60, description="only those in that area of measure.areas")
    leave: bool = Field(False, description="from then on people who arrive there leave for good")


class Deeds(Section):
    """What an event does, in this order. Each is also a tool or a key of the window."""

    walls: WallRectangle | None = Field(None, description="build walls, or tear them down")
    take_out: Disc | None = Field(None, description="remove all agents within a distance of a place")
    bring_in: Newcomers | None = Field(None, description="add agents around a place")
    goal: Point | None = Field(None, description="add a destination for people at a place")
    set: dict[str, float] = Field({}, description=(
        "numbers of the behaviour and of links by path, such as flock.align, and the values that they get"))
    agents: AgentCount | None = Field(None, description=f"set the number of agents (0 to {MAX_AGENTS})")
    attract: Pull | None = Field(None, description="pull all agents in a disc to its middle")
    repel: Pull | None = Field(None, description="push all agents in a disc away from its middle")
    scare: Fright | None = Field(None, description="let all agents in a disc run or fly away from its middle")
    send: Sending | None = Field(None, description="send people to the nearest of some destinations")


class ScenarioEvent(Section):
    """Something that happens once: `at` a time, at a `tick`, `when` a condition holds, or by `hand`."""

    at: Seconds | None = Field(None, description=f"simulated seconds (0 to {MAX_SECONDS})")
    tick: Ticks | None = Field(None, description=f"steps (0 to {MAX_TICKS})")
    when: str | None = Field(None, max_length=100, description=(
        "a measure compared (< <= > >= =) with a number, tested every 10 steps; "
        + "; ".join(f"{name}: {what}" for name, what in MEASURES.items())))
    hand: str | None = Field(None, min_length=1, max_length=60, pattern=PRINTABLE, description=(
        "triggered by a key, with this text; of several, the key triggers the first that has not happened"))
    do: Deeds = section(Deeds)
    say: str = Field("", max_length=200, pattern=PRINTABLE, description="message to show")
    clock: bool = Field(False, description="start the clock of the scenario and of its answer")
    end: bool = Field(False, description="end of the scenario: its question is answered, and a run without a window ends")

    def _problems(self) -> Iterator[Problem]:
        times = [key for key in ("at", "tick", "when", "hand") if getattr(self, key) is not None]
        if len(times) != 1:
            wrong = f"not {' and '.join(times)}" if times else "it has none"
            needed = f"an event needs one of at, tick, when and hand; {wrong}"
            yield Problem((times[-1],) if times else (), None, needed)
        try:
            _ = self.condition
        except ValueError as error:
            yield Problem(("when",), self.when, str(error))

    @property
    def condition(self) -> Condition | None:
        return None if self.when is None else condition_of(self.when)

    def due_tick(self, step_hz: float) -> int | None:
        """The tick at which it happens; None if that depends on a condition."""
        return self.tick if self.at is None else math.ceil(self.at * step_hz - 1e-6)

    @property
    def text(self) -> str:
        if self.say or self.hand:
            return self.say or str(self.hand)
        done = [name.replace("_", " ") for name in Deeds.model_fields if getattr(self.do, name) not in (None, {})]
        return ", ".join(done) or "the end" * self.end or "an event"


def missing_destinations(events: Sequence[ScenarioEvent], doors: Mapping[str, int],
                         destinations: int) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield (path, why) for destinations that a map with so many does not have."""
    named: dict[tuple[str | int, ...], int] = {("measure", "doors", name): number for name, number in doors.items()}
    named |= {("events", index, "do", "send", "to"): max(event.do.send.to)
              for index, event in enumerate(events) if event.do.send}
    for path, wanted in named.items():
        if wanted >= destinations:
            yield path, f"destination {wanted} does not exist: there are {destinations}, counted from 0"
