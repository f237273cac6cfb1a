"""The sweep measures values interleaved and says whether they gave one crowd. No time is tested."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from crowds import simulation

from crowd_demo.cli import main
from crowd_demo.config.loader import load_config
from crowd_demo.extras.lab.claims.claim import CrowdArm
from crowd_demo.extras.lab.sweep import NOTE, WARM_UP, expectations
from crowd_demo.registry.entries import EXACT
from crowd_demo.registry.techniques import BY_PATH

SMALL = ("sweep", "--config", "1k", "--agents", "150", "--set", "map=null", "--set", "world.width=300",
         "--set", "world.height=300", "--set", "window.width=64", "--set", "window.height=64", "--steps", "4")


def swept(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, list[str]]:
    """The table by its first column."""
    assert main([*SMALL, *args]) == 0
    head, rows, note, conclusion = capsys.readouterr().out.split("\n\n")
    assert note == NOTE and "interleaved" in head and re.match("approximate|model|one state hash", conclusion)
    return {name.strip(): cells for name, *cells in (re.split(" {2,}", " " + row.strip()) for row in rows.splitlines())}


def test_an_exact_technique_gives_one_crowd(capsys: pytest.CaptureFixture[str]) -> None:
    table = swept(capsys, "neighbours", "none", "linked", "kd_tree")
    assert table["neighbours"] == ["sorted*", "none", "linked", "kd_tree"]
    wanted = simulation("1k", agents=150, map="null", world__width=300, world__height=300, steps=4 + WARM_UP)
    assert table["state hash"] == [wanted.state_hash()[:8]] * 4 and table["crowd"] == ["exact"] * 4
    assert table["candidates per agent"][1] == "150" and float(table["candidates per agent"][0]) < 150
    assert table["leaves"][:3] == ["-"] * 3 and table["neighbours per agent"][0] == table["neighbours per agent"][1]
    assert float(table["of the default's"][0]) == 1
    assert table["95%"] == ["too few steps"] * 4
    assert {"step ms", "other ms", "index ms", "interaction ms", "move ms", "near reads", "l1 misses"} <= set(table)


EVERY_DAY = "neighbours", "stagger.by", "cull", "blitter", "threads"


@pytest.mark.parametrize("path", [
    path if path in EVERY_DAY else pytest.param(path, marks=pytest.mark.slow) for path in BY_PATH])
def test_every_technique_can_be_swept(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = swept(capsys, path)
    assert len(table[path]) == len(BY_PATH[path].choices) == len(table["state hash"])
    if path in ("cull", "blitter"):
        assert len(set(table["picture"])) == 1


def test_the_record_says_why(tmp_path: Path) -> None:
    for path, names in {"simd": ["time", "pairs", "instructions"], "cull": []}.items():
        assert main([*SMALL, path, "--report", str(tmp_path / path)]) == 0
        for result in json.loads((tmp_path / path).read_text("utf-8"))["results"]:
            assert [figure["name"] for figure in result["why"]][:3] == names


def test_approximate_values_are_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "stagger.avoidance", "1", "8"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("approximate (changes the motion):")
    assert swept(capsys, "neighbour_limit", "nearest")["crowd"] == ["exact", "approximate"]


def test_an_exact_technique_that_changes_the_crowd_is_an_error(monkeypatch: pytest.MonkeyPatch,
                                                               capsys: pytest.CaptureFixture[str]) -> None:
    liar = replace(BY_PATH["stagger.avoidance"], kind=EXACT)
    monkeypatch.setitem(BY_PATH, "stagger.avoidance", liar)
    monkeypatch.setattr("crowd_demo.extras.lab.sweep.kind_of", lambda technique, value, get: technique.kind)
    assert main([*SMALL, "stagger.avoidance", "1"]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("THE CROWD DIFFERS: 3 ")


def test_a_file_of_json_leaves_the_table(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert "threads" in swept(capsys, "threads", "1", "--report", str(tmp_path / "a.json"))
    assert len(json.loads((tmp_path / "a.json").read_text("utf-8"))["results"]) == 2


@pytest.mark.quick
@pytest.mark.parametrize("arguments, line", [
    (["cel_size"], f"unknown technique 'cel_size' (did you mean cell_size?); techniques: {', '.join(BY_PATH)}"),
    (["cell_size", "16", "wide"], "cell_size: must be auto or a number from 1 to 4096, not 'wide'"),
    (["simd", "null"], "simd: must be true or false, not null"),
    (["simd", "--agents", "-1"], "--agents: agents: must be a whole number from 0 to 32000000, not -1"),
    (["simd", "--config", "29k"], "29k: no such file, nor a shipped configuration (did you mean 20k?)"),
    (["simd", "--set", "seed"], "--set:1: seed: must be key.path=value, not 'seed'"),
    (["simd", "--report", "/no/such/a.json"], "--report: there is no folder /no/such"),
])
def test_a_mistake_is_one_line(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", *arguments]) == 2
    assert tuple(capsys.readouterr()) == ("", line + "\n")


def test_what_will_be_slow_is_said_before() -> None:
    brute = {"none": CrowdArm(load_config("1k", ["agents=100", "optimizations.neighbours=none"]))}
    assert list(expectations(BY_PATH["neighbours"], brute, 1000)) == []
    (line,) = expectations(BY_PATH["neighbours"], brute, 10**9)
    assert line == "neighbours=none: all pairs are tested, which may take 333 s"


def test_the_default_is_measured_twice_and_enough_steps_give_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    table = swept(capsys, "stagger.avoidance", "3", "1", "--steps", "12")
    assert table["stagger.avoidance"] == ["3*", "1"] and re.fullmatch(r"\d+\.\d\d-\d+\.\d\d", table["95%"][0])
    assert table["95%"][1] == "no difference" or re.fullmatch(r"\d+\.\d\d-\d+\.\d\d", table["95%"][1])
