"""Actions: what changes a crowd from outside. `Simulation.history` records each with its tick.

A step is a function of state, actions and configuration, so a list of (tick, action) replays a run from `Simulation(config)`
at tick 0, or from a snapshot. A restart (a key of the program) is not an action: it makes another `Simulation` of the same
seed, with the present number of agents and the present techniques. What the user has built and set is in it from the
beginning (`edits.lasting_edits`), and all that its history holds.

An action is a frozen dataclass of plain fields, registered under a name, so files can hold it: `as_data(Populate(5))` is
`{"name": "populate", "count": 5}`. A plugin registers one of its own in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Annotated, ClassVar, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from pydantic import Field, RootModel, ValidationError

from crowd_demo.config.section import MAX_AGENTS, close_to, explain, plain
from crowd_demo.registry.entries import Value
from crowd_demo.sim.world import World

Coordinate = Annotated[float, Field(ge=-2**31, le=2**31)]
Tile = Annotated[int, Field(ge=-2**31, le=2**31)]


class Action(Protocol):
    about: ClassVar[str] = ""
    lasts: ClassVar[bool] = False

    def apply(self, world: World) -> None:
        """Change the crowd. Raises ValueError when that is impossible, and changes nothing then."""


@runtime_checkable
class Edit(Action, Protocol):
    """An action that can be undone."""

    def inverse(self, world: World) -> tuple[Action, ...]:
        """Return, before it is applied, the actions that will take it back, in their order; none if it will change nothing."""


Kind = TypeVar("Kind", bound=type[Action])
Made = TypeVar("Made", bound=Action)
ACTIONS: dict[str, type[Action]] = {}


def action(name: str, about: str, lasts: bool = False) -> Callable[[Kind], Kind]:
    """Register a dataclass as the action of that name; `about` says in a few words what changed.

    `lasts`: the action changes the world and not its agents, so a restart applies it at tick 0, before agents exist. All
    that it changes must be in the files of a saved scenario (app/files.py). Raises ValueError for a name that is taken.
    """
    def register(kind: Kind) -> Kind:
        if name in ACTIONS:
            raise ValueError(f"there is an action {name!r} already")
        ACTIONS[name], kind.about, kind.lasts = kind, about, lasts
        return kind
    return register


@action("populate", "the number of agents changed")
@dataclass(frozen=True)
class Populate(Action):
    """Add or remove agents until there are `count`. Raises ValueError for more than fit into memory."""

    count: Annotated[int, Field(ge=0, le=MAX_AGENTS)]

    def apply(self, world: World) -> None:
        world.populate(self.count)

    def inverse(self, world: World) -> tuple[Action, ...]:
        return (Populate(world.agents.count),) if world.agents.count != self.count else ()


@action("switch", "a technique was switched")
@dataclass(frozen=True)
class Switch(Action):
    """Give a technique a value. Raises ValueError for one that it cannot have."""

    path: str
    value: Value

    def apply(self, world: World) -> None:
        world.options.set(self.path, self.value)

    def inverse(self, world: World) -> tuple[Action, ...]:
        before = world.options.get(self.path)
        return (Switch(self.path, before),) if before != self.value else ()


@action("set_walls", "the walls changed", lasts=True)
@dataclass(frozen=True)
class SetWalls(Action):
    """Build (or tear down) walls on tiles [left, top, right, bottom)."""

    rectangle: tuple[Tile, Tile, Tile, Tile]
    wall: bool

    def apply(self, world: World) -> None:
        world.set_walls(self.rectangle, self.wall)


@action("place", "an agent was put elsewhere")
@dataclass(frozen=True)
class Place(Action):
    """Put the agent with that id at a place, such as a hawk under the pointer, out of walls and into the world.

    Raises ValueError if no agent has the id.
    """

    id: Annotated[int, Field(ge=0, le=2**31 - 1)]
    x: Coordinate
    y: Coordinate

    def apply(self, world: World) -> None:
        slot = int(world.agents.handles.slots_of(np.array([self.id]))[0])
        if slot < 0:
            raise ValueError(f"there is no agent {self.id}")
        columns, ground = world.agents.columns, world.ground
        columns.x[slot] = min(float(ground.limit_x), max(0.0, self.x))
        columns.y[slot] = min(float(ground.limit_y), max(0.0, self.y))
        world.terrain.step_out(columns.x[slot:slot + 1], columns.y[slot:slot + 1])
        world.grid.outdated()


# --- as plain data ---------------------------------------------------------------------------------------------------

def as_data(action: Action) -> dict[str, object]:
    """Return the action's registered name and its fields. Raises ValueError for an action that nobody registered."""
    for name, kind in ACTIONS.items():
        if type(action) is kind:
            return {"name": name, **asdict(action)}  # type: ignore[call-overload]  # all of them are dataclasses
    raise ValueError(f"{type(action).__name__} is not a registered action")


def from_data(data: object) -> Action:
    """Return the action of plain data, as JSON gives it. Raises ValueError, in one line, for anything else."""
    if not isinstance(data, Mapping) or not isinstance(name := data.get("name"), str):
        raise ValueError("an action must have a name")
    if name not in ACTIONS:
        raise ValueError(f"unknown action {name[:40]!r}{close_to(name, ACTIONS)}")
    given = {key: value for key, value in data.items() if key != "name"}
    if unknown := given.keys() - {field.name for field in fields(ACTIONS[name])}:  # type: ignore[arg-type]
        raise ValueError(f"action {name}: unknown field {min(map(str, unknown))[:40]!r}")
    model = _reader(name)
    try:
        return model.model_validate_json(json.dumps(plain(given), default=repr), strict=True).root
    except ValidationError as error:
        path, text = explain(error, model)[0]
        raise ValueError(f"action {name}: {'.'.join(map(str, path))}: {text}") from None


def checked(action: Made) -> Made:
    """Return an action with Python's numbers in its fields. Raises ValueError for values that it cannot have."""
    return cast(Made, from_data(as_data(action)))


@cache
def _reader(name: str) -> type[RootModel[Action]]:
    return RootModel.__class_getitem__(ACTIONS[name])  # type: ignore[return-value]
