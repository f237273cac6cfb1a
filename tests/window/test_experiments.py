"""Experiments by real keys: what a table says is saved by S."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crowd_demo.registry.techniques import BY_PATH

SAVES_WITHIN_S = 5.0  # on a slow machine, once it may


def saved(program: Any) -> Any:
    """Save a table with S, and return the record. S does nothing before the experiment is over, so it is pressed again."""
    before = records(program)

    def new() -> set[Path]:
        return records(program) - before

    def pressed_once() -> set[Path]:
        program.press("s")
        end = time.monotonic() + SAVES_WITHIN_S
        while not new() and time.monotonic() < end:
            time.sleep(0.1)
        return new()

    (path,) = program.until(pressed_once)
    return json.loads(path.read_text("utf-8"))


def records(program: Any) -> set[Path]:
    return set(program.folder.glob("crowd-*.json"))


def test_m_measures_the_technique_touched_last_and_the_crowd_goes_on(running: Any) -> None:
    running.press("8")  # depth order
    running.picture()
    running.press("m")
    record = saved(running)
    depth = BY_PATH["depth"]
    assert depth.choices[(depth.choices.index(depth.default) + 1) % len(depth.choices)] == depth.baseline  # what 8 leads to
    assert (record["kind"], record["technique"]) == ("measurement", "depth")
    assert (record["value"], record["other"]) == (depth.default, depth.baseline)  # what it buys, though it is off
    assert record["complete"] and record["crowd"] == "same" and record["agents"] == 1000 and record["picture"]
    running.press("Escape")
    assert running.leave() == 0
    assert running.report()["steps"] > record["tick"]


def test_escape_leaves_an_ablation_with_what_there_is(start: Callable[..., Any]) -> None:
    program = start()
    program.until(program.shows_the_crowd)
    program.press("n")
    program.press("Escape", "Return")
    record = saved(program)
    assert record["kind"] == "ablation" and not record["complete"] and len(record["rows"]) < len(BY_PATH)
    program.press("Escape", "p", "p", "Return")
    record = saved(program)
    assert record["kind"] == "largest" and not record["complete"]
    program.press("Escape")
    program.picture()  # the crowd goes on, so the last slice of the experiment is over: nobody waits long for one when leaving
    left = program.leave()
    assert left == 0, program.process.stderr.read()
