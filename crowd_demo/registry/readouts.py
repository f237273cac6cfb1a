"""The numbers of the HUD."""

from __future__ import annotations

from typing import NamedTuple


class Readout(NamedTuple):
    """What is told of a number."""

    what: str
    good: str = ""


READOUTS: dict[str, Readout] = {}
