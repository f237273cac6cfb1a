"""What is done to a crowd from outside replays with it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from crowds import open_world, simulation

from crowd_demo.sim import actions
from crowd_demo.sim.actions import Place, as_data, from_data


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
               for name in re.findall(r'^@action\("(\w+)"\)', path.read_text("utf-8"), re.M)}
    reading = "import crowd_demo.sim.save_format; from crowd_demo.sim.actions import ACTIONS; print(*ACTIONS)"
    known = subprocess.run([sys.executable, "-c", reading], capture_output=True, encoding="utf-8", check=True).stdout.split()
    assert "event" in written and written <= set(known)
