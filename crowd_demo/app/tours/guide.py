"""Tours in the window: the list of them, the one that is under way, and its keys, which come before those of the program."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from crowd_demo.app.dialogs.dialog import Dialog
from crowd_demo.app.dialogs.menus import tours_menu
from crowd_demo.app.tours.tour import Guided, TourPlayer
from crowd_demo.config.loader import ConfigError
from crowd_demo.config.tour import load_tour
from crowd_demo.render.hud.status import TourView

KEYS = {"return": "next", "right": "next", "left": "back", "backspace": "back", "escape": "leave"}


class Guide:
    """`tour` is the one under way. Each program has a guide; it goes over to the program of the scenario that is opened."""

    def __init__(self) -> None:
        self.tour: TourPlayer | None = None

    def menu(self, program: Guided) -> Dialog | None:
        """A list of tours to choose from; or None and an end of the present one."""
        if self.tour:
            self._end(program)
            return None
        return tours_menu(lambda name: self.begin(name, program))

    def begin(self, name: str, program: Guided, opened: bool = False) -> None:
        """Begin a tour, a shipped name or a path; unless its configuration is `opened` already, open that first."""
        try:
            self.tour = TourPlayer(Path(name).stem, load_tour(name))
        except ConfigError as error:
            program.notices.add(error.lines[0], "tour")
            return
        if opened:
            self.tour.set_up(program)
        else:
            self.tour.begin(program)

    @property
    def wanted(self) -> Set[str]:
        """The keys that a tour takes."""
        return KEYS.keys() if self.tour else set()

    def press(self, key: str, program: Guided) -> bool:
        """A key went down; return whether the tour has taken it."""
        if key in self.wanted:
            self.act(KEYS[key], program)
            return True
        return False

    def act(self, name: str, program: Guided) -> None:
        """Go on, back, or leave the tour."""
        if self.tour:
            self.tour.act(name, program)
            self._end_if_over(program)

    def look(self, program: Guided) -> None:
        """Let the tour measure. Call in every frame."""
        if self.tour:
            self.tour.look(program)
            self._end_if_over(program)

    def go_alone(self, program: Guided) -> None:
        """Play a tour without anybody to press keys: print each page once its numbers are there."""
        if self.tour:
            self.tour.go_alone(program)
            self._end_if_over(program)

    def arrived(self, program: Guided) -> None:
        """Go on in the program of a scenario that was opened."""
        if self.tour:
            self.tour.arrived(program)
            self._end_if_over(program)

    def cannot_open(self) -> None:
        """What was asked for cannot be opened; a tour that waits for it is over."""
        if self.tour and self.tour.opening:
            self.tour = None

    def view(self, program: Guided) -> TourView | None:
        return self.tour.view(program) if self.tour else None

    def _end_if_over(self, program: Guided) -> None:
        if self.tour and self.tour.over:
            self._end(program)

    def _end(self, program: Guided) -> None:
        self.tour = None
        program.notices.add("the tour is over", "tour")
