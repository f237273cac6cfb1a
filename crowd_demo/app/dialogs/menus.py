"""The menus: all actions, all techniques, the choices of one, the sections of the panels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial

from crowd_demo.app.crowd.crowd import Crowd
from crowd_demo.app.crowd.techniques import Techniques
from crowd_demo.app.dialogs.dialog import Dialogs, Item, ListDialog
from crowd_demo.app.input.actions import KeyAction, KeyActions
from crowd_demo.app.screen.looks import HudLooks
from crowd_demo.app.seeing.overlays import Overlays
from crowd_demo.config.keys import key_text
from crowd_demo.registry.actions import PROGRAM, TOLD_BY_OTHERS
from crowd_demo.registry.colours import COLOURS
from crowd_demo.registry.entries import OverlayEntry, Technique, Value
from crowd_demo.registry.kinds import kind_of
from crowd_demo.registry.overlays import OVERLAYS
from crowd_demo.registry.techniques import TECHNIQUES, hud_word
from crowd_demo.render.hud.views import Row
from crowd_demo.sim.inactive import inactive

FIRST = ("scenarios", "tour", "measure", "ablate", "largest", "card")  # of the program's actions, in the main menu
HELD = ("pan_left", "pan_right", "pan_up", "pan_down", "menu")  # actions that a menu has no use for


class Menus:
    """`keys` are those of each action as they are shown, `sections` says of each section whether it is folded."""

    def __init__(self, dialogs: Dialogs, crowd: Crowd, techniques: Techniques, looks: HudLooks,
                 overlays: Overlays, perform: Callable[[str], object], show_colours: Callable[[str], object]) -> None:
        self.keys: Mapping[str, Sequence[str]] = {}
        self.sections: Callable[[], Mapping[str, bool]] = dict
        self._dialogs, self._crowd, self._techniques, self._looks = dialogs, crowd, techniques, looks
        self._overlays = overlays
        self._perform, self._show_colours = perform, show_colours

    @property
    def actions(self) -> KeyActions:
        return {"menu": KeyAction(self.open_main, at_once=True), "overlays": KeyAction(self.open_overlays, at_once=True)}

    def open_main(self) -> None:
        """Everything that can be done, by name."""
        rest = [action for action in PROGRAM if action not in (*FIRST, *HELD, *TOLD_BY_OTHERS)]
        items = [Item(Row("techniques ...", "", "every technique and its choices"), self.open_techniques),
                 Item(Row("sections of the panels ...", "", "fold or unfold parts of the panels"), self.open_sections),
                 Item(Row("colours ...", "", "what the colours of agents tell"), self.open_colours),
                 *(self._action(action) for action in (*FIRST, *rest))]
        self._dialogs.open(ListDialog("Menu", lambda: items))

    def open_colours(self) -> None:
        """All colour modes."""
        items = [Item(Row(name, "", entry.why), partial(self._show_colours, name)) for name, entry in COLOURS.items()]
        self._dialogs.open(ListDialog("Colours", lambda: items))

    def open_techniques(self) -> None:
        """All techniques with their present values."""
        touched = self._techniques.touched
        selected = next((number for number, technique in enumerate(TECHNIQUES) if technique.path == touched), 0)
        self._dialogs.open(ListDialog("Techniques", self._technique_items, selected))

    def open_choices(self, technique: Technique, at: tuple[int, int] | None = None) -> None:
        """The choices of a technique, and its present number if it is none of them."""
        value, get = self._techniques.value(technique.path), self._crowd.sim.optimizations.get
        listed = [*technique.choices, *([value] if value not in technique.choices else [])]
        items = [Item(Row(hud_word(choice), _mark(technique, choice, get), technique.why),
                      partial(self._techniques.choose, technique, choice)) for choice in listed]
        self._dialogs.open(ListDialog(technique.label.strip(), lambda: items, listed.index(value), at))

    def open_sections(self) -> None:
        """The sections of both panels."""
        self._dialogs.open(ListDialog("Sections of the panels", self._section_items))

    def open_overlays(self) -> None:
        """The overlays, and which are shown. The list stays open: several can be turned on."""
        self._dialogs.open(ListDialog("Overlays", self._overlay_items, verb="shows/hides"))

    # --- what stands in them -----------------------------------------------------------------------------------------

    def _action(self, action: str) -> Item:
        return Item(Row(PROGRAM[action].what, self._key(action)), lambda: self._perform(action))

    def _key(self, action: str) -> str:
        return " ".join(key_text(name) for name in self.keys.get(action, ())[:1])

    def _overlay_items(self) -> list[Item]:
        situation = self._crowd.sim.situation
        return [Item(self._overlay_row(entry, entry.inactive(situation)), partial(self._perform, entry.name), stays=True)
                for entry in OVERLAYS.values()]

    def _overlay_row(self, entry: OverlayEntry, nothing: str) -> Row:
        state = ["shown"] * (entry.name in self._overlays.shown) + ["nothing to show"] * bool(nothing)
        return Row(entry.label, ", ".join([*state, *filter(None, [self._key(entry.name)])]),
                   f"Nothing to show at present: {nothing}. {entry.why}" if nothing else entry.why)

    def _technique_items(self) -> list[Item]:
        unused = inactive(self._crowd.sim)
        return [Item(self._technique_row(technique, unused), partial(self.open_choices, technique), stays=True)
                for technique in TECHNIQUES]

    def _technique_row(self, technique: Technique, unused: Set[str]) -> Row:
        changes_nothing = "Changes nothing at present. " if technique.path in unused else ""
        return Row(f"{technique.group}: {technique.label.strip()}", hud_word(self._techniques.value(technique.path)),
                   f"{changes_nothing}{technique.why}. {technique.watch}")

    def _section_items(self) -> list[Item]:
        return [Item(Row(name, "folded" if folded else ""),
                     partial(self._looks.unfold if folded else self._looks.fold, name), stays=True)
                for name, folded in self.sections().items()]


def _mark(technique: Technique, choice: Value, get: Callable[[str], Value]) -> str:
    kind = kind_of(technique, choice, get)
    marks = ["baseline"] * (choice == technique.baseline) + ["default"] * (choice == technique.default)
    return ", ".join([*marks, *[kind.name] * bool(kind.mark)])
