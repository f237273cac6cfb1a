"""Tours in the window: the list of them, the one that is under way, and its keys, which come before those of the program."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from crowd_demo.app.dialogs.dialog import Dialog
from crowd_demo.app.dialogs.menus import tours_menu
from crowd_demo.app.tours.tour import Guided, TourPlayer
from crowd_demo.config.loader import ConfigError
from crowd_demo.config.tour import load_tour

KEYS = {"return": "next", "right": "next", "left": "back", "backspace": "back", "escape": "leave"}


class Guide:
    """Begins and ends tours. It goes over to the program of the scenario that is opened."""

    def __init__(self) -> None:
        self._latest: TourPlayer | None = None

    @property
    def tour(self) -> TourPlayer | None:
        """The one under way."""
        return self._latest if self._latest and not self._latest.over else None

    def menu(self, program: Guided) -> Dialog | None:
        """A list of tours to choose from; or None and an end of the present one."""
        if self.tour:
            self.tour.end()
            return None
        return tours_menu(lambda name: self.begin(name, program))

    def begin(self, name: str, program: Guided, opened: bool = False) -> None:
        """Begin a tour, a shipped name or a path; unless its configuration is `opened` already, open that first."""
        try:
            self._latest = TourPlayer(Path(name).stem, load_tour(name), program)
        except ConfigError as error:
            program.notices.add(error.lines[0], "tour")
            return
        if opened:
            self._latest.set_up()
        else:
            self._latest.begin()

    @property
    def wanted(self) -> Set[str]:
        """The keys that a tour takes."""
        return KEYS.keys() if self.tour else set()

    def press(self, key: str) -> bool:
        """A key went down; return whether the tour has taken it."""
        if not self.tour or key not in KEYS:
            return False
        self.tour.act(KEYS[key])
        return True
