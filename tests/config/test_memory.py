"""What needs more memory than there is, is refused in one line."""

import os
import sys
import tracemalloc
from collections import deque
from pathlib import Path

import numpy as np
import pytest
from damages import mistakes_in
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.config import capacity, memory
from crowd_demo.config.loader import load_config
from crowd_demo.config.memory import MB, available_bytes, needed_bytes, read_bounded
from crowd_demo.config.tour import load_tour


def machine(folder: Path, meminfo: str = "", limit: str = "") -> Path:
    """A system's folder with these files."""
    for name, text in (("proc/meminfo", meminfo), ("sys/fs/cgroup/memory.max", limit)):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text, "utf-8")
    return folder


MEMINFO = "MemTotal:       8000 kB\nMemAvailable:   3000 kB\nSwapTotal:  0 kB\nSwapFree:       500 kB\n"


@pytest.mark.quick
@pytest.mark.parametrize(("meminfo", "limit", "kilobytes"), [
    (MEMINFO, "max\n", 3500), (MEMINFO, "1024000\n", 1000), (MEMINFO, "", 3500), (MEMINFO, "99999999999\n", 3500),
    ("MemTotal: 8000 kB\n", "max", 64), ("", "", 64), ("nonsense", "?", 64)])
@pytest.mark.skipif(sys.platform == "win32", reason="Windows says nothing of the kind")
def test_the_system_says_how_much_there_is(tmp_path, monkeypatch, meminfo, limit, kilobytes):
    pages = {"SC_PHYS_PAGES": 16 if kilobytes == 64 else 10**9, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__, raising=False)
    assert available_bytes(machine(tmp_path, meminfo, limit)) == kilobytes << 10


@pytest.mark.quick
def test_what_a_container_has_left_counts_but_for_what_it_keeps_of_files(tmp_path):
    cgroup = machine(tmp_path, limit=f"{100 * MB}\n") / "sys/fs/cgroup"
    (cgroup / "memory.current").write_text(f"{70 * MB}\n", "utf-8")
    assert available_bytes(tmp_path) == 30 * MB
    (cgroup / "memory.stat").write_text(f"anon 1\ninactive_file {50 * MB}\nactive_file 2\n", "utf-8")
    assert available_bytes(tmp_path) == 80 * MB
    (cgroup / "memory.current").write_text(f"{900 * MB}\n", "utf-8")
    assert available_bytes(tmp_path) == 1


@pytest.mark.quick
def test_the_limit_of_a_process_counts_less_its_size(tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    statm = machine(tmp_path) / "proc/self/statm"
    statm.parent.mkdir()
    statm.write_text("7 5 3 1 0 1 0\n", "utf-8")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (17 * resource.getpagesize(), resource.RLIM_INFINITY))
    assert available_bytes(tmp_path) == 10 * resource.getpagesize()


@pytest.mark.quick
def test_a_system_that_does_not_say_refuses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sysconf", lambda name: int("unknown"), raising=False)
    assert available_bytes(tmp_path) is None
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    assert load_config("1k", {"agents": 2_000_000}).agents == 2_000_000


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A machine with 512 MB and a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(memory, "available_bytes", lambda: 512 * MB)
    return tmp_path


def line_of(*args):
    (line,) = mistakes_in(load_config, *args)
    return line


@pytest.mark.quick
def test_what_needs_too_much_is_one_line_that_names_the_key_that_takes_most(small):
    (small / "big.yaml").write_text("behaviour: flock\nagents: 2000000\n", "utf-8")
    assert line_of("big") == "big.yaml:2: agents: needs about 921 MB of memory, and 512 MB are free"
    assert line_of("1k", ["window.width=16384", "window.height=16384"]).startswith("overrides:1: window: needs about 1,2")
    assert load_config("1k").agents == 1000


@pytest.mark.quick
def test_a_large_map_needs_much(small):
    rows = ["." * 2048] * 2047 + ["0" + "." * 2047]
    (small / "big.map").write_text("\n".join(["type octile", "height 2048", "width 2048", "map", *rows, ""]), "utf-8")
    assert line_of("1k", {"map": "big.map", "agents": 5}).startswith("overrides: map: needs about ")
    (small / "small.map").write_text("height 1\nwidth 2\nmap\n0.\n", "utf-8")
    assert load_config("1k", {"map": "small.map"}).map == str(small / "small.map")


@pytest.mark.quick
def test_flow_fields_count_where_they_are_used():
    people, birds = load_config("1k", {"map": None}), load_config("20k-flock")
    tiles = 2048 * 2048
    assert needed_bytes(people, tiles, 64)["map"] - needed_bytes(birds, tiles, 64)["map"] >= tiles * 64
    assert needed_bytes(people, tiles, 0)["map"] == needed_bytes(people, tiles, people.crowd.destinations)["map"]


@pytest.mark.quick
def test_memory_for_those_who_will_be_born_counts(small):
    (small / "born.yaml").write_text("agents: 5\nlife: {births_per_s: 1000000, season_s: 60, most: 2000000}\n", "utf-8")
    assert line_of("born") == "born.yaml:2: life: needs about 921 MB of memory, and 512 MB are free"


@pytest.mark.quick
def test_a_tour_that_asks_for_too_many_agents_names_the_step(small):
    (small / "tour.yaml").write_text(
        "config: 1k\nsteps:\n  - say: One.\n  - say: Many.\n    do:\n      agents: 2000000\n", "utf-8")
    (line,) = mistakes_in(load_tour, "tour.yaml")
    assert line.startswith("tour.yaml:6: steps.1.do.agents: 1k: agents: needs about ") and line.endswith("512 MB are free")


@pytest.mark.quick
def test_a_file_larger_than_the_memory_is_not_read(small):
    with (small / "large").open("wb") as file:
        file.truncate(600 * MB)
    with pytest.raises(OSError, match="needs about 600 MB of memory, and 512 MB are free"):
        read_bounded(small / "large", 1 << 30)


@pytest.mark.quick
def test_reading_takes_no_memory_for_the_bound(small):
    (small / "short").write_text("short", "utf-8")
    tracemalloc.start()
    try:
        assert read_bounded(small / "short", 1 << 30) == b"short"
        assert tracemalloc.get_traced_memory()[1] < MB
    finally:
        tracemalloc.stop()


# --- Room on the ground ----------------------------------------------------------------------------------------------

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
    way = distances(10 * 43 + 1, np.array([[tile == "@" for tile in row] for row in rows]))
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
