"""Lists to choose from, by keys and mouse, alone and in the program."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pygame
import pytest
from driven import Driven

from crowd_demo.app.dialogs.dialog import Dialogs, Item, ListDialog
from crowd_demo.app.dialogs.menus import MOUSE
from crowd_demo.app.screen.window import close_window
from crowd_demo.config.keys import ACTIONS
from crowd_demo.registry.actions import PROGRAM, TOLD_BY_OTHERS
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES
from crowd_demo.render.hud.canvas import Pen, Target
from crowd_demo.render.hud.views import ListView, Row, draw_list, first_shown, place_of


@pytest.fixture
def driven() -> Iterator[Driven]:
    """A program with room for both panels."""
    yield Driven("window.width=1280", "window.height=720")
    close_window()


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
    for key in ("w", "a", "l", "l"):
        assert dialog.press(key, False)
    assert dialog.view().rows == rows[:2] and (dialog.view().typed, dialog.view().selected) == ("wall", 0)
    for key in ("space", "t", "o"):
        dialog.press(key, False)
    assert dialog.view().rows == rows[:1], "each word somewhere"
    assert dialog.press("left", False) is False and not dialog.closed
    dialog.press("backspace", False)
    dialog.press("delete", False)
    assert dialog.view().rows == rows and dialog.press("left", False) and dialog.closed


@pytest.mark.quick
def test_a_click_on_a_row_that_is_gone_and_enter_on_one_choose_nothing() -> None:
    chosen: list[str] = []
    rows = ["first", "second", "third"]
    dialog = ListDialog("Letters", lambda: [Item(Row(row), partial(chosen.append, row)) for row in rows])
    dialog.selected = 2
    del rows[1:]
    assert dialog.press("return", False) and not dialog.closed
    dialog.selected = 0
    dialog.click(Target("row", "1"))
    assert not chosen and dialog.selected == 0
    dialog.click(Target("row", "0"))
    assert chosen == ["first"] and dialog.closed


def test_a_click_chooses_a_list_may_stay_and_a_click_beside_it_closes_it() -> None:
    chosen: list[str] = []
    dialogs, dialog = Dialogs(), listed(chosen, stays=True)
    dialogs.open(dialog)
    assert dialogs.click(Target("row", "2")) and dialogs.click(Target("row", "0")) and dialogs.click(Target("dialog"))
    assert chosen == ["third", "first"] and dialogs.top is dialog
    assert dialogs.click(None) and dialogs.top is None and not dialogs.click(None)


@pytest.mark.quick
def test_esc_closes_one_after_the_other() -> None:
    dialogs = Dialogs()
    for _ in range(2):
        dialogs.open(listed([]))
    assert dialogs.press("escape", False) and dialogs.top
    assert dialogs.press("escape", False) and not dialogs.top
    assert not dialogs.press("escape", False)


@pytest.mark.quick
def test_a_long_list_shows_its_selected_row() -> None:
    assert [first_shown(selected, 100, 10) for selected in (0, 4, 5, 50, 97, 99)] == [0, 0, 0, 45, 90, 90]
    assert first_shown(2, 3, 10) == 0


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
    pygame.font.init()
    canvas = draw_list(view, size, Pen(), 0.8)
    rect = canvas.surface.get_rect(topleft=place_of(view, canvas, size, 0.8))
    assert pygame.Rect((0, 0), size).contains(rect)
    if view.rows:
        assert Target("row", str(view.selected)) in [placed.target for placed in canvas.targets]


def test_the_menu_leads_to_every_technique_and_its_choices(driven: Driven) -> None:
    driven.press("return")
    driven.press("return")
    view = driven.status().view
    assert isinstance(view, ListView) and len(view.rows) == len(TECHNIQUES)
    for _ in range(len(TECHNIQUES)):
        driven.press("up")
    assert TECHNIQUES[0].path == "neighbours"
    driven.press("return")
    driven.press("home")
    driven.press("return")
    driven.settle()
    assert driven.program.sim.optimizations.neighbours == "none" and driven.program.techniques.touched == "neighbours"
    assert driven.status().view is not None, "the main menu is closed, the list of techniques stays"
    driven.press("escape")
    assert driven.status().view is None and driven.program.running


def test_the_menu_names_every_action_once(driven: Driven) -> None:
    driven.program.menus.open_main()
    view = driven.status().view
    assert isinstance(view, ListView)
    held = ("pan_left", "pan_right", "pan_up", "pan_down", "menu", *TOLD_BY_OTHERS)
    texts = [row.text for row in view.rows]
    assert all(texts.count(told.what) == 1 for action, told in PROGRAM.items() if action not in held)


def test_the_list_of_keys_names_every_action_and_technique_with_all_its_keys(driven: Driven) -> None:
    driven.press("f1")
    view = driven.status().view
    assert view and view.rows[0].group == "Mouse"
    told = {row.text: row.detail for row in view.rows}
    assert len(told) == len(view.rows) and {what for _, what in MOUSE} <= told.keys()
    assert all(action.what in told for name, action in ACTIONS.items()
               if action.keys and name not in (*TOLD_BY_OTHERS, *BY_PATH))
    assert told["faster motion"] == "/  >" and {f"{each.label}  {each.kind.mark}".strip() for each in TECHNIQUES} <= {
        text.strip() for text in told}
    assert view.rows[-1].group.startswith("Techniques") and view.rows[-1].about
    driven.press("return")
    assert driven.program.dialogs.top, "a gesture of the mouse does nothing here"
    for key in "pause":
        driven.press(key)
    driven.press("return")
    assert driven.program.crowd.paused and not driven.program.dialogs.top


def test_a_click_on_a_technique_opens_its_choices_and_on_a_choice_sets_it(driven: Driven) -> None:
    driven.frames(2)
    center = find(driven, Target("technique", "depth"))
    click(driven, center)
    view = driven.status().view
    assert isinstance(view, ListView) and [row.text for row in view.rows] == list(BY_PATH["depth"].choices)
    driven.frames()
    click(driven, find(driven, Target("row", "1")))
    driven.settle()
    assert driven.program.sim.optimizations.depth == "full" and driven.status().view is None


def test_dragging_a_number_changes_it(driven: Driven) -> None:
    driven.frames(2)
    x, y = find(driven, Target("number", "reorder.every"))
    driven.post(pygame.MOUSEBUTTONDOWN, button=1, pos=(x, y))
    driven.post(pygame.MOUSEMOTION, pos=(x + 40, y), rel=(40, 0), buttons=(1, 0, 0))
    driven.post(pygame.MOUSEBUTTONUP, button=1, pos=(x + 40, y))
    driven.settle()
    assert driven.program.sim.optimizations.reorder.every > 60 and driven.status().view is None


def test_sections_fold_by_mouse_and_by_the_menu(driven: Driven) -> None:
    driven.frames(2)
    click(driven, find(driven, Target("fold", "graph")))
    assert driven.program.panels.now.folded == {"graph"}
    driven.frames()
    driven.program.act("menu")
    driven.press("down")
    driven.press("return")
    view = driven.status().view
    assert isinstance(view, ListView) and ("graph", "folded") in [(row.text, row.detail) for row in view.rows]


def test_a_left_drag_on_the_ground_pans(driven: Driven) -> None:
    driven.frames(2)
    for _ in range(6):
        driven.post(pygame.MOUSEWHEEL, x=0, y=1)
    program = driven.program
    x, y = next((x, y) for x in range(200, 500) for y in range(100, 300) if driven.loop.presenter.hud.target_at(x, y) is None)
    before = program.camera.x
    driven.post(pygame.MOUSEBUTTONDOWN, button=1, pos=(x, y))
    driven.post(pygame.MOUSEMOTION, pos=(x - 30, y), rel=(-30, 0), buttons=(1, 0, 0))
    assert program.camera.x > before
    driven.post(pygame.MOUSEBUTTONUP, button=1, pos=(x - 30, y))
    moved = program.camera.x
    driven.post(pygame.MOUSEMOTION, pos=(x, y), rel=(30, 0), buttons=(0, 0, 0))
    assert program.camera.x == moved


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


def find(driven: Driven, target: Target) -> tuple[int, int]:
    """A pixel at which the HUD has that target."""
    width, height = driven.program.camera.size
    target_at = driven.loop.presenter.hud.target_at
    return next((x, y) for y in range(0, height, 2) for x in range(0, width, 2) if target_at(x, y) == target)


def click(driven: Driven, at: tuple[int, int]) -> None:
    driven.post(pygame.MOUSEMOTION, pos=at, rel=(0, 0), buttons=(0, 0, 0))
    driven.post(pygame.MOUSEBUTTONDOWN, button=1, pos=at)
    driven.post(pygame.MOUSEBUTTONUP, button=1, pos=at)
