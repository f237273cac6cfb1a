"""The measures that PedPy has give what PedPy gives."""

import numpy as np
import pytest
from walks import by_chance

from crowd_demo.extras.lab.validate.scenes import OWN, Measures, pedpy_measures
from crowd_demo.extras.trajectories import Rectangle
from crowd_demo.sim.fundamental_diagram import Line

pytest.importorskip("pedpy", reason="PedPy comes with the extra [validation]")

SEEDS = [1, 2, 3]


@pytest.fixture(scope="module")
def pedpy() -> Measures:
    found = pedpy_measures()
    assert found
    return found


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("axis", [None, (1.0, 0.0), (0.6, -0.8)])
def test_speeds(pedpy: Measures, seed: int, axis: tuple[float, float] | None) -> None:
    own, theirs = (measures.speeds(by_chance(seed=seed), 5, axis) for measures in (OWN, pedpy))
    assert all(np.allclose(mine, other) for mine, other in zip(own, theirs, strict=True)) and len(own[0]) > 100


@pytest.mark.parametrize("seed", SEEDS)
def test_density(pedpy: Measures, seed: int) -> None:
    area = Rectangle(-1.5, -1, 2, 1.5)
    assert np.allclose(OWN.density(by_chance(seed=seed), area), pedpy.density(by_chance(seed=seed), area))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("line", [Line(0.5, -1, 0.5, 2), Line(-1, -0.7, 2, 1.1), Line(0, 9, 1, 9)])
def test_crossings(pedpy: Measures, seed: int, line: Line) -> None:
    own, theirs = (measures.crossings(by_chance(seed=seed), line) for measures in (OWN, pedpy))
    assert dict(zip(*own, strict=True)) == dict(zip(*theirs, strict=True))
    assert np.array_equal(own[1], theirs[1])
