"""The words of docs/model.md tell what the formulas and the defaults below them say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crowd_demo.config.model import Config
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.sim.behaviours.avoidance import SHARPEST
from crowd_demo.sim.behaviours.contact import SHIFT_PARTS
from crowd_demo.sim.behaviours.people import SLOW

pytestmark = pytest.mark.quick

DOCS = Path(__file__).parents[2] / "docs"
UNITS = 26  # in a metre
NTH = {2: "second", 3: "third", 4: "fourth", 8: "eighth"}


def words() -> str:
    """The section, in one line."""
    page = (DOCS / "model.md").read_text("utf-8")
    _, _, rest = page.partition("### How people walk, in words\n")
    section, found, _ = rest.partition("### Exactly\n")
    assert found
    return " ".join(section.split())


def test_its_numbers_are_the_defaults() -> None:
    people, told = Config.model_validate({}).crowd, words()
    stagger = {name: NTH[int(BY_PATH[f"stagger.{name}"].default)] for name in ("avoidance", "sight", "paths")}
    for sentence in (
            f"{(people.speed_min + people.speed_max) / 2 / UNITS:.2f} m/s on the mean",
            f"each person within {people.radius / UNITS:.1f} m", f"nearer than {people.gap / UNITS:.1f} m",
            f"within {people.ahead_s:g} s", f"straight behind at {people.behind:g}",
            f"discs {2 * people.body / UNITS:.2f} m wide", f"no progress for {people.stuck_s:g} s",
            f"at neighbours in every {stagger['avoidance']}, for the goal in every {stagger['sight']}, at the way in every"
            f" {stagger['paths']}"):
        assert sentence in told, sentence
    assert (1 / people.response, people.wait_s, SLOW, SHIFT_PARTS, SHARPEST) == (0.25, 30, 0.25, 1 / 3, 1)
    assert (BY_PATH["avoidance"].default, BY_PATH["overlap_passes"].default) == ("anticipate", 2)


def test_what_it_says_of_dense_crowds_is_what_was_measured() -> None:
    measured, told = (DOCS / "validation.md").read_text("utf-8"), words()
    speed = re.search(r"\| speed at 4 people/m² .*?\| \*\*[\d.]+ failed\*\* \| \*\*([\d.]+) failed", measured)
    flow = re.search(r"\| flow per metre of the door .*?\| \*\*[\d.]+ failed\*\* \| \*\*([\d.]+) failed", measured)
    empty = re.search(r"empty, door 1 m \| ([\d.]+) to .*?failed\*\* \| \*\*([\d.]+) failed", measured)
    assert speed and f"at 4 people per m² they still walk at {float(speed[1]):.1f} m/s" in told
    assert flow and round(float(flow[1])) == 5 and "about five a second" in told
    assert empty and float(empty[2]) < float(empty[1]) / 2 and "less than half the time" in told


def test_both_pages_lead_there() -> None:
    for page in (DOCS / "validation.md", DOCS.parent / "README.md"):
        assert "model.md#how-people-walk-in-words" in page.read_text("utf-8")
