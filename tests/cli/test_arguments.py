"""Arguments of the command line: what the program is given, and one line for each mistake."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from damages import make_fifo

from crowd_demo import load_config
from crowd_demo.app import RunOptions
from crowd_demo.cli import main
from crowd_demo.cli.arguments import COMMANDS, EXPERIMENTS
from crowd_demo.config.keys import ACTIONS, by_heading
from crowd_demo.config.model import Config
from crowd_demo.config.resources import list_configs
from crowd_demo.host.system import ERASE, STDOUT, standard_streams
from crowd_demo.version import __version__


@pytest.mark.quick
def test_the_program_gets_what_the_command_line_says(started, tmp_path):
    picture, report, trace = tmp_path / "a.png", tmp_path / "a.json", tmp_path / "b.json"
    assert main(["--config", "20k-flock", "--set", "agents=50", "--set", "flock.sight=1e1", "--seed", "7",
                 "--threads", "2", "--size", "640x480", "--fullscreen", "--headless", "--frames", "3",
                 "--screenshot", str(picture), "--report", str(report), "--trace", str(trace)]) == 0
    ((config, options),) = started
    assert config == load_config("20k-flock", {
        "agents": 50, "flock.sight": 10, "seed": 7, "optimizations.threads": 2,
        "window": {"width": 640, "height": 480, "fullscreen": True}})
    assert options == RunOptions(headless=True, frames=3, render=True, screenshot=picture, report=report,
                                 config_name="20k-flock", trace=trace)


@pytest.mark.quick
def test_without_arguments_or_a_command_it_runs_20k_until_it_is_closed(started):
    assert main([]) == main(["run"]) == 0
    assert started == [(load_config("20k"), RunOptions(config_name="20k"))] * 2


@pytest.mark.quick
def test_a_tour_brings_its_configuration_which_can_be_changed(started):
    assert main(["--tour", "talk", "--set", "agents=50", "--headless"]) == 0
    ((config, options),) = started
    assert config == load_config("20k-flock", {"agents": 50})
    assert options == RunOptions(headless=True, tour="talk", config_name="20k-flock")


@pytest.mark.quick
@pytest.mark.parametrize(("args", "line"), [
    (["--tour", "tlak"], "tlak: no such file, nor a shipped tour (did you mean talk?)"),
    (["--tour", "nothing"], "nothing: no such file, nor a shipped tour (there are: first-steps, hands, lesson, talk, why)"),
    (["--tour", "bad.yaml"], "bad.yaml:3: steps.0.say: there is no number 'ms'"),
    (["--tour", "talk", "--config", "1k"], "--tour: not with --config, for a tour brings its own configuration"),
    (["--tour", "talk", "--load", "a.crowd"], "--tour: not with --load, for a tour brings its own configuration"),
    (["--tour", "talk", "--headless", "--no-render"], "--no-render: not with --tour, which also measures the picture"),
    (["--tour", "talk", "--set", "agents=x"], "--set:1: agents: must be a whole number from 0 to 32000000, not 'x'"),
])
@pytest.mark.usefixtures("in_tmp_path")
def test_a_mistake_about_a_tour_is_one_line(started, errors_of, args, line):
    Path("bad.yaml").write_text("config: 1k\nsteps:\n  - say: '{ms}'\n", "utf-8")
    assert line in errors_of(*args) and not started


@pytest.mark.quick
def test_a_report_may_go_to_standard_output_and_the_picture_be_left_out(started):
    assert main(["--config", "20k-flock", "--headless", "--no-render", "--report", "-", "--threads", "auto"]) == 0
    assert started[0][1] == RunOptions(headless=True, render=False, report=STDOUT, config_name="20k-flock")


@pytest.mark.quick
@pytest.mark.parametrize(("args", "start"), [
    (["--confg", "20k"], "crowd-demo: unrecognized arguments: --confg 20k (did you mean --config?)"),
    (["--head"], "crowd-demo: unrecognized arguments: --head"),
    (["--headless", "20k"], "crowd-demo: unrecognized arguments: 20k"),
    (["--config"], "crowd-demo: argument --config: expected one argument"),
    (["--size", "1280"], "crowd-demo: argument --size: must be WIDTHxHEIGHT in pixels, such as 1280x720, not '1280'"),
    (["--size", "-1x5"], "crowd-demo: argument --size: "),
    (["--size", "99999x720"], "--size: window.width: must be a whole number from 16 to 16384, not 99999"),
    (["--frames", "0"], "crowd-demo: argument --frames: must be a whole number from 1 to 1000000000, not '0'"),
    (["--frames", "1000000001"], "crowd-demo: argument --frames: must be a whole number from 1 to 1000000000, not "),
    (["--frames", "1.5"], "crowd-demo: argument --frames: must be"),
    (["--frames=-3"], "crowd-demo: argument --frames: must be"),
    (["--seed", "abc"], "--seed: seed: must be a whole number from 0 to 9223372036854775807, not 'abc'"),
    (["--seed=-1"], "--seed: seed: must be"),
    (["--threads", "0"], "--threads: optimizations.threads: must be auto or a whole number from 1 to 64, not 0"),
    (["--threads", "many"], "--threads: optimizations.threads: must be"),
    (["--set", "agents"], "--set:1: agents: must be key.path=value, not 'agents'"),
    (["--set", "seed=2", "--set", "agnts=5"], "--set:2: agnts: unknown key (did you mean agents?)"),
    (["--set", "optimizations.simd=on"], "--set:1: optimizations.simd: must be true or false, not 'on' (did you mean "),
    (["--config", "20kk"], "20kk: no such file, nor a shipped configuration (did you mean 20k?)"),
    (["--config", ""], "crowd-demo: argument --config: must not be empty"),
    (["--load", ""], "crowd-demo: argument --load: must not be empty"),
    (["--tour", ""], "crowd-demo: argument --tour: must not be empty"),
    (["--screenshot", ""], "crowd-demo: argument --screenshot: must not be empty"),
    (["--no-render"], "--no-render: only with --headless"),
    (["--screenshot", "a.jpg"], "--screenshot: must end in .png, not 'a.jpg'"),
    (["--screenshot", "nowhere/a.png"], "--screenshot: there is no folder nowhere"),
    (["--screenshot", "folder.png"], "--screenshot: folder.png is a folder"),
    (["--report", "nowhere/a.json"], "--report: there is no folder nowhere"),
    (["--report", "x" * 5000], "--report: the file cannot be written: File name too long"),
    (["--report", "folder.png"], "--report: folder.png is a folder"),
    (["--list-keys", "--print-config"], "crowd-demo: argument --print-config: not allowed with argument --list-keys"),
    (["swep"], "crowd-demo: unknown command 'swep' (did you mean sweep?); commands: run, replay, sweep, "),
    (["20k"], "crowd-demo: unknown command '20k' (did you mean --config 20k?); commands: run, "),
    (["xyzzy"], "crowd-demo: unknown command 'xyzzy'; commands: run, "),
    (["sweep"], "crowd-demo sweep: the following arguments are required: PATH"),
    (["lab", "layout", "--agents", "1000000000"], "--agents: needs about 333,786 MB of memory, and "),
    (["lab", "--agents", "-5"], "crowd-demo lab: argument --agents: must be a whole number from 1 to 1000000000, not "),
    (["lab", "motion", "--bogus"], "crowd-demo lab motion: unrecognized arguments: --bogus"),
    (["replay", "nowhere.replay"], "nowhere.replay: "),
    (["replay", ""], "crowd-demo replay: argument FILE: must not be empty"),
    (["sweep", "simd", "--config", ""], "crowd-demo sweep: argument --config: must not be empty"),
    (["lab", "motion", "--steps", "999999999999"], "crowd-demo lab motion: argument --steps: must be a whole number from "),
    (["lab", "motion", "--steps", "-1"], "crowd-demo lab motion: argument --steps: must be a whole number from 0 to "),
    (["replay", "run.replay", "--from", "x"], "crowd-demo replay: argument --from: must be a whole number from 0 to "),
    (["play", "run.csv", "--fps", "0"], "crowd-demo play: argument --fps: must be a number of frames per second above 0, "),
    (["export", "run.replay", "run.csv", "--fps", "x"], "crowd-demo export: argument --fps: must be a number of frames per"),
    (["export", "run.replay", "run.csv", "--from", "-1"], "crowd-demo export: argument --from: must be a number of seconds"
     " from 0 on, such as 2.5, not '-1'"),
    (["export", "run.replay", "run.csv", "--to", "0"], "crowd-demo export: argument --to: must be a number of seconds above"),
    (["validate", "--out", ""], "crowd-demo validate: argument --out: must not be empty"),
])
@pytest.mark.usefixtures("in_tmp_path")
def test_a_mistake_is_one_line_and_exit_code_2(started, errors_of, tmp_path, args, start):
    (tmp_path / "folder.png").mkdir()
    (line,) = errors_of(*(["--config", "20k-flock"] if args[0].startswith("--") and "--config" not in args else []), *args)
    assert line.startswith(start)
    assert started == []


@pytest.mark.quick
def test_all_mistakes_come_at_once(started, errors_of, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("agnts: 5\noptimizations: {cull: no}\n", "utf-8")
    lines = errors_of("--config", str(path), "--no-render", "--report", str(tmp_path), "--threads", "99")
    assert [line.split(": ")[0] for line in lines] == [
        "--report", "--no-render", "--threads", f"{path}:1", f"{path}:2"]


# --- what the command line prints: help, lists, the configuration and its schema -------------------------------------

ROOT = Path(__file__).parents[2]


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


@pytest.mark.quick
def test_help_has_a_line_for_each_command_and_each_has_its_own(capsys):
    for args in (["--version"], ["--help"], *([*name.split(), "--help"] for name in (*COMMANDS, *EXPERIMENTS))):
        with pytest.raises(SystemExit) as leaving:
            main(args)
        assert leaving.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(f"crowd-demo {__version__}\n") and "--print-schema" in out
    assert all(f"\n  {name:10}{about}\n" in out for name, (_, about) in COMMANDS.items())
    assert all(f"\n  {name.split()[1]:10}{about}\n" in out for name, (_, about) in EXPERIMENTS.items())
    assert all(f"usage: crowd-demo {name} " in out for name in (*COMMANDS, *EXPERIMENTS) if name != "run")


@pytest.mark.quick
def test_list_configs_has_a_line_for_each(capsys):
    assert main(["--list-configs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(list_configs())
    assert all(len(line.split()) > 4 for line in lines)


@pytest.mark.quick
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


@pytest.mark.quick
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


@pytest.mark.quick
def test_the_printed_schema_is_that_of_the_model(capsys):
    assert main(["--print-schema"]) == 0
    assert json.loads(capsys.readouterr().out) == Config.model_json_schema()


def test_what_only_prints_imports_neither_numba_nor_pygame():
    done = subprocess.run([sys.executable, "-c", ONLY_PRINT], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "[]\n"


# --- how the program ends: exit codes, signals and crashes, as scripts see them --------------------------------------

@pytest.mark.quick
@pytest.mark.parametrize(("end", "code"), [(0, 0), (1, 1), (3, 3), (KeyboardInterrupt(), 130)])
def test_the_exit_code_is_that_of_the_program_and_ctrl_c_is_quiet(fails, capsys, end, code):
    fails(end)
    assert main(["--config", "20k-flock"]) == code
    assert capsys.readouterr() == ("", "")


@pytest.mark.quick
def test_a_crash_is_one_line_that_names_a_file_with_the_traceback(fails, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("CROWD_DEMO_DEBUG", raising=False)
    fails(ZeroDivisionError("first line\nsecond line"))
    assert main(["--config", "20k-flock"]) == 1
    (log,) = tmp_path.iterdir()
    assert capsys.readouterr().err == f"crowd-demo: crashed: ZeroDivisionError: first line (details in {log})\n"
    assert "Traceback (most recent call last)" in log.read_text("utf-8")
    assert __version__ in log.read_text("utf-8")


@pytest.mark.quick
def test_a_crash_while_debugging_is_a_traceback(fails, monkeypatch):
    monkeypatch.setenv("CROWD_DEMO_DEBUG", "1")
    fails(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        main(["--config", "20k-flock"])


# --- standard output and error that are full, closed or read in part, and files that are none ------------------------

@pytest.mark.quick
@pytest.mark.skipif(sys.platform != "linux", reason="/proc is a folder that takes no files, not even root's")
@pytest.mark.parametrize("option", ["--screenshot", "--report"])
def test_a_folder_that_takes_no_files_is_told_before_the_run(started, errors_of, option):
    (line,) = errors_of("--config", "20k-flock", option, "/proc/x.png")
    assert line.startswith(f"{option}: /proc/x.png cannot be written: ")
    assert started == []


def test_a_reader_that_leaves_early_is_no_mistake():
    child = subprocess.Popen([sys.executable, "-m", "crowd_demo", "--print-schema"], cwd=ROOT, encoding="utf-8",
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with child:
        assert child.stdout and child.stderr
        child.stdout.close()
        assert (child.stderr.read(), child.wait(60)) == ("", 0)


def test_a_mistake_in_a_process_of_its_own(tmp_path):
    (tmp_path / "bad.yaml").write_text("agents: 1\nworld: {width: -1}\n", "utf-8")
    done = subprocess.run([sys.executable, "-m", "crowd_demo", "--config", tmp_path / "bad.yaml"], cwd=ROOT,
                          capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (
        2, "", f"{tmp_path}/bad.yaml:2: world.width: must be a number from 0.1 to 65536 or text such as \"0.46 m\", not -1\n")


def shell(command: str, **environment: str) -> tuple[int, str]:
    """Exit code and standard error of a shell's command, in which PROGRAM stands for the program."""
    whole = command.replace("PROGRAM", f"{sys.executable} -m crowd_demo")
    done = subprocess.run(["bash", "-c", whole], cwd=ROOT, stderr=subprocess.PIPE, encoding="utf-8", check=False,
                          env={**os.environ, **environment})
    return done.returncode, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="a device of Linux")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("option", ["--help", "--version", "--list-configs", "--print-schema"])
