"""What is open over the picture and takes keys and the mouse first: lists to choose from, tables, questions.

The last one opened is the one that is shown. A key that it does not want may change the window, not the
crowd (window_events.py).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from crowd_demo.render.hud.canvas import Target
from crowd_demo.render.hud.views import ListView, QuestionView, Row, View

PAGE = 8  # rows that a page key goes over
LONGEST_NUMBER = 20  # characters
PATIENCE_S = 6.0  # how long a question waits for its answer


class Dialog:
    """Something that is open; `view` says what is drawn, and is asked in every frame."""

    closed = False

    def view(self) -> View:
        raise NotImplementedError

    def close(self) -> None:
        self.closed = True

    def press(self, key: str, shift: bool) -> bool:
        """A key went down, by its name; return whether it meant something here. Esc closes what does not want it."""
        return False

    def click(self, target: Target) -> None:
        """A target of the view was clicked."""

    def hover(self, target: Target) -> None:
        """The cursor rests on a target of the view."""


class Item(NamedTuple):
    """A row of a list, and what choosing it does."""

    row: Row
    do: Callable[[], object]
    stays: bool = False  # does the list stay open?


class ListDialog(Dialog):
    """A list to choose from. `items` is asked in every frame, so rows may change; `verb` is what Enter does with one."""

    def __init__(self, title: str, items: Callable[[], Sequence[Item]], selected: int = 0,
                 at: tuple[int, int] | None = None, verb: str = "chooses") -> None:
        self.title, self.at, self.verb = title, at, verb
        self.selected = selected
        self._items = items

    def view(self) -> ListView:
        items = self._items()
        self.selected = min(max(self.selected, 0), max(len(items) - 1, 0))
        return ListView(self.title, [item.row for item in items], self.selected,
                        f"Enter {self.verb}, Esc closes", self.at)

    def press(self, key: str, shift: bool) -> bool:
        moves = {"up": -1, "down": 1, "page up": -PAGE, "page down": PAGE, "home": -10_000, "end": 10_000}
        if key in moves:
            self.selected = min(max(self.selected + moves[key], 0), max(len(self._items()) - 1, 0))
        elif key == "return":
            self._choose()
        elif key == "left":
            self.closed = True
        else:
            return False
        return True

    def click(self, target: Target) -> None:
        self.hover(target)
        if target == Target("row", str(self.selected)):
            self._choose()

    def hover(self, target: Target) -> None:
        """A row of the picture may be one that the list no longer has."""
        if target.kind == "row" and int(target.name) < len(self._items()):
            self.selected = int(target.name)

    def _choose(self) -> None:
        for item in self._items()[self.selected:self.selected + 1]:
            if item.row.usable:
                self.closed = not item.stays
                item.do()


class Question(Dialog):
    """A question: Esc, Enter or a click on it say yes; other keys, a click elsewhere or no answer in time say no.

    With `esc_stays` Esc says no, and it waits for its answer.
    """

    def __init__(self, text: str, hint: str, yes: Callable[[], object], no: Callable[[], object] = lambda: None,
                 esc_stays: bool = False) -> None:
        self.text, self.hint, self.yes, self.no = text, hint, yes, no
        self._means_yes = ("return",) if esc_stays else ("escape", "return")
        self._patience_s = math.inf if esc_stays else PATIENCE_S
        self._shown_at: float | None = None

    def view(self) -> QuestionView:
        now = time.monotonic()
        self._shown_at = self._shown_at or now
        if now - self._shown_at > self._patience_s:
            self.close()
        return QuestionView(self.text, self.hint)

    def press(self, key: str, shift: bool) -> bool:
        """Any other key cancels, and does nothing else."""
        self._answer(self.yes if key in self._means_yes else self.no)
        return key in ("escape", "return")

    def click(self, target: Target) -> None:
        self._answer(self.yes)

    def close(self) -> None:
        self._answer(self.no)

    def _answer(self, do: Callable[[], object]) -> None:
        if not self.closed:
            self.closed = True
            do()


class TextDialog(Dialog):
    """A box into which a number or a name is typed. Esc closes it.

    Enter hands it to `use`, which raises ValueError with what is wrong in a line.
    """

    def __init__(self, title: str, use: Callable[[str], object], text: str = "", longest: int = LONGEST_NUMBER) -> None:
        self.title, self.text, self.wrong = title, text, ""
        self._use, self._longest = use, longest

    def view(self) -> QuestionView:
        return QuestionView(f"{self.title}: {self.text}_", self.wrong or "Enter applies, Esc leaves", bool(self.wrong))

    def press(self, key: str, shift: bool) -> bool:
        """A key that types nothing is not taken."""
        if key == "return":
            self._apply()
        elif key in ("backspace", "delete"):
            self.text, self.wrong = self.text[:-1] if key == "backspace" else "", ""
        elif len(key) == 1:
            self.text, self.wrong = f"{self.text}{key}"[:self._longest], ""
        else:
            return False
        return True

    def _apply(self) -> None:
        try:
            self._use(self.text)
            self.closed = True
        except ValueError as error:
            self.wrong = str(error)


class Dialogs:
    """The open ones (`stack`), the top one last; who was closed stays there until somebody asks for the top one."""

    def __init__(self) -> None:
        self.stack: list[Dialog] = []

    def open(self, dialog: Dialog) -> None:
        self.stack.append(dialog)

    @property
    def top(self) -> Dialog | None:
        self.stack = [dialog for dialog in self.stack if not dialog.closed]
        return self.stack[-1] if self.stack else None

    def press(self, key: str, shift: bool) -> bool:
        """Offer a key to the top one; Esc closes it if it does not want that. Return whether somebody took it."""
        if not (top := self.top):
            return False
        if top.press(key, shift):
            return True
        if key == "escape":
            top.close()
        return key == "escape"

    def click(self, target: Target | None) -> bool:
        """A click while something is open: outside it closes the top one. Return whether something was open."""
        if not (top := self.top):
            return False
        if target:
            top.click(target)
        else:
            top.close()
        return True
