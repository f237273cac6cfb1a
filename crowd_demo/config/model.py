"""The configuration: what a YAML file may say, with every default, unit and range. `--print-schema` documents it.

`Config()` is complete and valid. All of it is frozen except `optimizations`, which is made from the registry of
techniques: its values may change while the crowd runs, and each assignment is validated against the registry's choices
and ranges.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union

from pydantic import ConfigDict, Field, ValidationError, create_model

from crowd_demo.config.behaviours import (
    BehaviourSettings,
    CratesSettings,
    FlockSettings,
    HuntSettings,
    PeopleSettings,
    PlaybackSettings,
)
from crowd_demo.config.events import MAX_EVENTS, NAMED, OF_PEOPLE, Edges, Place, ScenarioEvent
from crowd_demo.config.keys import Keys
from crowd_demo.config.section import (
    LENGTH,
    MAX_AGENTS,
    UNITS_A_METRE,
    WITHOUT_POINT,
    NumberSetting,
    Problem,
    Section,
    Whole,
    close_to,
    explain,
    number,
    number_of,
    plain,
    section,
)
from crowd_demo.registry.built_in import AT_FIRST, BEHAVIOURS, COLOURS, OVERLAYS
from crowd_demo.registry.entries import Technique, Value, load
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES, exactness

# --- techniques ------------------------------------------------------------------------------------------------------

MODELS: dict[str, type[_Live]] = {}  # by the prefix of their techniques' paths


class _Live(Section):
    """A section that may be assigned to, each value checked."""

    model_config = ConfigDict(frozen=False, validate_assignment=True)

    prefix: ClassVar[str] = ""  # of its techniques' paths
    changes: ClassVar[int] = 0  # assignments so far, to any: while it stays, so do all values

    if TYPE_CHECKING:  # the fields are made from the registry at run time
        def __getattr__(self, name: str) -> Any: ...

    def __reduce__(self) -> tuple[object, ...]:
        """Sections made from the registry have no name where pickle would look for it."""
        return _new, (self.prefix,), self.__getstate__()

    def __setattr__(self, name: str, value: object) -> None:
        """Raises ValueError, in one line that says what is legal, and leaves the old value."""
        if name not in type(self).model_fields:
            raise ValueError(f"unknown technique {self.prefix}{name!r}{close_to(name, type(self).model_fields)}")
        try:
            super().__setattr__(name, plain(value))
        except ValidationError as error:
            (_, problem), *_ = explain(error, type(self))
            raise ValueError(f"{self.prefix}{name}: {problem}") from None
        _Live.changes += 1


class _Techniques(_Live):
    """The values of the techniques by their dotted registry path, such as `stagger.avoidance`; also plain attributes."""

    def get(self, path: str) -> Value:
        """The present value. Raises ValueError for a path that the registry does not know."""
        return reduce(getattr, known(path).split("."), self)  # type: ignore[return-value]

    def set(self, path: str, value: Value) -> None:
        """Set a value. Raises ValueError that says what is legal, and keeps the old value then."""
        *groups, name = known(path).split(".")
        setattr(reduce(getattr, groups, self), name, value)


def known(path: str) -> str:
    """Return the path of a technique. Raises ValueError for a path that the registry does not know."""
    path = str(path)
    if path in BY_PATH:
        return path
    raise ValueError(f"unknown technique {path[:40]!r}{close_to(path, BY_PATH)}; techniques: {', '.join(BY_PATH)}")


def field_of(technique: Technique) -> tuple[object, object]:
    """The type and the default of the technique's value, for a model of pydantic's.

    The type is bool, a word of the choices, a number of the range, or such a word or number.
    """
    words = tuple(choice for choice in technique.choices if isinstance(choice, str))
    options: list[object] = [Literal[words]] if words else []
    if all(isinstance(choice, bool) for choice in technique.choices):
        options = [bool]
    elif numbers := technique.numbers:
        limits = Field(ge=numbers.low, le=numbers.high)
        options.append(Annotated[int, limits, WITHOUT_POINT] if numbers.kind is int else Annotated[float, limits])
    default = Field(technique.default, description=f"{technique.why} ({exactness(technique)})")
    return Union[tuple(options)], default  # noqa: UP007  (made at run time)


def _model(name: str, base: type[_Live], prefix: str) -> type[_Live]:
    """Fields for all techniques under the dotted prefix; those a level deeper become a section."""
    fields: dict[str, Any] = {}
    for technique in TECHNIQUES:
        if technique.path.startswith(prefix):
            head, *rest = technique.path.removeprefix(prefix).split(".")
            if not rest:
                fields[head] = field_of(technique)
            elif head not in fields:
                group = _model(head.title(), _Live, f"{prefix}{head}.")
                fields[head] = (group, Field(default_factory=group))
    made = MODELS[prefix] = create_model(name, __base__=base, __module__=__name__, **fields)
    made.prefix = prefix
    return made


def _new(prefix: str) -> _Live:
    return MODELS[prefix].__new__(MODELS[prefix])


if TYPE_CHECKING:
    Optimizations = _Techniques
else:
    Optimizations = _model("Optimizations", _Techniques, "")
    Optimizations.__doc__ = "Every technique of the registry; may change while the crowd runs."


def with_values(options: Optimizations, values: Mapping[str, Value]) -> Optimizations:
    """A copy of the options with those values, by path."""
    copy = options.model_copy(deep=True)
    for path, value in values.items():
        copy.set(path, value)
    return copy


# --- sections --------------------------------------------------------------------------------------------------------

if TYPE_CHECKING:
    BehaviourName = str
    ColourName = str
    OverlayName = str
else:
    BehaviourName, ColourName, OverlayName = Literal[tuple(BEHAVIOURS)], Literal[tuple(COLOURS)], Literal[tuple(AT_FIRST)]

WIDEST = 65_536  # world units
FIXED = " cannot be changed while the crowd runs: "
Side = Annotated[float, Field(ge=0.1, le=WIDEST), LENGTH]
Zoom = Annotated[float, Field(ge=0.05, le=8)]
Overlays = Annotated[tuple[OverlayName, ...], Field(strict=False)]  # YAML gives a list
NAME = "[A-Za-z][A-Za-z0-9_-]{0,39}"
HudMode = Literal["full", "compact", "off"]


class WorldSettings(Section):
    """A rectangle from (0, 0), y down, over which a map is stretched."""

    width: Side = Field(4000, description="from left to right (0.1 to 65536)")
    height: Side = Field(4000, description="from top to bottom (0.1 to 65536)")
    tile: Side = Field(13, description=(
        "side of a tile of a map in metres; sets the world's size (0.1 to 65536)"))
    y_axis: Literal["auto", "up", "down"] = Field("auto", description=(
        "direction of y there and in trajectories; auto: as the file specifies, else up"))
    unit: Literal["auto", "m", "cm", "mm"] = Field("auto", description=(
        "unit of trajectories; auto: as the file specifies, else m"))


class SceneSettings(Section):
    """Looks only."""

    colours: ColourName = Field("looks", description="; ".join(
        f"{name}: {entry.why}" for name, entry in COLOURS.items()))
    ground: Literal["stone", "grass", "floor", "sky", "dusk", "night", "water", "meadow"] = Field("stone", description=(
        "look of open tiles"))
    overlays: Overlays = Field((), description="overlays at the start; " + "; ".join(
        f"{label}: {OVERLAYS[name].why}" for label, name in AT_FIRST.items()))
    labels: dict[Annotated[str, Field(max_length=40)], Place] = Field({}, description=(
        "names of places, written at [x, y] in world units"))


class Spawn(Section):
    """Where agents are born."""

    pattern: Literal["uniform", "clump", "point"] = Field("uniform", description=(
        "all over the world; `share` of them in one small box; all at one point"))
    share: float = number(0.2, 0, 1, "", "clump: part of the agents in the box")
    box: float = number(0.05, 0, 1, "", "clump: side of the box relative to the world's")
    inside: str = Field("", max_length=60, description=(
        "uniform: only in this area of measure.areas, if it has a free tile"))


class Life(Section):
    """Births and deaths while the crowd runs."""

    births_per_s: float = number(0, 0, 1_000_000, "agents per second", "births, at random places")
    deaths_per_s: float = number(0, 0, 1_000_000, "agents per second", "deaths, at random")
    season_s: float = number(0, 0, 3600, "seconds", "a season: first more births, then more deaths; 0: none")
    most: Whole = number(MAX_AGENTS, 0, MAX_AGENTS, "agents", "maximum number of agents")
    causes: Whole = number(1, 1, 64, "removals per step", "removal passes per step")


class Links(Section):
    """Springs between agents, linked in the order of their ids."""

    pattern: Literal["none", "rope", "cloth", "column"] = Field("none", description=(
        "ropes hang from a pinned agent; the cloth's top row is pinned; columns follow free leaders"))
    length: Whole = number(40, 2, 100_000, "agents", "length of a rope, a column, or a row of the cloth",
                           "no: links are made at birth")
    rest: float = number(10, 0, 1000, "units", "length of a link without pull")
    stiffness: float = number(900, 0, 3000, "1/s^2", "pull per unit that a link is too long")
    damping: float = number(4, 0, 15, "1/s", "pull per speed of the ends moving apart")
    gravity: float = number(0, 0, 10_000, "units/s^2", "pull downwards")
    wind: float = number(0, 0, 10_000, "units/s^2", "strength of the gusts")
    drag: float = number(0.5, 0, 60, "1/s", "how fast air slows agents down")

    @property
    def least_step_hz(self) -> float:
        """The least `time.step_hz` at which the links do not blow up (docs/model_birds_crates.md, "Links"); 0 without links.

        That is where links * stiffness * dt^2 + (2 * in_line * damping + drag) * dt = 2.
        """
        links, in_line = {"none": (0, 0), "rope": (2, 2), "cloth": (4, 2), "column": (1, 1)}[self.pattern]
        stiff, slowing = links * self.stiffness, 2 * in_line * self.damping + self.drag
        return (slowing + math.sqrt(slowing * slowing + 8 * stiff)) / 4 if links else 0.0


class Time(Section):
    """Steps have a fixed length, independent of the frame rate."""

    step_hz: float = number(60, 1, 1000, "1/s", "steps per simulated second",
                            "no: clock, timeline, births and gusts count steps of one length")
    speed: float = number(1.0, 0.01, 100, "", "simulated seconds per second of real time")
    catch_up: Whole = number(4, 1, 64, "steps", "maximum steps per frame at speed 1; beyond it the crowd slows down")
    rewind_mb: Whole = number(64, 0, 65_536, "MB", "memory for rewinding; 0: none")


class HudSettings(Section):
    """The HUD."""

    hud: HudMode = Field("compact", description="HUD at the start; true is full, false is off")
    scale: float = number(1.0, 0.5, 3, "", "relative size of text and panels")
    theme: Literal["dark", "light"] = Field("dark", description="colours of text and panels")
    units: Literal["fps", "ms"] = Field("fps", description="the first number of the full HUD: FPS, or ms per frame")


class WindowSettings(HudSettings):
    """The window and its HUD."""

    width: Whole = number(1280, 16, 16_384, "pixels", "width")
    height: Whole = number(720, 16, 16_384, "pixels", "height")
    fullscreen: bool = Field(False, description="start in full screen")
    title: str = Field("crowd-demo", max_length=200, pattern=r"^[^\x00-\x1f]*$", description="title of the window")


class CameraSettings(Section):
    """The first view."""

    center: Place | None = Field(None, description="[x, y] in world units; null is the middle of the world")
    zoom: Zoom | None = Field(None, description="pixels per world unit (0.05 to 8); null fits the whole world")


class Cache(Section):
    """The simulated cache of the locality score: set-associative, least recently used."""

    line_bytes: Whole = number(64, 4, 4096, "bytes", "size of a line")
    size_kb: Literal["auto"] | Annotated[int, Field(ge=1, le=1_048_576), WITHOUT_POINT] = Field("auto", description=(
        "kilobytes (1 to 1048576); auto: this machine's L1 data cache"))
    ways: Whole = number(8, 1, 64, "lines", "lines in a set")


class Places(Section):
    """Where densities and flows are measured, in world units."""

    areas: dict[str, Edges] = Field({}, description="rectangles by name, [left, top, right, bottom]")
    lines: dict[str, Edges] = Field({}, description="lines by name, [x, y, to x, to y]")
    line: Edges = Field((0.0, 0.0, 0.0, 0.0), description=(
        "the counting line of the window, [x, y, to x, to y]; without a length: none"))
    doors: dict[str, Annotated[int, Field(ge=0, le=63), WITHOUT_POINT]] = Field({}, description=(
        "lines that are doors, with the destination behind: people who leave there"
        " count instead of crossings"))
    metre: float = number(
        UNITS_A_METRE, 0.001, 65_536, "units", "length of a metre; densities are agents per square metre")

    def _problems(self) -> Iterator[Problem]:
        yield from (Problem((kind, name), name, "a name must be a letter, then letters, digits, - and _: at most 40")
                    for kind in ("areas", "lines") for name in getattr(self, kind) if not re.fullmatch(NAME, name))
        yield from (Problem(("areas", name), area, "must be [left, top, right, bottom], with left < right and top < bottom")
                    for name, area in self.areas.items() if not (area[0] < area[2] and area[1] < area[3]))
        yield from (Problem(("lines", name), line, "must have two different ends")
                    for name, line in self.lines.items() if line[:2] == line[2:])
        yield from (Problem(("doors", name), name, f"measure.lines has no {name!r}{close_to(name, self.lines)}")
                    for name in self.doors if name not in self.lines)


class _Common(Section):
    """What comes before the behaviours."""

    agents: Whole = number(20_000, 0, MAX_AGENTS, "agents",
                           "size of the crowd; absent on a map of your own: as many people as keep moving, at most 20,000")
    seed: Whole = Field(1, ge=0, le=2**63 - 1, description="seed of all random numbers (0 to 2^63 - 1)")
    behaviour: BehaviourName = Field("crowd", description="; ".join(
        f"{name}: {entry.about}" for name, entry in BEHAVIOURS.items()))
    world: WorldSettings = section(WorldSettings)
    map: str | None = Field(None, max_length=4096, description=(
        "walls: a shipped name, .map, .png, or floor plan: .wkt, .json, .dxf (relative to this file);"
        " null: an open world"))
    scene: SceneSettings = section(SceneSettings)
    spawn: Spawn = section(Spawn)
    life: Life = section(Life)
    links: Links = section(Links)
    time: Time = section(Time)
    optimizations: Optimizations = section(Optimizations)


if TYPE_CHECKING:
    class _WithBehaviours(_Common):
        crowd: PeopleSettings
        flock: FlockSettings
        hunt: HuntSettings
        crates: CratesSettings
        playback: PlaybackSettings
else:  # one section for each behaviour of the registry
    _WithBehaviours = create_model("_WithBehaviours", __base__=_Common, __module__=__name__, **{
        name: (settings, section(settings)) for name, settings in (
            (name, load(entry.settings)) for name, entry in BEHAVIOURS.items())})


class Config(_WithBehaviours):
    """One run of crowd-demo: what is simulated, how, and how it is shown."""

    window: WindowSettings = section(WindowSettings)
    camera: CameraSettings = section(CameraSettings)
    cache: Cache = section(Cache)
    measure: Places = section(Places)
    events: Annotated[tuple[ScenarioEvent, ...], Field(strict=False)] = Field((), max_length=MAX_EVENTS, description=(
        "events of the scenario; each happens once, in the order of the file if due at the same time"))
    keys: Keys = section(Keys)

    def _problems(self) -> Iterator[Problem]:
        links, step_hz = self.links, self.time.step_hz
        if step_hz < links.least_step_hz:
            yield Problem(("links", "stiffness"), links.stiffness, (
                f"a {links.pattern} of stiffness {links.stiffness:g}, damping {links.damping:g} and drag {links.drag:g} blows"
                f" up unless time.step_hz is at least {math.ceil(links.least_step_hz)} (it is {step_hz:g})"))
        if (name := self.spawn.inside) and name not in self.measure.areas:
            yield Problem(("spawn", "inside"), name, f"measure.areas has no {name!r}{close_to(name, self.measure.areas)}")
        for index, event in enumerate(self.events):
            at, condition, send = ("events", index), event.condition, event.do.send
            if condition and condition.measure in NAMED:
                places = NAMED[condition.measure]
                if condition.place not in (names := getattr(self.measure, places)):
                    yield Problem((*at, "when"), event.when,
                                  f"measure.{places} has no {condition.place!r}{close_to(condition.place, names)}")
            elif condition and condition.measure in OF_PEOPLE and self.behaviour != "crowd":
                yield Problem((*at, "when"), event.when,
                              f"{condition.measure}: only people can be, and this is {self.behaviour}")
            if send and (self.behaviour != "crowd" or self.crowd.room == 0):
                yield Problem((*at, "do", "send", "to"), send.to,
                              "only people can be sent, and only with a crowd.room above 0")
            elif send and send.leave and self.crowd.wait_s == 0:
                yield Problem((*at, "do", "send", "leave"), send.leave, "people leave only with a crowd.wait_s above 0")
            elif send and send.inside and send.inside not in self.measure.areas:
                yield Problem((*at, "do", "send", "inside"), send.inside,
                              f"measure.areas has no {send.inside!r}{close_to(send.inside, self.measure.areas)}")
            for path, value in event.do.set.items():
                if why := self._cannot_be_set(path, value):
                    yield Problem((*at, "do", "set", path), value, why)

    def _cannot_be_set(self, path: str, value: float) -> str:
        """Return why a number cannot have that value while the crowd runs. Conflicts with others show when it is set."""
        known = {number.path: number for number in self.numbers}
        if path not in known:
            return f"is not a parameter of the behaviour{close_to(path, known)}"
        if known[path].live == "no":
            return f"{FIXED.strip()} {known[path].why_not}"
        name, _, key = path.partition(".")
        settings: Section = getattr(self, name)
        try:
            type(settings).model_validate({**settings.model_dump(), key: value})
        except ValidationError as error:
            return explain(error, type(settings))[0][1]
        return ""

    @property
    def numbers(self) -> tuple[NumberSetting, ...]:
        """The numbers of the behaviour, and those of links if there are any, in the order of their sections."""
        sections = {self.behaviour: self.behaviour_settings, **({"links": self.links} if self.links.pattern != "none" else {})}
        return tuple(number_of(f"{name}.{key}", field, isinstance(value, int)) for name, settings in sections.items()
                     for key, field in type(settings).model_fields.items()
                     if isinstance(value := getattr(settings, key), int | float) and not isinstance(value, bool))

    @property
    def map_scale(self) -> tuple[float, float, str, str, str]:
        """Of a map in metres: tile and metre in world units, direction of y; unit and columns of trajectories."""
        return self.world.tile, self.measure.metre, self.world.y_axis, self.world.unit, self.playback.columns

    @property
    def behaviour_settings(self) -> BehaviourSettings:
        settings: BehaviourSettings = getattr(self, self.behaviour)
        return settings


# --- numbers that can be changed while the crowd runs ------------------------------------------------------------------

Number = int | float


def value_of(config: Config, path: str) -> Number:
    """Return the value of a number, by its path in a configuration."""
    return reduce(getattr, path.split("."), config)  # type: ignore[return-value]


def with_numbers(config: Config, values: Mapping[str, Number]) -> Config:
    """Return the configuration with other numbers, by path, all of them at once.

    Raises ValueError, in one line, for one that is unknown, cannot be changed, or is out of its range.
    """
    fixed = number_of("time.step_hz", Time.model_fields["step_hz"], is_whole=False)
    known = {number.path: number for number in (*config.numbers, fixed)}
    changed: dict[str, dict[str, Number]] = {}
    for path, value in values.items():
        if path not in known:
            raise ValueError(f"{path[:60]} is not a number of the present behaviour{close_to(path, known)}")
        if known[path].live == "no":
            raise ValueError(f"{path}{FIXED}{known[path].why_not}")
        name, _, key = path.partition(".")
        changed.setdefault(name, {})[key] = value
    for name, those in changed.items():
        before: Section = getattr(config, name)
        given = {key: getattr(before, key) for key in before.model_fields_set}
        try:
            after = type(before).model_validate({**given, **those})
            config = Config.model_validate({**{key: getattr(config, key) for key in Config.model_fields}, name: after})
        except ValidationError as error:
            prefix = () if error.title == "Config" else (name,)
            keys, text = explain(error, Config, prefix)[0]
            raise ValueError(f"{'.'.join(map(str, keys))}: {text}") from None
    return config
