"""Whatever else is in a recording costs one line that says where."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from damages import damages
from fuzzes import FILES
from recorded_run import Run

from crowd_demo.config import memory
from crowd_demo.config.loader import load_config
from crowd_demo.host.files import sealed_line
from crowd_demo.host.recording.format import (
    CHECK_EVERY,
    Act,
    Begin,
    End,
    Reached,
    RecordingHeader,
    WentBack,
    read_recording,
)
from crowd_demo.host.recording.recording import Player
from crowd_demo.sim.save_format import SaveError
from crowd_demo.sim.simulation import Simulation

DAMAGED = 10 * FILES


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("recording") / "a.replay"
    run = Run(path, 9)
    run.steps(45)
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
