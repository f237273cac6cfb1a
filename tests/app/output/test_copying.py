"""What is copied gives the same again, read by the program's own parser."""

import json
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pygame
import pytest
from driven import Driven
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.app import copying
from crowd_demo.app.copying import MAX_CHARACTERS, Shown, copy, setting
from crowd_demo.cli.arguments import parser_of
from crowd_demo.cli.run import RUN
from crowd_demo.config.loader import load_config, parse_overrides
from crowd_demo.config.model import Config, with_values
from crowd_demo.render.camera import Camera
from crowd_demo.sim.actions import Place, Populate, SetWalls, Switch

quick = pytest.mark.quick


def configured_view(config: Config, size: tuple[int, int]) -> Camera:
    camera = Camera((config.world.width, config.world.height), size)
    camera.look_at(*(config.camera.center or (camera.x, camera.y)), config.camera.zoom or camera.zoom)
    return camera


def shown(config: Config, **changes: Any) -> Shown:
    """A program that has just begun, but for what is changed."""
    camera = changes.pop("camera", None) or configured_view(config, (config.window.width, config.window.height))
    sim: Any = SimpleNamespace(tick=0, history=[], settings=config, counts=SimpleNamespace(line=config.measure.line))
    return Shown(config, sim, camera, configured_view(config, camera.size), config.optimizations, config.agents,
                 config.time.speed, config.window.fullscreen, config.window.hud, False,
                 config.scene.colours, config.scene.overlays)._replace(**changes)


def command_parts(text: str) -> list[str]:
    program, *arguments = shlex.split(text, comments=True)
    assert program == "crowd-demo"
    return arguments


def parsed(text: str) -> Config:
    """The effective configuration of a command."""
    found: Any = RUN.read(parser_of("run", RUN).parse_args(command_parts(text)))
    return found[0]


def read(text: str, folder: Path) -> Config:
    """The effective configuration of a YAML file."""
    path = folder / "copied.yaml"
    path.write_text(text, "utf-8")
    return load_config(path)


def looked(x: float, y: float, zoom: float, size: tuple[int, int] = (1000, 700)) -> Camera:
    camera = Camera((4000.0, 4000.0), size)
    camera.look_at(x, y, zoom)
    return camera


@quick
def test_a_command_and_yaml_give_what_is_on_the_screen(tmp_path: Path) -> None:
    config = load_config("20k", ["seed=7", "flock.sight=40", "keys.pause=f14", "map=null"])
    techniques = with_values(config.optimizations, {"neighbours": "kd_tree", "reorder.drift": 0.1 + 0.2, "cull": "off",
                                                    "threads": 2, "simd": False})
    screen = shown(config, camera=looked(1234.5678901234567, 0.1, 2 / 3), techniques=techniques, agents=12_000, speed=1 / 8,
                   hud="compact", overlays=("streams", "cells"))
    (command, about), (yaml, _) = copy(screen, "20k"), copy(screen, None)
    assert about == "YAML, for the command would be longer than 400 characters"
    for config in (read(command, tmp_path), read(yaml, tmp_path)):
        assert config == copying.effective(screen)
        assert config.optimizations == techniques and config.scene.overlays == ("streams", "cells")
        view = configured_view(config, (config.window.width, config.window.height))
        assert (view.x, view.y, view.zoom, view.size) == (1234.5678901234567, 0.1, 2 / 3, (1000, 700))
    fewer = screen._replace(techniques=with_values(load_config("20k").optimizations, {"cull": "off"}))
    text, about = copy(fewer, "20k")
    assert about == "a command: 20k with 12 changes" and len(text) < MAX_CHARACTERS and text.count("\n") == 1
    assert parsed(text) == copying.effective(fewer)


@quick
def test_what_is_as_configured_is_not_set_and_values_that_were_taken_back_are_set_to_nothing() -> None:
    assert copy(shown(load_config("20k")), "20k") == ("crowd-demo --config 20k\n", "a command: 20k with 0 changes")
    config = load_config("20k", ["camera.zoom=null", "camera.center=null", "map=null"])
    text, _ = copy(shown(config), "20k")
    assert parsed(text) == config and "map=null" in text
    config = load_config("20k", ["camera.zoom=null"])
    text, _ = copy(shown(config, camera=configured_view(config, (800, 600))), "20k")
    assert parsed(text).camera == config.camera and parsed(text).window.height == 600, "a view follows the size of the window"


