"""What overlays and the inspector tell the HUD (hud/legend.py, hud/inspection.py)."""

from __future__ import annotations

from typing import NamedTuple

RGB = tuple[int, int, int]


class Key(NamedTuple):
    """A line of colour in the legend, and what it means."""

    colour: RGB
    what: str
    dashed: bool = False


class OverlayLegend(NamedTuple):
    """What the legend says of an overlay."""

    name: str
    text: str
    keys: tuple[Key, ...] = ()


class MemoryStrip(NamedTuple):
    """Places in memory, as shares of all slots."""

    own: float
    candidates: tuple[float, ...]
    neighbours: tuple[float, ...]


class Inspection(NamedTuple):
    """What the inspector's panel says of an agent, or of those in a box."""

    title: str
    rows: tuple[tuple[str, str], ...]
    strip: MemoryStrip | None = None
    is_box: bool = False
    seen_at: tuple[float, float, float, float] | None = None  # in the window: left, top, width, height in pixels
