"""The menus: all actions, keys and techniques, the choices of one, the sections of the panels, scenarios and tours.

Files of others may have mistakes. They are read in a thread while their menu is shown: a broken one shows its first
mistake and cannot be chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from crowd_demo.app.controls import PanelControls
from crowd_demo.app.crowd import Crowd
from crowd_demo.app.dialog import Dialogs, Item, ListDialog
from crowd_demo.app.key_input import Keymap
from crowd_demo.app.technique_controls import Techniques
from crowd_demo.app.view_controls import CameraControls, Overlays
from crowd_demo.config.keys import ACTIONS, by_heading, key_text
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.resources import (
    WATCH,
    about,
    find_config,
    find_tour,
    list_configs,
    list_tours,
    note_of,
    own_files,
    picture_of,
    same_file,
)
from crowd_demo.config.tour import load_tour
from crowd_demo.host.system import in_thread
from crowd_demo.registry.actions import PROGRAM
from crowd_demo.registry.built_in import COLOURS, OVERLAYS
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES, hud_word, key_does, kind_of, marks_in_a_line, no_effect
from crowd_demo.render.hud.views import Row

FIRST = ("scenarios", "tour", "measure", "ablate", "largest", "card")  # of the program's actions, in the main menu
KEYS = "All keys"
WIDE_PX, WIDE_ACROSS, NARROW_ACROSS = 1000, 5, 3  # tiles beside each other, in a window at least so wide or not
KEYS_FIRST = ("Move the camera", "Mouse", "Time")  # of its groups; techniques follow
KEY_OF_TECHNIQUE = "A technique's key toggles it (Shift: next value). One without off: next value (Shift: previous value)."
MOUSE = (("wheel", "zoom at the cursor"), ("drag", "move the camera, change a number, or rewind on the timeline"),
         ("double click", "reset a slider to the configuration"),
         ("Shift+drag", "count the agents in a box"), ("Ctrl+wheel", "the size of a tool's brush"),
         ("click", "inspect an agent, list values, or fold a heading"),
         ("rest", "explain anything in the panels"))


class Menus:
    """`sections` returns whether each section of the panels is folded; `act` does an action by its name."""

    def __init__(self, dialogs: Dialogs, crowd: Crowd, techniques: Techniques, panels: PanelControls,
                 overlays: Overlays, seeing: CameraControls, keymap: Keymap,
                 sections: Callable[[], Mapping[str, bool]], act: Callable[[str], object]) -> None:
        self._dialogs, self._crowd, self._techniques, self._panels = dialogs, crowd, techniques, panels
        self._overlays, self._seeing, self._keymap, self._sections, self._act = overlays, seeing, keymap, sections, act

    def open_main(self) -> None:
        """Open the menu: frequent actions first, then all actions in groups. Typing filters them."""
        groups: dict[str, list[Item]] = {}
        for name, action in PROGRAM.items():
            if action.in_menu and name not in FIRST:
                groups.setdefault(action.heading, []).append(self._action(name, action.heading))
        items = [Item(Row("techniques ...", "", "every technique and its choices"), self.open_techniques),
                 Item(Row("sections of the panels ...", "", "fold or unfold parts of the panels"), self.open_sections),
                 Item(Row("colours ...", "", "what the colours of agents show, for example stuck people"), self.open_colours),
                 *(self._action(action, "") for action in FIRST),
                 *(Item(Row(f"{heading} ...", f"{len(found)}", group="All actions"),
                        partial(self._open_list, heading, found), stays=True) for heading, found in groups.items()),
                 *(item._replace(hidden=True) for found in groups.values() for item in found)]
        self._open_list("Menu", items)

    def _open_list(self, title: str, items: Sequence[Item]) -> None:
        self._dialogs.open(ListDialog(title, lambda: items))

    def open_keys(self) -> None:
        """All keys: first how to look around, then techniques; the second time, close that list."""
        if (top := self._dialogs.top) and top.title == KEYS:
            top.close()
            return
        groups = {heading: [self._key_item(action, heading) for action in actions
                            if action in BY_PATH or (ACTIONS[action].in_help and self._keymap.shown[action])]
                  for heading, actions in by_heading().items()}
        groups["Mouse"] = [Item(Row(what, gesture, group="Mouse"), stays=True) for gesture, what in MOUSE]
        items = [item for heading in dict.fromkeys((*KEYS_FIRST, *groups)) for item in groups[heading]]
        self._dialogs.open(ListDialog(KEYS, lambda: items, notes=(KEY_OF_TECHNIQUE, marks_in_a_line()), verb="does it"))

    def open_colours(self) -> None:
        scene = self._crowd.scene
        telling = scene.telling_colours() if scene else COLOURS
        items = [Item(Row(name, "" if name in telling else "nothing to show", entry.why),
                      partial(self._seeing.show_colours, name)) for name, entry in COLOURS.items()]
        self._dialogs.open(ListDialog("Colours", lambda: items))

    def open_techniques(self) -> None:
        touched = self._techniques.touched
        selected = next((number for number, technique in enumerate(TECHNIQUES) if technique.path == touched), 0)
        self._dialogs.open(ListDialog("Techniques", lambda: [
            Item(Row(f"{technique.group}: {technique.label.strip()}", hud_word(self._techniques.value(technique.path)),
                     f"{no_effect(technique.path, self._crowd.sim.situation)} {technique.why}. Watch: {technique.watch}"),
                 partial(self.open_choices, technique), stays=True) for technique in TECHNIQUES], selected))

    def open_choices(self, technique: Technique, at: tuple[int, int] | None = None) -> None:
        """The choices of a technique, and its present number if it is none of them."""
        value, get = self._techniques.value(technique.path), self._crowd.sim.optimizations.get
        listed = [*technique.choices, *([value] if value not in technique.choices else [])]
        key = self._keymap.key(technique.path)
        about = f"{technique.why}. Key {key}: {key_does(technique)}" if key else technique.why
        items = [Item(Row(hud_word(choice), _mark(technique, choice, get), about),
                      partial(self._techniques.choose, technique, choice)) for choice in listed]
        self._dialogs.open(ListDialog(technique.label.strip(), lambda: items, listed.index(value), at))

    def open_sections(self) -> None:
        self._dialogs.open(ListDialog("Sections of the panels", lambda: [
            Item(Row(name, "folded" if folded else ""),
                 partial(self._panels.unfold if folded else self._panels.fold, name), stays=True)
            for name, folded in self._sections().items()]))

    def open_overlays(self) -> None:
        """The overlays, and which are shown, below "hide all". The list stays open: several can be turned on."""
        self._dialogs.open(ListDialog("Overlays", self._overlay_items, selected=1, verb="shows/hides"))

    # --- what stands in them -----------------------------------------------------------------------------------------

    def _action(self, action: str, heading: str) -> Item:
        return Item(Row(PROGRAM[action].what, self._keymap.key(action), group=heading), partial(self._act_alone, action))

    def _act_alone(self, action: str) -> None:
        self._dialogs.stack.clear()
        self._act(action)

    def _key_item(self, action: str, heading: str) -> Item:
        technique = BY_PATH.get(action)
        name = f"{technique.label}  {technique.kind.mark}".rstrip() if technique else ACTIONS[action].what
        row = Row(name, "  ".join(map(key_text, self._keymap.all_keys(action))), group=heading)
        if technique:
            return Item(row._replace(about=technique.why), partial(self.open_choices, technique), stays=True)
        return Item(row, partial(self._act, action)) if ACTIONS[action].in_menu else Item(row, stays=True)

    def _overlay_items(self) -> list[Item]:
        situation = self._crowd.sim.situation
        key = self._keymap.key("overlays")
        none = Row("hide all", f"Shift+{key}" if key else "", f"Hide all overlays ({len(self._overlays.shown)} shown now).")
        items = [Item(none, self._overlays.hide_all, stays=True)]
        for entry in OVERLAYS.values():
            nothing = entry.inactive(situation)
            state = ["shown"] * (entry.name in self._overlays.shown) + ["nothing to show"] * bool(nothing)
            row = Row(entry.label, ", ".join([*state, *filter(None, [self._keymap.key(entry.name)])]),
                      f"Nothing to show now: {nothing}. {entry.why}" if nothing else entry.why)
            items.append(Item(row, partial(self._act, entry.name), stays=True))
        return items


def _mark(technique: Technique, choice: Value, get: Callable[[str], Value]) -> str:
    kind = kind_of(technique, choice, get)
    marks = ["baseline"] * (choice == technique.baseline) + ["default"] * (choice == technique.default)
    return ", ".join([*marks, *[kind.name] * bool(kind.mark)])


class FileEntry(NamedTuple):
    """A file that can be opened; `name` opens it: its own, or its path if the name means another file."""

    path: Path
    name: str
    row: Row  # as long as no mistake is known in it


class FileMenu(ListDialog):
    """A list of files: shipped ones, those of plugins, the user's own. `check` raises ConfigError for a broken one."""

    def __init__(self, title: str, entries: Sequence[FileEntry], check: Callable[[str], object],
                 choose: Callable[[str], object], selected: int = 0) -> None:
        self.entries = entries
        self._check, self._open = check, choose
        self._mistakes: dict[str, str] = {}  # by what would open it
        super().__init__(title, self._rows, selected)
        self.checking = in_thread(partial(_find_mistakes, entries, check, self._mistakes), "crowd-demo menu")

    def _rows(self) -> list[Item]:
        return [Item(entry.row._replace(detail=mistake, about=mistake, usable=False) if mistake else entry.row,
                     partial(self._open_checked, entry), stays=True)
                for entry in self.entries for mistake in [self._mistakes.get(entry.name)]]

    def _open_checked(self, entry: FileEntry) -> None:
        """Check the file first: it may be chosen before its turn to be read has come."""
        _find_mistakes([entry], self._check, self._mistakes)
        if entry.name not in self._mistakes:
            self.close()
            self._open(entry.name)


