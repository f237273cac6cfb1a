"""The records of the registry, of which plugins consist too. Nothing here imports other parts of the program.

A text "module:name" stands for an object that is imported when it is first used, so `--help` needs neither Numba nor
pygame. The types of a record's fields say what they may hold, in part by a `Must`; plugins.py holds records against
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel

Value = str | int | float | bool

GROUPS = {  # of techniques, in the order in which they are shown
    "search": "finding neighbours: candidates per agent",
    "people": "how people avoid each other: other models, not other ways to compute one model",
    "memory": "positions of agents in memory",
    "time": "scheduling: threads, and work that is not done in every step",
    "drawing": "agents that are drawn, their order, and the drawing code",
    "more": "techniques of plugins",
}
NO_GROUP = "more"
FOLDS = ("mean", "median", "most", "last", "total")  # of what a measure saw to one number


class Must(NamedTuple):
    """What the value of a field must be, beside its type."""

    hold: Callable[[Any], bool]
    be: str  # the same in words


class Range(NamedTuple):
    kind: type[int] | type[float]
    low: float
    high: float


def _is_key(text: str) -> bool:
    return text.isidentifier() and not text.startswith("_") and not hasattr(BaseModel, text)  # which sections are


def _are_choices(choices: tuple[Value, ...]) -> bool:
    kinds = set(map(type, choices))
    return len(set(choices)) == len(choices) > 0 and (kinds == {bool} or kinds <= {str, int, float})


def _has_module(code: str) -> bool:
    """Return whether there is such a module. Imports the packages that it is in, but not the module."""
    module, _, name = code.partition(":")
    return name.isidentifier() and find_spec(module) is not None


Text = Annotated[str, Must(str.isprintable, "printable text")]
Name = Annotated[str, Must(lambda text: text.isprintable() and text.strip(), "printable text, and not empty")]
Key = Annotated[str, Must(_is_key, "a name that a key of the configuration can have")]
Keys = Annotated[str, Must(lambda text: all(map(_is_key, text.split("."))), "names that keys can have, with dots between")]
Code = Annotated[str, Must(_has_module, '"module:name" of a module that can be found')]
SettingsCode = Annotated[str, Must(
    lambda code: isinstance(load(code)(), BaseModel), '"module:name" of a section of the configuration with all its defaults')]
Choices = Annotated[tuple[Value, ...], Must(_are_choices, "different values: true and false, or words and numbers")]
Numbers = Annotated[Range | None, Must(
    lambda numbers: numbers is None or (isinstance(numbers, Range) and numbers.kind in (int, float)
                                        and numbers.low <= numbers.high),
    "None, or the Range of int or float from the least to the greatest")]
Group = Annotated[str, Must(GROUPS.__contains__, f"one of {', '.join(GROUPS)}")]
Fold = Annotated[str, Must(FOLDS.__contains__, f"one of {', '.join(FOLDS)}")]


class Situation(NamedTuple):
    """What decides whether a technique is inactive."""

    get: Callable[[str], Value]  # the present value of any technique
    structure: frozenset[str]  # paths of the techniques that the present neighbour structure uses
    behaviour: frozenset[str]  # paths of those that the behaviour uses
    births: bool  # agents are born and die
    nearest: bool = False  # the behaviour gathers its nearest neighbours, one agent at a time, from the grid
    links: bool = False  # springs tie agents to each other
    field: bool = False  # the behaviour can look at a smoothed field instead of neighbours
    on_gpu: bool = False  # a graphics card makes the steps
    needs_processor: str = ""  # why it cannot, in two words


Decides = Annotated[Callable[[Situation], bool | str],
                    Must(callable, "a function of the situation that returns true, false or text")]
Explains = Annotated[Callable[[Situation], str], Must(callable, "a function of the situation that returns text")]


class Unused(str):
    """Why a technique changes nothing at present, as its `inactive` may say; empty if it changes something."""


def never(situation: Situation) -> bool:
    return False


def nothing_left(situation: Situation) -> str:
    return ""


class Kind(NamedTuple):
    """What a technique does to the crowd. `mark` stands beside it where there is no room for the name."""

    name: str
    mark: str
    does: str


EXACT = Kind("exact", "", "the same crowd")  # whatever its value: the state hash stays
APPROXIMATE = Kind("approximate", "~", "changes the motion")  # less work, and a small error
MODEL = Kind("model", "≠", "another rule of behaviour")  # each value has a crowd of its own, and none is wrong
KINDS = (EXACT, APPROXIMATE, MODEL)  # later ones change more


@dataclass(frozen=True)
class Technique:
    """One switch. `path` leads to its value under `optimizations:` in the YAML.

    The first choice is the baseline that the others improve upon, unless `off` names another one.
    """

    path: Keys  # a stage reads its value by `world.options.get(path)`
    choices: Choices  # its values
    default: Value  # one of them
    kind: Kind = EXACT  # or APPROXIMATE, or MODEL
    label: Name = ""  # its name in the window
    why: Text = ""  # its tooltip
    stage: Text = ""  # whose time it changes most
    key: Text = ""  # on the keyboard
    group: Group = NO_GROUP  # where it is listed
    watch: Text = ""  # readings to look at
    source: Text = ""  # its publication
    detail: bool = False  # belongs to the technique above it
    range: Numbers = None  # allowed numbers; None: from the least to the greatest choice
    auto: str = ""  # meaning of its choice `auto`: an attribute of the world, such as "grid.cell"
    off: Value | None = None  # the baseline, if that is not the first choice
    quick: Value | None = None  # an exact choice that compiles much sooner, for a first start
    inactive: Decides = never  # True or `Unused` while it has no effect; a text: the effect that remains
    approximate_if: tuple[tuple[str, Value], ...] = ()  # values that make an exact one approximate
    moves_memory: bool = False  # it changes the order of agents in memory, or of reads

    @property
    def baseline(self) -> Value:
        """The value upon which the others improve."""
        return self.choices[0] if self.off is None else self.off

    @property
    def has_off(self) -> bool:
        """Return whether the baseline is to do without it."""
        return self.baseline in ("off", 0)  # to which False is equal

    @property
    def approximate_values(self) -> tuple[Value, ...]:
        """Those choices of an exact technique that are approximate."""
        return tuple(value for path, value in self.approximate_if if path == self.path)

    @property
    def numbers(self) -> Range | None:
        """The numbers that it may have; None for a technique of words or of true and false."""
        among = [choice for choice in self.choices if not isinstance(choice, str | bool)]
        kind = int if all(isinstance(choice, int) for choice in among) else float
        return self.range or (Range(kind, min(among), max(among)) if among else None)

    def allows(self, value: Value) -> bool:
        """Return whether it is one of the choices that are not numbers, or a number in the range."""
        if isinstance(value, str | bool):
            return any(choice == value and type(choice) is type(value) for choice in self.choices)
        numbers = self.numbers
        return bool(numbers and numbers.low <= value <= numbers.high and (isinstance(value, int) or numbers.kind is float))

    def mistakes(self) -> Iterator[str]:
        """What is wrong among fields of which each may be right."""
        for field in ("choices", "default", "off", "quick", "approximate_values"):
            value = getattr(self, field)
            for each in value if isinstance(value, tuple) else (value,):
                if each is not None and not self.allows(each):
                    yield f"{field}: {each!r} is none of its choices, or not in its range"
        if self.quick is not None and self.kind is not EXACT:
            yield "quick: only an exact technique has such a choice"


class StageEntry(NamedTuple):
    """A stage of a step that a plugin adds, after the last stage named `after`."""

    code: Code  # a class with the methods of `sim.stage.Stage`, made without arguments
    after: Text  # such as `index`, `interaction`, `move`


class BehaviourEntry(NamedTuple):
    """A behaviour. `name` is a choice of `behaviour:` in the YAML, and the section that holds its settings."""

    name: Key  # the choice and the section
    about: Text  # one to three words
    settings: SettingsCode  # a `config.behaviours.BehaviourSettings`
    code: Code  # a `sim.behaviours.base.Behaviour`
    figures: Code  # a `render.scene.Figures`


class OverlayEntry(NamedTuple):
    """A drawing over the picture or on the ground; the action of the same name shows and hides it."""

    name: Key  # of the action
    why: Text  # its meaning
    draw: Code  # a `render.overlays.base.Draw`
    key: Text = ""  # on the keyboard
    inactive: Explains = nothing_left  # why there is nothing to draw now, or ""
    on_ground: bool = False  # agents are drawn over it

    @property
    def label(self) -> str:
        """Its name for people."""
        return self.name.removeprefix("show_").replace("_", " ")


class ColourEntry(NamedTuple):
    """A colour mode: what the colours of agents mean. `name` is a choice of `scene.colours` in the YAML."""

    name: Name  # the choice
    why: Text  # meaning of the colours
    code: Code  # a `render.colours.base.ColourMode`


class MeasureEntry(NamedTuple):
    """A measure of `crowd-demo ensemble`: taken every few steps, and folded to one number per run.

    `code` is a function of the simulation. A measure that depends on its previous value is a class, made from the
    simulation before the first step. Either returns a number, numbers by the name of a place, or None.
    """

    name: Key  # the column of the table
    why: Text  # its meaning
    code: Code
    unit: Text = ""  # such as 1/s
    fold: Fold = "mean"  # how the values of a run become one
    behaviours: tuple[str, ...] = ()  # those that have it; none: all
    places: str = ""  # the key under `measure:` that names its areas or lines
    time: bool = False  # it differs between identical runs, as times do


class Plugin(NamedTuple):
    """All that a package adds."""

    techniques: tuple[Technique, ...] = ()  # switches under `optimizations:`
    behaviours: tuple[BehaviourEntry, ...] = ()  # choices of `behaviour:`
    overlays: tuple[OverlayEntry, ...] = ()  # drawings over or under the agents
    colours: tuple[ColourEntry, ...] = ()  # choices of `scene.colours`
    stages: tuple[StageEntry, ...] = ()  # stages of a step
    measures: tuple[MeasureEntry, ...] = ()  # measures of `crowd-demo ensemble`
    scenarios: Path | None = None  # a folder of configurations, with a `NAME.png` beside `NAME.yaml`


def load(text: str) -> Any:
    """The object that "module:name" stands for."""
    module, _, name = text.partition(":")
    return getattr(import_module(module), name)
