"""The sweep measures values in turns and says whether they gave one crowd. No time is tested, but how times are summed up."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from crowds import simulation

from crowd_demo.lab.contest import ROUND, Contender, compete, counters_of, stages_ms
from crowd_demo.lab.sweep import expectations, figure, main
from crowd_demo.profile import Profile
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES

SMALL = ("--config", "1k", "--agents", "150", "--set", "map=null", "--set", "world.width=300", "--set", "world.height=300",
         "--set", "window.width=64", "--set", "window.height=64", "--steps", "4")
quick = pytest.mark.quick


def swept(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, list[str]]:
    """The table by its first column."""
    assert main([*SMALL, *args]) == 0
    _, _, *rows = capsys.readouterr().out.rpartition("\n\n")[0].splitlines()
    return {row[:20].strip(): row[20:].split() for row in rows}


def test_an_exact_technique_gives_one_crowd(capsys: pytest.CaptureFixture[str]) -> None:
    table = swept(capsys, "neighbours", "none", "linked", "kd_tree")
    assert table["neighbours"] == ["sorted*", "none", "linked", "kd_tree"]
    wanted = simulation("1k", agents=150, map="null", world__width=300, world__height=300)
    wanted.step(4 + ROUND)
    assert table["state hash"] == [wanted.state_hash()[:8]] * 4 and table["crowd"] == ["exact"] * 4
    assert table["candidates per agent"][1] == "150" and float(table["candidates per agent"][0]) < 150
    assert table["leaves"][:3] == ["-"] * 3 and table["neighbours per agent"][0] == table["neighbours per agent"][1]
    assert float(table["of the default's"][0]) == 1
    assert {"step ms", "index ms", "see ms", "move ms", "near reads", "l1 misses"} <= set(table)


@pytest.mark.parametrize("path", [technique.path for technique in TECHNIQUES])
def test_every_technique_can_be_swept(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = swept(capsys, path)
    assert len(table[path]) == len(BY_PATH[path].choices) == len(table["state hash"])
    if path in ("cull", "blitter"):
        assert len(set(table["picture"])) == 1


def test_approximate_values_are_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "stagger.avoidance", "1", "8"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("approximate:")
    assert swept(capsys, "cap", "nearest")["crowd"] == ["exact", "approximate"]


def test_an_exact_technique_that_changes_the_crowd_is_an_error(monkeypatch: pytest.MonkeyPatch,
                                                               capsys: pytest.CaptureFixture[str]) -> None:
    liar = BY_PATH["stagger.avoidance"]._replace(exact=True)
    monkeypatch.setitem(BY_PATH, "stagger.avoidance", liar)
    monkeypatch.setattr("crowd_demo.lab.contest.is_approximate", lambda technique, value, get: not technique.exact)
    assert main([*SMALL, "stagger.avoidance", "1"]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("THE CROWD DIFFERS: 3 ")


def test_json_and_nothing_else_goes_to_standard_output() -> None:
    command = [sys.executable, "-m", "crowd_demo.lab.sweep", *SMALL, "reorder.drift", "0.3", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr == "sweep: reorder.drift is inactive here: another technique or the behaviour leaves it no work\n"
    found = json.loads(done.stdout)
    assert (found["technique"], found["agents"], found["steps"], found["one_crowd"]) == ("reorder.drift", 150, 4, True)
    assert [each["value"] for each in found["results"]] == [0.5, 0.3]
    for each in found["results"]:
        assert each["step_ms"] == sum(each["stages_ms"].values()) > 0
        assert each["state_hash"] == found["results"][0]["state_hash"]


def test_a_file_of_json_leaves_the_table(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert "threads" in swept(capsys, "threads", "1", "--json", str(tmp_path / "a.json"))
    assert len(json.loads((tmp_path / "a.json").read_text())["results"]) == 2


@quick
@pytest.mark.parametrize("arguments, line", [
    (["cel_size"], "unknown technique 'cel_size' (did you mean cell_size?)"),
    (["cell_size", "16", "wide"], "cell_size: must be auto or a number from 1 to 4096, not 'wide'"),
    (["simd", "null"], "simd: must be true or false, not null"),
    (["simd", "--agents", "-1"], "--agents: agents: must be a whole number from 0 to 2000000, not -1"),
    (["simd", "--config", "29k"], "29k: no such file, nor a shipped configuration (did you mean 20k?)"),
    (["simd", "--set", "seed"], "--set:1: seed: must be key.path=value, not 'seed'"),
    (["simd", "--json", "/no/such/a.json"], "--json: there is no folder /no/such"),
])
def test_a_mistake_is_one_line(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert tuple(capsys.readouterr()) == ("", line + "\n")


def test_what_will_be_slow_is_said_before() -> None:
    brute = [Contender("none", simulation("1k", agents=100, optimizations__neighbours="none"), lambda: None, [])]
    assert list(expectations(BY_PATH["neighbours"], brute, 1000)) == []
    (line,) = expectations(BY_PATH["neighbours"], brute, 10**9)
    assert line == "neighbours=none: all pairs are tested, which may take 1,000 s"


@quick
def test_contenders_take_turns() -> None:
    turns: list[str] = []
    sims: dict[str, Any] = {name: SimpleNamespace(profile=Profile(), step=lambda name=name: turns.append(name))
                            for name in "ab"}
    contenders = [Contender(name, sim, lambda: None, []) for name, sim in sims.items()]
    compete(contenders, ROUND + 3)
    assert turns == ["a"] * ROUND + ["b"] * ROUND + ["a"] * ROUND + ["b"] * ROUND + ["a"] * 3 + ["b"] * 3


@quick
def test_a_rare_stage_counts_for_its_share_of_steps() -> None:
    profile = Profile()
    for step in range(14):
        profile.add("see", 50 if step < 2 else 9 if step == 7 else 2)
        if step % 6 == 0:
            profile.add("reorder", 12)
        profile.end_frame()
    assert stages_ms(profile, 12) == {"see": 2.0, "reorder": 2.0}


@quick
def test_counters_are_of_all_steps() -> None:
    log = [{"due": 1.0, "candidates_per_agent": 8.0, "registers": 1.0, "sorts": 1, "found_max": 5.0},
           {"due": 3.0, "candidates_per_agent": 4.0, "registers": 2.0, "sorts": 2, "found_max": 4.0}]
    assert counters_of(log) == {"due": 2, "candidates_per_agent": 5, "registers": 1.5, "sorts": 2, "found_max": 5}
    assert counters_of([{"due": 0.0, "candidates_per_agent": 0.0}]) == {"due": 0, "candidates_per_agent": 0}


@quick
def test_figures_keep_counts_whole() -> None:
    assert [figure(number) for number in (None, 14790.0, 0.012346, 3, 23456.7)] == ["-", "14,790", "0.01235", "3", "23,457"]
