"""The menus: all actions, all techniques, the choices of one, the sections of the panels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial

from crowd_demo.app.dialogs.dialog import Item, ListDialog
from crowd_demo.config.keys import PROGRAM
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.overlays import OVERLAYS
from crowd_demo.registry.techniques import TECHNIQUES, is_approximate
from crowd_demo.render.hud.switchboard import shown
from crowd_demo.render.hud.views import Row

Keys = Mapping[str, Sequence[str]]
FIRST = ("scenarios", "tour", "measure", "ablate", "largest", "card")  # of the program's actions, in the main menu
HELD = ("pan_left", "pan_right", "pan_up", "pan_down", "menu")  # actions that a menu has no use for


def main_menu(keys: Keys, perform: Callable[[str], object], techniques: Callable[[], object],
              sections: Callable[[], object]) -> ListDialog:
    """Everything that can be done, by name."""
    rest = [action for action in (*PROGRAM, *OVERLAYS) if action not in FIRST and action not in HELD]
    listed = [action for action in FIRST if action in PROGRAM] + rest
    items = [Item(Row("techniques ...", "", "every technique and its choices"), techniques),
             Item(Row("sections of the panels ...", "", "fold or unfold parts of the panels"), sections),
             *(_action(action, keys, perform) for action in listed)]
    return ListDialog("Menu", lambda: items)


def _action(action: str, keys: Keys, perform: Callable[[str], object]) -> Item:
    what = PROGRAM[action][1] if action in PROGRAM else OVERLAYS[action].why
    return Item(Row(what, " ".join(name.capitalize() for name in keys.get(action, ())[:1])), lambda: perform(action))


def techniques_menu(get: Callable[[str], Value], unused: Callable[[], Set[str]], touched: str,
                    choose: Callable[[Technique], object]) -> ListDialog:
    """All techniques with their present values."""
    def items() -> list[Item]:
        inactive = unused()
        rows = [Row(f"{technique.group}: {technique.label.strip()}", shown(get(technique.path)),
                    _about(technique, technique.path in inactive)) for technique in TECHNIQUES]
        return [Item(row, partial(choose, technique), stays=True) for row, technique in zip(rows, TECHNIQUES, strict=True)]
    selected = next((number for number, technique in enumerate(TECHNIQUES) if technique.path == touched), 0)
    return ListDialog("Techniques", items, selected)


def _about(technique: Technique, is_inactive: bool) -> str:
    changes_nothing = "Changes nothing at present. " if is_inactive else ""
    return f"{changes_nothing}{technique.why}. {technique.watch}"


def choices_menu(technique: Technique, value: Value, get: Callable[[str], Value], choose: Callable[[Value], object],
                 at: tuple[int, int] | None) -> ListDialog:
    """The choices of a technique, and its present number if it is none of them."""
    listed = [*technique.choices, *([value] if value not in technique.choices else [])]
    items = [Item(Row(shown(choice), _mark(technique, choice, get), technique.why), partial(choose, choice))
             for choice in listed]
    return ListDialog(technique.label.strip(), lambda: items, listed.index(value), at)


def _mark(technique: Technique, choice: Value, get: Callable[[str], Value]) -> str:
    marks = ["baseline"] * (choice == technique.choices[0]) + ["default"] * (choice == technique.default)
    return ", ".join([*marks, *["approximate"] * is_approximate(technique, choice, get)])


def sections_menu(sections: Callable[[], Mapping[str, bool]], fold: Callable[[str], object],
                  unfold: Callable[[str], object]) -> ListDialog:
    """The sections of both panels; `sections` says which are folded."""
    def items() -> list[Item]:
        return [Item(Row(name, "folded" if folded else ""), partial(unfold if folded else fold, name), stays=True)
                for name, folded in sections().items()]
    return ListDialog("Sections of the panels", items)
