"""A toy of each kind is added from outside the package, through the entry point group, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOYS = Path(__file__).parent / "toys"
PRESS = """
import pygame
from crowd_demo.app.compiling.loading import Progress, load
from crowd_demo.app.loop import Loop
from crowd_demo.app.options import RunOptions
from crowd_demo.app.program import Program
from crowd_demo.app.screen.window import open_window, screen
from crowd_demo.app.process.worker import Worker
from crowd_demo.config.loader import load_config
config = load_config("toytown", ["keys.hud=null", "window.hud=false"])
open_window(config.window, headless=True)
worker = Worker()
loaded = worker.submit(lambda: load(config, True, Progress())).result()
program = Program(config, loaded)
loop = Loop(config, RunOptions(headless=True), program, worker)
def press(key):
    pygame.event.post(pygame.Event(pygame.KEYDOWN, key=pygame.key.key_code(key), mod=0))
    loop.frame()
    while program.techniques.switcher.pending:
        loop.frame()
    loop.frame()
    return tuple(screen().get_at((320, 180)))[:3]
print(press("z") == (255, 0, 255), press("z") == (255, 0, 255))
press("'")
print(program.sim.optimizations.brake, program.techniques.touched, {"brake", "census"} <= set(program.sim.profile.stages))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The package as if it were installed."""
    site = tmp_path_factory.mktemp("site")
    info = site / "toys-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[crowd_demo]\ntoys = toys.plugin:PLUGIN\n")
    paths = [str(site), str(TOYS), str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def python(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)


def crowd_demo(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return python(environment, "-m", "crowd_demo", *arguments)


def report(environment: dict[str, str], *arguments: str) -> dict[str, object]:
    done = crowd_demo(environment, "--config", "toytown", "--headless", "--no-render", "--frames", "12", "--report", "-",
                      *arguments)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_scenario_is_one_file_that_is_found(environment: dict[str, str]) -> None:
    listed = crowd_demo(environment, "--list-configs").stdout.splitlines()
    assert ["toytown", "A hundred birds of a toy package."] in [line.split(maxsplit=1) for line in listed]


def test_schema_keys_and_table_know_a_technique(environment: dict[str, str]) -> None:
    schema = json.loads(crowd_demo(environment, "--print-schema").stdout)
    assert schema["$defs"]["Optimizations"]["properties"]["census"]["type"] == "boolean"
    assert schema["$defs"]["Optimizations"]["properties"]["brake"]["maximum"] == 2
    listed = crowd_demo(environment, "--list-keys").stdout.splitlines()
    keys = {line.split()[1]: line.split()[0] for line in listed if line.startswith(" ")}
    assert (keys["brake"], keys["census"], keys["centre"]) == ("'", "-", "z")
    rows = python(environment, "-c", "from crowd_demo.registry.techniques import table; print(table())").stdout
    assert "| `'` | brake: take so many tenths" in rows and "|  | census: count who" in rows


def test_help_needs_neither_numba_nor_pygame(environment: dict[str, str]) -> None:
    code = "import sys; from crowd_demo.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n" \
           "print(sorted({'numba', 'pygame'} & set(sys.modules)))"
    assert python(environment, "-c", code).stdout.splitlines()[-1] == "[]"


def test_an_exact_technique_counts_and_leaves_the_hash_alone(environment: dict[str, str]) -> None:
    on, off = report(environment), report(environment, "--set", "optimizations.census=false")
    assert on["state_hash"] == off["state_hash"]
    assert 0 < on["counters"]["left_half"] < 100 and "left_half" not in off["counters"]  # type: ignore[index,operator]


def test_an_approximate_technique_changes_the_crowd_alike_for_any_threads(environment: dict[str, str]) -> None:
    braked = [report(environment, "--set", "optimizations.brake=2", "--threads", threads)["state_hash"] for threads in "12"]
    assert braked[0] == braked[1] != report(environment)["state_hash"]


def test_a_behaviour_that_was_written_by_hand_has_one_hash(environment: dict[str, str]) -> None:
    """What others observe of its agents is a tuple of floats and ints, as before such things could be declared."""
    gnats = [report(environment, "--set", "behaviour=gnats", "--set", f"optimizations.simd={simd}", "--set",
                    f"optimizations.neighbours={structure}") for simd, structure in (("true", "sorted"), ("false", "none"))]
    assert gnats[0]["state_hash"] == gnats[1]["state_hash"]
    assert gnats[0]["counters"]["neighbours_per_agent"] > 0  # type: ignore[index]


def test_a_mistake_is_one_line(environment: dict[str, str]) -> None:
    done = crowd_demo(environment, "--config", "toytown", "--set", "optimizations.brake=3")
    assert done.returncode == 2 and done.stderr == (
        "--set:1: optimizations.brake: must be a whole number from 0 to 2, not 3\n")


def test_keys_show_an_overlay_and_switch_a_technique(environment: dict[str, str]) -> None:
    done = python(environment, "-c", PRESS)
    assert done.stdout.splitlines()[-2:] == ["True False", "1 brake True"], done.stderr


@pytest.mark.parametrize(("plugin", "said"), [
    ("raise ImportError('nothing here')", "plugin broken is left out: ImportError: nothing here"),
    ("PLUGIN = 5", "plugin broken is left out: TypeError: broken:PLUGIN must be a Plugin, not 5"),
    ("PLUGIN = Plugin(overlays=OverlayEntry('x', 'x', 'x:x'))",
     "plugin broken is left out: TypeError: overlays must be a tuple of OverlayEntry records"),
    ("PLUGIN = Plugin(scenarios=Path('nowhere'))",
     "plugin broken is left out: ValueError: scenarios must be the Path of a folder, not 'nowhere'"),
    ("PLUGIN = Plugin(techniques=(Technique('mine', (1, 2), 3, True, 'mine', 'why'),))",
     "plugin broken is left out: ValueError: technique mine: its default 3 is none of its choices"),
    ("PLUGIN = Plugin(techniques=(Technique('mine', (1, 2), 1, False, 'mine', 'why', quick=2),))",
     "plugin broken is left out: ValueError: technique mine: quick must be one of its choices, and the technique exact"),
    ("PLUGIN = Plugin(measures=(MeasureEntry('a b', 'why', 'x:x'),))", "plugin broken is left out: ValueError: measure 'a b': "
     "its name must be an identifier, its fold one of mean, median, most, last, total"),
    ("PLUGIN = Plugin(techniques=(Technique('simd', (1, 2), 1, True, 'mine', 'why'),))",
     "Technique 'simd' of a plugin is left out: the name is taken"),
    ("PLUGIN = Plugin(overlays=(OverlayEntry('freeze', 'why', 'x:x'),))",
     "OverlayEntry 'freeze' of a plugin is left out: the name is taken"),
])
def test_a_broken_plugin_is_left_out_and_named(environment: dict[str, str], tmp_path: Path, plugin: str, said: str) -> None:
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[crowd_demo]\nbroken = broken:PLUGIN\n")
    (tmp_path / "broken.py").write_text(
        "from pathlib import Path\n"
        f"from crowd_demo.registry.entries import MeasureEntry, OverlayEntry, Plugin, Technique\n{plugin}\n")
    found = {**environment, "PYTHONPATH": f"{tmp_path}{os.pathsep}{environment['PYTHONPATH']}"}
    keys, configs = crowd_demo(found, "--list-keys"), crowd_demo(found, "--list-configs")
    assert keys.returncode == configs.returncode == 0 and "census" in keys.stdout and "toytown" in configs.stdout
    assert keys.stderr == f"crowd-demo: {said}\n"


@pytest.mark.parametrize(("record", "said"), [
    ("Technique('set', (1, 2), 1, True, 'a', 'b')",
     "plugin odd is left out: ValueError: technique 'set': no such name can be had"),
    ("Technique('odd', (1, 2), 1, True, 'a', 'b', key='1')", "odd has no key: '1' is taken"),
    ("Technique('odd', (1, 2), 1, True, 'a', 'b', key='hyper')", "odd has no key: 'hyper' is not the name of a key"),
])
def test_names_and_keys_that_cannot_be_had(environment: dict[str, str], tmp_path: Path, record: str, said: str) -> None:
    info = tmp_path / "odd-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[crowd_demo]\nodd = odd_plugin:PLUGIN\n")
    (tmp_path / "odd_plugin.py").write_text(
        f"from crowd_demo.registry.entries import Plugin, Technique\nPLUGIN = Plugin(techniques=({record},))\n")
    done = crowd_demo({**environment, "PYTHONPATH": f"{tmp_path}{os.pathsep}{environment['PYTHONPATH']}"}, "--list-keys")
    assert done.returncode == 0 and done.stderr == f"crowd-demo: {said}\n"
