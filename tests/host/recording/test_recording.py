"""Recordings: a run is had again to the bit, a run that parts is found out, and whatever else is in a file costs one line."""

import base64
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from crowds import BIRTHS_AND_DEATHS, simulation
from damages import damages
from driven import Driven
from fuzzes import FILES
from recorded_run import Run, replayed

from crowd_demo.app.screen import close_window
from crowd_demo.cli import main
from crowd_demo.config import memory
from crowd_demo.config.loader import load_config
from crowd_demo.config.model import value_of
from crowd_demo.host.files import sealed_line
from crowd_demo.host.recording.format import (
    CHECK_EVERY,
    PIECE,
    Act,
    Begin,
    End,
    Reached,
    RecordingHeader,
    Script,
    WentBack,
    read_recording,
    snapshot_line,
    write_save,
)
from crowd_demo.host.recording.recording import Player, Recording
from crowd_demo.sim.actions import Populate, SetWalls
from crowd_demo.sim.edits import lasting_edits
from crowd_demo.sim.save_format import SaveError, encoded
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot
from crowd_demo.sim.tuning import SetNumbers, Tune
from crowd_demo.version import __version__


def eventful(path: Path, seed: int) -> Run:
    """A run with everything that can happen."""
    run = Run(path, seed, **(BIRTHS_AND_DEATHS if seed % 2 else {})).steps(70)
    run.kept = run.sim.snapshot()
    run.steps(60)
    run.rewind()
    run.steps(45)
    run.restart()
    run.steps(50)
    run.load()
    run.steps(65)
    return run


@pytest.mark.parametrize("seed", range(4))
def test_a_replay_of_a_long_random_run_has_its_hashes(seed: int, tmp_path: Path) -> None:
    run = eventful(tmp_path / "a.replay", seed)
    run.end()
    script = read_recording(tmp_path / "a.replay")
    assert script.ended and len(script.parts) == 3
    player, sim = replayed(script)
    assert player.parted is None and player.compared >= 10
    assert (sim.tick, sim.state_hash()) == (run.sim.tick, run.sim.state_hash())
    assert "the same" in player.verdict(sim.tick) and player.report()["complete"] is True


def test_a_restart_that_keeps_walls_and_numbers_is_replayed(tmp_path: Path) -> None:
    run = Run(tmp_path / "a.replay", 6)
    number = next(number for number in run.sim.config.numbers if number.live == "step")
    value = (value_of(run.sim.config, number.path) + number.low) / 2
    run.act(SetWalls((1, 1, 4, 3), True))
    run.act(Tune(number.path, value))
    run.steps(25)
    edits = (*lasting_edits(run.sim.history, run.sim.terrain), SetNumbers(((number.path, value),)))
    left, run.sim = run.sim.tick, Simulation(run.sim.config, edits)
    run.recording.begin(run.sim, left)
    run.steps(45)
    run.end()
    player, sim = replayed(read_recording(tmp_path / "a.replay"))
    assert player.parted is None and player.compared == 4
    assert sim.state_hash() == run.sim.state_hash() and dict(sim.numbers.values) == {number.path: value}


