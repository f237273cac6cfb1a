"""Save files: what is loaded goes on as what was saved; whatever else is in a file costs one line."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crowds import BIRTHS_AND_DEATHS, CRATES, FLOCK, ROPE, loaded, open_world, simulation
from damages import damages, mistakes_in
from driven import without_progress
from fuzzes import FILES

from crowd_demo.cli import main
from crowd_demo.config import memory
from crowd_demo.config.loader import parse_overrides
from crowd_demo.config.memory import AGENT
from crowd_demo.host.recording.format import newest, read_save, with_overrides, write_save
from crowd_demo.sim.actions import Populate, SetWalls
from crowd_demo.sim.save_format import CHECKSUM_BYTES, MAGIC, check, decode, encoded, sealed
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot

HEAD = len(MAGIC) + 8
DAMAGED = 10 * FILES
CASES: dict[str, dict[str, Any]] = {"people": {"map": "doorway"}, "flock": FLOCK, "crates": CRATES, "ropes": ROPE,
                                    "births": {**open_world(500, 400), **BIRTHS_AND_DEATHS}}


def lively(**settings: Any) -> Simulation:
    """A crowd that has seen some steps and actions."""
    sim = simulation(**{**settings, "agents": 120}, steps=20)
    sim.apply(SetWalls((1, 1, 3, 3), True))
    sim.step(5)
    sim.apply(Populate(90))
    sim.optimizations.curve = "hilbert"
    return sim


def encode(snapshot: Snapshot, program: str) -> bytes:
    return b"".join(encoded(snapshot, program))


@pytest.fixture(scope="module")
def people() -> Simulation:
    return lively(map="doorway")


@pytest.mark.parametrize("case", CASES)
def test_what_is_loaded_goes_on_as_what_was_saved(case: str, tmp_path: Path) -> None:
    sim = lively(**CASES[case])
    write_save(tmp_path / "a.crowd", sim.snapshot())
    again = loaded(saved := read_save(tmp_path / "a.crowd"))
    assert encode(again.snapshot(), "1") == encode(saved, "1"), "the same bytes again"
    assert again.state_hash() == sim.state_hash() and again.history == sim.history
    assert again.optimizations == sim.optimizations == again.config.optimizations
    assert np.array_equal(again.population, sim.population)
    for each in (sim, again):
        each.step(30)
    assert again.state_hash() == sim.state_hash()


# --- files that are damaged, foreign or newer --------------------------------------------------------------------------

def outcome(data: bytes) -> str:
    """The line that the data cost; empty if a crowd can go on from it."""
    try:
        sim = loaded(decode(data))
    except ValueError as error:
        return str(error)
    sim.step(2)
    sim.state_hash()
    return ""


def test_damaged_files_cost_one_line_each(people: Simulation) -> None:
    data = encode(people.snapshot(), "1")
    for number, damaged in enumerate(damages(data, 1, DAMAGED)):
        line = outcome(damaged) if damaged != data else "the same"
        assert line and "\n" not in line and len(line) < 500, number


def test_damaged_files_with_a_right_checksum_cost_at_most_one_line(people: Simulation) -> None:
    """Half of them damaged in the header, where most can go wrong; what is loaded can be stepped."""
    data = encode(people.snapshot(), "1")[:-CHECKSUM_BYTES]
    arrays = data.index(b"}", data.index(b'"shapes"')) + 2
    lines = []
    for number, damaged in enumerate([*damages(data[:arrays], 2, DAMAGED // 2), *damages(data, 3, DAMAGED // 2)]):
        whole = damaged + data[arrays:] if number < DAMAGED // 2 else damaged
        lines.append(outcome(b"".join(sealed(whole))))
        assert "\n" not in lines[-1] and len(lines[-1]) < 500, number
    assert len({re.sub("[0-9]+", "", line) for line in lines}) > 20


def changed(snapshot: Snapshot, **values: Any) -> bytes:
    return encode(snapshot._replace(**values), "1")


def with_column(snapshot: Snapshot, name: str, value: float) -> bytes:
    columns = snapshot.columns.copy()
    row = columns[snapshot.names.index(name)]
    row[3] = value if name in ("id", "goal", "state", "goal_visible") else np.float32(value).view(np.int32)
    return changed(snapshot, columns=columns)


LIES: dict[str, tuple[Callable[[Snapshot], bytes], str]] = {
    "twice": (lambda s: with_column(s, "id", 5), "column id: not each once"),
    "negative id": (lambda s: with_column(s, "id", -1), "column id"),
    "unknown id": (lambda s: with_column(s, "id", 10**6), "column id"),
    "nan": (lambda s: with_column(s, "x", float("nan")), "column x has nan for agent "),
    "infinite": (lambda s: with_column(s, "vx", float("inf")), "column vx has inf for agent "),
    "outside": (lambda s: with_column(s, "x", 1e6), "column x has 1000000 for agent "),
    "left": (lambda s: with_column(s, "y", -0.5), "column y has -0.5 for agent "),
    "goal": (lambda s: with_column(s, "goal", 99), "column goal has 99 for agent "),
    "state": (lambda s: with_column(s, "state", 5), "column state has 5 for agent "),
    "kind": (lambda s: changed(s, kinds=np.full_like(s.kinds, 9)), "tiles that no wall makes"),
    "tiles": (lambda s: changed(s, kinds=s.kinds[1:]), "tiles that no wall makes"),
    "prices": (lambda s: changed(s, crowding=s.crowding - 8), "crowding: not the prices of these tiles"),
    "no prices": (lambda s: changed(s, crowding=s.crowding[:0]), "crowding: not the prices of these tiles"),
    "map": (lambda s: changed(s, map_digest="0"), "the map doorway has changed since"),
    "names": (lambda s: changed(s, names=s.names[:-1]), "columns and their names differ"),
    "other names": (lambda s: changed(s, names=(*s.names[:-1], "z")), "the columns are not those of crowd"),
    "dead": (lambda s: changed(s, generations=s.generations - 9), "generations"),
    "links": (lambda s: changed(s, link_ends=np.array([[1, 2]], np.int32), link_generations=np.zeros((1, 2), np.int32)),
              "there are links, but the configuration has none"),
    "ends": (lambda s: changed(s, link_ends=np.array([[2, 1]], np.int32), link_generations=np.zeros((1, 2), np.int32)),
             "the lower first"),
    "three": (lambda s: changed(s, link_ends=np.zeros((1, 3), np.int32)), "not two ends each"),
    "late": (lambda s: changed(s, history=((s.tick + 1, Populate(5)),)), "ticks are not in order"),
    "long": (lambda s: changed(s, population=np.zeros(2000, np.int32)), "population: too long"),
    "technique": (lambda s: changed(s, techniques={"curvee": "row"}), "techniques: unknown technique 'curvee' (did you mean"),
    "value": (lambda s: changed(s, techniques={"threads": 0}), "techniques: threads: must be"),
}


@pytest.mark.parametrize("lie", LIES)
def test_what_contradicts_itself_is_named(people: Simulation, lie: str) -> None:
    forge, said = LIES[lie]
    assert said in outcome(forge(people.snapshot()))


@pytest.mark.parametrize(("place", "value", "said"), [
    (len(MAGIC), 2, "has format 2; this program reads format 1"), (len(MAGIC), 0, "has format 0; this program reads format 1"),
    (0, 65, "is not a save file of crowd-demo"), (HEAD - 1, 255, "its header is too long"), (HEAD, 0, "is damaged: header"),
])
def test_other_files_are_told_apart(people: Simulation, place: int, value: int, said: str) -> None:
    data = bytearray(encode(people.snapshot(), "1")[:-CHECKSUM_BYTES])
    data[place] = value
    assert said in outcome(b"".join(sealed(bytes(data))))


def test_more_agents_than_there_is_memory_for_are_one_line(people: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the configuration says."""
    few = people.config.model_copy(update={"agents": 4})
    grown, sim = Simulation(few), Simulation(few)
    grown.populate(90)
    saved = decode(encode(grown.snapshot(), "1"))
    monkeypatch.setattr(memory, "available_bytes", lambda: 80 * AGENT)
    for restore in (lambda: check(saved, sim), lambda: sim.restore(saved)):
        with pytest.raises(ValueError, match=r"^90 agents: needs about 0 MB of memory"):
            restore()


