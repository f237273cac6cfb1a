"""Ctrl E: the last seconds as a page and the recording that makes it again, by a process beside the frames."""

import time
from pathlib import Path

import pygame
import pytest
from driven import Driven
from exported import places, read_page
from recorded_run import replayed

from crowd_demo.app import files
from crowd_demo.host.recording.format import read_recording
from crowd_demo.sim.actions import SetWalls


@pytest.fixture
def driven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driven:
    monkeypatch.chdir(tmp_path)
    made = Driven("agents=50")
    made.program.crowd.unpaced = True
    return made


def notices(driven: Driven) -> str:
    driven.program.collect_news()
    return " | ".join(driven.program.notices.present())


def until_said(driven: Driven, said: str) -> str:
    driven.until(lambda: time.sleep(0.02) or said in notices(driven) or "cannot export" in notices(driven))
    told = notices(driven)
    assert said in told, told
    return told


def test_a_page_of_the_last_seconds_and_what_makes_it_again(driven: Driven, tmp_path: Path) -> None:
    driven.frames(40)
    driven.program.crowd.apply(SetWalls((2, 2, 3, 4), True))
    driven.frames(20)
    driven.program.crowd.paused = True
    sim = driven.program.crowd.sim
    tick, left = sim.tick, sim.state_hash()
    driven.press("e", pygame.KMOD_CTRL, frames=2)
    job, = driven.status().jobs
    assert job.text == "exporting crowd-0001.html" and 0 <= job.part <= 1 and job.done.endswith("%")
    text = until_said(driven, "exported ")
    size = Path("crowd-0001.html").stat().st_size
    assert f"crowd-0001.html, {size / 1e6:,.1f} MB (crowd-0001.replay reproduces it)" in text
    about, blocks = read_page(Path("crowd-0001.html"))
    facts = dict(about["facts"])
    last = tick // 6 * 6
    assert facts["made again by"] == "crowd-demo export crowd-0001.replay crowd-0001.html"
    assert about["frames"] == tick // 6 + 1 and f"at step {last:,}" in facts["state hash"]
    assert about["view"]["x"] == driven.program.camera.x
    player, again = replayed(read_recording(Path("crowd-0001.replay")))
    assert (again.tick, again.state_hash(), player.compared) == (tick, left, 1)
    if last == tick:
        assert facts["state hash"].startswith(left)
    columns = sim.agents.by_id()
    found = places(about, blocks)
    assert {identity for identity, frame in found if frame == tick // 6} == set(columns.id.tolist())
    assert len(about["ground"]["frames"]) == 2  # walls were built
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crowd-0001.html", "crowd-0001.replay"]


def test_the_same_key_asks_and_cancels_and_leaving_the_program_leaves_nothing(driven: Driven, tmp_path: Path) -> None:
    driven.frames(60)
    driven.press("e", pygame.KMOD_CTRL, frames=4)
    for answer in ("escape", "return"):
        assert driven.status().jobs and not driven.status().view
        driven.press("e", pygame.KMOD_CTRL)
        top = driven.program.dialogs.top
        assert top and top.title == "Cancel the export of crowd-0001.html?"
        driven.press(answer)
    until_said(driven, "cancelled: crowd-0001.html is not written")
    assert not driven.status().jobs
    assert list(tmp_path.iterdir()) == []
    driven.press("e", pygame.KMOD_CTRL, frames=2)
    driven.program.files.finish(30)
    assert list(tmp_path.iterdir()) == []


def test_what_goes_wrong_is_said(driven: Driven, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driven.press("e", pygame.KMOD_CTRL)
    assert "there is no past yet" in until_said(driven, "page")
    driven.frames(60)
    monkeypatch.setattr(files, "EXPORTER", "crowd_demo.cli.nothing")
    driven.press("e", pygame.KMOD_CTRL)
    until_said(driven, "cannot export: its process has ended")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("in_tmp_path")
def test_a_crowd_without_a_past_says_so() -> None:
    driven = Driven("agents=50", "time.rewind_mb=0")
    driven.frames(3)
    driven.press("e", pygame.KMOD_CTRL)
    until_said(driven, "no past is kept of this crowd that could become a page: time.rewind_mb")
