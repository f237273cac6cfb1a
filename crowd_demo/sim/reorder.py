"""When to move agents into cell order, and the move: gather every column into the other buffer, swap."""

from __future__ import annotations

from typing import Any

from ..jit import Call
from .agents import Agents, move_rows


def reorder_due(settings: Any, tick: int) -> bool:
    return settings.when == "every" and tick % settings.every == 0


def reorder_calls(agents: Agents, order: Any, workers: int) -> tuple[Call, ...]:
    """After these and `agents.swap()`, slot k holds the agent that was in slot order[k]."""
    return (Call(move_rows, (workers, agents.front, order, agents.count, agents.back)),)