def _find_mistakes(entries: Sequence[FileEntry], check: Callable[[str], object], found: dict[str, str]) -> None:
    """Write the first mistake of each broken file to `found`. A thread that held the menu would keep a crowd that is left."""
    for entry in entries:
        try:
            check(entry.name)
        except ConfigError as error:
            found[entry.name] = error.lines[0]


def scenarios_menu(choose: Callable[[str], object], present: str | None, width_px: int = WIDE_PX) -> FileMenu:
    """All configurations, as tiles in a window of that width; `present` is what opened the one that is shown."""
    entries, selected = _entries(list_configs(), "configs", find_config), 0
    with suppress(ValueError):  # it is gone
        path = find_config(present or "")
        selected = next((number for number, entry in enumerate(entries) if same_file(entry.path, path)), 0)
    menu = FileMenu("Scenarios", entries, load_config, choose, selected)
    menu.across = WIDE_ACROSS if width_px >= WIDE_PX else NARROW_ACROSS
    return menu


def tours_menu(choose: Callable[[str], object]) -> FileMenu:
    return FileMenu("Tours", _entries(list_tours(), "tours", find_tour), load_tour, choose)


def _entries(shipped: Mapping[str, Path], folder: str, find: Callable[[str], Path]) -> list[FileEntry]:
    """The shipped files and the user's own, which hide shipped ones of the same name."""
    own = own_files(folder, shipped.values())
    listed = {name: path for name, path in shipped.items() if name not in own} | own

    def row(name: str, path: Path) -> Row:
        watch = note_of(path, WATCH)
        return Row(name + " (your own)" * (name in own), about(path), f"Watch: {watch}" if watch else "", picture_of(path))

    return [FileEntry(path, name if same_file(find(name), path) else str(path), row(name, path))
            for name, path in listed.items()]
