"""Undo and redo of strokes: over many, over agents who come back under new handles, and over time."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest
from driven import Driven
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_demo.app.crowd import Crowd
from crowd_demo.app.screen import Notices
from crowd_demo.app.tool_controls import DIFFERENCE, Undo
from crowd_demo.app.tools import Sweep, distance_sq, is_passed, points_along, tiles_passed
from crowd_demo.config.loader import load_config
from crowd_demo.sim.actions import Action, Populate
from crowd_demo.sim.edits import BringIn, PaintWalls, PutForce, TakeOut
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.tiles import Terrain

CTRL = pygame.KMOD_LCTRL
CONFIG = load_config("1k", ["agents=60", "world.width=640", "world.height=373", "camera.center=null", "camera.zoom=null"])
points = st.tuples(st.floats(-50, 700), st.floats(-50, 420))
edits: st.SearchStrategy[Action] = st.one_of(
    st.builds(lambda row, first, wide, wall: PaintWalls(((row, first, first + wide), (row + 1, first, first + wide)), wall),
              st.integers(0, 55), st.integers(0, 90), st.integers(1, 30), st.booleans()),
    st.builds(BringIn, st.integers(1, 9), st.floats(50, 600), st.floats(50, 300), st.floats(30, 200)),
    st.builds(TakeOut, st.floats(0, 640), st.floats(0, 373), st.floats(0, 400)))
strokes = st.lists(st.tuples(edits, st.integers(0, 2), st.booleans()), min_size=1, max_size=12)  # steps after it, and goes on?


def crowd() -> tuple[Crowd, Undo]:
    made = Crowd(CONFIG, Simulation(CONFIG), None, 64, Notices())
    return made, Undo(made, Notices())


def everybody(sim: Simulation) -> Any:
    """The columns of all, in no order and without ids."""
    rows = sim.agents.front[1:, :sim.agents.count]
    return rows[:, np.lexsort(rows)]


@settings(max_examples=15, deadline=None)
@given(strokes)
def test_undo_gives_back_the_map_to_the_byte_and_redo_what_was_undone(made: list[tuple[Action, int, bool]]) -> None:
    crowd_, undo = crowd()
    kinds = crowd_.sim.terrain.kinds
    tiles, stroke = [kinds.tobytes()], object()
    for action, steps, goes_on in made:
        if not goes_on:
            stroke = object()
        before = undo.present.done
        undo.carry_out(action, "edit", stroke)
        if undo.present.done != before and len(undo.present.done) == len(before):
            tiles.pop()
        if undo.present.done != before:
            tiles.append(kinds.tobytes())
        crowd_.sim.step(0)
        crowd_.make_steps(steps, lambda: True)
    assert len(tiles) == len(undo.present.done) + 1
    for expected in tiles[-2::-1]:
        undo.undo()
        assert kinds.tobytes() == expected
        crowd_.make_steps(1, lambda: True)
    assert not undo.present.done
    for expected in tiles[1:]:
        undo.redo()
        assert kinds.tobytes() == expected
    assert not undo.present.undone


@settings(max_examples=15, deadline=None)
@given(st.lists(edits.filter(lambda edit: not isinstance(edit, PaintWalls)), min_size=1, max_size=8), st.data())
def test_agents_who_come_back_are_the_same_however_often_that_is_undone(made: list[Action], data: st.DataObject) -> None:
    crowd_, undo = crowd()
    states = [everybody(crowd_.sim)]
    for action in made:
        if undo.carry_out(action, "edit", object()):
            states.append(everybody(crowd_.sim))
    at = len(states) - 1
    for back in data.draw(st.lists(st.booleans(), max_size=25)):
        to = at - 1 if back else at + 1
        if 0 <= to < len(states):
            at = to
            (undo.undo if back else undo.redo)()
            np.testing.assert_array_equal(everybody(crowd_.sim), states[at])
    ids = crowd_.sim.agents.columns.id[:crowd_.sim.agents.count]
    assert len(np.unique(ids)) == len(ids)


def test_a_new_edit_drops_what_was_undone_and_undo_ends_at_the_beginning() -> None:
    crowd_, undo = crowd()
    for row in (20, 30):
        undo.carry_out(PaintWalls(((row, 20, 60),), True), "wall", object())
    undo.undo()
    assert len(undo.present.undone) == 1
    undo.carry_out(TakeOut(320, 180, 500), "out", object())
    assert not undo.present.undone and len(undo.present.done) == 2
    for _ in range(3):
        undo.undo()
    assert crowd_.sim.agents.count == 60 and not undo.present.done


def test_whoever_acts_in_the_past_can_undo_what_was_done_before_and_nothing_else() -> None:
    crowd_, undo = crowd()
    kinds = crowd_.sim.terrain.kinds
    bare = kinds.tobytes()
    undo.carry_out(PaintWalls(((20, 20, 60),), True), "first", object())
    crowd_.make_steps(1, lambda: True)
    first = kinds.tobytes()
    crowd_.step()
    undo.carry_out(PaintWalls(((25, 20, 60),), True), "second", object())
    crowd_.step()
    undo.undo()
    undo.undo()
    assert kinds.tobytes() == bare and len(undo.present.undone) == 2
    crowd_.sought = 1
    crowd_.carry_out_changes(lambda: True)
    assert kinds.tobytes() == first and [entry.what for entry in undo.present.done] == ["first"] and crowd_.in_past
    crowd_.carry_out(Populate(70))
    for _ in range(5):
        crowd_.step()
    assert [entry.what for entry in undo.present.done] == ["first"] and not undo.present.undone
    undo.undo()
    assert kinds.tobytes() == bare


# --- the way of a brush -------------------------------------------------------------------------------------------------

@given(st.lists(points, min_size=1, max_size=4), st.floats(0, 120))
@settings(max_examples=60, deadline=None)
def test_a_brush_passes_the_tiles_near_its_way(path: list[tuple[float, float]], radius: float) -> None:
    terrain = Terrain(None, 640, 373)
    tile = float(terrain.walls.tile)
    found = terrain.mask_of(tiles_passed(terrain, Sweep(tuple(path), radius)).runs)
    row, column = np.mgrid[:terrain.rows, :terrain.columns]
    nearest = np.min([distance_sq((column + 0.5) * tile, (row + 0.5) * tile, *way)
                      for way in (list(pairwise(path)) or [(path[0], path[0])])], axis=0)
    assert found[nearest <= radius**2].all()
    assert (nearest[found] <= max(radius, tile * 0.70711) ** 2 + 1e-6).all(), "under the way, or within the radius"
    if len(path) == 1:
        np.testing.assert_array_equal(found, terrain.brush(*path[0], radius))


@given(points, points, st.floats(0.5, 100))
def test_points_along_a_line_are_evenly_spaced(start: tuple[float, float], end: tuple[float, float], spacing: float) -> None:
    found = points_along(start, end, spacing)
    length = float(np.hypot(end[0] - start[0], end[1] - start[1]))
    assert len(found) == int(length / spacing)
    for number, (x, y) in enumerate(found, 1):
        assert np.hypot(x - start[0], y - start[1]) == pytest.approx(number * spacing, abs=1e-6)
    assert is_passed(np.array([x for x, _ in found]), np.array([y for _, y in found]), Sweep((start, end), 1e-6)).all()


# --- by keys ------------------------------------------------------------------------------------------------------------


def changed_crowd(*settings: str) -> Driven:
    """A crowd with one change of each kind that needs no tool: a technique, its number, and how many agents there are."""
    driven = Driven("window.width=1280", "window.height=720", "agents=100", *settings)
    driven.frames(2)
    for key in ("2", "4", "]", "-"):
        driven.settled(key)
        driven.frames(2)
    return driven


@pytest.fixture
def changed() -> Driven:
    return changed_crowd()


def undo_by_keys(driven: Driven, key: str = "z") -> str:
    driven.press(key, CTRL, frames=3)
    return next(notice for notice in driven.status().notices if notice.startswith(("undone: ", "done again: ")))


def values_of(driven: Driven) -> tuple[object, object, int]:
    options = driven.program.sim.optimizations
    return options.simd, options.get("stagger.avoidance"), driven.program.sim.agents.count


def test_one_undo_for_techniques_numbers_and_agents(changed: Driven) -> None:
    assert values_of(changed) == (False, 5, 80)
    for wanted, what in (((False, 5, 100), "the number of agents changed"), ((False, 4, 100), "stagger avoidance"),
                         ((False, 3, 100), "stagger avoidance"), ((True, 3, 100), "SIMD lanes")):
        changed.press("z", CTRL, frames=3)
        assert values_of(changed) == wanted
        assert any(notice.startswith(f"undone: {what}") for notice in changed.status().notices)
    assert changed.program.crowd.agents_asked == 100
    for wanted in ((False, 3, 100), (False, 4, 100), (False, 5, 100), (False, 5, 80)):
        changed.press("y", CTRL, frames=3)
        assert values_of(changed) == wanted


def test_undo_brings_back_the_crowd_before_a_restart_with_all_that_was_done_to_it(changed: Driven) -> None:
    """Also to single agents and to forces; and redo starts again. In between agents of the second crowd get new handles."""
    undo, crowd_ = changed.program.undo, changed.program.crowd
    crowd_.paused = True
    undo.carry_out(TakeOut(float(crowd_.sim.agents.columns.x[0]), float(crowd_.sim.agents.columns.y[0]), 1.0), "out", object())
    undo.carry_out(BringIn(23, 320, 180, 100), "in", object())
    undo.carry_out(PutForce(0, "attract", 100, 100, 50, 1), "force", object())
    before, agents, entries = crowd_.sim.state_hash(), crowd_.sim.agents.count, undo.present.done
    changed.press("r", frames=3)
    started = crowd_.sim.state_hash()
    undo.carry_out(TakeOut(320, 180, 9000), "all", object())
    assert crowd_.sim.agents.count == 0 and undo_by_keys(changed).startswith("undone: all")
    assert undo_by_keys(changed).startswith("undone: restart")
    assert (crowd_.sim.state_hash(), undo.present.done) == (before, entries)
    assert undo_by_keys(changed).startswith("undone: force") and not crowd_.sim.forces.present
    assert undo_by_keys(changed).startswith("undone: in") and crowd_.sim.agents.count == agents - 23
    assert undo_by_keys(changed).startswith("undone: out") and crowd_.sim.agents.count == agents - 22
    for what in ("out", "in", "force", "restart"):
        assert undo_by_keys(changed, "y") == f"done again: {what}"
    assert (crowd_.sim.state_hash(), crowd_.sim.tick) == (started, 0)


@pytest.mark.usefixtures("in_tmp_path")
def test_undo_brings_back_the_crowd_before_a_load(changed: Driven) -> None:
    changed.keys("f5", "space", ".", ".", "-")
    before, agents = changed.program.sim.state_hash(), changed.program.sim.agents.count
    changed.press("f9", frames=3)
    loaded = changed.program.sim.state_hash()
    assert loaded != before and undo_by_keys(changed).startswith("undone: load of ")
    assert (changed.program.sim.state_hash(), changed.program.sim.agents.count) == (before, agents)
    assert undo_by_keys(changed, "y").startswith("done again: load of ") and changed.program.sim.state_hash() == loaded


def test_the_difference_to_the_timeline_is_explained_once_but_not_where_the_crowd_before_comes_back(changed: Driven) -> None:
    changed.press("r", frames=3)
    restart, edit, another = (undo_by_keys(changed) for _ in range(3))
    assert restart.startswith("undone: restart (") and DIFFERENCE not in restart
    assert DIFFERENCE in edit and DIFFERENCE not in another


def test_crowds_that_undo_brings_back_fit_into_the_memory_for_the_past(changed: Driven) -> None:
    crowd_ = changed.program.crowd
    crowd_._bound = int(2.5 * crowd_.sim.snapshot().nbytes)
    for _ in range(4):
        changed.press("r")
    changed.frames(2)
    assert [entry.what for entry in changed.program.undo.present.done] == ["restart", "restart"]


def test_without_memory_a_restart_keeps_what_can_be_undone_but_not_what_was_done_to_single_agents() -> None:
    changed = changed_crowd("time.rewind_mb=0")
    undo, sim = changed.program.undo, changed.program.sim
    undo.carry_out(PaintWalls(((5, 8, 20),), True), "wall", object())
    undo.carry_out(TakeOut(float(sim.agents.columns.x[0]), float(sim.agents.columns.y[0]), 1.0), "out", object())
    assert undo.present.done[-1].what == "out"
    changed.press("r", frames=3)
    assert any(notice.startswith("restart: no undo, the crowd needs 0.") for notice in changed.status().notices)
    shown = changed.program.notices.shown
    assert changed.status().notices[-1] == "started again" and shown["undo"].lasts_s > shown["restart"].lasts_s
    assert changed.program.sim is not sim and changed.program.sim.terrain.blocked.any()
    assert [entry.what for entry in undo.present.done][-2:] == ["the number of agents changed", "wall"]
    for _ in range(5):
        changed.press("z", CTRL, frames=3)
    assert not changed.program.sim.terrain.blocked.any() and values_of(changed) == (True, 3, 100)


def test_a_manual_event_is_undone_with_its_walls_and_the_people_whom_it_sent(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text("agents: 40\nmap: hall\nevents:\n  - {at: 0, do: {send: {to: [0, 1, 2]}}}\n"
                    "  - {hand: block the right door, do: {walls: {rectangle: [1760, 240, 1780, 320]}, send: {to: [0, 1]}}}\n",
                    "utf-8")
    driven = Driven(config=str(path))
    driven.until(lambda: 0 in driven.program.sim.events.happened)
    driven.frames(2)

    def doors() -> set[int]:
        return set(driven.program.sim.agents.row("goal").tolist())

    free = driven.program.sim.terrain.kinds.copy()
    assert doors() == {0, 1, 2}
    for key, blocked in (("l", True), ("z", False), ("y", True), ("z", False)):
        driven.press(key, CTRL, frames=3)
        assert bool((driven.program.sim.terrain.kinds != free).any()) == blocked
        assert doors() == ({0, 1} if blocked else {0, 1, 2})
    assert any(notice.startswith("undone: block the right door") for notice in driven.status().notices)


def test_people_whom_an_event_lets_leave_come_back_with_its_undo(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text("agents: 40\nmap: hall\nevents:\n  - {hand: close, do: {send: {to: [0, 1], leave: true}}}\n", "utf-8")
    driven = Driven(config=str(path))
    driven.frames(5)
    driven.press("space")
    before = driven.program.sim.state_hash()
    driven.press("l", CTRL)
    driven.press("space")
    driven.until(lambda: driven.program.sim.agents.count < 40)
    driven.press("space")
    left = driven.program.sim.state_hash()
    assert undo_by_keys(driven).startswith("undone: close") and driven.program.sim.state_hash() == before
    assert driven.program.sim.events.by_hand == 0, "it can happen again"
    assert undo_by_keys(driven, "y") == "done again: close" and driven.program.sim.state_hash() == left
