"""Density, flow and speed against PedPy's, on the same trajectory in metres."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from crowds import CROWD, PLACES, simulation

from crowd_demo.config.section import UNITS_A_METRE as METRE
from crowd_demo.extras.ensemble.measures import Flow, Speed, density
from crowd_demo.sim.behaviours.people_rules import QUEUING, WAITING
from crowd_demo.sim.fundamental_diagram import Line, steps_across

pedpy = pytest.importorskip("pedpy", reason="PedPy is no dependency")
pandas = pytest.importorskip("pandas", reason="PedPy brings it")

EVERY, FRAMES = 5, 40  # steps from one frame to the next; frames after the first
SPEED_EVERY = 2  # frames from one mean speed to the next


class Recorded(NamedTuple):
    """Places of all agents in each frame, and what the measures said of each but the first."""
    sim: Any
    frames: list[Any]  # tables with id, frame, x and y in metres, speed in metres a second, waits
    densities: list[dict[str, float]]
    flows: list[dict[str, float]]
    speeds: list[float | None]

    @property
    def frame_s(self) -> float:
        return float(EVERY * self.sim.dt)

    def trajectory(self) -> Any:
        return pedpy.TrajectoryData(pandas.concat(self.frames), frame_rate=1 / self.frame_s)


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    sim = simulation(**{**CROWD, "agents": 120, **PLACES})
    flow, speed = Flow(sim), Speed(sim)
    run = Recorded(sim, [table(sim, 0)], [], [], [])
    for frame in range(1, FRAMES + 1):
        sim.step(EVERY)
        run.frames.append(table(sim, frame))
        run.densities.append(density(sim))
        run.flows.append(flow(sim) or {})
        if frame % SPEED_EVERY == 0:
            run.speeds.append(speed(sim))
    return run


def table(sim: Any, frame: int) -> Any:
    now = sim.agents.by_id()
    return pandas.DataFrame({"id": now.id, "frame": frame, "x": now.x / METRE, "y": now.y / METRE,
                             "speed": now.speed / METRE, "waits": np.isin(now.state, (WAITING, QUEUING))})


def test_density_is_the_classic_one(recorded: Recorded) -> None:
    for name, (left, top, right, bottom) in recorded.sim.config.measure.areas.items():
        corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
        area = pedpy.MeasurementArea([(x / METRE, y / METRE) for x, y in corners])
        theirs = pedpy.compute_classic_density(traj_data=recorded.trajectory(), measurement_area=area)
        by_frame = theirs.reset_index().set_index("frame").density
        assert [each[name] for each in recorded.densities] == pytest.approx(by_frame.loc[1:].tolist())


def test_flow_counts_the_same_crossings(recorded: Recorded) -> None:
    from pedpy.methods.method_utils import compute_crossing_frames

    for name, (x, y, to_x, to_y) in recorded.sim.config.measure.lines.items():
        line = pedpy.MeasurementLine([(x / METRE, y / METRE), (to_x / METRE, to_y / METRE)])
        theirs = compute_crossing_frames(traj_data=recorded.trajectory(), measurement_line=line)
        ours = crossings(recorded, Line(x / METRE, y / METRE, to_x / METRE, to_y / METRE))
        assert [flow[name] for flow in recorded.flows] == pytest.approx([len(who) / recorded.frame_s for who in ours])
        but_the_last = {(one, frame) for frame, who in enumerate(ours[:-1], 1) for one in who}  # which PedPy leaves out
        assert but_the_last == set(zip(theirs.id.tolist(), theirs.frame.tolist(), strict=True)) and len(but_the_last) >= 5


def crossings(recorded: Recorded, line: Line) -> list[list[int]]:
    """Ids that crossed the line until each frame but the first, since the frame before."""
    def who(before: Any, after: Any) -> list[int]:
        was_x, was_y, is_x, is_y = (np.asarray(column, float) for column in (before.x, before.y, after.x, after.y))
        return [int(one) for one in np.flatnonzero(steps_across(was_x, was_y, is_x, is_y, line))]

    return [who(before, after) for before, after in pairwise(recorded.frames)]


def test_speed_is_the_mean_of_individual_speeds_of_those_who_walk(recorded: Recorded) -> None:
    theirs = pedpy.compute_individual_speed(
        traj_data=recorded.trajectory(), frame_step=SPEED_EVERY // 2,
        speed_calculation=pedpy.SpeedCalculation.BORDER_EXCLUDE).set_index(["frame", "id"])
    for number, mean in enumerate(recorded.speeds):
        before, after = recorded.frames[SPEED_EVERY * number], recorded.frames[SPEED_EVERY * (number + 1)]
        walks = ~before.waits & ~after.waits
        middle = theirs.speed.loc[SPEED_EVERY * number + SPEED_EVERY // 2]
        part = (middle / after.set_index("id").speed)[walks.to_numpy()].mean()
        assert mean == pytest.approx(part) if walks.any() else mean is None
    assert len([mean for mean in recorded.speeds if mean]) > 15
