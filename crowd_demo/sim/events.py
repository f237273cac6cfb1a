"""Events of the configuration while the crowd runs: which are due, which have happened, and what they do.

Whoever drives a crowd asks `due` before each new step and applies an `Event` for each (`Simulation.play` does both). The
action is recorded, and that it has happened is part of the state, so a replay evaluates no condition. Docs: docs/events.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, cast

import numpy as np
from pydantic import Field

from crowd_demo.config.events import MAX_EVENTS, OF_PEOPLE, Condition, Deeds, Pull
from crowd_demo.config.model import Config
from crowd_demo.registry.texts import say_once
from crowd_demo.sim.actions import Action, Coordinate, Populate, action
from crowd_demo.sim.behaviours.wayfinding import WaysOut
from crowd_demo.sim.counts import Counts
from crowd_demo.sim.edits import AddGoal, BringIn, PaintWalls, PutForce, TakeOut
from crowd_demo.sim.store.state import EMPTY, PartState
from crowd_demo.sim.terrain.forces import FORCE_KINDS, UNTIL_REMOVED
from crowd_demo.sim.terrain.tiles import Run, Terrain
from crowd_demo.sim.tuning import SetNumbers, tuned
from crowd_demo.sim.world import World

LOOK_EVERY = 10  # steps from one look at the conditions to the next


@action("event", "an event happened")
@dataclass(frozen=True)
class Event(Action):
    """Let that event of the configuration happen: all that it does and that is possible now, and that it has happened.

    Raises ValueError for an event that the configuration does not have, or that has happened.
    """

    number: Annotated[int, Field(ge=0, le=MAX_EVENTS - 1)]

    def apply(self, world: World) -> None:
        cast(Events, world.part(Events)).happen(self.number, world)


@action("send", "people were sent")
@dataclass(frozen=True)
class Send(Action):
    """Send people to the nearest of these destinations, all or those within [left, top, right, bottom].

    With `leave` people leave there for good, from then on. Raises ValueError where there are no such destinations.
    """

    to: Annotated[tuple[Annotated[int, Field(ge=0, le=63)], ...], Field(min_length=1)]
    leave: bool = False
    within: tuple[Coordinate, Coordinate, Coordinate, Coordinate] | None = None

    def apply(self, world: World) -> None:
        if (ways_out := world.part(WaysOut)) is None:
            raise ValueError("only people can be sent")
        ways_out.send(world, self.to, self.leave, self.within)


class Events:
    name = "events"

    def __init__(self, config: Config) -> None:
        self._events = config.events
        self._due = [event.due_tick(config.time.step_hz) for event in config.events]
        self._conditions = [event.condition for event in config.events]
        self.happened: dict[int, int] = {}  # ticks by number
        self.impossible: list[str] = []  # why something was left out, until somebody takes it up

    def due(self, world: World) -> list[int]:
        """Return the events that happen before the next step, in the order of the configuration. Call at every tick.

        An event never makes the condition of another hold at the same tick, even if this is called again.
        """
        if len(self.happened) == len(self._events):
            return []
        evaluated = any(tick == world.tick and self._events[number].hand is None for number, tick in self.happened.items())
        evaluate = world.tick % LOOK_EVERY == 0 and not evaluated
        return [number for number in range(len(self._events))
                if number not in self.happened and self._is_due(number, world, evaluate)]

    def _is_due(self, number: int, world: World, evaluate: bool) -> bool:
        tick, condition = self._due[number], self._conditions[number]
        if condition is None:
            return tick is not None and world.tick >= tick
        return evaluate and condition.holds(measured(condition, world))

    @property
    def end_tick(self) -> int | None:
        """The tick at which the question of the scenario was answered, by the first event that says so."""
        return min((tick for number, tick in self.happened.items() if self._events[number].end), default=None)

    @property
    def clock_tick(self) -> int:
        """The tick at which the clock of the scenario began, by the last event that says so; 0 if none has."""
        return max((tick for number, tick in self.happened.items() if self._events[number].clock), default=0)

    def answer_s(self, dt: float) -> float | None:
        """Return how long the answer took by that clock, s; None while there is none."""
        return None if self.end_tick is None else (self.end_tick - self.clock_tick) * dt

    @property
    def by_hand(self) -> int | None:
        """The event that a key lets happen next."""
        return next((number for number, event in enumerate(self._events) if event.hand and number not in self.happened), None)

    def happen(self, number: int, world: World) -> None:
        """Note that an event happens, and do all of it that is possible.

        Raises ValueError for an event that the configuration does not have, or that has happened.
        """
        if not 0 <= number < len(self._events) or number in self.happened:
            raise ValueError(f"event {number}: " + ("it has happened" if number in self.happened else "there is none"))
        self.happened[number] = world.tick
        for deed in actions_of(self._events[number].do, world):
            try:
                deed.apply(world)
            except ValueError as error:
                self.impossible.append(str(error))
                say_once(f"events.{number}: a part was left out: {error}")

    # --- a part of the state -----------------------------------------------------------------------------------------

    def state(self) -> PartState:
        return PartState({"happened": [list(item) for item in self.happened.items()]}) if self.happened else EMPTY

    def restore(self, state: PartState) -> None:
        self.happened = dict(_pairs(state))

    def check(self, state: PartState) -> None:
        try:
            known = all(0 <= number < len(self._events) and tick >= 0 for number, tick in _pairs(state))
        except (TypeError, ValueError):
            known = False
        if state.arrays or not known:
            raise ValueError("not those of this configuration")


def _pairs(state: PartState) -> list[tuple[int, int]]:
    listed = state.values.get("happened", [])
    if not isinstance(listed, list):
        raise TypeError("no list")
    return [(int(number), int(tick)) for number, tick in listed]


# --- what conditions compare -----------------------------------------------------------------------------------------

def measured(condition: Condition, world: World) -> float:
    """Return what a condition compares, in percent if it says so. Reads the simulation, and changes nothing."""
    if condition.measure == "time":
        return world.tick * world.dt
    if condition.measure == "passed":
        return cast(Counts, world.part(Counts)).of_line(condition.place)
    count = world.agents.count
    if condition.measure in OF_PEOPLE:
        found, of = world.states().get(condition.measure, 0), count
    elif condition.measure == "inside":
        found, of = inside(condition.place, world), count
    else:
        found, of = count, world.config.agents
    return 100 * found / max(of, 1) if condition.share else found


def inside(place: str, world: World) -> int:
    """Return how many agents are in an area of `measure.areas`; its border does not belong to it."""
    left, top, right, bottom = world.config.measure.areas[place]
    columns, count = world.agents.view, world.agents.count
    x, y = columns.x[:count], columns.y[:count]
    return int(np.count_nonzero((left < x) & (x < right) & (top < y) & (y < bottom)))


# --- what events do ----------------------------------------------------------------------------------------------------

def actions_of(do: Deeds, world: World) -> Iterator[Action]:
    """Yield the actions of an event, one for each key of its `do`, in their order."""
    if do.walls is not None:
        yield PaintWalls(_runs_within(do.walls.rectangle, world.terrain), do.walls.build)
    if do.take_out is not None:
        yield TakeOut(*do.take_out.at, do.take_out.radius)
    if do.bring_in is not None:
        yield BringIn(do.bring_in.count, *do.bring_in.at, do.bring_in.radius)
    if do.goal is not None:
        yield AddGoal(*do.goal.at)
    if do.set:
        yield SetNumbers(tuple({**tuned(world).values, **do.set}.items()))
    if do.agents is not None:
        yield Populate(do.agents)
    for kind in FORCE_KINDS:
        force: Pull | None = getattr(do, kind)
        if force:
            ticks = max(round(force.seconds * world.config.time.step_hz), 1) if force.seconds else UNTIL_REMOVED
            yield PutForce(world.forces.next_number, kind, *force.at, force.radius, force.strength, ticks)
    if do.send is not None:
        area = world.settings.measure.areas[do.send.inside] if do.send.inside else None
        yield Send(do.send.to, do.send.leave, area)


def _runs_within(rectangle: tuple[float, float, float, float], terrain: Terrain) -> tuple[Run, ...]:
    """The tiles whose middles lie in a rectangle."""
    left, top, right, bottom = rectangle
    y, x = ((np.arange(tiles) + 0.5) * float(terrain.walls.tile) for tiles in terrain.kinds.shape)
    return terrain.runs_of(((top <= y) & (y <= bottom))[:, None] & ((left <= x) & (x <= right)))
