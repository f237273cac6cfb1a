"""`crowd-demo play`: what this program and JuPedSim write is played where it was; a mistake is a line and exit code 2."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from damages import damages
from exported import LEAVING, asked, source
from fuzzes import FILES, SEED

from crowd_demo.cli import main
from crowd_demo.cli.arguments import parser_of
from crowd_demo.config.maps import WALL
from crowd_demo.config.model import Config
from crowd_demo.extras.commands.play import PLAY
from crowd_demo.extras.export.sources import PersonNumbers, frames
from crowd_demo.extras.export.trajectories import write
from crowd_demo.sim.simulation import Simulation

METRE, EVERY = 26.0, 6
WALKS = "# framerate: 10\n# geometry: POLYGON ((0 0, 9 0, 9 6, 0 6, 0 0))\n" + "".join(
    f"{person} {frame} {1 + frame / 10} {1 + person}\n" for frame in range(20) for person in range(4))


def config_of(*arguments: object) -> Config:
    """The configuration that `play` makes of its arguments."""
    config = PLAY.read(parser_of("play", PLAY).parse_args(list(map(str, arguments))))
    assert isinstance(config, Config)
    return config


@pytest.mark.parametrize(("suffix", "options"), [(".txt", ()), (".sqlite", ()), (".csv", ("--fps", "10", "--y", "down"))])
def test_a_run_that_was_exported_is_played_where_it_was(tmp_path: Path, suffix: str, options: tuple[str, ...]) -> None:
    of, path = source("station", 3, **LEAVING), tmp_path / f"run{suffix}"
    write(asked(of, path))
    sim, numbers, shift = Simulation(config_of(path, *options)), PersonNumbers(), None
    for frame in frames(of, EVERY):
        found, people = sim.agents.by_id(), numbers.of(frame)
        order = np.argsort(people)
        apart = np.stack((found.x - frame.columns.x[order], found.y - frame.columns.y[order]))
        shift = apart.mean(axis=1) if shift is None else shift  # the walkable area may begin elsewhere
        assert np.abs(apart - shift[:, None]).max() < 2e-3
        sim.step(EVERY)
    if suffix != ".csv":
        assert (sim.terrain.kinds == WALL).mean() > 0.2


@pytest.mark.quick
def test_a_play_ends_with_its_file_and_is_recorded_and_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, recording, report = tmp_path / "walks.txt", tmp_path / "run.replay", tmp_path / "run.json"
    path.write_text(WALKS, encoding="utf-8")
    assert main(["play", str(path), "--headless", "--no-render", "--record", str(recording), "--report", str(report)]) == 0
    found = json.loads(report.read_text("utf-8"))
    assert (found["frames"], found["agents"]) == (114, 4)  # 1.9 s
    assert main(["replay", str(recording), "--headless"]) == 0
    path.write_text(WALKS.replace("1 19 2.9 ", "1 19 2.4 "), encoding="utf-8")
    assert main(["replay", str(recording), "--headless"]) == 1  # not the same file any more


@pytest.mark.quick
def test_geometry_tile_rate_and_direction_are_chosen(tmp_path: Path) -> None:
    path, area = tmp_path / "walks.txt", tmp_path / "hall.wkt"
    path.write_text(WALKS, encoding="utf-8")
    area.write_text("POLYGON ((-2 -2, 12 -2, 12 8, -2 8, -2 -2))", encoding="utf-8")
    config = config_of(path, "--geometry", area, "--fps", "20", "--y", "down", "--set", "world.tile=1 m", "--size", "800x600")
    assert (config.world.width, config.world.height) == (16 * METRE, 12 * METRE)
    assert (config.window.width, config.window.height, config.agents) == (800, 600, 4)
    sim = Simulation(config)
    for seconds in (0.0, 0.5):
        assert sim.agents.by_id().x == pytest.approx([(1 + seconds * 2 + 3) * METRE] * 4, rel=1e-5)
        assert sim.agents.by_id().y == pytest.approx([(1 + person + 3) * METRE for person in range(4)], rel=1e-5)
        sim.step(30)


@pytest.mark.quick
@pytest.mark.parametrize(("corner", "outside"), [(0, 0), (2, 4), (32_500_000, 4), (1.5, 0), (1.6, 4), (-9.5, 4)])
def test_people_outside_of_a_floor_plan_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str], corner: float,
                                                    outside: int) -> None:
    path, area, end = tmp_path / "walks.txt", tmp_path / "hall.wkt", corner + 9
    path.write_text(WALKS, encoding="utf-8")
    area.write_text(f"POLYGON (({corner} 0, {end} 0, {end} 6, {corner} 6, {corner} 0))", encoding="utf-8")
    Simulation(config_of(path, "--geometry", area))
    assert capsys.readouterr().err == (
        f"crowd-demo: {path}: {outside} of 4 people are outside; they are shown at the edge\n" * (outside > 0))


@pytest.mark.quick
@pytest.mark.parametrize(("name", "text", "options", "said"), [
    ("walks.txt", None, (), "walks.txt: cannot be read (No such file or directory)"),
    ("walks.txt", WALKS + "5 x 1 1\n", (), "walks.txt:83: must be numbers: id, frame, x, y, not '5 x 1 1'"),
    ("walks.doc", WALKS, (), "walks.doc: must end in one of .txt, .csv, .sqlite"),
    ("walks.csv", "id,frame,x,y\n1,1,1,1\n", (), "walks.csv: has no frame rate; --fps N specifies it"),
    ("walks.txt", "1 27 160.5 820\n1 28 160.5 811\n", (),
     "walks.txt: has no frame rate; --fps N specifies it; at 25 per second people move at 225 m/s, as if x and y were"),
    ("walks.txt", WALKS.replace("10\n", "12:5\n", 1), (), "walks.txt: has no frame rate; --fps N specifies it"),
    ("walks.txt", WALKS.replace("10\n", "5000\n", 1), (), "play: playback.fps: "),
    ("walks.csv", 'id,frame,x,y\n1,0,1,"1\n1,1,1,1\n', ("--fps", "10"),
     "walks.csv:2: a row must have at most 100,000 characters, and an even number of quotes"),
    ("walks.txt", WALKS, ("--columns", "id,frame,x"),
     "walks.txt: the columns must be named id, frame, x, y, each once, not so y"),
    ("walks.txt", "# framerate: 10\n1 1 1 1\n1 2 40000 1\n", (), "play: map: /"),
    ("walks.txt", "# all positions in cm\n" + WALKS, (), "walks.txt: the unit of x and y is unclear (cm, m): --unit m, cm or"),
    ("walks.txt", WALKS, ("--set", "world.tile=-1"), "--set:1: world.tile"),
    ("walks.txt", WALKS, ("--geometry", "no.wkt"), "play: map: 'no.wkt' is neither a file"),
    ("walks.txt", WALKS, ("--geometry", "a.png"), "--geometry: 'a.png': must be a map in metres (.wkt, .json, .geojson, "),
    ("walks.txt", WALKS, ("--geometry", "plaza"), "--geometry: 'plaza': must be a map in metres (.wkt, .json,"),
    ("walks.sqlite", "what?", (), "walks.sqlite: not JuPedSim's database (file is not a database)"),
])
def test_a_mistake_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str,
                               text: str | None, options: tuple[str, ...], said: str) -> None:
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path(name).write_text(text, encoding="utf-8")
    assert main(["play", name, *options, "--headless"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and error.startswith(said)


@pytest.mark.quick
@pytest.mark.parametrize(("text", "options", "said"), [
    (WALKS, (), ""),
    (WALKS.replace("POLYGON", "geo.wkt #"), (), "its geometry, 'geo.wkt # ((0 0, 9 0, 9 6, 0 6, 0 0))', is neither"),
    ("1 27 160.5 820\n2 27 200.5 820\n1 28 160.5 811\n2 28 200.5 811\n", ("--fps", "16"), "people move at 144 m/s, as if"),
    ("1 27 160.5 820\n2 27 200.5 820\n1 28 160.5 811\n2 28 200.5 811\n", ("--fps", "16", "--unit", "cm"), ""),
    ("0 1 1 1\n0 2 9 1\n10 1 1.1 1\n10 2 9.1 1\n", ("--fps", "2"), "id and frame look swapped: --columns frame,id,x,y"),
    ("0 1 1 1\n0 2 9 1\n10 1 1.1 1\n10 2 9.1 1\n", ("--fps", "2", "--columns", "frame,id,x,y"), "")])
def test_a_file_is_played_with_a_note_of_what_looks_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str,
                                                          options: tuple[str, ...], said: str) -> None:
    path = tmp_path / "walks.txt"
    path.write_text(text, encoding="utf-8")
    assert main(["play", str(path), *options, "--headless", "--no-render", "--frames", "2"]) == 0
    error = capsys.readouterr().err
    assert error.count("\n") == bool(said) and (not said or error.startswith(f"crowd-demo: {path}: {said}"))


@pytest.mark.quick
def test_unit_and_columns_are_those_of_the_run_its_replay_and_its_map(tmp_path: Path) -> None:
    path, recording = tmp_path / "walks.txt", tmp_path / "run.replay"
    path.write_text("0 7 100 100\n0 8 300 100\n1 7 110 100\n1 8 310 100\n", encoding="utf-8")
    options = "--unit", "cm", "--columns", "frame,id,x,y", "--fps", "10"
    config = config_of(path, *options, "--set", "world.tile=1 m")
    assert (config.world.unit, config.playback.columns, config.agents) == ("cm", "frame,id,x,y", 2)
    assert (config.world.width, config.world.height) == (5 * METRE, 3 * METRE)
    sim = Simulation(config)
    assert sim.agents.by_id().x.tolist() == [METRE, 3 * METRE]
    assert main(["play", str(path), *options, "--headless", "--no-render", "--record", str(recording)]) == 0
    assert main(["replay", str(recording), "--headless"]) == 0


@pytest.mark.quick
@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names of files are text")
def test_a_name_that_is_not_text_is_played_recorded_and_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/f\xfc\xdf 100%"))
    folder.mkdir()
    path, area, recording = folder / "caf\udce9.txt", folder / "caf\udce9.wkt", tmp_path / "run.replay"
    path.write_text(WALKS, encoding="utf-8")
    area.write_text("POLYGON ((-2 -2, 12 -2, 12 8, -2 8, -2 -2))", encoding="utf-8")
    run = "--headless", "--no-render", "--record", str(recording), "--report", str(tmp_path / "report.json")
    assert main(["play", str(path), "--geometry", str(area), *run]) == 0
    assert main(["replay", str(recording), "--headless"]) == 0
    path.write_text(WALKS + "5 x 1 1\n", encoding="utf-8")
    assert main(["play", str(path), *run]) == 2
    assert capsys.readouterr().err.endswith("caf\\udce9.txt:83: must be numbers: id, frame, x, y, not '5 x 1 1'\n")


@pytest.mark.quick
@pytest.mark.parametrize("suffix", [".txt", ".sqlite"])
def test_a_damaged_file_is_played_or_one_line(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run{suffix}"
    if suffix == ".txt":
        path.write_text(WALKS, encoding="utf-8")
    else:
        write(asked(source("station", 0.3, agents=9), path))
    refused, data = 0, path.read_bytes()
    for damaged in damages(data, SEED + 1, FILES // 3):
        path.unlink()
        path.write_bytes(damaged)
        try:
            sim = Simulation(config_of(path))
            sim.step(2)
        except ValueError as error:
            refused += 1
            assert str(path) in str(error) and all(map(str.isprintable, str(error).splitlines()))
    assert refused > FILES / 20


# --- with JuPedSim -------------------------------------------------------------------------------------------------------

def test_jupedsim_opens_what_is_exported(tmp_path: Path) -> None:
    jupedsim = pytest.importorskip("jupedsim", reason="JuPedSim comes with the extra [validation]")
    path = tmp_path / "run.sqlite"
    write(asked(source("station", 1, **LEAVING), path))
    recording = jupedsim.Recording(str(path))
    assert recording.num_frames == 11 and recording.fps == 10
    frame = recording.frame(5)
    assert len(frame.agents) == 60 and recording.geometry().area > 500
    bounds = recording.bounds()
    assert all(bounds.xmin <= agent.position[0] <= bounds.xmax and bounds.ymin <= agent.position[1] <= bounds.ymax
               for agent in frame.agents)


def test_what_jupedsim_writes_is_played(tmp_path: Path) -> None:
    jupedsim = pytest.importorskip("jupedsim", reason="JuPedSim comes with the extra [validation]")
    path, corners = tmp_path / "jps.sqlite", [(-5, -3), (15, -3), (15, 4), (-5, 4)]
    simulation = jupedsim.Simulation(
        model=jupedsim.CollisionFreeSpeedModel(), geometry=corners,
        trajectory_writer=jupedsim.SqliteTrajectoryWriter(output_file=path, every_nth_frame=4))
    leave = simulation.add_exit_stage([(14, -3), (15, -3), (15, 4), (14, 4)])
    journey = simulation.add_journey(jupedsim.JourneyDescription([leave]))
    for row in range(5):
        simulation.add_agent(jupedsim.CollisionFreeSpeedModelAgentParameters(
            position=(-4, -2 + row), journey_id=journey, stage_id=leave))
    while simulation.agent_count() and simulation.iteration_count() < 3000:
        simulation.iterate()
    del simulation
    recording = jupedsim.Recording(str(path))
    sim = Simulation(config_of(path, "--set", "time.step_hz=50"))
    for number in (0, 3, 40):
        sim.step(round(number / recording.fps * 50) - sim.tick)
        agents = sorted(recording.frame(number).agents, key=lambda agent: agent.id)
        found = sim.agents.by_id()
        assert found.x / METRE - 5.5 == pytest.approx([agent.position[0] for agent in agents], abs=1e-4)
        assert 4.5 - found.y / METRE == pytest.approx([agent.position[1] for agent in agents], abs=1e-4)
    sim.step(60 * 50)
    assert sim.agents.count == len(recording.frame(recording.num_frames - 1).agents)
