"""The same grid, and every so often the agents are moved into its order, so that neighbours share cache lines."""

from __future__ import annotations

from .buckets import Buckets


class Sorted(Buckets):
    """The place's grid, whose order the agents take."""

    REORDERS = True
