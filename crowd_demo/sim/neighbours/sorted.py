"""The same grid, and every so often the agents are moved into its order, so that neighbours share cache lines."""

from __future__ import annotations

from .buckets import cells as cells

USES_GRID = True
REORDERS = True