def test_nothing_that_takes_long_is_done_between_two_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The save that a late recording begins with, and the last hash: what follows waits for its turn."""
    may = threading.Event()

    def encoding(snapshot: Snapshot, program: str) -> tuple[bytes | memoryview, ...]:
        may.wait(60)
        return encoded(snapshot, program)

    run = Run(tmp_path / "a.replay", 10).steps(5)
    monkeypatch.setattr("crowd_demo.host.recording.format.encoded", encoding)
    monkeypatch.setattr(Simulation, "state_hash", lambda sim: pytest.fail("a hash between two steps"))
    run.recording = Recording(tmp_path / "b.replay", run.sim)
    run.steps(30)
    run.act(Populate(50))
    run.recording.end(run.sim)
    assert not run.recording.is_written and (tmp_path / "b.replay").read_bytes().count(b"\n") == 1
    may.set()
    run.recording.wait()
    monkeypatch.undo()
    player, sim = replayed(script := read_recording(tmp_path / "b.replay"))
    assert script.parts[0].first == 5 and run.recording.nbytes == (tmp_path / "b.replay").stat().st_size
    assert player.parted is None and player.compared == 2 and player.script.ended
    assert sim.state_hash() == run.sim.state_hash()


def test_the_line_of_a_snapshot_is_made_in_pieces() -> None:
    snapshot = simulation(agents=5000).snapshot()
    pieces = list(snapshot_line(snapshot, left=7))
    assert max(map(len, pieces)) <= PIECE * 4 // 3 and len(pieces) > 3
    whole = Begin(snapshot=base64.b64encode(b"".join(encoded(snapshot, __version__))).decode(), left=7)
    assert b"".join(pieces) == sealed_line(whole.model_dump_json(exclude_none=True).encode())


def test_a_run_that_parts_is_told_at_its_first_hash(tmp_path: Path) -> None:
    path = tmp_path / "a.replay"
    Run(path, 6).steps(50).end()
    lines = path.read_bytes().splitlines(keepends=True)
    wrong = [sealed_line(line[:-18].replace(b'"tick":40,', b'"tick":39,')) if b'"tick":40,' in line and b"hash" in line
             else line for line in lines]
    path.write_bytes(b"".join(wrong))
    player, _ = replayed(read_recording(path))
    assert player.parted and player.parted[0] == 39 and player.report()["parted_at"] == 39
    assert re.fullmatch(r".*a\.replay: parts at tick 39: [0-9a-f]{32} was recorded, [0-9a-f]{32} is here", player.verdict(39))
    later, _ = replayed(read_recording(path), start_at=45)
    assert later.parted is None and later.compared == 1


def test_a_recording_that_was_cut_off_goes_on_for_as_long_as_the_run_may_have(tmp_path: Path) -> None:
    path = tmp_path / "a.replay"
    Run(path, 7).steps(47).end()
    whole = path.read_bytes()
    path.write_bytes(whole[:whole.rindex(b'{"end"') + 9])
    script = read_recording(path)
    last = script.parts[-1].end
    player, sim = replayed(script)
    assert not script.ended and 40 <= last <= 47 and sim.tick == last + 20
    assert "was cut off" in player.verdict(sim.tick)


def test_after_a_crash_the_replay_makes_the_step_that_crashed(tmp_path: Path) -> None:
    path = tmp_path / "a.replay"
    Run(path, 8).steps(31).end(crash="ZeroDivisionError: in a step")
    player, sim = replayed(read_recording(path))
    assert sim.tick == 32 and "ZeroDivisionError: in a step" in player.verdict(sim.tick)


def test_a_full_disk_ends_the_recording_and_nothing_else(tmp_path: Path) -> None:
    run = Run(tmp_path / "a.replay", 13).steps(5)
    assert run.recording._file is not None
    os.close(run.recording._file)
    run.act(Populate(50))
    assert run.recording.error and run.sim.agents.count == 50
    run.steps(30)
    run.end()


# --- Damaged recordings ----------------------------------------------------------------------------------------------

DAMAGED = 10 * FILES


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("recording") / "a.replay"
    run = Run(path, 9).steps(45)
    run.restart()
    run.steps(10)
    run.end()
    return path.read_bytes()


def outcome(path: Path, data: bytes) -> str:
    """The line that the data cost; empty if they can be replayed, of which a few steps are."""
    path.write_bytes(data)
    try:
        script = read_recording(path)
        player = Player(script)
        player.start(Simulation(script.parts[0].config))
        for _ in range(3):
            player.step()
    except SaveError as error:
        return str(error)
    return ""


def lines_damaged(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Damaged within one line, or by its place, with right checksums."""
    chance = np.random.default_rng(seed)
    lines = [line[:-17] for line in data.splitlines()]
    damaged = {number: damages(line, seed + number, 10**9) for number, line in enumerate(lines)}
    for number in range(count):
        place, changed = int(chance.integers(len(lines))), list(lines)
        if number % 4 == 0:
            del changed[place]
        elif number % 4 == 1:
            changed.insert(int(chance.integers(len(lines))), lines[place])
        else:
            changed[place] = next(damaged[place]).replace(b"\n", b"")
        yield b"".join(map(sealed_line, changed))


def test_damaged_recordings_cost_at_most_one_line(recorded: bytes, tmp_path: Path) -> None:
    for number, damaged in enumerate(damages(recorded, 11, DAMAGED)):
        line = outcome(tmp_path / "a.replay", damaged)
        assert "\n" not in line and len(line) < 500, number
        whole = damaged[:damaged.rfind(b"\n") + 1]
        assert line or recorded.startswith(whole), number  # only whole lines may be missing at the end


