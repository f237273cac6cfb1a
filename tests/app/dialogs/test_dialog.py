"""Lists to choose from, by keys and mouse, alone and in the program."""

from functools import partial

import pygame
import pytest
from driven import Driven

from crowd_demo.app.dialog import Dialogs, Item, ListDialog
from crowd_demo.app.menus import MOUSE
from crowd_demo.config.keys import ACTIONS
from crowd_demo.registry.actions import HEADINGS, PROGRAM
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES
from crowd_demo.render.hud.canvas import Pen, Target
from crowd_demo.render.hud.views import ListView, Row, draw_list, place_of


@pytest.fixture
def driven() -> Driven:
    """A program with room for both panels."""
    return Driven("window.width=1280", "window.height=720", "window.hud=full")


def listed(chosen: list[str], stays: bool = False) -> ListDialog:
    rows = [Row("first"), Row("second", usable=False), Row("third")]
    return ListDialog("Letters", lambda: [Item(row, partial(chosen.append, row.text), stays) for row in rows])


@pytest.mark.quick
def test_arrows_select_and_return_chooses() -> None:
    chosen: list[str] = []
    dialog = listed(chosen)
    assert all(dialog.press(key, False) for key in ("down", "return"))
    assert not chosen and not dialog.closed, "the second cannot be used"
    for key in ("end", "down", "up", "down", "return"):
        dialog.press(key, False)
    assert chosen == ["third"] and dialog.closed
    assert not dialog.press("f5", False)


@pytest.mark.quick
def test_what_is_typed_filters_the_rows_by_all_that_is_said_of_them() -> None:
    rows = [Row("build walls", "Ctrl+W", group="Tools"), Row("colours", "Q", "What the walls tell"), Row("pause", "Space")]
    dialog = ListDialog("Menu", lambda: [Item(row) for row in rows], selected=2)
    assert all(dialog.press(key, False) for key in "wall")
    assert dialog.view().rows == rows[:2] and (dialog.view().typed, dialog.view().selected) == ("wall", 0)
    for key in ("space", "t", "o"):
        dialog.press(key, False)
    assert dialog.view().rows == rows[:1], "each word somewhere"
    assert dialog.press("left", False) is False and not dialog.closed
    dialog.press("backspace", False)
    assert dialog.view().total == 3
    dialog.press("delete", False)
    assert dialog.view().rows == rows and dialog.press("left", False) and dialog.closed


@pytest.mark.quick
def test_esc_clears_what_was_typed_and_then_closes() -> None:
    dialogs, dialog = Dialogs(), listed([])
    dialogs.open(dialog)
    for key in ("3", "escape"):
        assert dialogs.press(key, False)
    assert dialogs.top is dialog and not dialog.typed
    assert dialogs.press("escape", False) and not dialogs.top


@pytest.mark.quick
def test_a_click_chooses_a_list_may_stay_and_a_click_beside_it_or_esc_closes_the_top_one() -> None:
    chosen: list[str] = []
    dialogs, below, dialog = Dialogs(), listed([]), listed(chosen, stays=True)
    dialogs.open(below)
    dialogs.open(dialog)
    for target in (Target("row", "2"), Target("row", "0"), Target("dialog")):
        dialogs.click(target)
    assert chosen == ["third", "first"] and dialogs.top is dialog
    dialogs.click(None)
    assert dialogs.top is below
    assert dialogs.press("escape", False) and not dialogs.top
    assert not dialogs.press("escape", False)


@pytest.mark.quick
@pytest.mark.parametrize("size", [(200, 120), (800, 600), (2560, 1440)])
@pytest.mark.parametrize("view", [
    ListView("Many", [Row(f"row {number}", "detail", "about it " * 30) for number in range(60)], 55),
    ListView("Few", [Row("one")], at=(5000, 5000)), ListView("None", []),
    ListView("Groups", [Row(f"row {number}", group=f"group {number // 3}") for number in range(60)], 55, typed="typed " * 20),
    ListView("Results", [Row("lanes", cells=("1.25", "9" * 400))] * 60, columns=("technique", "ms", "more"),
             notes=("a note " * 40,), progress=0.4),
    ListView("Leave?", [Row("leave", "Enter"), Row("go on")], hint="Enter leaves"),
])
def test_a_view_fits_into_any_window(view: ListView, size: tuple[int, int]) -> None:
    canvas = draw_list(view, size, Pen(), 0.8)
    rect = canvas.surface.get_rect(topleft=place_of(view, canvas, size, 0.8))
    assert pygame.Rect((0, 0), size).contains(rect)
    if view.rows:
        assert Target("row", str(view.selected)) in [placed.target for placed in canvas.targets]


