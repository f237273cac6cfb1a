"""How many people keep moving on a map: shortest ways against an oracle, a number calculated by hand, and the loader."""

from collections import deque
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.config import capacity
from crowd_demo.config.loader import load_config

ROOMS = ["@@@@@@@@@", "@...@...@", "@.......@", "@...@...@", "@@@@@@@@@"]  # with a door of one tile


def written(folder: Path, rows: list[str], **settings: object) -> Path:
    """A configuration with a map of its own."""
    text = f"type octile\nheight {len(rows)}\nwidth {len(rows[0])}\nmap\n" + "\n".join(rows) + "\n"
    (folder / "own.map").write_text(text, "utf-8")
    lines = {"map": "own.map", "world": "{width: 234, height: 130}", **settings}
    (folder / "own.yaml").write_text("".join(f"{key}: {value}\n" for key, value in lines.items()), "utf-8")
    return folder / "own.yaml"


def distances(goal: int, walls: np.ndarray) -> list[int]:
    """The steps from each tile that leads to a goal, the slow way."""
    found, waiting = {goal: 0}, deque([goal])
    while waiting:
        tile = waiting.popleft()
        for step in (-1, 1, -walls.shape[1], walls.shape[1]):
            if not walls.flat[tile + step] and tile + step not in found:
                found[tile + step] = found[tile] + 1
                waiting.append(tile + step)
    return list(found.values())


@given(seed=st.integers(0, 9999), rows=st.integers(1, 9), columns=st.integers(1, 9), share=st.floats(0, 0.8))
def test_all_take_a_shortest_way_and_each_step_crosses_one_border(seed: int, rows: int, columns: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    walls = np.pad(rng.random((rows, columns)) < share, 1, constant_values=True)
    walls[1, 1] = False
    goal, crossed = int(rng.choice(np.flatnonzero(~walls))), np.zeros((2, *walls.shape))
    expected = distances(goal, walls)
    assert capacity._walk_to(goal, walls, crossed) == (len(expected), sum(expected))
    assert crossed.sum() == sum(expected)
    assert not crossed[0][walls].any() and not crossed[1][walls].any()


def test_a_door_of_one_metre_passes_what_is_said(tmp_path: Path) -> None:
    """All people of the right room, and who is in the door, go through it to the only destination, on the left."""
    rows = ["@" * 43, *["@" + "." * 20 + "@" + "." * 20 + "@"] * 20, "@" * 43]
    rows[10] = "@0" + "." * 40 + "@"
    path = written(tmp_path, rows, world=f"{{width: {43 * 26}, height: {22 * 26}}}")
    walls = np.array([[tile == "@" for tile in row] for row in rows])
    way = distances(10 * 43 + 1, walls)
    seconds = np.mean(way) * np.pi / 4 / ((11.4 + 58.3) / 2 / 26) + 30
    assert load_config(path).agents == int(1.3 * seconds * len(way) / 401) < len(way) * 0.35


def test_the_number_is_taken_or_a_line_says_that_more_will_jam(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, ROOMS)
    number = load_config(path).agents
    assert 1 <= number < 20
    assert load_config(path, ["seed=7", "crowd.wait_s=5"]).agents == number
    assert load_config(path, ["behaviour=flock"]).agents == 20_000
    more = load_config(path, ["agents=3000"])
    assert more.agents == 3000
    assert capacity.jam_warning(more) == f"{more.map}: 3,000 people will jam; about {number} keep moving here"
    assert not capacity.jam_warning(load_config(path))
    assert not capsys.readouterr().err
