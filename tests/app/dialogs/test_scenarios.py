"""The menus of scenarios and tours: what they list, and what is broken."""

import zlib
from pathlib import Path

import pygame
import pytest
from damages import make_fifo
from driven import Driven
from hud_spy import Spy

from crowd_demo.app.menus import FileMenu, scenarios_menu, tours_menu
from crowd_demo.config.resources import data_folder, list_configs, list_tours
from crowd_demo.render.hud.canvas import PAD, Pen, scale_for
from crowd_demo.render.hud.views import HEAD, ListView, Row, draw_list

pytestmark = pytest.mark.quick


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir()
    return tmp_path


def rows(menu: FileMenu) -> dict[str, Row]:
    """By what opens each, once all were checked."""
    menu.checking.result(60)
    return {entry.name: row for entry, row in zip(menu.entries, menu.view().rows, strict=True)}


def test_every_shipped_configuration_has_a_picture_and_what_to_watch(folder: Path) -> None:
    chosen: list[str] = []
    menu = scenarios_menu(chosen.append, "maze")
    found = rows(menu)
    assert list(found) == list(list_configs())
    assert all(row.usable and row.picture and row.detail and row.about.startswith("Watch: ") for row in found.values())
    assert menu.selected == list(found).index("maze")
    menu.press("return", False)
    assert chosen == ["maze"] and menu.closed


@pytest.mark.parametrize("present", ["maze", "maze.yaml", "configs/maze.yaml"])
def test_in_a_checkout_a_shipped_file_is_known_by_any_of_its_paths(monkeypatch: pytest.MonkeyPatch, present: str) -> None:
    monkeypatch.chdir(data_folder())
    menu = scenarios_menu(str, present)
    assert list(rows(menu)) == list(list_configs()), "each opened by its name"
    assert menu.entries[menu.selected].path.stem == "maze"


def test_the_users_own_files_come_last_and_broken_ones_say_why_and_cannot_be_chosen(folder: Path) -> None:
    (folder / "configs" / "mine.yaml").write_text("# Mine.\n# Watch: me.\nagents: 5\n", "utf-8")
    (folder / "configs" / "broken.yaml").write_text("# Hers.\nagents: many\n", "utf-8")
    (folder / "configs" / "binary.yaml").write_bytes(b"\xff\xfe\n")
    chosen: list[str] = []
    menu = scenarios_menu(chosen.append, "gone.yaml")
    assert menu.selected == 0, "the present file is gone"
    found = rows(menu)
    assert list(found)[-3:] == ["binary", "broken", "mine"]
    assert found["mine"] == Row("mine (your own)", "Mine.", "Watch: me.")
    assert found["broken"].detail == "configs/broken.yaml:2: agents: must be a whole number from 0 to 32000000, not 'many'"
    assert not found["broken"].usable and found["binary"].detail == "configs/binary.yaml:1: file: not UTF-8 text"
    menu.selected = list(found).index("broken")
    menu.press("return", False)
    assert not chosen and not menu.closed


def test_a_file_of_ones_own_hides_the_shipped_one_of_its_name_unless_it_is_elsewhere(folder: Path) -> None:
    (folder / "configs" / "20k.yaml").write_text("# Mine.\nagents: 5\n", "utf-8")
    (folder / "maze.yaml").write_text("agents: 5\n", "utf-8")
    found = rows(scenarios_menu(str, None))
    assert found["20k"].text == "20k (your own)" and len(found) == len(list_configs())
    assert str(list_configs()["maze"]) in found, "whose name means another file is opened by its path"


def test_tours_are_listed_with_those_of_the_user(folder: Path) -> None:
    (folder / "tours").mkdir()
    (folder / "tours" / "bad.yaml").write_text("# Bad.\nconfig: 20k\nsteps:\n  - say: '{stepms}'\n", "utf-8")
    found = rows(tours_menu(str))
    assert list(found) == [*list_tours(), "bad"] and all(found[name].usable for name in list_tours())
    assert found["bad"].detail.startswith("tours/bad.yaml:4: steps.0.say: there is no number 'stepms'")