def test_the_menu_names_every_action_once_and_leads_to_every_technique_and_its_choices(driven: Driven) -> None:
    driven.press("return")
    texts = [row.text for row in driven.view().rows]
    groups = [number for number, row in enumerate(driven.view().rows) if row.group]
    assert len(texts) <= 20 and len(groups) == len(HEADINGS)
    for number in groups:
        driven.keys("home", *["down"] * number, "return")
        texts += [row.text for row in driven.view().rows]
        driven.press("escape")
    assert all(texts.count(action.what) == 1 for action in PROGRAM.values() if action.in_menu)
    driven.keys("home", "return")
    assert len(driven.view().rows) == len(TECHNIQUES) and TECHNIQUES[0].path == "neighbours"
    driven.settled(*["up"] * len(TECHNIQUES), "return", "home", "return")
    assert driven.program.sim.optimizations.neighbours == "none" and driven.program.techniques.touched == "neighbours"
    assert driven.view(), "the main menu is closed, the list of techniques stays"
    driven.press("escape")
    assert driven.status().view is None and driven.program.running


def test_what_is_typed_in_the_menu_finds_any_action_and_esc_goes_up(driven: Driven) -> None:
    driven.keys("return", *"pause")
    assert "pause or resume" in [row.text for row in driven.view().rows]
    driven.press("return")
    assert driven.program.crowd.paused and not driven.program.dialogs.top
    driven.keys("return", "end", "return", "escape")
    assert driven.view().title == "Menu"
    driven.keys("return", "end", "up", "return")
    assert not driven.program.dialogs.top, "an action closes its group and the menu"


def test_the_list_of_keys_names_every_action_and_technique_with_all_its_keys(driven: Driven) -> None:
    driven.press("f1")
    rows = driven.view().rows
    told = {row.text: row.detail for row in rows}
    groups = list(dict.fromkeys(row.group.split(":")[0] for row in rows))
    assert groups[:4] == ["Move the camera", "Mouse", "Time", "Techniques"]
    assert len(told) == len(rows) and {what for _, what in MOUSE} <= told.keys()
    assert all(action.what in told for name, action in ACTIONS.items()
               if action.keys and action.in_help and name not in BY_PATH)
    assert told["speed up"] == "/  >" and {f"{each.label}  {each.kind.mark}".strip() for each in TECHNIQUES} <= {
        text.strip() for text in told}
    driven.press("return")
    assert driven.program.dialogs.top, "a gesture of the mouse does nothing here"
    driven.keys(*"pause", "return")
    assert driven.program.crowd.paused and not driven.program.dialogs.top


def test_the_mouse_chooses_a_value_drags_a_number_and_folds_a_section(driven: Driven) -> None:
    options = driven.program.sim.optimizations
    driven.frames(2)
    driven.drag(driven.find("value", "depth"))
    assert [row.text for row in driven.view().rows] == list(BY_PATH["depth"].choices)
    driven.frames()
    driven.drag(driven.find("row", "1"))
    x, y = driven.find("number", "stagger.avoidance")
    driven.drag((x, y), (x + 140, y))
    driven.settle()
    assert options.depth == "full" and options.stagger.avoidance > 3 and driven.status().view is None
    driven.drag(driven.find("unfold", "graph"))
    assert "graph" in driven.program.panels.now.opened
    driven.frames()
    driven.program.act("menu")
    driven.keys("down", "return")
    listed = dict(row[:2] for row in driven.view().rows)
    assert listed["graph"] == "" and "folded" in listed.values()


@pytest.mark.parametrize("opens", [("f1",), ("f2",), ("f3",), ("f10",), ("return",), ("return", "return"), ("escape",),
                                   ("a", pygame.KMOD_LCTRL)], ids=str)
def test_what_is_typed_over_what_is_open_does_not_reach_the_crowd(driven: Driven, opens: tuple[str | int, ...]) -> None:
    """With Shift and Ctrl, too. A question is cancelled by the first key, and asked again; Ctrl S may save what is built."""
    program, options = driven.program, driven.program.sim.optimizations
    program.crowd.unpaced = False
    driven.press(*opens) if isinstance(opens[-1], int) else [driven.press(key) for key in opens]  # type: ignore[arg-type]
    stack, before = len(program.dialogs.stack), options.model_dump()
    for mod in (pygame.KMOD_LCTRL, pygame.KMOD_LSHIFT, 0):
        for key in (*"2zyxwvutrqponmlkjihgfedcba01345678[]-=,.;`\\/", "space", "insert", "backspace", "delete"):
            if stack and not program.dialogs.top:  # it was a question
                driven.press("escape")
            driven.press(key, mod)
    driven.frames(2)
    assert options.model_dump() == before and not program.techniques.switcher.pending and not program.sim.history
    assert program.sim.agents.count == 200 and not program.experiments.dialog and program.crowd.speed == 1
    assert len(program.dialogs.stack) <= stack and program.crowd.recording is None
    assert not program.crowd.paused
