"""What is done to a crowd from outside replays with it."""

from __future__ import annotations

import pytest
from crowds import open_world, simulation

from crowd_demo.sim.actions import Action, Populate, SetWalls, Switch


@pytest.mark.quick
def test_actions_replay_a_run() -> None:
    script: dict[int, Action] = {3: Populate(260), 8: Switch("stagger.avoidance", 1), 12: SetWalls((1, 1, 4, 3), True),
                                 20: Populate(90)}
    runs = [simulation(agents=200, **open_world(600, 600)) for _ in range(2)]
    for tick in range(30):
        if tick in script:
            runs[0].apply(script[tick])
        runs[0].step()
    history = dict(runs[0].history)
    for tick in range(30):
        if tick in history:
            runs[1].apply(history[tick])
        runs[1].step()
    assert runs[0].state_hash() == runs[1].state_hash()
