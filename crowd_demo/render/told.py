"""What overlays say of themselves in the legend (hud/legend.py)."""

from __future__ import annotations

from typing import NamedTuple

RGB = tuple[int, int, int]


class Key(NamedTuple):
    """A line of colour in the legend, and what it means."""

    colour: RGB
    what: str
    dashed: bool = False


class Told(NamedTuple):
    """What the legend says of an overlay."""

    name: str
    text: str
    keys: tuple[Key, ...] = ()
