"""Building a wall, saving it as a scenario and being asked before it is lost, in the real window by real keys and a mouse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pygame
from picture_files import pixels

from crowd_demo.config.loader import load_config
from crowd_demo.render.hud.views import KEPT
from crowd_demo.sim.simulation import Simulation


def build(running: Any, y: int) -> None:
    """Build a wall with the tool, and take the hand again."""
    running.press("ctrl+w")
    running.tool("mousemove", "--window", running.window, "330", str(y), "mousedown", "1")
    running.tool("mousemove", "--window", running.window, "420", str(y), "mouseup", "1")
    running.press("ctrl+space")


def wall(running: Any) -> Any:
    """The pixels where it is built."""
    return pixels(running.picture())[330:420, 115:125]


def test_a_wall_is_saved_asked_about_and_there_again(running: Any, tmp_path: Path) -> None:
    running.press("space")
    build(running, 120)
    running.press("ctrl+s", "Delete", *"hall", "Return")
    running.until(lambda: (tmp_path / "configs/hall.yaml").exists())
    config = load_config(tmp_path / "configs/hall.yaml")
    assert config.agents == 1000 and "@" in (tmp_path / "configs/hall.map").read_text("utf-8")
    assert pygame.image.load(tmp_path / "configs/hall.png").get_size() == KEPT
    running.press("r")
    before = wall(running)
    running.press("ctrl+z")  # a restart keeps what can be undone
    running.until(lambda: (wall(running) != before).any())
    running.press("ctrl+y")
    assert running.leave() == 0  # the second Esc leaves: nothing is unsaved
    assert running.report()["state_hash"] == Simulation(config).state_hash()
