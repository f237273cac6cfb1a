"""Files of earlier versions go on to work: configurations, tours, saves, recordings, preferences, an ensemble and a plugin.

`tests/old` holds what the program wrote, and what was written for it, before names were changed; `expected.json` has the state
hashes that were found then.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crowd_demo.app.screen.preferences import read
from crowd_demo.cli import main
from crowd_demo.config.loader import load_config
from crowd_demo.config.tour import load_tour
from crowd_demo.host.recording.format import read_recording
from crowd_demo.host.recording.recording import Player
from crowd_demo.sim.save_format import check, decode
from crowd_demo.sim.simulation import Simulation

OLD = Path(__file__).parent / "old"
EXPECTED = json.loads((OLD / "expected.json").read_text("utf-8"))


@pytest.mark.parametrize("name", ["people", "few", "crates", "hunt"])
def test_a_configuration_and_a_save_lead_where_they_led(name: str) -> None:
    sim = Simulation(load_config(OLD / f"{name}.yaml"))
    sim.step(40)
    assert sim.state_hash() == EXPECTED[f"{name}.yaml"]["after 40 steps"]
    saved = decode((OLD / f"{name}.crowd").read_bytes())
    sim = Simulation(saved.config)
    check(saved, sim)
    sim.restore(saved)
    found = {"tick": sim.tick, "hash": sim.state_hash()}
    sim.step(20)
    assert {**found, "after 20 steps": sim.state_hash()} == EXPECTED[f"{name}.crowd"]


@pytest.mark.parametrize("name", ["switches", "agents", "loaded"])
def test_a_recording_replays_to_its_hashes(name: str) -> None:
    player = Player(read_recording(OLD / f"{name}.replay"))
    sim = player.start(Simulation(player.part.config))
    while not player.done:
        sim = player.step()
    assert player.parted is None and sim.state_hash() == EXPECTED[f"{name}.replay"]["hash"]


def test_the_program_replays_switches_by_their_former_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(OLD / "switches.replay"), "--headless"]) == 0
    assert "the same" in capsys.readouterr().out


@pytest.mark.quick
def test_tours_and_preferences_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(OLD)
    assert [len(load_tour(f"./{name}.yaml").steps) for name in ("switches", "agents")] == [3, 2]
    assert read(OLD / "preferences.yaml").scale == 1.25


def test_an_ensemble_goes_on_in_its_folder(tmp_path: Path) -> None:
    shutil.copytree(OLD / "ensemble", tmp_path / "ensemble")
    done = subprocess.run(
        [sys.executable, "-m", "crowd_demo", "ensemble", "--config", str(OLD / "few.yaml"), "--seeds", "1-2", "--vary",
         "flock.cap_neighbours=3,6", "--steps", "20", "--every", "10", "--out", str(tmp_path / "ensemble")],
        capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert hashes(tmp_path / "ensemble") == hashes(OLD / "ensemble")


def hashes(folder: Path) -> list[str]:
    with (folder / "table.csv").open(encoding="utf-8", newline="") as table:
        return [row["state_hash"] for row in csv.DictReader(table)]


def test_a_plugin_makes_the_crowd_that_it_made(tmp_path: Path) -> None:
    program = ("import sys; from crowd_demo import Simulation, load_config; sim = Simulation(load_config(sys.argv[1])); "
               "sim.step(40); print(sim.state_hash())")
    paths = os.pathsep.join([str(OLD / "plugin"), str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", program, str(OLD / "moths.yaml")], capture_output=True, encoding="utf-8",
                          env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == EXPECTED["moths.yaml"]["after 40 steps"]
