"""The records of the registry, of which plugins consist too. Nothing here imports other parts of the program.

A text "module:name" stands for an object that is imported when it is first used, so `--help` needs neither Numba nor pygame.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

Value = str | int | float | bool

GROUPS = {  # of techniques, in the order in which they are shown
    "search": "who may be near whom, and how many are met",
    "people": "how people avoid each other: other models, not other ways to compute one",
    "memory": "where agents lie in memory",
    "time": "who works when: threads, and work that is not done in every step",
    "drawing": "what is drawn, in which order, and by what",
    "more": "techniques of plugins",
}
NO_GROUP = "more"
FOLDS = ("mean", "median", "most", "last", "total")  # of what a measure saw to one number


class Range(NamedTuple):
    """The numbers that a technique may have."""

    kind: type[int] | type[float]
    low: float
    high: float


class Situation(NamedTuple):
    """What decides whether a technique is inactive."""

    get: Callable[[str], Value]  # the present value of any technique
    structure: frozenset[str]  # paths of the techniques that the present neighbour structure uses
    behaviour: frozenset[str]  # paths of those that the behaviour uses
    births: bool  # agents are born and die
    nearest: bool = False  # the behaviour gathers its nearest neighbours, one agent at a time, from the grid
    links: bool = False  # springs tie agents to each other
    field: bool = False  # the behaviour can look at a smoothed field instead of neighbours


def never(situation: Situation) -> bool:
    return False


def nothing_left(situation: Situation) -> str:
    return ""


class Technique(NamedTuple):
    """One switch. `path` leads to its value under `optimizations:` in the YAML; the key steps through `choices`.

    The first choice is the baseline that the others improve upon, unless `off` names another one. A technique of numbers takes
    any number in its range, which is that of its choices unless given. While `inactive` is true, it changes nothing.
    """

    path: str
    choices: tuple[Value, ...]
    default: Value
    exact: bool
    label: str
    why: str
    stage: str = ""  # the stage whose time it changes most
    key: str = ""
    range: Range | None = None
    auto: str = ""  # what its choice `auto` stands for: an attribute of the world, such as "grid.cell"
    inactive: Callable[[Situation], bool] = never
    partly: Callable[[Situation], str] = nothing_left  # what it still does, if another technique makes the rest inactive
    approximate_choices: tuple[Value, ...] = ()  # if its other choices are exact
    approximate_with: tuple[tuple[str, Value], ...] = ()  # (path, value) of others with which it is not exact
    group: str = NO_GROUP  # one of `GROUPS`
    watch: str = ""  # what to look at when it is switched, in the HUD's words
    source: str = ""  # whose idea it is
    model: bool = False  # neither exact nor approximate: each value is another model, with a crowd of its own
    off: Value | None = None  # the baseline, if that is not the first choice
    quick: Value | None = None  # an exact choice that is compiled much sooner: a start with much to compile begins with it

    @property
    def baseline(self) -> Value:
        """The value upon which the others improve."""
        return self.choices[0] if self.off is None else self.off

    @property
    def numbers(self) -> Range | None:
        """The numbers that it may have; None for a technique of words or of true and false."""
        among = [choice for choice in self.choices if not isinstance(choice, str | bool)]
        return self.range or (Range(int, min(among), max(among)) if among else None)

    def allows(self, value: Value) -> bool:
        """Is it one of the choices, or a number in the range?"""
        if value in self.choices or isinstance(value, str | bool):
            return value in self.choices
        return self.numbers is not None and self.numbers.low <= value <= self.numbers.high


class StageEntry(NamedTuple):
    """A stage of a step that a plugin adds, after the last stage named `after`."""

    code: str  # "module:name" of a class with the methods of `sim.stage.Stage`
    after: str


class BehaviourEntry(NamedTuple):
    """A behaviour. `name` is a choice of `behaviour:` in the YAML, and the section that holds its settings."""

    name: str
    about: str  # one to three words
    settings: str  # "module:name" of a `config.behaviours.BehaviourSettings`
    code: str  # "module:name" of a `sim.behaviours.base.Behaviour`
    figures: str  # "module:name" of a `render.figures.base.Figures`


class OverlayEntry(NamedTuple):
    """Something that is drawn over the picture, or on the ground; the action of the same name shows and hides it."""

    name: str
    why: str
    draw: str  # "module:name" of a `render.overlays.base.Draw`
    key: str = ""
    inactive: Callable[[Situation], str] = nothing_left  # why there is nothing to draw at present; "" if there is
    on_ground: bool = False  # agents are drawn over it

    @property
    def label(self) -> str:
        """Its name for people."""
        return self.name.removeprefix("show_").replace("_", " ")


class ColourEntry(NamedTuple):
    """A colour mode: what the colours of agents tell. `name` is a choice of `scene.colours` in the YAML."""

    name: str
    why: str
    code: str  # "module:name" of a `render.colours.base.ColourMode`; empty: agents have their own colours


class MeasureEntry(NamedTuple):
    """A number about a run: `crowd-demo ensemble` looks every few steps and folds what it sees to one number a run.

    `code` is a function of the simulation; or a class, for what remembers its last look: it is made of the simulation before
    the first step, and called with it. Either returns a number, numbers by the name of a place, or None where there are none.
    """

    name: str
    why: str
    code: str  # "module:name"
    unit: str = ""
    fold: str = "mean"  # one of `FOLDS`
    behaviours: tuple[str, ...] = ()  # those that have it; none: all
    places: str = ""  # the key under `measure:` that names the places it is measured at
    time: bool = False  # it differs from one run to the next, as times do


class Plugin(NamedTuple):
    """What a package adds; `scenarios` is a folder of configurations."""

    techniques: tuple[Technique, ...] = ()
    behaviours: tuple[BehaviourEntry, ...] = ()
    overlays: tuple[OverlayEntry, ...] = ()
    colours: tuple[ColourEntry, ...] = ()
    stages: tuple[StageEntry, ...] = ()
    measures: tuple[MeasureEntry, ...] = ()
    scenarios: Path | None = None


def load(text: str) -> Any:
    """The object that "module:name" stands for."""
    module, _, name = text.partition(":")
    return getattr(import_module(module), name)
