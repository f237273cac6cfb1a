"""What the command line prints: help, lists, the configuration and its schema."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from crowd_demo import __version__, load_config
from crowd_demo.cli import main
from crowd_demo.cli.arguments import COMMANDS, EXPERIMENTS
from crowd_demo.config.keys import ACTIONS, by_heading
from crowd_demo.config.model import Config
from crowd_demo.config.resources import list_configs

ROOT = Path(__file__).parents[2]
quick = pytest.mark.quick


ONLY_PRINT = """
import contextlib, io, sys
from crowd_demo.cli import main
from crowd_demo.cli.arguments import COMMANDS, EXPERIMENTS
for args in (["--help"], ["--version"], ["--list-configs"], ["--list-keys"], ["--print-config"], ["--print-schema"],
             ["--confg"], ["--config", "nowhere"], ["swep"], ["sweep", "neigbours"],
             *([*name.split(), "--help"] for name in (*COMMANDS, *EXPERIMENTS))):
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()), \\
            contextlib.redirect_stderr(io.StringIO()):
        main(args)
print(sorted({"numba", "pygame", "numpy"} & set(sys.modules)))
"""


@quick
def test_help_has_a_line_for_each_command_and_each_has_its_own(capsys):
    for args in (["--help"], *([*name.split(), "--help"] for name in (*COMMANDS, *EXPERIMENTS))):
        with pytest.raises(SystemExit) as leaving:
            main(args)
        assert leaving.value.code == 0
    out = capsys.readouterr().out
    assert all(f"\n  {name:10}{about}\n" in out for name, (_, about) in COMMANDS.items())
    assert all(f"\n  {name.split()[1]:10}{about}\n" in out for name, (_, about) in EXPERIMENTS.items())
    assert all(f"usage: crowd-demo {name} " in out for name in (*COMMANDS, *EXPERIMENTS) if name != "run")


@quick
def test_version_and_help_are_exit_code_0(capsys):
    for option in ("--version", "--help"):
        with pytest.raises(SystemExit) as leaving:
            main([option])
        assert leaving.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(f"crowd-demo {__version__}\n") and "--print-schema" in out


@quick
def test_list_configs_has_a_line_for_each(capsys):
    assert main(["--list-configs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(list_configs())
    assert all(len(line.split()) > 4 for line in lines)


@quick
def test_list_keys_shows_the_keys_that_are_in_force(capsys):
    assert main(["--config", "20k-flock", "--list-keys", "--set", "keys.quit=f14", "--set", "keys.hud="]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines if line.startswith(" ")]
    assert {"quit", "hud", "pan_left"} <= {word for row in rows for word in row}
    assert ["f14", "quit"] in [row[:2] for row in rows]
    assert ["-", "hud"] in [row[:2] for row in rows]
    assert ["a", "left", "pan_left"] in [row[:3] for row in rows]
    assert len(rows) == len(ACTIONS)
    assert [line for line in lines if line and not line.startswith(" ")] == list(by_heading())


@quick
@pytest.mark.parametrize("args", [
    [], ["--set", "window.title='0o14'", "--set", "keys.pause=[f14, '0']", "--set", "keys.quit=", "--set", "keys.overlays="],
    ["--set", "camera.center=[1e-3, 7]", "--set", "optimizations.cull=off", "--set", "crowd.max_speed_factor=0.1"],
    ["--set", "window.title=  ä: 'ö' # \N{OWL} ", "--set", "optimizations.cell_size=17.5"],
])
def test_the_printed_configuration_loads_to_an_equal_one(capsys, tmp_path, args):
    assert main(["--config", "20k-flock", "--print-config", *args]) == 0
    path = tmp_path / "printed.yaml"
    path.write_text(capsys.readouterr().out, "ascii")
    assert load_config(path) == load_config("20k-flock", args[1::2])


@quick
def test_the_printed_schema_is_that_of_the_model(capsys):
    assert main(["--print-schema"]) == 0
    assert json.loads(capsys.readouterr().out) == Config.model_json_schema()


def test_what_only_prints_imports_neither_numba_nor_pygame():
    done = subprocess.run([sys.executable, "-c", ONLY_PRINT], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "[]\n"
