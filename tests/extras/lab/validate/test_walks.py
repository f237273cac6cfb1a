"""Scenes are walked in processes of their own as in this one, and nothing of them is left behind."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator

import pytest
from versus import no_compiling

from crowd_demo.extras.lab.validate.experiments import EXPERIMENTS
from crowd_demo.extras.lab.validate.jupedsim_walk import JuPedSimWalk
from crowd_demo.extras.lab.validate.validation import ANTICIPATE, Validation


@pytest.fixture
def nothing_left() -> Iterator[None]:
    yield
    tries = 1000
    while multiprocessing.active_children() and (tries := tries - 1):
        time.sleep(0.01)
    assert tries


def by_seed(processes: int) -> list[list[float]]:
    validation = Validation([EXPERIMENTS["head-on"]], [ANTICIPATE], True, no_compiling, None, 2, processes)
    parts = [progress.part for progress in validation.run()]
    (result,) = validation.results
    assert result.errors == {} and parts == sorted(parts) and validation.done
    return [reading.values for reading in result.readings["anticipate"]]


def test_processes_give_the_same_numbers(nothing_left: None) -> None:
    assert by_seed(2) == by_seed(1)


def test_processes_end_when_a_validation_is_stopped(nothing_left: None) -> None:
    validation = Validation(list(EXPERIMENTS.values()), [ANTICIPATE], False, no_compiling, None, 5, 2)
    run = validation.run()
    next(run)
    assert len(multiprocessing.active_children()) == 2
    run.close()
    assert not validation.done


def test_what_breaks_in_a_process_is_said(nothing_left: None) -> None:
    nobody = JuPedSimWalk("nobody", "", "NoSuchModel")
    validation = Validation([EXPERIMENTS["rimea-1"]], [nobody, ANTICIPATE], True, no_compiling, None, 1, 2)
    for _ in validation.run():
        pass
    (result,) = validation.results
    assert "Error" in result.errors["nobody"] and result.readings["anticipate"][0].passes
