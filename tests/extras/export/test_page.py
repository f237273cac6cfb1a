"""A page has what the crowd's columns had, within a step, and says how it was made. The decoder is slow and obvious."""

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported import FLUX, LEAVING, Place, asked, of_csv, page_of, places, read_page, source, written
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_demo import Simulation, load_config
from crowd_demo.cli import main
from crowd_demo.config.resources import assets_folder
from crowd_demo.extras.export.page import MAX_ROWS, Tracks, file_parts, planned, step_length, write_page
from crowd_demo.extras.export.sources import PersonNumbers, Source, frames
from crowd_demo.measure.experiment import machine
from crowd_demo.sim.actions import SetWalls


def seen(of: Source, every: int) -> dict[tuple[int, int], Place]:
    """The same, straight from the columns."""
    found = dict[tuple[int, int], Place]()
    for number, frame in enumerate(frames(of, every)):
        states = getattr(frame.columns, "state", getattr(frame.columns, "kind", np.zeros(len(frame.columns.id), int)))
        for row in zip(*(each.tolist() for each in (frame.columns.id, frame.columns.x, frame.columns.y, states)), strict=True):
            found[row[0], number] = row[1:]
    return found


RUNS: dict[str, tuple[str, float, dict[str, Any]]] = {
    "people": ("1k", 3, {"agents": 60}), "exits": ("station", 12, LEAVING), "births": ("20k-flock", 2, FLUX),
    "birds": ("murmuration", 2, {"agents": 80}), "crates": ("crates", 1, {"agents": 80})}


@pytest.mark.parametrize("run", RUNS)
def test_positions_are_those_of_the_columns_within_a_step(tmp_path: Path, run: str) -> None:
    name, seconds, values = RUNS[run]
    about, blocks = page_of(source(name, seconds, **values), tmp_path / "run.html")
    ours, theirs = seen(source(name, seconds, **values), 6), places(about, blocks)
    assert ours.keys() == theirs.keys() and about["frames"] == round(seconds * 10) + 1 and about["fps"] == 10
    assert about["step"] == pytest.approx(0.26) or run == "birds"
    for key, (x, y, state) in ours.items():
        assert abs(theirs[key][0] - x) <= about["step"] * 1.001 and abs(theirs[key][1] - y) <= about["step"] * 1.001
        assert theirs[key][2] == state
    fresh = dict(about["facts"])
    sim = next(state for _, state in source(name, seconds, **values).states())
    for _ in range(round(seconds * 60)):
        sim.step()
    assert fresh["state hash"] == f"{sim.state_hash()} at step {round(seconds * 60):,}, the last frame"
    assert fresh["seed"] == str(sim.config.seed) and str(machine()["cores"]) in fresh["made on"]


def test_somebody_else_under_an_id_begins_a_track(tmp_path: Path) -> None:
    _, blocks = page_of(source("station", 12, **LEAVING), tmp_path / "run.html")
    numbers, people = PersonNumbers(), set[int]()
    for frame in frames(source("station", 12, **LEAVING), 6):
        people.update(numbers.of(frame).tolist())
    assert len(blocks["length"]) == len(people) > len(blocks["ids"])


def test_walls_that_are_built_are_there_from_their_frame_on(tmp_path: Path) -> None:
    of = source("1k", 1, agents=20, map=None, world__width=520, world__height=260)
    states = of.states

    def built() -> Any:
        for number, (crowd, sim) in enumerate(states()):
            if number == 31:
                sim.apply(SetWalls((4, 0, 5, 3), True))
            yield crowd, sim

    about, blocks = page_of(of._replace(states=built), tmp_path / "run.html")
    ground = about["ground"]
    assert ground["frames"] == [0, 6] and ground["tile"] == 65
    before, after = blocks["ground"].reshape(2, ground["rows"], ground["columns"])
    assert (before != after)[:3, 4].all() and not (before != after)[:, :4].any()
    pictures = blocks["pictures"].reshape(-1, ground["side"], ground["side"], 4)
    assert blocks["ground"].max() == len(pictures) - 1 and (pictures[..., 3] == 255).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([1.0, 30.0, 300.0, 20_000.0]))
@settings(max_examples=60, deadline=None)
def test_whatever_moves_however_is_within_a_step(seed: int, frame_count: int, reach: float) -> None:
    """Agents come, go, are replaced, jump by up to `reach` steps and stay within a world of 65,535 steps."""
    chance = np.random.default_rng(seed)
    tracks, alive, who = Tracks(frame_count, 0.5), np.zeros(0, bool), np.zeros(0, np.int64)
    x = y = np.zeros(0)
    given_frames = list[dict[int, Place]]()
    for frame in range(frame_count):
        more = int(chance.integers(4))
        x, y = (np.append(each, chance.uniform(0, 32_767.5, more)) for each in (x, y))
        alive, who = np.append(alive, np.ones(more, bool)), np.append(who, np.zeros(more, np.int64))
        x, y = (np.clip(each + chance.normal(0, reach * 0.5, len(each)), 0, 32_767.5) for each in (x, y))
        alive ^= chance.random(len(alive)) < 0.1
        who += chance.random(len(who)) < 0.1
        ids = np.flatnonzero(alive).astype(np.int32)
        state = chance.integers(4, size=len(ids)).astype(np.uint8)
        tracks.add(frame, ids, who[ids] * 1000 + ids, x[ids], y[ids], state)
        given_frames.append({identity: (x[identity], y[identity], each)
                             for identity, each in zip(ids.tolist(), state.tolist(), strict=True)})
    found = places({"step": 0.5}, tracks.blocks())
    assert len(found) == sum(map(len, given_frames))
    for frame, expected in enumerate(given_frames):
        for identity, (at_x, at_y, state_then) in expected.items():
            there = found[identity, frame]
            assert abs(there[0] - at_x) <= 0.5001 and abs(there[1] - at_y) <= 0.5001 and there[2] == state_then