def test_damaged_recordings_with_right_checksums_cost_at_most_one_line(recorded: bytes, tmp_path: Path) -> None:
    said = [outcome(tmp_path / "a.replay", damaged) for damaged in lines_damaged(recorded, 12, DAMAGED)]
    assert all("\n" not in line and len(line) < 500 for line in said)
    assert len({re.sub("[0-9]+", "", line) for line in said}) > 10


def test_lines_that_contradict_each_other_are_named(recorded: bytes, tmp_path: Path) -> None:
    header, begin, *rest = recorded.splitlines(keepends=True)
    other = sealed_line(RecordingHeader(magic="crowd-demo recording", format=2, program="9.0").model_dump_json().encode())

    def said(*lines: bytes) -> str:
        return outcome(tmp_path / "a.replay", b"".join(lines))

    def line(of: Act | End | Reached | WentBack) -> bytes:
        return sealed_line(of.model_dump_json().encode())

    assert "has format 2; this program reads format 1" in said(other, begin)
    assert ":1: is not a recording of crowd-demo" in said(begin)
    assert "it ends before it begins" in said(header)
    assert ":2: the recording does not begin with a crowd" in said(header, rest[0], begin)
    assert ":3: a rewind leads nowhere" in said(header, begin, line(WentBack(left=3, to=5, actions=0)))
    assert ":4: there is a line after the end" in said(header, begin, line(End(tick=5)), line(Reached(tick=9, jump=1)))
    assert ":3: hash of jump 2" in said(header, begin, line(Reached(tick=5, jump=2)))
    assert ":3: unknown action 'dance'" in said(header, begin, line(Act(tick=5, action={"name": "dance"})))
    assert ":3: action populate: count" in said(header, begin, line(Act(tick=5, action={"name": "populate", "count": -1})))
    late = [line(Act(tick=tick, action={"name": "populate", "count": 5})) for tick in (9, 8)]
    assert ":4: actions are not in the order of their ticks" in said(header, begin, *late)
    impossible = {"name": "switch", "path": "threads", "value": 0}
    assert "tick 0: threads: must be" in said(header, begin, line(Act(tick=0, action=impossible)))


def test_what_needs_more_memory_than_there_is_is_named(
        recorded: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header, begin = recorded.splitlines(keepends=True)[:2]
    many = Act(tick=5, action={"name": "populate", "count": 4_000_000}), End(tick=9)
    lines = [sealed_line(line.model_dump_json().encode()) for line in many]
    (tmp_path / "a.replay").write_bytes(b"".join((header, begin, *lines)))
    player = Player(read_recording(tmp_path / "a.replay"))
    sim = player.start(Simulation(player.part.config))
    monkeypatch.setattr(memory, "available_bytes", lambda: 512 << 20)
    with pytest.raises(SaveError, match=r"a\.replay: tick 5: 4,000,000 agents: needs about 1,335 MB of memory"):
        for _ in range(9):
            sim = player.step()
    assert sim.agents.count == 120, "nothing was changed"


@pytest.mark.quick
def test_more_lines_than_there_is_memory_for_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = RecordingHeader(magic="crowd-demo recording", format=1, program="1.0").model_dump_json().encode()
    begin = Begin(config=load_config("1k").model_dump(mode="json")).model_dump_json().encode()
    path = tmp_path / "a.replay"
    path.write_bytes(sealed_line(header) + sealed_line(begin) + sealed_line(b'{"tick":1,"jump":1}') * CHECK_EVERY)
    read_recording(path)
    monkeypatch.setattr(memory, "available_bytes", lambda: 60 << 20)
    with pytest.raises(SaveError, match=rf"a\.replay:{CHECK_EVERY}: needs about 62 MB of memory, and 60 MB are free"):
        read_recording(path)


# --- By users --------------------------------------------------------------------------------------------------------

COMMON = ["--headless", "--no-render", "--set", "time.step_hz=20"]


def test_a_run_is_recorded_and_replayed_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                              errors_of: Callable[..., list[str]]) -> None:
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
    assert errors_of("replay", str(path), "--headless", "--from", "51") == ["--from: the recording ends at tick 50"]
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
    driven.keys("f8", "-", frames=13)
    driven.press("f5")
    driven.settled("4")
    driven.frames(20)
    driven.press("r", frames=16)
    driven.press("f9", frames=11)
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
    driven.keys("space", "f5")
    saved, tick = driven.program.sim.state_hash(), driven.program.sim.tick
    driven.keys("=", ".", "f9")
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
    driven.keys("f8", "-", frames=31)
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
