"""What is open over the picture and takes keys and the mouse first: lists to choose from, questions, fields to type into.

The last one opened is the one that is shown. A key that it does not want may change the window, not the
crowd (window_events.py).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from crowd_demo.render.hud.canvas import Target
from crowd_demo.render.hud.views import ListView, Row

MAX_TYPED = 40  # characters
PATIENCE_S = 6.0  # how long a question waits for its answer
MOVES = {"up": -1, "down": 1, "page up": -8, "page down": 8, "home": -10_000, "end": 10_000}  # rows that a key goes over


class Item(NamedTuple):
    """A row of a list, and what choosing it does."""

    row: Row
    do: Callable[[], object] = lambda: None
    stays: bool = False  # does the list stay open?
    hidden: bool = False  # until something is typed


class ListDialog:
    """A list to choose from. What is typed filters it, and selects the first row of that name.

    Esc clears what was typed; without that, Esc or Left closes the list.

    `items` is called in every frame, so rows may change; `verb` is what Enter does with one.
    """

    closed = False
    across = 0  # rows are tiles, so many beside each other

    def __init__(self, title: str, items: Callable[[], Sequence[Item]], selected: int = 0,
                 at: tuple[int, int] | None = None, verb: str = "chooses", notes: Sequence[str] = ()) -> None:
        self.title, self.at, self.hint, self.notes = title, at, f"Enter {verb}, Esc closes", notes
        self.selected, self.typed = selected, ""
        self._all = items

    @property
    def items(self) -> Sequence[Item]:
        """Those in which each word that was typed occurs."""
        words, items = self.typed.lower().split(), self._all()
        return [item for item in items if (words or not item.hidden) and all(
            word in f"{item.row.text} {item.row.detail} {item.row.about} {item.row.group}".lower() for word in words)]

    def view(self) -> ListView:
        """Return the list to draw. Call in every frame."""
        items = self.items
        self.selected = min(max(self.selected, 0), max(len(items) - 1, 0))
        return ListView(self.title, [item.row for item in items], self.selected, self.hint, self.at, self.typed,
                        notes=self.notes, total=len(self._all()), across=self.across)

    def close(self) -> None:
        self.closed = True

    def press(self, key: str, shift: bool) -> bool:
        """A key went down, by its name; return whether it meant something here. Esc closes what does not take it."""
        moves = {**MOVES, "up": -self.across, "down": self.across, "left": -1, "right": 1} if self.across else MOVES
        if key in moves:
            self.selected = min(max(self.selected + moves[key], 0), max(len(self.items) - 1, 0))
        elif key == "return":
            self.choose()
        elif key == "left" and not self.typed:
            self.close()
        elif key == "delete" or (key == "escape" and self.typed):
            self.typed = ""
        elif key == "backspace":
            self.typed = self.typed[:-1]
        elif len(key) == 1 or key == "space":
            self.typed = f"{self.typed}{' ' if key == 'space' else key}"[:MAX_TYPED]
            named = (number for number, item in enumerate(self.items) if self.typed.lower() in item.row.text.lower())
            self.selected = next(named, 0)
        else:
            return False
        return True

    def click(self, target: Target) -> None:
        self.hover(target)
        if target == Target("row", str(self.selected)):
            self.choose()

    def hover(self, target: Target) -> None:
        """The cursor rests on a target of the view; a row of the picture may be one that the list no longer has."""
        if target.kind == "row" and int(target.name) < len(self.items):
            self.selected = int(target.name)

    def choose(self) -> None:
        for item in self.items[self.selected:self.selected + 1]:
            if item.row.usable:
                self.closed = not item.stays
                item.do()


class Question(ListDialog):
    """A question with two answers. Esc or Enter: the first; another key, a click elsewhere or no answer in time: the second.

    With `esc_stays` Esc gives the second, and it waits for its answer.
    """

    def __init__(self, text: str, answers: tuple[str, str], yes: Callable[[], object],
                 no: Callable[[], object] = lambda: None, esc_stays: bool = False, notes: Sequence[str] = ()) -> None:
        keys = ("Enter", "Esc") if esc_stays else ("Enter, Esc", "any other key")
        items = [Item(Row(answer, key), do) for answer, key, do in zip(answers, keys, (yes, no), strict=True)]
        super().__init__(text, lambda: items, notes=notes)
        self._esc_stays, self._no, self._shown_at = esc_stays, no, math.nan

    def view(self) -> ListView:
        now = time.monotonic()
        self._shown_at = now if math.isnan(self._shown_at) else self._shown_at
        if not self._esc_stays and now - self._shown_at > PATIENCE_S:
            self.close()
        return super().view()._replace(typed=None, hint="")

    def press(self, key: str, shift: bool) -> bool:
        if key in ("return", *MOVES):
            return super().press(key, shift)
        if key == "escape" and not self._esc_stays:
            self.selected = 0
            self.choose()
        else:  # any other key gives the second answer, and does nothing else
            self.close()
        return key == "escape"

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._no()


class TextDialog(ListDialog):
    """A field into which a number or a name is typed. Enter hands it to `use`, which raises ValueError with what is wrong."""

    def __init__(self, title: str, use: Callable[[str], object], text: str = "") -> None:
        super().__init__(title, list)
        self.typed, self.wrong, self._use = text, "", use

    def view(self) -> ListView:
        return super().view()._replace(hint=self.wrong or "Enter applies, Esc cancels", is_wrong=bool(self.wrong))

    def press(self, key: str, shift: bool) -> bool:
        self.wrong = ""
        return key != "escape" and super().press(key, shift)

    def choose(self) -> None:
        try:
            self._use(self.typed)
            self.closed = True
        except ValueError as error:
            self.wrong = str(error)


class Dialogs:
    """The open ones (`stack`), the top one last; closed ones stay there until `top` is read."""

    def __init__(self) -> None:
        self.stack: list[ListDialog] = []

    def open(self, dialog: ListDialog) -> None:
        self.stack.append(dialog)

    @property
    def top(self) -> ListDialog | None:
        self.stack = [dialog for dialog in self.stack if not dialog.closed]
        return self.stack[-1] if self.stack else None

    def press(self, key: str, shift: bool) -> bool:
        """Offer a key to the top one; Esc closes it if it does not want that. Return whether the key was taken."""
        if not (top := self.top):
            return False
        if top.press(key, shift):
            return True
        if key == "escape":
            top.close()
        return key == "escape"

    def click(self, target: Target | None) -> None:
        if (top := self.top) and target:
            top.click(target)
        elif top:
            top.close()
