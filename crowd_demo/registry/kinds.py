"""The kinds of techniques, and what is asked of them."""

from __future__ import annotations

from crowd_demo.registry.entries import APPROXIMATE, EXACT, KINDS, MODEL, Kind, Technique
from crowd_demo.registry.techniques import kind_of, kind_of_all, strongest
from crowd_demo.registry.techniques import marks_in_a_line as in_a_line

__all__ = ["APPROXIMATE", "EXACT", "KINDS", "MARKED", "MODEL", "Kind", "in_a_line", "kind_of", "kind_of_all", "strongest",
           "usual_kind"]

MARKED = KINDS[1:]


def usual_kind(technique: Technique) -> Kind:
    """Of a technique with most of its values."""
    return technique.kind
