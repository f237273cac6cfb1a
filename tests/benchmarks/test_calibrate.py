"""The search for the constants of slowing down: what a trial is worth, and that it goes on from the best."""

from __future__ import annotations

import json
import math
from pathlib import Path

import calibrate
import numpy as np
import pytest
from calibrate import BOUNDS, SCENES, Trial, best_of, changed, note, shortfall

from crowd_demo.config.behaviours import PeopleSettings
from crowd_demo.extras.lab.validate.experiments import EXPERIMENTS
from crowd_demo.extras.lab.validate.page import NOT_FITTED
from crowd_demo.extras.lab.validate.validation_experiment import Reading

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("value, low, high, short", [
    (1.5, 1.2, 2.0, 0), (1.26, 1.2, 2.0, 0), (1.2, 1.2, 2.0, 1), (1.14, 1.2, 2.0, 2), (2.1, 1.2, 2.0, 2), (9, 1.2, 2.0, 4),
    (20, 20, 20, 0), (19, 20, 20, 3), (math.inf, 0, 5, 3), (0.9, 0.8, 1, 0), (1, 0.8, 1, 0)])
def test_a_number_falls_short_by_margins(value: float, low: float, high: float, short: float) -> None:
    assert max(0.0, shortfall(Reading("flow", value, low, high))) == pytest.approx(short, abs=1e-6)


def test_trials_stay_within_their_bounds() -> None:
    rng, settings = np.random.default_rng(1), {name: low for name, (low, _) in BOUNDS.items()}
    for _ in range(200):
        settings = changed(settings, rng)
        assert all(low <= settings[name] <= high for name, (low, high) in BOUNDS.items())
        PeopleSettings.model_validate(settings)


def test_what_ships_is_within_the_bounds() -> None:
    usual = PeopleSettings()
    assert all(low <= getattr(usual, name) <= high for name, (low, high) in BOUNDS.items())


def test_it_goes_on_from_the_best_line(tmp_path: Path) -> None:
    file = tmp_path / "trials.jsonl"
    assert best_of(file) is None
    for by in (3.0, 1.0, 2.0):
        note(file, Trial({"creep": by / 100}, {"door": by, "ring": 1.0}))
    assert best_of(file) == Trial({"creep": 0.01}, {"door": 1.0, "ring": 1.0})
    assert [json.loads(line)["total"] for line in file.read_text("utf-8").splitlines()] == [4, 2, 3]


def test_its_scenes_are_those_of_the_validation() -> None:
    assert all(set(numbers) <= set(EXPERIMENTS[name].numbers) for name, numbers in SCENES.items())


def test_the_page_of_the_validation_names_the_experiments_that_it_does_not_use() -> None:
    assert EXPERIMENTS.keys() - SCENES.keys() == set(NOT_FITTED)
    fitted, not_fitted = len(SCENES), len(NOT_FITTED)
    assert (fitted, fitted + not_fitted, len(BOUNDS)) == (11, 15, 8), "as the pages say: README, findings, model, validation"


def test_a_trial_ends_when_it_is_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[int] = []

    def one(settings: dict[str, float], seed: int) -> list[tuple[str, float]]:
        walked.append(seed)
        return [("door", 1.0 * seed), ("ring", -2.0)]

    monkeypatch.setattr(calibrate, "of_20k", lambda settings: {"20k: stuck": 0.5})
    monkeypatch.setattr(calibrate, "readings", one)
    assert calibrate.tried({}, math.inf).short == {"20k: stuck": 0.5, "door": 3.0}
    assert walked == [1, 2, 3]
    assert calibrate.tried({}, 1.0).short == {"20k: stuck": 0.5, "door": 1.0}
    assert walked == [1, 2, 3, 1]