@pytest.mark.quick
@pytest.mark.parametrize("content", [b"", b"x\n", MAGIC, MAGIC + bytes(100), b"\x89PNG\r\n\x1a\n" + bytes(1000), b"\n" * 50])
@pytest.mark.parametrize(("command", "name"), [("--load", "a.crowd"), ("replay", "a.replay")])
def test_a_foreign_file_is_one_line_and_exit_code_2(
        command: str, name: str, content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_bytes(content)
    for path in (tmp_path / name, tmp_path / f"none-{name}", tmp_path):
        assert main([command, str(path), "--headless"]) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.startswith(f"{path}:") and err.count("\n") == 1


# --- the command line ------------------------------------------------------------------------------------------------

def test_only_what_no_step_depends_on_can_be_changed(people: Simulation) -> None:
    snapshot = decode(encode(people.snapshot(), "1"))
    texts = ["optimizations.simd=false", "window.width=400", "time.speed=2", "camera.zoom=2", "keys.hud=f14"]
    other = with_overrides(snapshot, "a.crowd", parse_overrides(texts, "--set"))
    assert other.techniques["simd"] is False and other.techniques["curve"] == "hilbert" and other.config.window.width == 400
    assert mistakes_in(with_overrides, snapshot, "a.crowd", parse_overrides(["seed=5", "crowd.radius=9"], "--set")) == [
        "--set:1: seed: cannot be changed, because the saved crowd depends on it",
        "--set:2: crowd.radius: cannot be changed, because the saved crowd depends on it"]


def test_the_command_line_goes_on_from_a_save(people: Simulation, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, report = tmp_path / "a.crowd", tmp_path / "a.json"
    write_save(path, people.snapshot())
    again = loaded(people.snapshot())
    again.step(10)
    arguments = ["--load", str(path), "--headless", "--no-render", "--frames", "10", "--report", str(report)]
    assert main([*arguments, "--threads", "1", "--set", "optimizations.neighbours=buckets"]) == 0
    assert again.state_hash() in report.read_text("utf-8") and '"steps": 35' in report.read_text("utf-8")
    assert main([*arguments, "--set", "agents=5"]) == 2
    assert "--set:1: agents: cannot be changed" in capsys.readouterr().err
    assert main([*arguments, "--config", "1k"]) == 2
    assert capsys.readouterr().err.startswith("--config: not with --load")
    write_save(path, people.snapshot()._replace(map_digest="0"))
    assert main(arguments) == 2
    assert without_progress(capsys.readouterr().err) == f"{path}: the map doorway has changed since\n"


@pytest.mark.quick
def test_the_newest_save_is_found(tmp_path: Path) -> None:
    import os

    assert newest(tmp_path) is None
    for number, name in enumerate(["b.crowd", "c.crowd", "a.crowd", "d.png"]):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (number, number))
    assert newest(tmp_path) == tmp_path / "a.crowd"