def test_standard_output_that_takes_nothing_is_one_line_and_exit_code_1(option, unbuffered):
    full = "crowd-demo: cannot write to standard output: No space left on device\n"
    assert shell(f"PROGRAM {option} >/dev/full", PYTHONUNBUFFERED=unbuffered) == (1, full)
    closed = "crowd-demo: cannot write to standard output: Bad file descriptor\n"
    assert shell(f"PROGRAM {option} >&-", PYTHONUNBUFFERED=unbuffered) == (1, closed)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_closed_or_full_standard_error_changes_no_exit_code():
    assert shell("PROGRAM --config nowhere 2>&-") == (2, "")
    assert shell("PROGRAM --config nowhere 2>&- | cat; exit ${PIPESTATUS[0]}") == (2, "")
    if sys.platform == "linux":
        assert shell("PROGRAM --config nowhere 2>/dev/full") == (2, "")


@pytest.mark.quick
@pytest.mark.skipif(sys.platform == "win32", reason="FIFOs of POSIX")
def test_a_picture_may_go_to_a_fifo_of_any_name_but_to_no_new_file_of_it(started, tmp_path):
    make_fifo(tmp_path / "fifo")
    assert main(["--config", "20k-flock", "--screenshot", str(tmp_path / "fifo")]) == 0
    assert main(["--config", "20k-flock", "--screenshot", str(tmp_path / "file")]) == 2
    assert len(started) == 1


@pytest.mark.quick
def test_no_control_character_of_a_text_reaches_the_terminal(capsys):
    with standard_streams():
        print("\x1b[31mred\r", "\udcff\x9b\a", sep="\n")
        print(f"{ERASE}50 %", end="", file=sys.stderr)
        print(f"{ERASE}{ERASE}", file=sys.stderr)
    assert capsys.readouterr() == ("\\x1b[31mred\\r\n\\udcff\\x9b\\x07\n", f"{ERASE}50 %{ERASE}\\r\\x1b[K\n")


@pytest.mark.quick
@pytest.mark.parametrize("args", [["--config", "\x1b[31mred"], ["\x1b[31mred"], ["--\x1b[31mred"], ["--load", "\x1b[31mred"],
                                  ["--report", "\x1b/red"], ["ensemble", "--out", "a", "--measure", "\x1b[31mred"]])
def test_a_mistake_is_told_without_control_characters(errors_of, args):
    assert all(line.isprintable() for line in errors_of(*args))
