"""`crowd-demo ablate` and `largest`: tables, records, mistakes in one line, and stopping early keeps the results."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from crowds import simulation

from crowd_demo.cli import main
from crowd_demo.config.loader import load_config
from crowd_demo.extras.commands.measuring import watched
from crowd_demo.extras.lab.claims.claim import CrowdArm
from crowd_demo.extras.lab.sweep import NOTE, WARM_UP, expectations
from crowd_demo.host.system import ERASE
from crowd_demo.measure.experiment import Slice
from crowd_demo.registry.entries import EXACT
from crowd_demo.registry.techniques import BY_PATH

SMALL = ("--config", "1k", "--agents", "150", "--set", "map=null", "--set", "world.width=300", "--set", "world.height=300",
         "--set", "window.width=64", "--set", "window.height=64")
SOON = """
import os, sys, time
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
import signal; signal.signal(signal.SIGINT, signal.default_int_handler); signal.signal(signal.SIGTERM, signal.SIG_DFL)
from crowd_demo.cli import main
from crowd_demo.measure import ablation, largest
"""
STAY = """
    print("there", file=sys.stderr, flush=True)
    while True:
        time.sleep(1)
        yield 0.0
"""
SLOW_ABLATION = SOON + """
against = ablation.ThreeCrowds.against
def slow(self, others, limits):
    if "neighbours" in others:
        return (yield from against(self, others, limits))