@pytest.mark.quick
def test_a_step_is_a_centimetre_or_a_part_of_a_large_world() -> None:
    assert step_length(26, 4000, 2000) == 0.26
    assert step_length(26, 2000, 65_535) == 1.0


# --- what is too large ---------------------------------------------------------------------------------------------------

@pytest.mark.quick
def test_a_large_run_has_fewer_frames_and_then_a_sample(tmp_path: Path) -> None:
    plan = planned(asked(source("100k", 60), tmp_path / "run.html"), may_change_fps=True)
    assert plan.asked.every == 12 and plan.share == pytest.approx(MAX_ROWS / (100_000 * 301))
    assert [note.partition(":")[0] for note in plan.notes] == ["frames", "a sample"]
    fixed = planned(asked(source("100k", 60), tmp_path / "run.html", fps=10), may_change_fps=False)
    assert fixed.asked.every == 6 and fixed.share == pytest.approx(MAX_ROWS / (100_000 * 601)) and len(fixed.notes) == 1
    whole = planned(asked(source("20k", 60), tmp_path / "run.html"), may_change_fps=True)
    assert (whole.asked.every, whole.share, whole.notes) == (6, 1.0, ())
    births = planned(asked(source("1k", 60, life__births_per_s=10_000.0), tmp_path / "run.html"), may_change_fps=True)
    assert births.share < 0.1


def test_a_sample_is_said_and_has_the_agents_of_the_columns(tmp_path: Path) -> None:
    of, path = source("1k", 1, agents=400), tmp_path / "run.html"
    wanted = asked(of, path)
    lines = write_page(planned(wanted, False)._replace(share=0.25, notes=("a sample: 25%",)), "")
    about, blocks = read_page(path)
    found, ours = places(about, blocks), seen(source("1k", 1, agents=400), 6)
    assert lines[2] == "a sample: 25%" and ["left out", "a sample: 25%"] in about["facts"] and about["weight"] == 4
    assert 60 < len(blocks["ids"]) < 140 and found.keys() <= ours.keys() and len(found) == 11 * len(blocks["ids"])


# --- the file --------------------------------------------------------------------------------------------------------------

def test_it_says_what_it_wrote_and_is_the_same_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, again = tmp_path / "run.html", tmp_path / "again"
    again.mkdir()
    options = ["--seconds", "0.5", "--agents", "30", "--fps", "20", "--from", "0.1", "--set", "crowd.wait_s=2"]
    for folder in (tmp_path, again):
        assert main(["export", "1k", str(folder / "run.html"), *options]) == 0
    lines, size = capsys.readouterr().out.splitlines(), path.stat().st_size
    assert lines[0] == f"{path}: 30 agents in 9 frames, 20 per second, from 0.1 s to 0.5 s"
    assert lines[1] == (f"{size / 1e6:.1f} MB, {size / 270:.2f} bytes per agent and frame; 270 positions, each at most 1 cm"
                        " off on either axis; straight lines between frames, 0.05 s apart")
    facts = dict(read_page(path)[0]["facts"])
    assert facts["made again by"] == ("crowd-demo export 1k run.html --seconds 0.5 --agents 30 --fps 20 --from 0.1"
                                      " --set crowd.wait_s=2")
    assert path.read_bytes() == (again / "run.html").read_bytes()


@pytest.mark.quick
def test_the_viewer_is_small_and_asks_nobody() -> None:
    viewer = (assets_folder() / "player.html").read_text("utf-8")
    assert len(viewer.encode()) <= 40_000
    assert "http" not in viewer.replace("http-equiv", "") and "default-src 'none'" in viewer
    assert not re.search(r"\b(import|fetch|XMLHttpRequest|WebSocket|src=)\b", viewer)


@pytest.mark.quick
def test_a_title_cannot_break_the_page(tmp_path: Path) -> None:
    path, title = tmp_path / "run.html", "</script><b>&amp;$data $title"
    path.write_bytes(b"".join(file_parts({"title": title}, {"x": np.arange(3, dtype=np.uint16)})))
    about, blocks = read_page(path)
    assert about["title"] == title and blocks["x"].tolist() == [0, 1, 2]
    assert path.read_text("utf-8").count("</script><b>") == 0


