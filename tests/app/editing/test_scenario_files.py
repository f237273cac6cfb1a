"""Saving scenarios by hand, in a program: files and names, and what is asked before something built would be lost."""

import errno
import os
import shlex
from pathlib import Path

import numpy as np
import pygame
import pytest
from driven import Driven

from crowd_demo.app.dialog import Question, TextDialog
from crowd_demo.cli.arguments import parser_of
from crowd_demo.cli.run import RUN, _source
from crowd_demo.config.loader import load_config
from crowd_demo.registry.actions import PROGRAM
from crowd_demo.render.hud.views import KEPT, loaded_picture
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.tuning import Tune

CTRL = pygame.KMOD_LCTRL
SMALL = ("world.width=640", "world.height=360", "camera.zoom=1", "window.hud=off")


# --- by events in a program ---------------------------------------------------------------------------------------------

@pytest.fixture
def hands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driven:
    monkeypatch.chdir(tmp_path)
    driven = Driven(*SMALL, "map=doorway")
    driven.program.config_name = "1k"  # for the command; a program without a name calls its files crowd-N
    return driven


def ctrl(driven: Driven, key: str) -> None:
    driven.press(key, CTRL, frames=2)


def build(driven: Driven, y: int = 60) -> None:
    """Build a wall with the tool, and put it away."""
    ctrl(driven, PROGRAM["tool_wall"].keys[0].removeprefix("ctrl+"))
    driven.drag((120, y), (220, y), frames=3)
    ctrl(driven, "space")


def enter(driven: Driven) -> None:
    driven.press("return", frames=3)


def save(driven: Driven, name: str = "") -> None:
    """Save as a scenario, under that name or the one that is offered."""
    ctrl(driven, "s")
    if name:
        driven.keys("delete", *name)
    enter(driven)


def notices(driven: Driven) -> str:
    return "\n".join(driven.status().notices)


def asked(driven: Driven) -> Question | None:
    top = driven.program.dialogs.top
    return top if isinstance(top, Question) and "not saved" in top.title else None


def naming(driven: Driven) -> TextDialog:
    top = driven.program.dialogs.top
    assert isinstance(top, TextDialog)
    return top


def test_restart_keeps_what_was_built_and_ctrl_s_writes_it(hands: Driven) -> None:
    build(hands)
    hands.press("-")  # fewer agents
    hands.program.crowd.apply(Tune("crowd.radius", 21.0))
    hands.frames(5)
    built = hands.program.sim.terrain.kinds.copy()
    assert (built != hands.program.sim.terrain.first_kinds).any()
    hands.keys("space", "r", frames=3)
    sim = hands.program.sim
    assert sim.tick == 0 and np.array_equal(sim.terrain.kinds, built) and sim.settings.crowd.radius == 21
    save(hands)
    assert "saved configs/crowd-1.yaml and configs/crowd-1.map" in notices(hands)
    config = load_config("crowd-1")
    assert config.agents == sim.agents.count and config.crowd.radius == 21
    assert Simulation(config).state_hash() == sim.state_hash()
    assert config.camera == hands.config.camera


def test_a_name_can_be_typed_and_own_files_are_replaced(hands: Driven, tmp_path: Path) -> None:
    build(hands)
    save(hands, "my-hall")
    assert sorted(path.name for path in (tmp_path / "configs").iterdir()) == ["my-hall.map", "my-hall.png", "my-hall.yaml"]
    assert "crowd-demo --config configs/my-hall.yaml" in notices(hands)
    first = (tmp_path / "configs/my-hall.map").read_text("utf-8")
    build(hands, 90)
    save(hands, "my-hall")
    assert not hands.program.dialogs.top and (tmp_path / "configs/my-hall.map").read_text("utf-8") != first
    hands.program.open_scenarios()
    hands.frames()
    row, = (row for row in hands.program.dialogs.top.view().rows if "my-hall" in row.text)  # type: ignore[union-attr]
    picture = loaded_picture(row.picture) if row.picture else None
    assert picture and picture.get_size() == KEPT
    assert len(np.unique(pygame.surfarray.array2d(picture))) > 100, "ground, walls and people"


@pytest.mark.usefixtures("in_tmp_path")
def test_after_people_left_and_f9_a_saved_scenario_and_a_restart_have_all_that_it_starts_with(
        ) -> None:
    """As the doorway: by a third of its run some have left, and F2 lists what was saved at once."""
    driven = Driven("agents=60", "map=hall", "window.hud=off", config="doorway")
    sim = driven.program.sim
    driven.until(lambda: sim.agents.count < 50)
    driven.keys("f5", "f9")
    driven.until(lambda: any("loaded" in line for line in driven.status().notices))
    assert driven.program.sim.agents.count < 60
    save(driven, "half")
    driven.press("f2")
    assert "half (your own)" in [row.text for row in driven.view().rows]
    driven.keys(*"half", "return")
    driven.until(lambda: driven.loop.opened)
    assert driven.loop.opened and driven.loop.opened.sim.agents.count == 60 == load_config("half").agents
    driven.loop.opened = driven.loop.opening = None
    driven.press("r", frames=3)
    assert driven.program.sim.agents.count == 60


