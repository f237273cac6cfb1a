"""Building a wall, saving it as a scenario and being asked before it is lost, in the real window by real keys and a mouse."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from crowd_demo.config.loader import load_config
from crowd_demo.host.recording.format import newest, read_save
from crowd_demo.sim.simulation import Simulation


def build(running: Any, y: int) -> None:
    """Build a wall with the tool, and take the hand again."""
    running.press("ctrl+w")
    running.tool("mousemove", "--window", running.window, "330", str(y), "mousedown", "1")
    running.tool("mousemove", "--window", running.window, "420", str(y), "mouseup", "1")
    running.press("ctrl+space")


def test_a_wall_is_saved_asked_about_and_there_again(running: Any, tmp_path: Path) -> None:
    running.press("space")
    build(running, 120)
    running.press("ctrl+s", "Delete", *"hall", "Return")
    running.until(lambda: (tmp_path / "configs/hall.yaml").exists())
    config = load_config(tmp_path / "configs/hall.yaml")
    assert config.agents == 1000 and "@" in (tmp_path / "configs/hall.map").read_text("utf-8")
    running.press("r")
    assert running.leave() == 0  # the second Esc leaves: nothing is unsaved
    assert running.report()["state_hash"] == Simulation(config).state_hash()


def test_leaving_asks_while_a_wall_is_not_saved(running: Any) -> None:
    running.press("space")
    build(running, 120)
    running.press("Escape", "Escape")  # asks, and stays
    running.picture()
    running.press("F9", "Escape", "Escape", "Return")
    assert running.process.wait(60) == 0


def test_a_saved_scenario_is_in_f2_and_starts_with_all_agents_though_some_had_left_before_f9(
        start: Any, tmp_path: Path) -> None:
    """Digits that are typed in F2 find it, and reach no technique."""
    running = start("--config", "doorway", "--set", "agents=60", base=("--size", "640x360"))

    def some_have_left() -> bool:
        running.press("F5")
        time.sleep(1)
        path = newest(tmp_path)
        return path is not None and read_save(path).agents < 60

    running.until(some_have_left)
    running.press("F9", "2", "ctrl+s", "Delete", *"h2", "Return")
    saved = tmp_path / "configs/h2.yaml"
    running.until(saved.exists)
    assert load_config(saved).agents == 60 and not load_config(saved).optimizations.simd
    running.press("2", "F2", *"h2", "Return")
    time.sleep(5)
    running.press("space", "r")
    time.sleep(1)
    assert running.leave() == 0
    report = running.report()
    assert report["agents"] == 60 and not report["optimizations"]["simd"], "it was opened"
