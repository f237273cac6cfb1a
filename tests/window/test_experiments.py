"""Experiments by real keys: what a table says is saved by S."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from crowd_demo.registry.techniques import BY_PATH


def saved(program: Any) -> Any:
    """Press S until a table is saved, which it can be once its experiment is over; return the record."""
    before = set(program.folder.glob("crowd-*.json"))

    def one() -> Any:
        program.press("s")
        return set(program.folder.glob("crowd-*.json")) - before

    (path,) = program.until(one)
    return program.until(lambda: json.loads(path.read_text()))


def test_m_measures_the_technique_touched_last_and_the_crowd_goes_on(running: Any) -> None:
    running.press("8")  # depth order
    running.picture()
    running.press("m")
    record = saved(running)
    depth = BY_PATH["depth"]
    before = depth.default
    now = depth.choices[(depth.choices.index(before) + 1) % len(depth.choices)]
    assert (record["kind"], record["technique"], record["value"], record["other"]) == ("measurement", "depth", now, before)
    assert record["complete"] and record["crowd"] == "same" and record["agents"] == 1000 and record["picture"]
    running.press("Escape")
    assert running.leave() == 0
    assert running.report()["steps"] > record["tick"]


def test_escape_leaves_an_ablation_with_what_there_is(start: Callable[..., Any]) -> None:
    program = start()
    program.until(program.shows_the_crowd)
    program.press("n")
    program.press("Escape")
    record = saved(program)
    assert record["kind"] == "ablation" and not record["complete"] and len(record["rows"]) < len(BY_PATH)
    program.press("Escape", "p", "Escape")
    record = saved(program)
    assert record["kind"] == "largest" and not record["complete"]
    program.press("Escape")
    assert program.leave() == 0
