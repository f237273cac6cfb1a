"""What the actions of the key bindings do. Each part of the program offers its own, under the names of `config/keys.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple


class KeyAction(NamedTuple):
    """`shifted` is what it does with Shift, where that is something else; a replay takes none that `changes` the crowd.

    One that concerns the window alone is done `at_once`, in the middle of a step that takes long.
    """

    do: Callable[[], object]
    shifted: Callable[[], object] | None = None
    changes: bool = False
    at_once: bool = False


KeyActions = Mapping[str, KeyAction]
