"""Recordings: a run is had again to the bit, a run that parts is found out, and whatever else is in a file costs one line."""

import base64
import os
import re
import threading
from pathlib import Path

import pytest
from crowds import BIRTHS_AND_DEATHS, simulation
from recorded_run import Run, replayed

from crowd_demo.config.model import value_of
from crowd_demo.host.files import sealed_line
from crowd_demo.host.recording.format import PIECE, Begin, read_recording, snapshot_line
from crowd_demo.host.recording.recording import Recording
from crowd_demo.sim.actions import Populate, SetWalls
from crowd_demo.sim.edits import lasting_edits
from crowd_demo.sim.save_format import encoded
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot
from crowd_demo.sim.tuning import SetNumbers, Tune
from crowd_demo.version import __version__


def eventful(path: Path, seed: int) -> Run:
    """A run with everything that can happen."""
    run = Run(path, seed, **(BIRTHS_AND_DEATHS if seed % 2 else {}))
    run.steps(70)
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

    run = Run(tmp_path / "a.replay", 10)
    run.steps(5)
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
    run = Run(path, 6)
    run.steps(50)
    run.end()
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
    run = Run(path, 7)
    run.steps(47)
    run.end()
    whole = path.read_bytes()
    path.write_bytes(whole[:whole.rindex(b'{"end"') + 9])
    script = read_recording(path)
    last = script.parts[-1].end
    player, sim = replayed(script)
    assert not script.ended and 40 <= last <= 47 and sim.tick == last + 20
    assert "was cut off" in player.verdict(sim.tick)


def test_after_a_crash_the_replay_makes_the_step_that_crashed(tmp_path: Path) -> None:
    path = tmp_path / "a.replay"
    run = Run(path, 8)
    run.steps(31)
    run.end(crash="ZeroDivisionError: in a step")
    player, sim = replayed(read_recording(path))
    assert sim.tick == 32 and "ZeroDivisionError: in a step" in player.verdict(sim.tick)


def test_a_full_disk_ends_the_recording_and_nothing_else(tmp_path: Path) -> None:
    run = Run(tmp_path / "a.replay", 13)
    run.steps(5)
    assert run.recording._file is not None
    os.close(run.recording._file)
    run.act(Populate(50))
    assert run.recording.error and run.sim.agents.count == 50
    run.steps(30)
    run.end()
