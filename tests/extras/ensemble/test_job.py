"""A run, carried out in this process: whatever happens, it is a row."""

from __future__ import annotations

import os

import pytest

from crowd_demo import Simulation, load_config
from crowd_demo.extras.ensemble.job import carry_out
from crowd_demo.extras.ensemble.plan import make_plan

SMALL = {"agents": 30, "map": None, "world.width": 200, "world.height": 200}


def test_a_row_says_what_came_of_a_run_and_who_made_it() -> None:
    plan = make_plan("1k", seeds=7, overrides=SMALL, steps=25, every=10, measures=["population", "stuck", "step_ms"])
    row = carry_out(plan.job(plan.runs[0]))
    sim = Simulation(load_config("1k", {**SMALL, "seed": 7}))
    sim.step(25)
    assert (row.key, row.steps, row.state_hash, row.error) == (plan.runs[0].key, 25, sim.state_hash(), "")
    assert row.values["population"] == 30 and set(row.values) == {"population", "stuck", "step_ms"}
    assert row.worker.endswith(f":{os.getpid()}") and row.cpu and "numba" in row.versions and row.seconds > 0


@pytest.mark.parametrize("what", [{"code": "another"}, {"config": "{}x"}, {"measures": ("nothing",)}])
def test_a_run_that_cannot_be_made_is_a_row_with_one_line(what) -> None:
    plan = make_plan("1k", overrides=SMALL, steps=5, every=5)
    row = carry_out(plan.job(plan.runs[0]).model_copy(update=what), "somebody")
    assert row.key == plan.runs[0].key and not row.state_hash and row.worker == "somebody"
    assert row.error and "\n" not in row.error


@pytest.mark.quick
@pytest.mark.parametrize("error", [SystemExit(9), GeneratorExit(9)])
def test_a_run_that_wants_to_end_the_program_is_a_row_too(monkeypatch, error) -> None:
    def fail(job):
        raise error
    monkeypatch.setattr("crowd_demo.extras.ensemble.job._run", fail)
    plan = make_plan("1k", overrides=SMALL, steps=5, every=5)
    assert carry_out(plan.job(plan.runs[0]), "somebody").error == f"{type(error).__name__}: 9"