def test_f2_and_a_click_open_a_scenario(driven: Driven, folder: Path) -> None:
    (folder / "configs" / "mine.yaml").write_text("agents: 50\nbehaviour: flock\nworld: {width: 500, height: 300}\n", "utf-8")
    driven.keys("f2", "end", "up", "down")
    driven.drag(driven.find("row", str(driven.view().selected)))
    assert driven.program.dialogs.top is None
    driven.until(lambda: driven.loop.opened)
    driven.follow()
    assert driven.program.sim.agents.count == 50


# --- pictures of others ----------------------------------------------------------------------------------------------

def shown(picture: Path) -> tuple[int, ...]:
    """The colour in the middle of a row's picture; that of the empty frame if the picture is not shown."""
    canvas = draw_list(ListView("Scenarios", [Row("mine", picture=picture)], across=3), (640, 360), Pen(), 1.0)
    return tuple(canvas.surface.get_at((PAD + 80, int(HEAD) + 50)))


def png(width: int, height: int, path: Path) -> Path:
    """A PNG of one bit a pixel, most of which are missing."""
    header = width.to_bytes(4) + height.to_bytes(4) + bytes((1, 0, 0, 0, 0))
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(64))), (b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
        len(data).to_bytes(4) + name + data + zlib.crc32(name + data).to_bytes(4) for name, data in chunks))
    return path


@pytest.mark.parametrize("depth", [8, 24, 32])
@pytest.mark.parametrize("size", [(20, 10), (960, 540)])
def test_a_picture_of_any_size_and_depth_is_shown(tmp_path: Path, depth: int, size: tuple[int, int]) -> None:
    picture = pygame.Surface(size, depth=depth)
    picture.fill("white")
    pygame.image.save(picture, tmp_path / "mine.png")
    assert min(shown(tmp_path / "mine.png")) > 240


def test_a_picture_too_large_to_unpack_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked: list[bytes] = []
    monkeypatch.setattr("crowd_demo.render.hud.views.unpacked", lambda data: unpacked.append(data) or pygame.Surface((9, 9)))
    frame = shown(tmp_path / "none.png")
    assert shown(png(20_000, 20_000, tmp_path / "huge.png")) == frame and not unpacked
    assert shown(png(3840, 2160, tmp_path / "screen.png")) != frame and unpacked


def test_what_is_no_picture_is_not_shown_and_not_waited_for(tmp_path: Path) -> None:
    make_fifo(tmp_path / "pipe.png")
    (tmp_path / "device.png").symlink_to("/dev/zero")
    (tmp_path / "text.png").write_text("no picture", "utf-8")
    (tmp_path / "cut.png").write_bytes(png(20, 10, tmp_path / "whole.png").read_bytes()[:40])
    assert {shown(tmp_path / f"{name}.png") for name in ("pipe", "device", "text", "cut")} == {shown(tmp_path / "none.png")}


def test_arrows_go_over_the_tiles_of_f2_in_a_wide_and_in_a_narrow_window(folder: Path) -> None:
    for size, across in (((1280, 720), 5), ((800, 600), 3)):
        menu = scenarios_menu(str, None, size[0])
        for key in ("right", "right", "down", "down", "left", "up"):
            assert menu.press(key, False)
        assert menu.selected == 1 + across
        canvas = draw_list(menu.view(), size, spy := Spy(), scale_for(size))
        for menu.selected in range(27):
            draw_list(menu.view(), size, spy, scale_for(size))
        assert not [text for text in spy.texts if "…" in text], "the sentences fit"
        tiles = {placed.target.name: placed.rect for placed in canvas.targets if placed.target.kind == "row"}
        assert pygame.Rect((0, 0), size).contains(canvas.surface.get_rect()) and len(tiles) >= 2 * across
        assert len({tiles[str(number)].top for number in range(across)}) == 1 < len({rect.top for rect in tiles.values()})
        menu.checking.result(60)
