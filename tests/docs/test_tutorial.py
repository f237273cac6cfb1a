"""The tutorial's behaviour works from outside: found by its entry point, drawn, and one hash for all that is exact."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/first_behaviour"
CROWD = {"behaviour": "moths", "map": "null", "agents": "300", "world.width": "500", "world.height": "400"}
ONE_HASH = """
import itertools, json
from crowd_demo import Simulation, load_config

hashes = {}
for structure, simd, threads in itertools.product(("none", "sorted", "kd_tree"), ("true", "false"), (1, 2)):
    sim = Simulation(load_config("1k", [*SETTINGS, f"optimizations.neighbours={structure}", f"optimizations.simd={simd}",
                                        f"optimizations.threads={threads}"]))
    sim.step(20)
    hashes[f"{structure} {simd} {threads}"] = sim.state_hash(), sim.profile.counters["neighbours_per_agent"]
print(json.dumps(hashes))
"""


@pytest.fixture(scope="module")
def plugged_in(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the example counts as installed, though nothing was."""
    site = tmp_path_factory.mktemp("site")
    about = site / "crowd_demo_moths-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: crowd-demo-moths\nVersion: 1.0\n", "utf-8")
    (about / "entry_points.txt").write_text("[crowd_demo]\nmoths = moths:PLUGIN\n", "utf-8")
    paths = [str(ROOT), str(EXAMPLE), str(site), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def output(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, encoding="utf-8", timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def settings() -> list[str]:
    return [f"{key}={value}" for key, value in CROWD.items()]


def test_the_command_line_runs_and_draws_it(plugged_in: dict[str, str]) -> None:
    chosen = [part for setting in settings() for part in ("--set", setting)]
    report = json.loads(output(["-m", "crowd_demo", "--config", "1k", *chosen, "--size", "320x240", "--headless",
                                "--frames", "20", "--report", "-"], plugged_in))
    assert (report["agents"], report["config"]["behaviour"]) == (300, "moths")
    assert len(report["state_hash"]) == 32 and report["steps"] == 20
    assert report["config"]["moths"]["speed"] == 90
    assert "blit" in report["phases_ms"]


def test_one_hash(plugged_in: dict[str, str]) -> None:
    results = json.loads(output(["-c", ONE_HASH.replace("SETTINGS", repr(settings()))], plugged_in))
    assert len(results) == 12 and len({state for state, _ in results.values()}) == 1, results
    assert all(neighbours > 0 for _, neighbours in results.values())


@pytest.mark.quick
def test_its_settings_are_checked_and_shown(plugged_in: dict[str, str]) -> None:
    assert "moths:" in output(["-m", "crowd_demo", "--config", "1k", "--print-config"], plugged_in)
    wrong = subprocess.run([sys.executable, "-m", "crowd_demo", "--config", "1k", "--set", "moths.speed=-1", "--headless"],
                           env=plugged_in, capture_output=True, encoding="utf-8")
    assert wrong.returncode == 2
    assert wrong.stderr == "--set:1: moths.speed: must be a number from 0 to 10000, not -1\n"


@pytest.mark.quick
def test_reading_it_needs_no_compiler(plugged_in: dict[str, str]) -> None:
    code = "import sys; from crowd_demo.config.model import Config; assert Config().moths.lamps; print('numba' in sys.modules)"
    assert output(["-c", code], plugged_in) == "False\n"


@pytest.mark.quick
def test_it_is_about_sixty_lines() -> None:
    code = (EXAMPLE / "moths/behaviour.py").read_text("utf-8").splitlines()
    assert len([line for line in code if line.strip() and not line.startswith(("#", "import ", "from "))]) <= 65