""" + STAY + """
ablation.ThreeCrowds.against = slow
sys.exit(main(["ablate", *sys.argv[1:]]))
"""
SLOW_SEARCH = SOON + """
def slow(config):
""" + STAY + """
largest.measure = slow
sys.exit(main(["largest", *sys.argv[1:]]))
"""


def ablated(capsys: pytest.CaptureFixture[str], *args: str) -> list[str]:
    """The parts of what is printed."""
    assert main(["ablate", *SMALL, "--steps", "6", *args]) == 0
    return capsys.readouterr().out.rstrip("\n").split("\n\n")


def test_the_table_has_a_row_for_each_technique_that_is_on(capsys: pytest.CaptureFixture[str]) -> None:
    head, table, note, left = ablated(capsys)
    rows = [re.split(" {2,}", line) for line in table.splitlines()]
    labels = {row[0].split(":")[0] for row in rows[1:]}
    assert head == "1k: 150 agents" and " buys: " in note
    assert "off for memory techniques: agents as if they had never been sorted" in note.splitlines()
    assert {"neighbours", "SIMD lanes", "reorder", "threads", "stagger avoidance", "culling", "depth order",
            "blitter"} <= labels
    assert rows[0][:3] == ["technique", "off is", "step on"] and {len(row) for row in rows} == {11}
    for label in {technique.label.strip() for technique in BY_PATH.values()} - labels:
        assert label in left
    by_label = {row[0].split(":")[0]: row for row in rows[1:]}
    assert (by_label["neighbours"][-1], by_label["stagger avoidance"][-1]) == ("same", "approximate")


def test_the_record_goes_to_a_file_beside_the_table_or_to_standard_output_instead(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ablated(capsys, "simd", "--report", str(tmp_path / "a.json"))
    record = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert (record["version"], record["kind"], record["complete"], record["picture"]) == (1, "ablation", True, True)
    (row,) = record["rows"]
    assert (row["technique"], row["other"], row["crowd"], row["steps"]) == ("simd", False, "same", 6)
    assert main(["ablate", *SMALL, "--steps", "6", "--no-render", "simd", "--report", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["picture"] is False


def test_an_exact_technique_that_changes_the_crowd_is_an_error(monkeypatch: pytest.MonkeyPatch,
                                                               capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("crowd_demo.measure.ablation.kind_of", lambda *_: EXACT)
    assert main(["ablate", *SMALL, "--steps", "6", "stagger.avoidance"]) == 1
    out, err = capsys.readouterr()
    assert "DIFFERS" in out and err.endswith("THE CROWD DIFFERS without stagger.avoidance\n")


def test_too_little_memory_is_one_line(monkeypatch: pytest.MonkeyPatch, errors_of: Callable[..., list[str]]) -> None:
    monkeypatch.setattr("crowd_demo.measure.ablation.available_bytes", lambda: 1)
    assert errors_of("ablate", *SMALL)[-1] == "ablate: three crowds of 150 need about 0 MB, and 0 MB are free"


def test_a_search_ends_with_a_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
                                    tmp_path: Path) -> None:
    monkeypatch.setattr("crowd_demo.measure.largest.most_agents", lambda config: (9, "the test"))
    assert main(["largest", *SMALL, "--ladder", "--report", str(tmp_path / "a.json")]) == 0
    head, table, note, bound = capsys.readouterr().out.rstrip("\n").split("\n\n")
    lines = table.splitlines()
    assert head == "1k" and lines[1].startswith("everything off") and lines[-1].startswith("+ threads: auto")
    assert note.startswith("The largest crowd") and bound == "+: not more, because of the test"
    record = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert (record["kind"], record["complete"], len(record["rungs"])) == ("largest", True, len(lines) - 1)
    assert record["rungs"][-1]["agents"] == 9


def ended_by(script: str, number: int, *arguments: str) -> tuple[int, str, str]:
    """Exit code and output of a script that gets a signal as soon as it says that it is there."""
    with subprocess.Popen([sys.executable, "-c", script, *SMALL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8") as process:
        try:
            assert process.stdout and process.stderr
            for line in process.stderr:
                if line == "there\n":
                    break
            process.send_signal(number)
            return process.wait(60), process.stdout.read(), process.stderr.read()
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_leaves_with_what_there_is(number: int, code: int, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    ended, out, err = ended_by(SLOW_ABLATION, number, "--steps", "6", "neighbours", "simd", "--report", str(path))
    assert (ended, err) == (code, "")
    assert out.startswith("1k: 150 agents, stopped before the end\n\n")
    assert "neighbours: sorted" in out and "SIMD lanes: on" not in out
    record: dict[str, Any] = json.loads(path.read_text("utf-8"))
    assert record["complete"] is False and [row["technique"] for row in record["rows"]] == ["neighbours"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_before_anything_was_found_says_so() -> None:
    assert ended_by(SLOW_SEARCH, signal.SIGINT) == (130, "1k, stopped before the end\n\nnothing was found\n", "")


@pytest.mark.quick
@pytest.mark.parametrize(("arguments", "line"), [
    (["ablate", "cel_size"], f"unknown technique 'cel_size' (did you mean cell_size?); techniques: {', '.join(BY_PATH)}"),
    (["ablate", "--seconds", "0"], "crowd-demo ablate: argument --seconds: must be a number of seconds above 0, such as 2.5, "
                                   "not '0'; see crowd-demo ablate --help"),
    (["ablate", "--steps", "none"], "crowd-demo ablate: argument --steps: must be a whole number from 1 to 1000000000, "
                                    "not 'none'; see crowd-demo ablate --help"),
    (["ablate", "--agents", "-1"], "--agents: agents: must be a whole number from 0 to 32000000, not -1"),
    (["ablate", "--report", "/no/such/a.json"], "--report: there is no folder /no/such"),
    (["largest", "--config", "29k"], "29k: no such file, nor a shipped configuration (did you mean 20k?)"),
    (["largest", "--set", "seed"], "--set:1: seed: must be key.path=value, not 'seed'"),
    (["largest", "--report", "/no/such/a.json"], "--report: there is no folder /no/such"),
    (["largest", "--laddr"], "crowd-demo largest: unrecognized arguments: --laddr (did you mean --ladder?); see crowd-demo "
                             "largest --help"),
])
def test_a_mistake_is_one_line(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code: object = main(arguments)
    except SystemExit as leaving:
        code = leaving.code
    assert code == 2 and tuple(capsys.readouterr()) == ("", line + "\n")


class Two:
    """An experiment of two slices."""

    def run(self) -> Iterator[Slice]:
        for part in (0.0, 0.5):
            yield Slice("counting", part)
            time.sleep(0.1)


@pytest.mark.quick
def test_progress_is_a_line_that_changes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("crowd_demo.extras.commands.measuring.LOOK_EVERY_S", 0.01)
    monkeypatch.setattr("crowd_demo.host.system.REDRAW_EVERY_S", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert watched("two", lambda tell: Two(), lambda two: 0) == 0
    assert f"{ERASE}two:  50%  counting" in capsys.readouterr().err


# --- The sweep measures values interleaved and says whether they gave one crowd --------------------------------------

SWEEP = ("sweep", "--config", "1k", "--agents", "150", "--set", "map=null", "--set", "world.width=300",
         "--set", "world.height=300", "--set", "window.width=64", "--set", "window.height=64", "--steps", "4")


def swept(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, list[str]]:
    """The table by its first column."""
    assert main([*SWEEP, *args]) == 0
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
        assert main([*SWEEP, path, "--report", str(tmp_path / path)]) == 0
        for result in json.loads((tmp_path / path).read_text("utf-8"))["results"]:
            assert [figure["name"] for figure in result["why"]][:3] == names


def test_approximate_values_are_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SWEEP, "stagger.avoidance", "1", "8"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("approximate (changes the motion):")
    assert swept(capsys, "neighbour_limit", "nearest")["crowd"] == ["exact", "approximate"]


def test_an_exact_technique_that_changes_the_crowd_is_an_error_of_the_sweep(monkeypatch: pytest.MonkeyPatch,
                                                               capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(BY_PATH, "stagger.avoidance", replace(BY_PATH["stagger.avoidance"], kind=EXACT))
    monkeypatch.setattr("crowd_demo.extras.lab.sweep.kind_of", lambda technique, value, get: technique.kind)
    assert main([*SWEEP, "stagger.avoidance", "1"]) == 1
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
def test_a_mistake_in_a_sweep_is_one_line(arguments: list[str], line: str, errors_of: Callable[..., list[str]]) -> None:
    assert errors_of("sweep", *arguments) == [line]


def test_what_will_be_slow_is_said_before() -> None:
    brute = {"none": CrowdArm(load_config("1k", ["agents=100", "optimizations.neighbours=none"]))}
    assert list(expectations(BY_PATH["neighbours"], brute, 1000)) == []
    (line,) = expectations(BY_PATH["neighbours"], brute, 10**9)
    assert line == "neighbours=none: all pairs are tested, which may take 333 s"


def test_the_default_is_measured_twice_and_enough_steps_give_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    table = swept(capsys, "stagger.avoidance", "3", "1", "--steps", "12")
    assert table["stagger.avoidance"] == ["3*", "1"] and re.fullmatch(r"\d+\.\d\d-\d+\.\d\d", table["95%"][0])
    assert table["95%"][1] == "no difference" or re.fullmatch(r"\d+\.\d\d-\d+\.\d\d", table["95%"][1])
