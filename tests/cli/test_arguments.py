"""Arguments of the command line: what the program is given, and one line for each mistake."""

from pathlib import Path

import pytest

from crowd_demo import load_config
from crowd_demo.app.options import RunOptions
from crowd_demo.cli import main
from crowd_demo.host.streams import STDOUT

quick = pytest.mark.quick


@quick
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


@quick
def test_without_arguments_it_runs_20k_until_it_is_closed(started):
    assert main([]) == 0
    assert started == [(load_config("20k"), RunOptions(config_name="20k"))]


@quick
def test_a_tour_brings_its_configuration_which_can_be_changed(started):
    assert main(["--tour", "talk", "--set", "agents=50", "--headless"]) == 0
    ((config, options),) = started
    assert config == load_config("20k-flock", {"agents": 50})
    assert options == RunOptions(headless=True, tour="talk", config_name="20k-flock")


@quick
@pytest.mark.parametrize(("args", "line"), [
    (["--tour", "tlak"], "tlak: no such file, nor a shipped tour (did you mean talk?)"),
    (["--tour", "nothing"], "nothing: no such file, nor a shipped tour (there are: first-steps, hands, lesson, talk)"),
    (["--tour", "bad.yaml"], "bad.yaml:3: steps.0.say: there is no number 'ms'"),
    (["--tour", "talk", "--config", "1k"], "--tour: not with --config, for a tour brings its own configuration"),
    (["--tour", "talk", "--load", "a.crowd"], "--tour: not with --load, for a tour brings its own configuration"),
    (["--tour", "talk", "--headless", "--no-render"], "--no-render: not with --tour, which also measures the picture"),
    (["--tour", "talk", "--set", "agents=x"], "--set:1: agents: must be a whole number from 0 to 32000000, not 'x'"),
])
def test_a_mistake_about_a_tour_is_one_line(started, errors_of, tmp_path, monkeypatch, args, line):
    monkeypatch.chdir(tmp_path)
    Path("bad.yaml").write_text("config: 1k\nsteps:\n  - say: '{ms}'\n", "utf-8")
    assert line in errors_of(*args) and not started


@quick
def test_a_report_may_go_to_standard_output_and_the_picture_be_left_out(started):
    assert main(["--config", "20k-flock", "--headless", "--no-render", "--report", "-", "--threads", "auto"]) == 0
    assert started[0][1] == RunOptions(headless=True, render=False, report=STDOUT, config_name="20k-flock")


@quick
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
])
def test_a_mistake_is_one_line_and_exit_code_2(started, errors_of, tmp_path, monkeypatch, args, start):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.png").mkdir()
    (line,) = errors_of(*(args if "--config" in args else ["--config", "20k-flock", *args]))
    assert line.startswith(start)
    assert started == []


@quick
@pytest.mark.parametrize(("args", "start"), [
    (["swep"], "crowd-demo: unknown command 'swep' (did you mean sweep?); commands: run, replay, sweep, "),
    (["20k"], "crowd-demo: unknown command '20k' (did you mean --config 20k?); commands: run, "),
    (["xyzzy"], "crowd-demo: unknown command 'xyzzy'; commands: run, "),
    (["sweep"], "crowd-demo sweep: the following arguments are required: PATH"),
    (["lab", "columns", "1000000000"], "agents: needs about 190,734 MB of memory, and "),
    (["lab", "memory", "1000000000"], "entities: needs about 95,367 MB of memory, and "),
    (["lab", "columns", "-5"], "crowd-demo lab columns: argument agents: must be a whole number from 1 to 1000000000, not "),
    (["lab", "memory", "many"], "crowd-demo lab memory: argument entities: must be a whole number from 1 to 1000000000, "),
    (["lab", "memory", "--bogus"], "crowd-demo lab memory: unrecognized arguments: --bogus"),
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
def test_a_mistake_of_any_command_is_one_line(started, errors_of, args, start):
    (line,) = errors_of(*args)
    assert line.startswith(start)
    assert started == []


@quick
def test_run_is_the_command_if_none_is_named(started):
    assert main(["run", "--config", "1k"]) == main(["--config", "1k"]) == 0
    assert started[0] == started[1]


@quick
def test_an_experiment_of_one_number_gets_it(monkeypatch):
    seen: list[int] = []
    monkeypatch.setattr("crowd_demo.extras.lab.claims.experiments.memory.layout", seen.append)
    monkeypatch.setattr("crowd_demo.extras.lab.claims.experiments.memory.memory", seen.append)
    assert [main(["lab", "columns"]), main(["lab", "columns", "12"]), main(["lab", "memory", "7"])] == [0, 0, 0]
    assert seen == [250_000, 12, 7]


@quick
def test_all_mistakes_come_at_once(started, errors_of, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("agnts: 5\noptimizations: {cull: no}\n", "utf-8")
    lines = errors_of("--config", str(path), "--no-render", "--report", str(tmp_path), "--threads", "99")
    assert [line.split(": ")[0] for line in lines] == [
        "--no-render", "--report", "--threads", f"{path}:1", f"{path}:2"]
