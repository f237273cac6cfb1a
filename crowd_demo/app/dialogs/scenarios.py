"""The menus of scenarios and of tours: those that are shipped, those of plugins, and the user's own.

Files of others may have mistakes. They are read in a thread while the menu is shown: a broken one shows its first mistake and
cannot be chosen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from crowd_demo.app.dialogs.dialog import Item, ListDialog
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.resources import (
    about,
    find_config,
    find_tour,
    list_configs,
    list_tours,
    own_files,
    picture_of,
    same_file,
    what_to_watch,
)
from crowd_demo.config.tour import load_tour
from crowd_demo.render.hud.views import Row


class Entry(NamedTuple):
    """A file that can be opened; `asked` is what opens it: its name, or its path if the name means another file."""

    name: str
    path: Path
    asked: str
    about: str
    watch: str
    picture: Path | None
    own: bool  # is it the user's?


class FileMenu:
    """A list of files. `check` raises ConfigError for a broken one."""

    def __init__(self, title: str, entries: Sequence[Entry], check: Callable[[str], object],
                 choose: Callable[[str], object], selected: int = 0) -> None:
        self.entries = entries
        self._check, self._choose = check, choose
        self._mistakes: dict[str, str] = {}  # by what would open it
        self.dialog = ListDialog(title, self._items, selected)
        self.checking = threading.Thread(target=self._check_all, name="crowd-demo menu", daemon=True)
        self.checking.start()

    def _check_all(self) -> None:
        for entry in self.entries:
            try:
                self._check(entry.asked)
            except ConfigError as error:
                self._mistakes[entry.asked] = error.lines[0]

    def _items(self) -> list[Item]:
        return [Item(self._row(entry), partial(self._choose, entry.asked)) for entry in self.entries]

    def _row(self, entry: Entry) -> Row:
        mistake = self._mistakes.get(entry.asked)
        watch = f"Watch: {entry.watch}" if entry.watch else ""
        name = entry.name + " (your own)" * entry.own
        return Row(name, mistake or entry.about, watch, entry.picture, usable=mistake is None)


def scenarios_menu(choose: Callable[[str], object], present: str | None) -> FileMenu:
    """All configurations; `present` is what opened the one that is shown."""
    entries = _entries(list_configs(), "configs", find_config)
    return FileMenu("Scenarios", entries, load_config, choose, _number_of(present, entries) if present else 0)


def tours_menu(choose: Callable[[str], object]) -> FileMenu:
    return FileMenu("Tours", _entries(list_tours(), "tours", find_tour), load_tour, choose)


def _entries(shipped: Mapping[str, Path], folder: str, find: Callable[[str], Path]) -> list[Entry]:
    """The shipped files and the user's own, which hide shipped ones of the same name."""
    own = own_files(folder, shipped.values())
    listed = {name: path for name, path in shipped.items() if name not in own} | own
    return [Entry(name, path, name if same_file(find(name), path) else str(path), about(path), what_to_watch(path),
                  picture_of(path), name in own)
            for name, path in listed.items()]


def _number_of(present: str, entries: Sequence[Entry]) -> int:
    """The number of the entry of that file; 0 if there is none."""
    try:
        path = find_config(present)
        return next((number for number, entry in enumerate(entries) if same_file(entry.path, path)), 0)
    except ValueError:  # it is gone
        return 0
