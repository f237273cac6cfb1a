"""What needs more memory than there is, is refused in one line."""

import os
import sys
import tracemalloc
from pathlib import Path

import pytest

from crowd_demo import ConfigError, load_config
from crowd_demo.config import memory
from crowd_demo.config.memory import MB, available_bytes, needed_bytes, read_bounded
from crowd_demo.config.tour import load_tour

pytestmark = pytest.mark.quick


def machine(folder: Path, meminfo: str = "", limit: str = "") -> Path:
    """A system's folder with these files."""
    for name, text in (("proc/meminfo", meminfo), ("sys/fs/cgroup/memory.max", limit)):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text, "utf-8")
    return folder


MEMINFO = "MemTotal:       8000 kB\nMemAvailable:   3000 kB\nSwapTotal:  0 kB\nSwapFree:       500 kB\n"


@pytest.mark.parametrize(("meminfo", "limit", "kilobytes"), [
    (MEMINFO, "max\n", 3500), (MEMINFO, "1024000\n", 1000), (MEMINFO, "", 3500), (MEMINFO, "99999999999\n", 3500),
    ("MemTotal: 8000 kB\n", "max", 64), ("", "", 64), ("nonsense", "?", 64)])
@pytest.mark.skipif(sys.platform == "win32", reason="Windows says nothing of the kind")
def test_the_system_says_how_much_there_is(tmp_path, monkeypatch, meminfo, limit, kilobytes):
    pages = {"SC_PHYS_PAGES": 16 if kilobytes == 64 else 10**9, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__, raising=False)
    assert available_bytes(machine(tmp_path, meminfo, limit)) == kilobytes << 10


def test_what_a_container_has_left_counts_but_for_what_it_keeps_of_files(tmp_path):
    cgroup = machine(tmp_path, limit=f"{100 * MB}\n") / "sys/fs/cgroup"
    (cgroup / "memory.current").write_text(f"{70 * MB}\n", "utf-8")
    assert available_bytes(tmp_path) == 30 * MB
    (cgroup / "memory.stat").write_text(f"anon 1\ninactive_file {50 * MB}\nactive_file 2\n", "utf-8")
    assert available_bytes(tmp_path) == 80 * MB
    (cgroup / "memory.current").write_text(f"{900 * MB}\n", "utf-8")
    assert available_bytes(tmp_path) == 1


def test_the_limit_of_a_process_counts_less_its_size(tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    statm = machine(tmp_path) / "proc/self/statm"
    statm.parent.mkdir()
    statm.write_text("7 5 3 1 0 1 0\n", "utf-8")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (17 * resource.getpagesize(), resource.RLIM_INFINITY))
    assert available_bytes(tmp_path) == 10 * resource.getpagesize()


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
    with pytest.raises(ConfigError) as caught:
        load_config(*args)
    (line,) = caught.value.lines
    return line


def test_what_needs_too_much_is_one_line_that_names_the_key_that_takes_most(small):
    (small / "big.yaml").write_text("behaviour: flock\nagents: 2000000\n", "utf-8")
    assert line_of("big") == "big.yaml:2: agents: needs about 921 MB of memory, and 512 MB are free"
    assert line_of("1k", ["window.width=16384", "window.height=16384"]).startswith("overrides:1: window: needs about 1,2")
    assert load_config("1k").agents == 1000


def test_a_large_map_needs_much(small):
    rows = ["." * 2048] * 2047 + ["0" + "." * 2047]
    (small / "big.map").write_text("\n".join(["type octile", "height 2048", "width 2048", "map", *rows, ""]), "utf-8")
    assert line_of("1k", {"map": "big.map", "agents": 5}).startswith("overrides: map: needs about ")
    (small / "small.map").write_text("height 1\nwidth 2\nmap\n0.\n", "utf-8")
    assert load_config("1k", {"map": "small.map"}).map == str(small / "small.map")


def test_flow_fields_count_where_they_are_used():
    people, birds = load_config("1k", {"map": None}), load_config("20k-flock")
    tiles = 2048 * 2048
    assert needed_bytes(people, tiles, 64)["map"] - needed_bytes(birds, tiles, 64)["map"] >= tiles * 64
    assert needed_bytes(people, tiles, 0)["map"] == needed_bytes(people, tiles, people.crowd.destinations)["map"]


def test_memory_for_those_who_will_be_born_counts(small):
    (small / "born.yaml").write_text("agents: 5\nlife: {births_per_s: 1000000, season_s: 60, most: 2000000}\n", "utf-8")
    assert line_of("born") == "born.yaml:2: life: needs about 921 MB of memory, and 512 MB are free"


def test_a_tour_that_asks_for_too_many_agents_names_the_step(small):
    (small / "tour.yaml").write_text(
        "config: 1k\nsteps:\n  - say: One.\n  - say: Many.\n    do:\n      agents: 2000000\n", "utf-8")
    with pytest.raises(ConfigError) as caught:
        load_tour("tour.yaml")
    (line,) = caught.value.lines
    assert line.startswith("tour.yaml:6: steps.1.do.agents: 1k: agents: needs about ") and line.endswith("512 MB are free")


def test_a_file_larger_than_the_memory_is_not_read(small):
    with (small / "large").open("wb") as file:
        file.truncate(600 * MB)
    with pytest.raises(OSError, match="needs about 600 MB of memory, and 512 MB are free"):
        read_bounded(small / "large", 1 << 30)


def test_reading_takes_no_memory_for_the_bound(small):
    (small / "short").write_text("short", "utf-8")
    tracemalloc.start()
    try:
        assert read_bounded(small / "short", 1 << 30) == b"short"
        assert tracemalloc.get_traced_memory()[1] < MB
    finally:
        tracemalloc.stop()
