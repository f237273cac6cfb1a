"""What the program tells the HUD beside what the simulation knows: a record of plain records, made anew in each frame."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crowd_demo.compute.arrays import Bytes, Doubles, Floats, Longs
from crowd_demo.config.section import NumberSetting
from crowd_demo.registry.entries import Value
from crowd_demo.render.camera import Rect
from crowd_demo.render.colours.base import Legend
from crowd_demo.render.hud.canvas import Target
from crowd_demo.render.hud.card import AnswerView, Caption, Card, ProofLine
from crowd_demo.render.hud.views import ListView
from crowd_demo.render.inks import RGB
from crowd_demo.sim.metrics.readings import Readings

Ring = tuple[tuple[float, float], float, str]  # a force: its middle and radius in pixels, and the icon of its tool


class Hovered(NamedTuple):
    """A target on which the cursor rests, and the cursor's position in pixels."""

    target: Target
    at: tuple[float, float]


class PanelSettings(NamedTuple):
    hud: str = "full"  # or "compact", or "off"; "right" is full with the right panel where there is room for one
    scale: float = 1.0  # times the usual size
    theme: str = "dark"  # or "light"
    units: str = "fps"  # or "ms": which of them is the large one
    opened: Sequence[str] = ()  # sections that were unfolded, the last one last
    graph_fits: int = 0  # how often the user asked to fit the graph's scale


class Mark(NamedTuple):
    """Something that happened at a tick of the crowd, or in the graph in a frame, by `Profile.frames`."""

    at: int
    text: str


class Past(NamedTuple):
    """What the timeline shows: ticks, memory, and the times of the frames in which ticks were made."""

    oldest: int
    newest: int
    tick: int  # the present one
    span: int  # ticks that the bar shows
    hz: float
    nbytes: int
    bound: int
    frame_ms: Floats  # float32[span], of the ticks up to `newest`; 0 where none is known
    recorded: int | None = None  # bytes of the recording under way
    replayed: bool = False  # what comes is that of a recording, and cannot be changed
    marks: Sequence[Mark] = ()  # of what happened, by tick


class RunningJob(NamedTuple):
    """What is being done in the background: the part that is done, 0 to 1, and a count such as 23 of 60."""

    text: str
    part: float = 0.0
    done: str = ""


class BetOutcome(NamedTuple):
    """What a bet of a tour came to: what was measured, between which shares of the scale, and a verdict."""

    measured: str
    between: tuple[float, float] | None
    verdict: str
    is_right: bool


class BetView(NamedTuple):
    """A scale for a guess, with the guess, if there is one yet; once that is decided, with what was measured."""

    ends: tuple[str, str]
    guess: str
    unit: str
    share: float | None  # of the scale, where the guess is
    outcome: BetOutcome | None = None
    is_open: bool = False  # can it still be placed?


class TourView(NamedTuple):
    """What is shown of a tour; `doing` is what it waits for."""

    title: str
    step: int  # counted from 1
    steps: int
    text: str
    question: str = ""
    is_answer: bool = False
    doing: str = ""
    bet: BetView | None = None
    of_panels: bool = False  # does it speak of the panels?
    hint: str = ""  # which key shows them, where they are not shown


class MinimapView(NamedTuple):
    """The camera's part of the world, the frozen part that culling keeps, if any, and the whole ground."""

    view: Rect
    frozen: Rect | None
    ground: Bytes  # [rows, columns, 3], of all tiles; another array when it changes


class Key(NamedTuple):
    colour: RGB
    what: str
    dashed: bool = False


class Chart(NamedTuple):
    """How often pairs of numbers were found, and curves drawn through them. Axes begin at 0, and rows ascend."""

    title: str
    axes: tuple[str, str]  # units, along the chart and upwards
    ends: tuple[float, float]  # of both axes
    counts: Longs  # [rows, columns]
    colours: tuple[RGB, ...]
    classes: Longs  # [rows, columns]: which of the colours
    curves: tuple[tuple[str, Doubles, Doubles], ...] = ()  # a name, and the points; the first is the most important


class LegendItem(NamedTuple):
    """What the legend says of an overlay: its name, what it shows, and its colours; and a chart."""

    name: str
    text: str
    keys: tuple[Key, ...] = ()
    chart: Chart | None = None


