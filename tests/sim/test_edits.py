"""Edits replay, are undone by their inverses, and survive save files."""

import re
import subprocess
import sys
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crowds import open_world, simulation
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_demo.sim import actions
from crowd_demo.sim.actions import Action, Edit, Place, as_data, from_data
from crowd_demo.sim.edits import BringIn, PaintWalls, PutBack, Remove, TakeOut
from crowd_demo.sim.simulation import Simulation

RUNS = st.lists(st.tuples(st.integers(-2, 12), st.integers(-3, 12), st.integers(-3, 14)), max_size=8).map(tuple)
EDITS = st.one_of(
    st.builds(PaintWalls, RUNS, st.booleans()),
    st.builds(BringIn, st.integers(0, 30), st.floats(-50, 700), st.floats(-50, 700), st.floats(0, 200)),
    st.builds(TakeOut, st.floats(-50, 700), st.floats(-50, 700), st.floats(0, 200)))


def crowd() -> Simulation:
    return simulation(agents=60, **open_world(640, 640))


def apply(sim: Simulation, action: Action) -> tuple[Action, ...]:
    """Apply an edit as its file has it; return what takes it back."""
    assert isinstance(action, Edit)
    inverse = action.inverse(sim)
    try:
        sim.apply(from_data(as_data(action)))
    except ValueError as error:
        assert "all tiles there are blocked" in str(error)
        return ()
    return inverse


def people(sim: Simulation) -> set[bytes]:
    """All columns but the id, of everybody."""
    return {column.tobytes() for column in sim.agents.rows_by_id()[1:].T}


@pytest.mark.quick
@settings(max_examples=20)
@given(st.lists(EDITS, max_size=8))
def test_undone_in_reverse_the_map_is_the_same_to_the_byte_and_everybody_is_back(edits: list[Action]) -> None:
    sim = crowd()
    kinds, before = sim.terrain.kinds.copy(), people(sim)
    walls = any(isinstance(edit, PaintWalls) for edit in edits)  # people step out of new walls, and stay there
    undo, new = [apply(sim, edit) for edit in edits], dict[tuple[int, int], tuple[int, int]]()
    for inverse in reversed(undo):
        for action in inverse:
            if isinstance(action, PutBack):
                added = action.new_handles(sim)
                new = {former: added.get(now, now) for former, now in new.items()} | added
            apply(sim, action.with_handles(new) if isinstance(action, Remove) else action)
    assert np.array_equal(sim.terrain.kinds, kinds)
    assert sim.agents.count == 60 and (walls or people(sim) == before)


@pytest.mark.quick
def test_no_handle_is_used_twice() -> None:
    sim, used = crowd(), set[tuple[int, int]]()
    handles = sim.agents.handles
    for _ in range(4):
        now = {(int(one), int(handles.generations[one])) for one in sim.agents.columns.id[:sim.agents.count]}
        assert not now & used
        used |= now
        (back,) = apply(sim, TakeOut(320, 320, 1000))
        assert sim.agents.count == 0
        apply(sim, back)


@pytest.mark.quick
def test_undoing_newcomers_takes_nobody_else_who_has_their_id() -> None:
    sim = crowd()
    (undo,) = apply(sim, BringIn(5, 320, 320, 100))
    apply(sim, TakeOut(320, 320, 1000))
    sim.apply(BringIn(65, 320, 320, 100))
    apply(sim, undo)
    assert sim.agents.count == 65


@pytest.mark.quick
def test_people_come_back_only_with_columns_that_this_crowd_can_have() -> None:
    sim = crowd()
    back = PutBack.of(sim, np.array([3], np.int32))
    mistakes: tuple[tuple[dict[str, Any], str], ...] = (
        ({"columns": "%"}, "not valid base64"), ({"count": 2}, "bytes"),
        ({"columns": b64encode(b"\xff" * 4 * 16).decode()}, "no number|outside"))
    for wrong, said in mistakes:
        with pytest.raises(ValueError, match=said):
            sim.apply(replace(back, **wrong))
    with pytest.raises(ValueError, match="former"):
        from_data({"name": "put_back", "count": 1, "columns": back.columns})
    assert sim.agents.count == 60 and not sim.history


# --- what is done to a crowd from outside replays with it ------------------------------------------------------------

@pytest.mark.quick
def test_an_agent_is_put_where_it_is_wanted_within_the_world_and_out_of_walls() -> None:
    sim = simulation(agents=5, **open_world(640, 640))
    sim.set_walls((0, 0, 2, 2), True)
    for x, y in ((300.25, 17.5), (-7, 9000), (5, 5)):
        sim.apply(from_data(as_data(Place(3, x, y))))
        at = sim.agents.by_id()
        assert (at.x[3], at.y[3]) == (x, y) if x == 300.25 else 0 <= at.x[3] < 640 > at.y[3] >= 0
    assert max(at.x[3], at.y[3]) > 128
    with pytest.raises(ValueError, match="there is no agent 5"):
        sim.apply(Place(5, 1, 1))
    assert len(sim.history) == 3


def test_a_fresh_process_knows_all_actions_that_files_may_hold() -> None:
    """Each module that registers some is imported by whoever reads a save or a recording."""
    package = Path(actions.__file__).parents[1]
    written = {name for path in package.rglob("*.py")
               for name in re.findall(r'^@action\("(\w+)"', path.read_text("utf-8"), re.M)}
    reading = "import crowd_demo.sim.save_format; from crowd_demo.sim.actions import ACTIONS; print(*ACTIONS)"
    known = subprocess.run([sys.executable, "-c", reading], capture_output=True, encoding="utf-8", check=True).stdout.split()
    assert "event" in written and written <= set(known)
