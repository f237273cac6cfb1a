"""The C++ step of people: one hash with the program."""

import pytest

from crowd_demo.extras.lab.claims.claim import configured
from crowd_demo.extras.lab.claims.peers import PEOPLE, CppPeople, program
from crowd_demo.sim.simulation import Simulation


@pytest.mark.parametrize("threads", [1, 2])
def test_people_in_cpp_have_the_same_hash(threads: int) -> None:
    try:
        program(PEOPLE)
    except ValueError as why:
        pytest.skip(str(why))
    sim = Simulation(configured("20k", 600, {"device": "cpu", "threads": threads}, crowd__wait_s=2.0, crowd__room=100.0))
    sim.step(7)
    sim.agents.columns.x[1], sim.agents.columns.y[1] = sim.agents.columns.x[0], sim.agents.columns.y[0]
    people, states = CppPeople(sim, threads), set[str]()
    for _ in range(12):
        people.run(50)
        sim.step(50)
        assert people.result() == sim.state_hash()
        states |= {name for name, count in sim.states().items() if count}
    assert states == {"walking", "waiting", "stuck", "queuing"}
