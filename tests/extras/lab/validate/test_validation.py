"""What becomes of readings: verdicts, tables, JSON, the page; and the short forms of all experiments."""

import json
import math
import multiprocessing
import re
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from versus import no_compiling

from crowd_demo.cli import main
from crowd_demo.config.model import Config, with_values
from crowd_demo.extras.lab.validate import EXPERIMENTS
from crowd_demo.extras.lab.validate.scenes import CrowdWalk, JuPedSimWalk, WalkScene
from crowd_demo.extras.lab.validate.validation import (
    ANTICIPATE,
    FITTED,
    HEAD,
    HELD_OUT,
    MODELS,
    PUSH,
    ROLES,
    Reading,
    SeededReading,
    Validation,
    ValidationExperiment,
    as_data,
    number,
    page,
    terminal,
)
from crowd_demo.extras.trajectories import Trajectories, TrajectoryRecorder
from crowd_demo.measure.experiment import result_of

HOLDS = {"rimea-1", "rimea-6", "head-on"}  # whose numbers must go on passing
ROOT = Path(__file__).parents[4]


class Straight(CrowdWalk):
    """Somebody who walks straight through everything, or breaks, or cannot."""

    def why_not(self, scene: WalkScene) -> str:
        return "no legs" if self.name == "snake" else ""

    def walk(self, scene: WalkScene, seed: int = 1) -> Generator[float, None, Trajectories]:
        yield 0.5
        if self.name == "broken":
            raise RuntimeError("a leg\nis missing")
        recorder = TrajectoryRecorder(10)
        for frame in range(500):
            recorder.add([0], [-1 + frame * 0.133 / (1 + 0.1 * (seed - 1))], [1])  # the slower the larger the seed
        return recorder.trajectories()


def walker(name: str) -> Straight:
    return Straight(name, f"{name}'s model", {})


@pytest.fixture(scope="module")
def found() -> Validation:
    walkers = [walker(name) for name in ("broken", "snake", "straight")]
    validation = Validation([EXPERIMENTS["rimea-1"]], walkers, True, no_compiling, None)
    assert [progress.part for progress in validation.run()] == [pytest.approx(1 / 6), pytest.approx(5 / 6)]
    return validation


@pytest.mark.quick
def test_a_reading_passes_within_its_bounds() -> None:
    for value, passes in ((1, True), (2, True), (0.99, False), (2.01, False), (math.nan, False)):
        assert Reading("", value, 1, 2).passes == passes
    assert [Reading("", 1, low, high).expected for low, high in ((1, 2), (0.5, math.inf), (0, 5), (3, 3))] == [
        "1 to 2", "at least 0.5", "at most 5", "3"]
    assert [number(value) for value in (math.nan, math.inf, 0.1234, 12.34, 7.0)] == [
        "none", "never", "0.123", "12.3", "7"]


@pytest.mark.quick
def test_the_worst_seed_counts_and_the_median_is_shown() -> None:
    def seeded(*values: float, high: float = 2) -> SeededReading:
        return SeededReading(tuple(Reading("", value, 1, high) for value in values))

    assert str(seeded(1.5)) == str(seeded(1.5, 1.5001)) == "1.5" and seeded(1.5).passes
    assert str(seeded(1.9, 1.2, 1.6)) == "1.6 (1.2 to 1.9)" and seeded(1.9, 1.2, 1.6).passes
    assert not seeded(1.9, 1.2, 2.1).passes and not seeded(0.9, 1.2, 1.1).passes and not seeded(math.nan, 1.2).passes
    assert str(seeded(3, math.nan, math.inf, high=9)) == "never (3 to none)"


@pytest.mark.quick
def test_the_first_table_counts_what_is_held_of_what_a_walker_can_walk() -> None:
    """Three numbers, of which one fails, and a walker who can walk none of them."""
    def read(*readings: Reading) -> Any:
        return lambda runs, measures: readings

    first = replace(EXPERIMENTS["rimea-1"], read=read(Reading("one", 2.5, 1, 2.8), Reading("two", 2.5, 1, 2)))
    other = replace(first, name="other", role=FITTED, read=read(Reading("three", 1, 1, 2)))
    validation = Validation([first, other], [walker("straight"), walker("snake")], True, no_compiling, None)
    result_of(validation.run())
    table = page(validation).splitlines()
    first_row = table.index("| numbers that hold | straight | snake |") + 2
    assert table[first_row:first_row + 5] == [
        "| **held out** | 1/2 | - |", "| **new, held out** | - | - |", "| fitted | 1/1 | - |", "| all but new | 2/3 | - |",
        "| of these, those that all can walk | - | - |"]
    assert "\n## Held out\n\n### Speed in a corridor\n" in page(validation)


@pytest.mark.quick
def test_what_breaks_or_cannot_is_said_and_the_others_go_on(found: Validation) -> None:
    (result,) = found.results
    assert result.errors == {"broken": "RuntimeError: a leg is missing"} and result.left_out == {"snake": "no legs"}
    assert [round(reading.median, 1) for reading in result.readings["straight"]] == [30.1] and not found.failed


@pytest.mark.quick
def test_the_table_the_page_and_the_json_say_the_same(found: Validation) -> None:
    text, (data,), markdown = terminal(found), as_data(found), page(found)
    assert text.splitlines()[2].split("  ")[-1] == "30.1 passed"
    assert "broken: could not be computed: RuntimeError: a leg is missing\nsnake: left out: no legs" in text
    assert "| time for 40 m" not in markdown  # which passes
    assert "### Speed in a corridor\n\n**broken -, snake -, straight 1/1.** " in markdown
    assert json.loads(json.dumps(data))["readings"] == [{
        "what": "time for 40 m at 1.33 m/s", "unit": "s", "low": 26, "high": 34, "by_pedpy": None,
        "found": {"straight": {"value": pytest.approx(30.1), "by_seed": [pytest.approx(30.1)], "verdict": "passed"}}}]