def test_other_files_are_replaced_only_when_asked_twice_and_some_names_cannot_be(hands: Driven, tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/mine.yaml").write_text("agents: 3\n", "utf-8")
    made_of = "a name is made of letters, digits, - and _"
    for name, wrong in {"../up": made_of, "a;b": made_of, "-x": made_of, "1k": "1k is a shipped scenario: take another name",
                        "mine": "configs/mine.yaml exists: Enter again replaces it"}.items():
        save(hands, name)
        assert naming(hands).wrong == wrong
        hands.press("escape")
    save(hands, "mine")
    assert [path.name for path in (tmp_path / "configs").iterdir()] == ["mine.yaml"] and load_config("mine").agents == 3
    enter(hands)
    assert not hands.program.dialogs.top and load_config("mine").agents == 200
    ctrl(hands, "s")
    hands.press("delete")
    enter(hands)
    assert naming(hands).wrong == made_of


@pytest.mark.parametrize("full_at", [1, 2])
def test_a_full_disk_is_one_line_and_leaves_no_half_of_it(
        hands: Driven, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full_at: int) -> None:
    written: list[Path] = []
    real = Path.write_bytes

    def write(path: Path, data: bytes) -> int:
        written.append(path)
        if len(written) == full_at:
            real(path, data[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, data)

    monkeypatch.setattr(Path, "write_bytes", write)
    build(hands)
    save(hands)
    assert f"cannot save configs/crowd-1.yaml: {os.strerror(errno.ENOSPC)}" in notices(hands)
    assert len(written) == full_at and not list((tmp_path / "configs").iterdir())
    assert hands.program.scenario_files.has_unsaved
    hands.press("escape")
    assert asked(hands)


# --- what is asked before it would be lost -----------------------------------------------------------------------------

def test_esc_asks_about_what_was_built_until_it_is_saved(hands: Driven) -> None:
    build(hands)
    hands.press("escape")
    question = asked(hands)
    assert question and [row[:2] for row in question.view().rows] == [("discard it", "Enter"), ("go back", "Esc")]
    assert question.notes == ("Ctrl+S saves it",)
    hands.press("escape")
    assert hands.program.running and not hands.program.dialogs.top
    hands.press("escape")
    save(hands)
    assert not hands.program.scenario_files.has_unsaved and not hands.program.dialogs.top
    hands.press("escape")
    assert not asked(hands) and isinstance(hands.program.dialogs.top, Question)
    hands.press("escape")
    assert not hands.program.running


def test_opening_another_scenario_asks(hands: Driven) -> None:
    build(hands)
    hands.program.open_scenario("clump")
    assert asked(hands) and not hands.loop.opening
    hands.press("escape")
    assert "clump was not opened" in notices(hands) and not hands.loop.opening
    hands.program.open_scenario("clump")
    enter(hands)
    assert hands.loop.opening
    build(hands, 90)  # while it is being opened
    hands.until(lambda: not hands.loop.opening or hands.loop.opened)
    assert not hands.loop.opened and "clump was not opened: there are unsaved edits" in notices(hands)


def test_loading_a_save_asks_unless_a_save_holds_it(hands: Driven) -> None:
    build(hands)
    hands.press("f5")
    hands.until(lambda: "saved crowd-" in notices(hands))
    assert not hands.program.scenario_files.has_unsaved
    held = hands.program.crowd.edits
    build(hands, 90)
    hands.press("f9")
    assert asked(hands)
    enter(hands)
    assert hands.program.crowd.edits == held and not hands.program.scenario_files.has_unsaved
    hands.press("f9")
    assert not asked(hands)


# --- the command ----------------------------------------------------------------------------------------------------------

def copied_by(driven: Driven, capsys: pytest.CaptureFixture[str]) -> str:
    driven.frames()
    capsys.readouterr()
    driven.press("y")
    return capsys.readouterr().err


def test_y_says_that_a_file_is_needed_and_then_names_it(hands: Driven, capsys: pytest.CaptureFixture[str]) -> None:
    build(hands)
    hands.keys("space", "r")
    copied = copied_by(hands, capsys)
    assert "# unsaved edits are not in this: Ctrl+S saves a file that holds it" in copied
    assert "Ctrl+S saves a file that holds it" in notices(hands)
    save(hands)
    hands.program.crowd.apply(Tune("crowd.radius", 21.0))
    hands.frames(2)
    copied = copied_by(hands, capsys)
    program, *arguments = shlex.split(copied, comments=True)
    assert arguments[:2] == ["--config", "configs/crowd-1.yaml"] and "built" not in copied and program == "crowd-demo"
    config = _source(parser_of("run", RUN).parse_args(arguments))[0]
    hands.press("r", frames=3)
    assert config.crowd.radius == 21 and Simulation(config).state_hash() == hands.program.sim.state_hash()
    assert (config.map or "").endswith("crowd-1.map")
    build(hands, 90)
    assert "Ctrl+S saves a file that holds it" in copied_by(hands, capsys)