class Inspection(NamedTuple):
    """What the inspector's panel says of an agent, or of those in a box."""

    title: str
    rows: tuple[tuple[str, str], ...]
    strip: tuple[float, Sequence[float], Sequence[float]] | None = None  # shares of all slots: own, candidates, neighbours
    is_box: bool = False
    sentence: str = ""
    raw: tuple[tuple[str, str], ...] = ()
    is_open: bool = False  # whether the raw fields are shown


class NumberRow(NamedTuple):
    """A number that can be changed, its present value, and the one of the configuration."""

    number: NumberSetting
    value: float
    shipped: float


class Half(NamedTuple):
    target: str  # the number that a click or a drag there changes
    value: str  # the technique and its value there
    step_ms: float = math.nan  # medians of the last second
    frame_ms: float = math.nan  # of a step and its picture
    state: ProofLine | None = None  # the hash of the crowd, and whether the other one has the same
    notes: tuple[str, ...] = ()


class Halves(NamedTuple):
    """The two crowds of a split window, and the column of pixels of the line between them."""

    line_px: int
    left: Half
    right: Half


class ToolButton(NamedTuple):
    """A button of the tool bar: the action that a click does, its icon, what it says of itself, and its key."""

    action: str
    icon: str
    label: str
    key: str
    is_held: bool


class ToolBarView(NamedTuple):
    """The tools, the size of the brush, and where its slider stands, 0 to 1."""

    buttons: tuple[ToolButton, ...]
    size: str
    share: float


class BrushView(NamedTuple):
    """What a press of the mouse will change, in pixels: a circle, the outlines of tiles, and a few words."""

    at: tuple[float, float]
    radius: float
    lines: tuple[tuple[tuple[float, float], tuple[float, float]], ...]
    text: str


class FlowView(NamedTuple):
    """The counting line: its ends in pixels, people per second over time, float64[k, 2], and the present numbers.

    Of both, the first is to the left as seen along the line, the second to the right.
    """

    start: tuple[float, float]
    end: tuple[float, float]
    flows: Doubles
    texts: tuple[str, ...]


class Status(NamedTuple):
    """The state of the program in one frame."""

    paused: bool = False
    speed: float = 1.0
    pending: Mapping[str, Value] = {}  # values whose kernels are still being compiled, by path
    notices: Sequence[str] = ()  # the last one is shown
    jobs: Sequence[RunningJob] = ()
    pointer: tuple[float, float] | None = None  # pixels, while it is in the window
    readings: Readings = Readings()
    touched: str = ""  # path of the technique that was changed last; the number keys change its value
    steps_per_s: float = 0.0  # over the last second
    real_speed: float | None = None  # what is reached, where it is less than the speed that is asked for
    tick: int = 0
    time_s: float = 0.0  # of the crowd
    past: Past | None = None  # where a timeline is shown
    panels: PanelSettings = PanelSettings()
    ticks: Sequence[Mark] = ()  # where techniques were switched
    view: ListView | None = None  # what is open over the picture
    hovered: Hovered | None = None
    numbers: Sequence[NumberRow] = ()  # of the behaviour and of links, while their section is open
    measured: Mapping[str, str] = {}  # what the last measurement of a technique gave, by path
    tour: TourView | None = None  # of the tour that is under way
    card: Card | None = None  # what the last switch gave
    legend_items: Sequence[LegendItem] = ()  # of the overlays
    legend: Legend | None = None  # of the colour mode
    inspection: Inspection | None = None  # of an agent, or of those in a rectangle
    minimap: MinimapView | None = None  # where a minimap is shown
    halves: Halves | None = None  # of a window that is split
    tools: ToolBarView | None = None  # where the tool bar is unfolded
    brush: BrushView | None = None  # at the cursor, while a tool is held
    rings: Sequence[Ring] = ()
    caption: Caption | None = None  # of the scenario that has opened
    answer: AnswerView | None = None  # to the question of a scenario that has ended
    flow: FlowView | None = None


def speed_text(speed: float) -> str:
    """x16, x1/8, x0.3."""
    slower = 1 / speed
    return f"x1/{slower:.0f}" if slower >= 2 and slower.is_integer() else f"x{speed:g}"


def time_text(seconds: float) -> str:
    """h:mm:ss.t"""
    tenths = int(seconds * 10 + 1e-6)  # 0.3 / 0.1 is a little less than 3
    minutes, tenths = divmod(tenths, 600)
    return f"{minutes // 60}:{minutes % 60:02}:{tenths // 10:02}.{tenths % 10}"