@quick
def test_a_file_that_is_gone_or_changed_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "it's my $HOME & more.yaml"
    file.write_text("agents: 300\nseed: 5\n", "utf-8")
    config = load_config(file)
    text, _ = copy(shown(config), str(file))
    assert parsed(text) == config and "--set" not in text
    file.write_text("agents: 400\nseed: 5\n", "utf-8")
    text, _ = copy(shown(config), str(file))
    assert parsed(text) == config and "agents=300" in text
    file.unlink()
    text, about = copy(shown(config), str(file))
    assert read(text, tmp_path) == config and about == "YAML, for there is no configuration file"
    monkeypatch.chdir(tmp_path)  # where a name may look like an option
    Path("-x.yaml").write_text("agents: 300\n", "utf-8")
    text, _ = copy(shown(load_config("-x.yaml")), "-x.yaml")
    assert parsed(text).agents == 300


@quick
def test_what_no_configuration_says_is_said_in_comments(tmp_path: Path) -> None:
    config = load_config("20k", {"world": {"width": 60_000, "height": 4000}, "map": None})
    sim = SimpleNamespace(tick=812, settings=config, counts=SimpleNamespace(line=config.measure.line), history=[
        (1, Populate(5)), (2, Switch("cull", "off")), (3, SetWalls((0, 0, 1, 1), True)),
        (4, Place(0, 1.0, 2.0)), (5, Place(0, 1.0, 3.0))])
    camera = Camera((60_000.0, 4000.0), (1280, 720))
    camera.look_at(30_000.0, 2000.0, 0.03)
    screen = shown(config, sim=sim, camera=camera, frozen=True)
    for text, _ in (copy(screen, "20k"), copy(screen, "20k", as_yaml=True)):
        comments = [line for line in text.splitlines() if line.startswith("# ") and "crowd-demo" not in line]
        assert comments == ["# the screen was at tick 812, this begins at tick 0",
                            "# agents that were put elsewhere: not in this",
                            "# zoom 0.03: a configuration begins at 0.05, or with the whole world, as this does",
                            "# the frozen frustum: not in this"]
    assert parsed(copy(screen, "20k")[0]).camera.zoom is None
    assert read(text, tmp_path).world.width == 60_000


@quick
@given(st.one_of(st.booleans(), st.none(), st.integers(-2**63, 2**63), st.floats(allow_nan=False, allow_infinity=False),
                 st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.lists(st.floats(-1e9, 1e9), max_size=2),
                 st.sampled_from(["true", "null", "12", "1e3", "[x]", " x", "a=b", "'", '"', "#", "a: b", "~", "\u2028"])))
def test_any_value_reads_as_itself(value: object) -> None:
    (override,) = parse_overrides([setting("window.title", value)], "")
    assert override.value == value and type(override.value) is type(value)


def test_the_key_copies_what_a_program_shows_after_many_others(
        driven: Driven, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    driven.program.config_name = "1k"
    driven.settled(*"871]=//", "tab", "tab", "tab", ".")
    driven.wheel(5)
    driven.press("d", hold=True)
    driven.frames(3)
    driven.release("d")
    capsys.readouterr()
    program = driven.program
    for shift, reading in ((0, parsed), (pygame.KMOD_LSHIFT, lambda text: read(text, tmp_path))):
        driven.press("y", shift)
        text = capsys.readouterr().err
        assert pygame.scrap.get_text() == text
        config = reading(text)
        assert json.loads(config.optimizations.model_dump_json()) == json.loads(program.sim.optimizations.model_dump_json())
        view = configured_view(config, (config.window.width, config.window.height))
        camera = program.camera
        assert (view.x, view.y, view.zoom, view.size) == (camera.x, camera.y, camera.zoom, camera.size)
        assert (config.agents, config.time.speed, config.window.hud) == (250, 4.0, "off")
    assert driven.status().notices[-1] == "in the terminal: YAML"
    monkeypatch.setattr(pygame.display, "get_driver", lambda: "x11")
    for clipboard, told in (({"side_effect": pygame.error("there is none")}, "in the terminal"), ({}, "copied")):
        monkeypatch.setattr(pygame.scrap, "put_text", MagicMock(**clipboard))
        driven.press("y")
        assert capsys.readouterr().err.startswith("crowd-demo --config 1k --set ")
        assert driven.status().notices[-1].startswith(f"{told}: a command: 1k with ")
