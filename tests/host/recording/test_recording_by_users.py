"""Recordings made and played by the command line and by keys."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from driven import Driven
from recorded_run import replayed

from crowd_demo.app.screen import close_window
from crowd_demo.cli import main
from crowd_demo.config.loader import load_config
from crowd_demo.host.files import sealed_line
from crowd_demo.host.recording.format import End, Script, read_recording, write_save
from crowd_demo.host.recording.recording import Player
from crowd_demo.sim.simulation import Simulation

COMMON = ["--headless", "--no-render", "--set", "time.step_hz=20"]


def test_a_run_is_recorded_and_replayed_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, report = tmp_path / "a.replay", tmp_path / "a.json"
    assert main(["run", "--config", "1k", *COMMON, "--frames", "50", "--record", str(path), "--report", str(report)]) == 0
    recorded = json.loads(report.read_text("utf-8"))
    assert main(["replay", str(path), "--headless", "--report", str(report)]) == 0
    assert capsys.readouterr().out == f"{path}: the same 3 hashes up to tick 50\n"
    again = json.loads(report.read_text("utf-8"))
    assert again["state_hash"] == recorded["state_hash"] and again["steps"] == 50
    assert again["replay"] == {"recording": str(path), "complete": True, "hashes": 3, "parted_at": None}
    assert main(["replay", str(path), "--headless", "--from", "45"]) == 0
    assert "the same 1 hash up" in capsys.readouterr().out
    assert main(["replay", str(path), "--headless", "--from", "51"]) == 2
    assert capsys.readouterr().err == "--from: the recording ends at tick 50\n"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-1], sealed_line(End(tick=50, hash="0" * 32).model_dump_json().encode())]))
    assert main(["replay", str(path), "--headless"]) == 1
    assert "parts at tick 50" in capsys.readouterr().err


@pytest.mark.quick
@pytest.mark.parametrize("path", ["nowhere/a.replay", ".", "/dev/null"])
def test_a_recording_that_cannot_be_written_is_told_before_the_run(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--config", "1k", "--record", path]) == 2
    err = capsys.readouterr().err
    assert err.startswith("--record: ") and err.count("\n") == 1


def test_a_crash_names_the_recording_that_leads_to_it(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    path, step = tmp_path / "a.replay", Simulation.step

    def crash(sim: Simulation, n: int = 1) -> None:
        if sim.tick == 7:
            raise ZeroDivisionError("in a step")
        step(sim, n)

    monkeypatch.setattr(Simulation, "step", crash)
    monkeypatch.delenv("CROWD_DEMO_DEBUG", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["--config", "1k", *COMMON, "--frames", "50", "--record", str(path)]) == 1
    assert f"; crowd-demo replay {path} leads there again)" in capsys.readouterr().err
    script = read_recording(path)
    assert script.crash == "ZeroDivisionError: in a step" and script.parts[-1].end == 7
    assert main(["replay", str(path), "--headless"]) == 1
    assert "crashed: ZeroDivisionError: in a step" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_killed_program_leaves_a_recording_of_what_it_did(tmp_path: Path) -> None:
    path = tmp_path / "a.replay"
    command = [sys.executable, "-m", "crowd_demo", "--config", "1k", *COMMON, "--frames", "1000000", "--record", str(path)]
    with subprocess.Popen(command) as process:
        try:
            while not (path.exists() and path.read_bytes().count(b'"jump"') >= 4):  # the last line may be cut
                assert process.poll() is None
        finally:
            process.kill()
    player, _ = replayed(read_recording(path))
    assert player.parted is None and player.compared >= 3 and not player.script.ended


# --- in the window ---------------------------------------------------------------------------------------------------


@pytest.fixture
def driven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Driven]:
    monkeypatch.chdir(tmp_path)
    yield Driven("time.step_hz=20")
    close_window()


def written(driven: Driven) -> Script:
    """The recording that is finished now."""
    driven.program.files.finish(10)
    (path,) = Path().glob("*.replay")
    return read_recording(path)


def test_keys_record_a_run_with_a_restart_and_a_load(driven: Driven) -> None:
    driven.frames(5)
    driven.press("f8")
    driven.press("-")
    driven.frames(12)
    driven.press("f5")
    driven.press("4")
    driven.settle()
    driven.frames(20)
    driven.press("r")
    driven.frames(15)
    driven.press("f9")
    driven.frames(10)
    last = driven.program.sim.state_hash()
    driven.press("f8")
    assert driven.program.crowd.recording is None
    script = written(driven)
    assert len(script.parts) == 3 and script.parts[0].first > 0
    player, sim = replayed(script)
    assert player.parted is None and player.compared >= 2
    assert script.parts[-1].last_hash == sim.state_hash()
    assert last != sim.state_hash() or sim.tick == script.parts[-1].end


def test_saving_and_loading_bring_the_crowd_back(driven: Driven) -> None:
    driven.frames(5)
    driven.press("space")
    driven.press("f5")
    saved, tick = driven.program.sim.state_hash(), driven.program.sim.tick
    driven.press("=")
    driven.press(".")
    driven.press("f9")
    assert [path.name for path in Path().iterdir()] == ["crowd-0001.crowd"]
    assert (driven.program.sim.tick, driven.program.sim.state_hash()) == (tick, saved)
    crowd = driven.program.crowd
    assert crowd.agents_asked == 200 and crowd.scene and crowd.scene.sim is crowd.sim
    notices = driven.status().notices
    assert "saved crowd-0001.crowd" in notices and "loaded crowd-0001.crowd" in notices


def test_what_cannot_be_loaded_or_saved_is_a_notice(driven: Driven) -> None:
    driven.press("f9")
    assert any("there is no *.crowd file" in notice for notice in driven.status().notices)
    Path("a.crowd").write_bytes(b"nothing")
    driven.press("f9")
    assert "a.crowd: is not a save file of crowd-demo" in driven.status().notices
    for other, why in (({"map_digest": "0"}, "the map None has changed since"),
                       ({"config": load_config("20k-flock")}, "was saved in another world: use crowd-demo --load")):
        write_save(Path("a.crowd"), driven.program.sim.snapshot()._replace(**other))
        driven.press("f9")
        assert f"a.crowd: {why}" in driven.status().notices
    Path("a.crowd").unlink()
    Path.cwd().rmdir()
    driven.press("f5")
    driven.program.files.finish(10)
    assert any("cannot save" in notice for notice in driven.status().notices)


def test_a_replay_plays_and_takes_no_changes(driven: Driven) -> None:
    driven.press("f8")
    driven.press("-")
    driven.frames(30)
    driven.press("f8")
    program, script = driven.program, written(driven)
    player = program.crowd.player = Player(script)
    program.crowd.go_on_with(player.start(Simulation(player.part.config)), 0)
    driven.frames(3)
    tick, count = program.sim.tick, program.sim.agents.count
    for key in ("=", "r", "f9", "1", "f8", "]"):
        driven.press(key)
    assert program.sim.agents.count == count and program.sim.optimizations.neighbours != "none"
    assert program.sim.tick == tick + 6 and "this is a replay: it takes no changes" in driven.status().notices
    driven.press("tab")
    assert program.panels.now.hud == "full"
    while not program.crowd.paused:
        driven.frames()
    assert player.parted is None and program.sim.tick == script.parts[-1].end
    assert any("the same" in notice for notice in driven.status().notices)
