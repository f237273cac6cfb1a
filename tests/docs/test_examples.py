"""The examples run, with small crowds, as a reader would start them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest

from crowd_demo import Simulation
from crowd_demo.cli.arguments import COMMANDS, EXPERIMENTS, parser_of
from crowd_demo.cli.main import load_command

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
NOTEBOOK = """
import ast, json, sys, types

shown = []
display = types.ModuleType("IPython.display")
display.Image, display.display = bytes, shown.append
sys.modules["IPython"], sys.modules["IPython.display"] = types.ModuleType("IPython"), display
names = {}
for number, cell in enumerate(json.load(open(sys.argv[1], encoding="utf-8"))["cells"]):
    if cell["cell_type"] == "code":
        cell = ast.parse("".join(cell["source"]), f"cell {number}")
        last = ast.Expression(cell.body.pop().value) if isinstance(cell.body[-1], ast.Expr) else ast.parse("None", mode="eval")
        exec(compile(cell, f"cell {number}", "exec"), names)
        value = eval(compile(last, f"cell {number}", "eval"), names)
        if hasattr(value, "_repr_html_"):
            assert value._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html')
            print("a page plays in the cell")
assert all(png.startswith(b"\\x89PNG") for png in shown)
print(len(shown), "pictures shown")
"""


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run([sys.executable, *command], env={**os.environ, "PYTHONPATH": paths, **environment},
                          capture_output=True, encoding="utf-8", timeout=600)


def test_a_technique_is_measured() -> None:
    done = run(str(EXAMPLES / "measure_technique.py"), "neighbours", "none", "sorted", "--agents", "300", "--steps", "5")
    assert done.returncode == 0, done.stderr
    first, second, verdict = done.stdout.splitlines()
    assert first.startswith("none ") and second.startswith("sorted ") and first.split()[-1] == second.split()[-1]
    assert verdict == "one crowd, to the last bit"


@pytest.mark.parametrize("name", ["own_boids", "discs"])
def test_programs_of_your_own_need_sixty_lines_and_two_modules(name: str) -> None:
    source = (EXAMPLES / f"{name}.py").read_text("utf-8")
    assert len(source.splitlines()) <= 60
    assert set(re.findall(r"crowd_demo[.\w]*", source)) == {"crowd_demo.grid", "crowd_demo.sprites"}
    done = run(str(EXAMPLES / f"{name}.py"), "500", "5", SDL_VIDEODRIVER="dummy")
    assert done.returncode == 0, done.stderr


def test_an_approximate_technique_is_called_so() -> None:
    done = run(str(EXAMPLES / "measure_technique.py"), "stagger.avoidance", "1", "8", "--agents", "3000", "--steps", "5")
    assert done.stdout.splitlines()[-1] == "not the same crowd: this technique is approximate", done.stderr


@pytest.mark.slow
def test_the_ladder_is_checked_and_measured() -> None:
    done = run(str(EXAMPLES / "ladder.py"), "--points", "1500", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    said, heads, *rows = done.stdout.splitlines()
    assert said.startswith("1,500 points") and said.endswith("identical bit by bit") and heads.startswith("version")
    pairs = {row.split()[0]: int(row.split()[2].replace(",", "")) for row in rows}
    assert list(pairs) == ["brute_force", "grid_of_lists", "counting_sort", "cell_order", "lanes", "threads"]
    assert pairs["brute_force"] == 1500**2 > pairs["lanes"] == pairs["threads"] > pairs["cell_order"] == pairs["counting_sort"]
    assert all(int(row.split()[5]) > 1 for row in rows[4:]), "lanes are packed instructions"


def test_one_version_of_the_ladder() -> None:
    done = run(str(EXAMPLES / "ladder.py"), "lanes", "--points", "300", "--rounds", "1")
    assert done.returncode == 0 and [line.split()[0] for line in done.stdout.splitlines()[2:]] == ["lanes"], done.stderr


def test_a_strip_of_pictures_is_saved(tmp_path: Path) -> None:
    target = tmp_path / "strip.png"
    done = run(str(EXAMPLES / "strip_of_pictures.py"), str(target), "--agents", "300", "--every", "3", "--size", "96")
    assert done.returncode == 0, done.stderr
    assert pygame.image.load(target).get_size() == (4 * 96, 96)


def test_lanes_are_the_same_to_the_last_bit() -> None:
    done = run(str(EXAMPLES / "lanes.py"))
    assert done.returncode == 0, done.stderr
    assert "after 60; one by one and in lanes the same to the last bit" in done.stdout


@pytest.mark.quick
def test_lanes_can_be_copied_as_six_files() -> None:
    """As docs/design/lanes.md says: all they need besides is `device`, and options of Numba."""
    files = {"simd", "simd_memory", "llvm", "dispatch", "hashing", "arrays"}
    needed = {(module, name) for file in files
              for module, name in re.findall(r"^from crowd_demo\.(\S+) import (.+)$",
                                             (ROOT / f"crowd_demo/compute/{file}.py").read_text("utf-8"), re.MULTILINE)
              if module not in {f"compute.{each}" for each in files}}
    assert needed - {("compute", "llvm")} == {("compute.jit", "device"), ("compute.numba_plain", "IN_KERNELS")}


def test_the_notebook_runs_from_top_to_bottom() -> None:
    done = run("-c", NOTEBOOK, str(EXAMPLES / "staggering.ipynb"), AGENTS="600", STEPS="6")
    assert done.returncode == 0, done.stderr
    assert "period   ms a step" in done.stdout and "1 pictures shown" in done.stdout
    errors = re.findall(r"^8 \[(.*)\]$", done.stdout, re.MULTILINE)[0].split()
    assert float(errors[0]) == 0 < float(errors[-1]) and len(errors) > 4 and "a page plays in the cell" in done.stdout


@pytest.mark.quick
def test_scripts_fit_on_a_screen() -> None:
    for script in EXAMPLES.glob("*.py"):
        most = 290 if script.name == "ladder.py" else 60  # which is read from top to bottom instead
        assert len(script.read_text("utf-8").splitlines()) <= most, script


# --- the example of docs/design/lanes.md runs as it stands there, and its table names the files that there are -------

LANES_PAGE = (ROOT / "docs/design/lanes.md").read_text("utf-8")


def expected() -> int:
    """The sum by NumPy."""
    points = 100_003
    x, y = np.random.default_rng(1).uniform(0, 1000, (2, points + 16)).astype(np.float32)[:, :points]
    dx, dy = x - np.float32(600), y - np.float32(400)
    return int((dx * dx + dy * dy).astype(np.int64).sum())


def test_the_example_gives_one_sum_scalar_and_in_lanes_by_any_number_of_workers(tmp_path: Path) -> None:
    (code,) = re.findall(r"<!-- a test runs this -->\n```python\n(.*?)```", LANES_PAGE, re.DOTALL)
    (tmp_path / "example.py").write_text(code, "utf-8")
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    done = subprocess.run([sys.executable, str(tmp_path / "example.py")], env={**os.environ, "PYTHONPATH": paths},
                          capture_output=True, encoding="utf-8", timeout=200)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [name for name, _, _ in rows] == ["one_by_one"] * 3 + ["in_lanes"] * 3
    assert {int(found) for _, _, found in rows} == {expected()}


@pytest.mark.parametrize("page", ["grid", "sprites"])
def test_the_example_of_a_page_runs(page: str, tmp_path: Path) -> None:
    text = (ROOT / f"docs/{page}.md").read_text("utf-8")
    (code,) = re.findall(r"<!-- a test runs this -->\n```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "example.py").write_text(code, "utf-8")
    done = run(str(tmp_path / "example.py"), SDL_VIDEODRIVER="dummy")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.quick
def test_the_table_names_files_that_exist() -> None:
    rows = re.findall(r"^\| (`[^|]*`) \|", LANES_PAGE, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+\.py)`", row)}
    assert {"jit.py", "simd.py", "workers.py", "dispatch.py", "cache.py"} <= named
    assert [name for name in sorted(named) if not (ROOT / "crowd_demo/compute" / name).is_file()] == []


# --- the tutorial's behaviour works from outside ---------------------------------------------------------------------

EXAMPLE = ROOT / "examples/first_behaviour"
CROWD = {"behaviour": "moths", "map": "null", "agents": "300", "world.width": "500", "world.height": "400"}
ONE_HASH = """
import json
from crowd_demo import Simulation, load_config

