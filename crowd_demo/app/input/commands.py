"""What the user asks for, not how it is done: commands, and the actions of the key bindings.

Each part of the program offers its actions, under the names of `config/keys.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from crowd_demo.render.hud.canvas import Target


@dataclass(frozen=True)
class Do:
    """An action of the key bindings: a technique's path or one of the program's."""

    action: str
    backwards: bool = False


@dataclass(frozen=True)
class Press:
    """A key goes down, or is held, while a dialog is open. `action` is what it does if the dialog does not take it."""

    key: str
    shift: bool = False
    action: Do | None = None


@dataclass(frozen=True)
class Pan:
    """Move the camera, pixels."""

    dx: float
    dy: float


@dataclass(frozen=True)
class Zoom:
    """Zoom by `factor` at a pixel."""

    x: float
    y: float
    factor: float


@dataclass(frozen=True)
class Point:
    """The left button is pressed at a pixel, held while the cursor moves there by `dx`, `dy`, or released."""

    x: float
    y: float
    phase: Literal["press", "drag", "release"]
    dx: float = 0.0
    dy: float = 0.0
    shift: bool = False


@dataclass(frozen=True)
class Hover:
    """The cursor moves to a pixel while no button is pressed."""

    x: float
    y: float


@dataclass(frozen=True)
class Leave:
    """The cursor leaves the window."""


@dataclass(frozen=True)
class Close:
    """The window's close button."""


@dataclass(frozen=True)
class Click:
    """A target was clicked; None is the ground, or whatever else lies outside of all panels."""

    target: Target | None
    at: tuple[float, float]


@dataclass(frozen=True)
class DragNumber:
    """Change a technique's number by so many steps."""

    path: str
    steps: int


@dataclass(frozen=True)
class Scrub:
    """Go to the time that the timeline shows at that column of pixels."""

    x: float


@dataclass(frozen=True)
class LookAt:
    """Bring a place of the world into the middle of the view."""

    x: float
    y: float


@dataclass(frozen=True)
class SelectBox:
    """Select the rectangle between two pixels of the ground."""

    corner: tuple[float, float]
    other: tuple[float, float]


@dataclass(frozen=True)
class MoveLine:
    """Move the line between two crowds to a column of pixels."""

    x: float


@dataclass(frozen=True)
class Rest:
    """The cursor has come upon a target."""

    target: Target


Command = Do | Press | Pan | Zoom | Point | Hover | Leave | Close  # of events
PointerCommand = Command | Click | DragNumber | Scrub | LookAt | SelectBox | MoveLine | Rest  # as drawn where the mouse is


class KeyAction(NamedTuple):
    """`shifted` is what it does with Shift, where that is something else; a replay takes none that `changes` the crowd.

    One that concerns the window alone is done `at_once`, in the middle of a step that takes long.
    """

    do: Callable[[], object]
    shifted: Callable[[], object] | None = None
    changes: bool = False
    at_once: bool = False


KeyActions = Mapping[str, KeyAction]