@pytest.mark.quick
def test_too_little_room_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                     errors_of: Callable[..., list[str]]) -> None:
    monkeypatch.setattr("crowd_demo.extras.export.trajectories.shutil.disk_usage",
                        lambda folder: type("Usage", (), {"free": 10**6}))
    path = tmp_path / "run.html"
    assert errors_of("export", "1k", str(path), "--seconds", "10") == [
        f"{path}: needs about 3 MB, and 1 MB are free in {tmp_path}"]
    assert errors_of("export", "1k", str(path), "--seconds", "10", "--units", "world") == [
        "--units: not with .html, which has its own"]


# --- A simulation in a notebook: a page that plays, and a table; the simulation stays where it is --------------------

def crowd(name: str = "1k", **settings: Any) -> Simulation:
    return Simulation(load_config(name, {key.replace("__", "."): value for key, value in settings.items()}))


def test_a_table_is_where_the_next_steps_lead() -> None:
    sim = crowd(agents=60)
    sim.step(7)
    sim.set_walls((4, 0, 5, 3), True)  # which its history does not know
    before = sim.state_hash()
    table, far = sim.trajectories(every=4, steps=22), sim.trajectories(every=4, steps=22, metres=False)
    assert sim.tick == 7 and sim.state_hash() == before
    assert table.dtype.names == ("id", "frame", "x", "y") and table.frame.tolist() == np.repeat(range(6), 60).tolist()
    for frame in range(6):
        columns, rows = sim.agents.by_id(), table[table.frame == frame]
        assert (rows.id == columns.id).all() and (far[far.frame == frame].y == columns.y).all()
        assert rows.x == pytest.approx(columns.x / 26.0)
        sim.step(4)


@pytest.mark.parametrize(("name", "settings"), [("station", LEAVING), ("20k-flock", FLUX)])
def test_a_table_has_the_rows_of_a_file(tmp_path: Path, name: str, settings: dict[str, Any]) -> None:
    table = crowd(name, **settings).trajectories(every=6, steps=300)
    expected = written(source(name, 5, **settings), tmp_path / "run.csv")
    assert len(set(table.id.tolist())) > 60
    found = {(identity, frame): (x, y) for identity, frame, x, y in table.tolist()}
    assert found.keys() == expected.keys()
    assert all(found[key] == pytest.approx(place, abs=1e-6) for key, place in expected.items())
    assert of_csv(tmp_path / "run.csv") == expected


def test_a_table_becomes_a_data_frame() -> None:
    pandas = pytest.importorskip("pandas")
    table = crowd(agents=20).trajectories(every=6, steps=12)
    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == ["id", "frame", "x", "y"]
    assert (frame.groupby("id").x.first().to_numpy() == table.x[:20]).all() and len(frame) == 60


def test_a_page_in_a_cell_is_the_page_of_an_export(tmp_path: Path) -> None:
    sim = crowd(agents=40)
    sim.step(5)
    before = sim.state_hash()
    shown = sim.show(640, 360, 60)
    assert sim.tick == 5 and sim.state_hash() == before and "plays" in repr(shown)
    cell = re.fullmatch(r'<iframe srcdoc="([^"]*)" width="640" height="360" style="[^"]*"></iframe>', shown._repr_html_())
    assert cell and html.unescape(cell[1]) == shown.page
    path = tmp_path / "page.html"
    path.write_text(shown.page, "utf-8")
    about, blocks = read_page(path)
    assert about["frames"] == 11 and dict(about["facts"])["made again by"] == "sim.show(640, 360, 60)"
    found = places(about, blocks)
    sim.step(60)
    columns = sim.agents.by_id()
    for identity in range(40):
        assert found[identity, 10][0] == pytest.approx(columns.x[identity], abs=about["step"] * 1.001)


@pytest.mark.quick
def test_numbers_that_cannot_be_are_one_line() -> None:
    sim: Any = crowd(agents=5)
    for kind, call, said in (
            (ValueError, lambda: sim.show(0, 5), "width: must be from 1 to 16,384, not 0"),
            (TypeError, lambda: sim.show(steps="10"), "steps: must be a whole number, not '10'"),
            (ValueError, lambda: sim.show(steps=-1), "steps: must be from 0 to 1,000,000,000, not -1"),
            (ValueError, lambda: sim.trajectories(every=0), "every: must be from 1 to 1,000,000,000, not 0"),
            (TypeError, lambda: sim.trajectories(every=1.5), "every: must be a whole number, not 1.5"),
            (TypeError, lambda: sim.trajectories(metres="no"), "metres: must be True or False, not 'no'"),
            (TypeError, lambda: sim.trajectories(steps=None), "steps: must be a whole number, not None"),
            (ValueError, lambda: sim.trajectories(steps=-3), "steps: must be from 0 to 1,000,000,000, not -3")):
        with pytest.raises(kind, match=f"^{re.escape(said)}$"):
            call()
    with pytest.raises(ValueError, match=r"^a table of 1,000,000,001 frames needs about [\d,]+ MB of memory, and"):
        sim.trajectories(every=1, steps=10**9)