hashes = {}
for structure, simd, threads in zip(("none", "sorted", "kd_tree"), ("true", "false", "true"), (1, 2, 2)):
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


@pytest.mark.slow
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
    assert len(results) == 3 and len({state for state, _ in results.values()}) == 1, results
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


# --- the code on the API page runs as it stands, one block after the other, and prints what its comments say ---------

PAGE = (Path(__file__).parents[2] / "docs/api.md").read_text("utf-8")
COMING = "picture", "step_ms"


def test_all_blocks_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)):
        if hasattr(Simulation, "picture") or not any(word in block for word in COMING):
            exec(compile(block, f"block {number} of api.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "overrides:1: agnts: unknown key (did you mean agents?)" in printed
    assert "threads: must be auto or a whole number from 1 to 64, not 0" in printed
    assert names["birds"].x.dtype == "float32" and not names["birds"].x.flags.writeable
    if "picture" in names:
        assert names["picture"].shape == (180, 320, 3)


@pytest.mark.quick
def test_every_option_and_field_is_in_the_reference() -> None:
    from crowd_demo.host import report
    commands, fields = ((ROOT / f"docs/reference/{name}.md").read_text("utf-8") for name in ("command-line", "report"))
    for name in (*COMMANDS, *EXPERIMENTS):
        assert f"## {name}\n" in commands, name
        for option in re.findall(r"--[a-z-]+", parser_of(name, load_command(name)).format_help()):
            assert option == "--help" or f"`{option}" in commands, option
    for field in re.findall(r'^        "(\w+)":', Path(report.__file__).read_text("utf-8"), re.MULTILINE):
        assert f"`{field}`" in fields, field
