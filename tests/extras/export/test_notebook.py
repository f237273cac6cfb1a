"""A simulation in a notebook: a page that plays, and a table; the simulation stays where it is."""

from __future__ import annotations

import html
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import CHROMIUM, Browser
from exported import FLUX, LEAVING, of_csv, places, read_page, source, written

from crowd_demo import Simulation, load_config


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


@pytest.mark.quick
def test_numbers_may_be_numpys() -> None:
    sim = crowd(agents=5)
    table = sim.trajectories(np.int64(6), np.uint8(12), np.True_)
    assert table.tolist() == sim.trajectories(6, 12).tolist()
    assert sim.show(np.int32(64), np.int64(36), np.int64(6)).page == sim.show(64, 36, 6).page


@pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed (Debian: apt-get install chromium)")
def test_the_cell_plays_in_a_browser(tmp_path: Path) -> None:
    path = tmp_path / "notebook.html"
    cell = crowd(agents=40).show(400, 300, 60)._repr_html_()
    path.write_text(f"<!DOCTYPE html><meta charset=utf-8><p id=problem>a notebook</p>{cell}", "utf-8")
    with Browser((480, 360)) as browser:
        browser.open(path)
        inner = "document.querySelector('iframe').contentDocument"
        for code in (f"{inner}.body?.dataset.ready === 'yes'", f"{inner}.getElementById('scrub').value > 0"):  # it plays
            end = time.monotonic() + 60
            while not browser.run(code):
                assert time.monotonic() < end, code
                time.sleep(0.05)
        assert browser.run(f"{inner}.getElementById('canvas').clientWidth") == 400
        assert browser.run(f"{inner}.querySelector('#head dl').textContent").startswith("made again bysim.show(400, 300, 60)")
        assert browser.told == []
