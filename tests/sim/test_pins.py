"""No change changes the crowd, or the work that a step does, unnoticed: `tests/pins.json` holds both.

`python tests/pins.py > tests/pins.json` makes that file anew.
"""

from __future__ import annotations

import json

import pins
import pytest

PINNED = json.loads(pins.FILE.read_text("utf-8"))
named = [pytest.param(name, marks=() if pins.is_large(name) else pytest.mark.quick) for name in pins.cases()]


@pytest.mark.parametrize("name", named)
def test_hash_and_counters_are_those_that_were_pinned(name: str) -> None:
    assert pins.measure(name) == PINNED[name]


@pytest.mark.quick
def test_nothing_else_is_pinned() -> None:
    assert set(PINNED) == set(pins.cases())
