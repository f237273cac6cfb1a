"""What the program tells the HUD beside what the simulation knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crowd_demo.registry.entries import Value
from crowd_demo.render.colours.base import Legend
from crowd_demo.render.hud.canvas import Target
from crowd_demo.render.hud.card import Card
from crowd_demo.render.hud.graph import Tick
from crowd_demo.render.hud.minimap import MinimapView
from crowd_demo.render.hud.timeline import Past
from crowd_demo.render.hud.tour_panel import TourView
from crowd_demo.render.hud.views import View
from crowd_demo.render.told import Inspection, OverlayLegend
from crowd_demo.sim.metrics.readings import Readings


class Clock(NamedTuple):
    """How fast the crowd's time passes, and how far it has come."""

    steps_per_s: float = 0.0  # of the clock, over the last second
    real_speed: float | None = None  # what is reached, where it is less than the speed that is asked for
    tick: int = 0
    time_s: float = 0.0  # of the crowd


class Hovered(NamedTuple):
    """A target on which the cursor rests, and the cursor's place in pixels."""

    target: Target
    at: tuple[float, float]


class Looks(NamedTuple):
    """How the user wants the HUD."""

    hud: str = "full"  # or "compact", or "off"
    scale: float = 1.0  # times the usual size
    theme: str = "dark"  # or "light"
    units: str = "fps"  # or "ms": which of them is the large one
    folded: frozenset[str] = frozenset()  # sections
    opened: Sequence[str] = ()  # sections that are folded last where there is no room
    graph_fits: int = 0  # how often the user asked to fit the graph's scale


class Status(NamedTuple):
    """The state of the program in one frame."""

    paused: bool = False
    speed: float = 1.0
    pending: Mapping[str, Value] = {}  # values whose kernels are still being compiled, by path
    notices: Sequence[str] = ()
    readings: Readings = Readings()
    touched: str = ""  # path of the technique that was changed last; the number keys change its value
    clock: Clock = Clock()
    past: Past | None = None  # where a timeline is shown
    looks: Looks = Looks()
    ticks: Sequence[Tick] = ()  # where techniques were switched
    view: View | None = None  # what is open over the picture
    hovered: Hovered | None = None
    measured: Mapping[str, str] = {}  # what the last measurement of a technique gave, by path
    tour: TourView | None = None  # of the tour that is under way
    card: Card | None = None  # what the last switch gave
    told: Sequence[OverlayLegend] = ()  # what the overlays say of themselves
    legend: Legend | None = None  # of the colour mode
    inspection: Inspection | None = None  # of an agent, or of those in a rectangle
    minimap: MinimapView | None = None  # where a minimap is shown


def speed_text(speed: float) -> str:
    """x16, x1/8, x0.3."""
    slower = 1 / speed
    return f"x1/{slower:.0f}" if slower >= 2 and slower.is_integer() else f"x{speed:g}"


def real_speed_text(speed: float) -> str:
    """A measured speed: two decimals below 1, one below 10."""
    return f"x{speed:.{2 if speed < 0.995 else 1 if speed < 9.95 else 0}f}"


def time_text(seconds: float) -> str:
    """h:mm:ss.t"""
    tenths = int(seconds * 10 + 1e-6)  # 0.3 / 0.1 is a little less than 3
    minutes, tenths = divmod(tenths, 600)
    return f"{minutes // 60}:{minutes % 60:02}:{tenths // 10:02}.{tenths % 10}"
