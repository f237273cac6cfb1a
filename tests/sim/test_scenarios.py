"""The shipped scenarios in which something happens: their questions are answered, by one crowd under all exact techniques."""

import pytest

from crowd_demo.config.loader import load_config
from crowd_demo.sim.simulation import Simulation

SHIPPED = {"doorway": (60, 60), "evacuation": (250, 160), "evacuation-two-doors": (250, 190), "concert": (200, 190),
           "corridor": (500, 200), "crossing": (40, 160)}


@pytest.mark.parametrize("name", SHIPPED)
def test_the_question_of_each_scenario_is_answered(name: str) -> None:
    """With few people, so that it takes a second or two."""
    agents, seconds = SHIPPED[name]
    sim = Simulation(load_config(name, [f"agents={agents}"]))
    sim.play(60 * seconds)
    assert sim.events.end_tick is not None and not sim.events.impossible
    passed = dict(zip(sim.config.measure.lines, sim.counts.passed.tolist(), strict=True))
    assert [door for door, count in passed.items() if not count] == ["right"] * (name == "evacuation-two-doors")
    assert not sim.config.measure.doors or sum(passed.values()) == gone_from(sim)


def gone_from(sim: Simulation) -> int:
    """How many have left a scenario: they and the newcomers have had ids one after the other."""
    came = sum(event.do.bring_in.count for event in sim.config.events if event.do.bring_in)
    return sim.config.agents + came - sim.agents.count


@pytest.mark.parametrize("name", ["doorway", "evacuation"])
def test_doors_count_people_who_have_left_whenever_one_looks(name: str) -> None:
    """Also after going back, in a save, and however fast; the seconds are those in which most leave."""
    agents, seconds = SHIPPED[name]
    sim = Simulation(load_config(name, {"agents": agents}))
    sim.play(20 * seconds)
    kept, counted = sim.snapshot(), list[int]()
    for crowd in (sim, Simulation.from_snapshot(kept)):
        for steps in (1, 2, 1, 60, 7, 300):
            crowd.play(steps)
            assert int(crowd.counts.passed.sum()) == gone_from(crowd)
        counted.append(gone_from(crowd))
        crowd.restore(kept)
        assert int(crowd.counts.passed.sum()) == gone_from(crowd) < counted[0]
    assert counted[0] == counted[1] < agents


def test_a_blocked_door_turns_people_back_and_opens_again() -> None:
    sim = Simulation(load_config("evacuation", ["agents=300"]))
    sim.play(60 * 22)
    right = int(sim.counts.of_line("right"))
    for wanted in ("block the right door", "open the right door again"):
        number = sim.events.by_hand
        assert number is not None and sim.config.events[number].hand == wanted
        sim.events.happen(number, sim)
        goal = sim.agents.columns.goal[:sim.agents.count]  # type: ignore[attr-defined]
        assert set(goal) == ({0, 1} if wanted.startswith("block") else {0, 1, 2})
        sim.play(60 * 6)
    sim.play(60 * 30)
    assert sim.events.by_hand is None and not sim.events.impossible
    assert sim.counts.of_line("right") > right