@pytest.mark.quick
def test_the_page_has_the_words_of_its_generator_and_counts_as_its_table_does() -> None:
    text = (ROOT / "docs/validation.md").read_text("utf-8")
    assert f"\n\n{ROLES}\n\n" in text and text.startswith(HEAD)
    rows = {line.split(" | ")[0]: re.findall(r"(\d+)/(\d+)", line.partition(" | ")[2]) for line in text.splitlines()}
    scores = dict(re.findall(r"^### (.*)\n\n\*\*slow_down (\d+/\d+)\.\*\*", text, re.MULTILINE))
    assert list(scores) == re.findall(r"^### (.*)$", text, re.MULTILINE)
    of_role = [scores[each.title].split("/") for each in EXPERIMENTS.values() if each.role == HELD_OUT]
    sums = tuple(str(sum(map(int, column))) for column in zip(*of_role, strict=True))
    assert sums == rows["| **held out**"][len(MODELS) - 1]  # the default model


@pytest.mark.quick
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_says_what_it_is_and_stands_on_the_page(name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert experiment.name == name and experiment.title and experiment.about.endswith(".") and experiment.source
    text = (ROOT / "docs/validation.md").read_text("utf-8")
    assert f"\n### {experiment.title}\n" in text and experiment.source in text
    assert (ROOT / f"docs/pictures/validation/{name}.png").is_file()


@pytest.mark.quick
def test_the_models_differ_in_what_they_say_they_do() -> None:
    options = [with_values(Config.model_validate({}).optimizations, each.techniques) for each in (PUSH, ANTICIPATE)]
    assert [(each.avoidance, each.overlap_passes) for each in options] == [("push", 0), ("anticipate", 2)]


@pytest.mark.parametrize("name", [name if name in HOLDS else pytest.param(name, marks=pytest.mark.slow)
                                  for name in EXPERIMENTS])
def test_the_short_form_of_every_experiment_can_be_computed_and_what_held_holds(name: str) -> None:
    validation = Validation([EXPERIMENTS[name]], [ANTICIPATE], True, no_compiling, None)
    parts = [progress.part for progress in validation.run()]
    (result,) = validation.results
    assert result.errors == {} and result.readings["anticipate"] and parts == sorted(parts)
    readings = [reading for found in result.readings["anticipate"] for reading in found.readings]
    assert all(reading.low <= reading.high and not math.isnan(reading.value) for reading in readings)
    assert name not in HOLDS or all(reading.passes for reading in readings)


# --- the command -----------------------------------------------------------------------------------------------------

@pytest.mark.quick
def test_the_command_lists_experiments_and_says_what_it_does_not_know(capsys: pytest.CaptureFixture[str],
                                                                      errors_of: Callable[..., list[str]]) -> None:
    assert main(["validate", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(EXPERIMENTS)
    assert errors_of("validate", "rimea-l")[0].startswith("validate: unknown experiment 'rimea-l' (did you mean rimea-")


def test_the_command_measures_and_writes_what_it_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib comes with the extra [validation]")
    report = tmp_path / "found.json"
    code = main(["validate", "--short", "rimea-1", "head-on", "--out", str(tmp_path / "page"), "--report", str(report),
                 "--processes", "1", "--seeds", "2"])
    out = capsys.readouterr().out
    assert code == 0 and "time for 40 m at 1.33 m/s" in out and "head-on: Two people" in out
    record = json.loads(report.read_text("utf-8"))
    assert [each["name"] for each in record["experiments"]] == ["rimea-1", "head-on"] and record["seeds"] == [1, 2]
    times = record["experiments"][0]["readings"][0]["found"]
    assert all(len(times[model.name]["by_seed"]) == 2 for model in MODELS)
    assert (tmp_path / "page/validation.md").read_text("utf-8").startswith("# Validation\n")
    assert {path.name for path in (tmp_path / "page/pictures/validation").iterdir()} == {"rimea-1.png", "head-on.png"}


@pytest.mark.quick
def test_strict_fails_for_what_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_slow(experiment: ValidationExperiment) -> Validation:
        return Validation([experiment], [walker("straight")], True, no_compiling, None)

    impossible = EXPERIMENTS["rimea-1"].__class__(**{**vars(EXPERIMENTS["rimea-1"]), "read": lambda runs, measures: [
        Reading("nothing", 1, 2, 3)]})
    monkeypatch.setattr("crowd_demo.extras.commands.measuring.experiment_of", lambda tell, args, chosen: too_slow(impossible))
    assert [main(["validate", "--short", "rimea-1"]), main(["validate", "--short", "--strict", "rimea-1"])] == [0, 1]


# --- where scenes are walked -----------------------------------------------------------------------------------------

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


def test_what_breaks_in_a_process_is_said(nothing_left: None) -> None:
    nobody = JuPedSimWalk("nobody", "", "NoSuchModel")
    validation = Validation([EXPERIMENTS["rimea-1"]], [nobody, ANTICIPATE], True, no_compiling, None, 1, 2)
    result_of(validation.run())
    (result,) = validation.results
    assert "Error" in result.errors["nobody"] and result.readings["anticipate"][0].passes
