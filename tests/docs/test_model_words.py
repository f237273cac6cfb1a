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
            f"less {people.standing / UNITS:.2f} m, has to last {people.headway_s:g} s",
            f"less than {people.in_way / UNITS:.1f} m beside their line", f"by {people.swerve:g} degrees at most",
            f"discs {2 * people.body / UNITS:.2f} m wide", f"no progress for {people.stuck_s:g} s",
            f"at neighbours in every {stagger['avoidance']}, for the goal in every {stagger['sight']}, at the way in every"
            f" {stagger['paths']}"):
        assert sentence in told, sentence
    assert (1 / people.response, people.wait_s, SLOW, SHIFT_PARTS, SHARPEST, people.creep) == (0.25, 30, 0.25, 1 / 3, 1, 1 / 5)
    assert (BY_PATH["avoidance"].default, BY_PATH["overlap_passes"].default) == ("slow_down", 2)


def of_slow_down(section: str, row: str) -> re.Match[str]:
    """Match the cell of `slow_down` in docs/validation.md: its median (group 1), "failed" or "passed" (2)."""
    _, _, rest = (DOCS / "validation.md").read_text("utf-8").partition(f"\n## {section}\n")
    titles: list[str] = []
    for line in rest.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("|  | expected |"):
            titles = cells
        elif len(cells) > 1 and cells[1] == row:
            found = re.match(r"\*?\*?([\d.]+).*?(passed|failed)", cells[titles.index("slow_down")])
            assert found
            return found
    raise AssertionError(row)


@pytest.mark.parametrize("section, row, sentence", [
    ("Flow through a bottleneck", "flow, 3 m over 1 m", "let {:.2f} times as many people through as 1 m"),
    ("Speed against density, both ways", "speed at 0.5 people/m²", "in both directions they walk at {:.2f} m/s")])
def test_what_it_says_to_fail_is_what_was_measured(section: str, row: str, sentence: str) -> None:
    found = of_slow_down(section, row)
    assert found[2] == "failed" and sentence.format(float(found[1])) in words()


def test_both_pages_lead_there() -> None:
    for page in (DOCS / "validation.md", DOCS.parent / "README.md"):
        assert "model.md#how-people-walk-in-words" in page.read_text("utf-8")
