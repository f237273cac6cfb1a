"""`crowd-demo ensemble` with real processes: what fails, dies, is interrupted or cannot be written. No time is tested."""

import csv
import json
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from damages import make_fifo

from crowd_demo import ensemble as api
from crowd_demo.cli import main
from crowd_demo.extras.ensemble.running import read_rows

KILL = 9  # the signal, which has no name on Windows
SMALL = ("--config", "1k", "--agents", "30", "--set", "map=null", "--set", "world.width=200", "--set", "world.height=200",
         "--steps", "20", "--measure")
USAGE, SEE = "crowd-demo ensemble: ", "crowd-demo ensemble --help"
FULL = """
import resource, sys
from crowd_demo.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (12000, 12000))  # no file may grow beyond: stands for a full disk
sys.exit(main(sys.argv[1:]))
"""


def table_of(out: Path) -> list[dict[str, str]]:
    with (out / "table.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def results(out: Path) -> list[tuple[str, ...]]:
    """The table without its circumstances."""
    return [tuple(value for column, value in row.items() if column not in ("seconds", "worker", "cpu", "versions"))
            for row in table_of(out)]


def damage_one_row(out: Path) -> None:
    path = sorted((out / "rows").iterdir())[0]
    content = bytearray(path.read_bytes())
    content[200] ^= 4
    path.write_bytes(content)


def test_one_command_makes_one_table_and_the_next_one_only_what_is_missing(tmp_path, ensemble) -> None:
    out = tmp_path / "out"
    asked = (*SMALL, "stuck,population", "--seeds", "1-3", "--vary", "crowd.radius=20,40", "--out", out, "--workers", "2")
    done = ensemble(*asked)
    assert (done.returncode, done.stdout, done.stderr) == (
        0, f"{out}: 6 of 6 runs have a row without an error\n", ""), done.stderr
    rows, made = table_of(out), results(out)
    assert [(row["crowd.radius"], row["seed"]) for row in rows] == [(r, s) for r in ("20", "40") for s in "123"]
    assert all(row["population"] == "30.0" and len(row["state_hash"]) == 32 and not row["error"] for row in rows)
    assert json.loads((out / "manifest.json").read_text("utf-8"))["runs"] == 6
    damage_one_row(out)
    done = ensemble(*asked)
    assert done.returncode == 0 and results(out) == made
    assert done.stderr.endswith(".rows:1 is damaged: skipped, and its run is made again unless it has been\n")
    assert done.stderr.count("\n") == 1
    before = sorted((out / "rows").iterdir())
    assert ensemble(*asked).stderr == "" and sorted((out / "rows").iterdir()) == before, "nothing is missing"


def test_a_run_that_fails_is_a_row_with_its_error_and_is_tried_again(tmp_path, ensemble) -> None:
    out = tmp_path / "out"
    asked = (*SMALL, "population,fails", "--seeds", "1-4", "--out", out, "--workers", "2")
    done = ensemble(*asked)
    assert done.returncode == 1 and done.stdout == f"{out}: 2 of 4 runs have a row without an error\n"
    assert done.stderr == "ensemble: seed 2: ValueError: an even seed\nensemble: seed 4: ValueError: an even seed\n"
    assert [row["error"] for row in table_of(out)] == ["", "ValueError: an even seed"] * 2
    assert ensemble(*asked).returncode == 1 and len(read_rows(out / "rows")[0]) == 6


def test_a_killed_worker_loses_only_its_run_which_is_done_again(tmp_path, ensemble) -> None:
    out = tmp_path / "out"
    done = ensemble(*SMALL, "kills_once,prints", "--seeds", "1-6", "--out", out, "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "marks").iterdir()) == ["2", "5"]
    assert len(read_rows(out / "rows")[0]) == 6 and all(row["kills_once"] == "1.0" for row in table_of(out))


def test_a_run_that_always_kills_its_worker_is_a_row_with_an_error(tmp_path, ensemble) -> None:
    out = tmp_path / "out"
    done = ensemble(*SMALL, "kills", "--seeds", "1-4", "--out", out, "--workers", "2")
    assert done.returncode == 1 and done.stderr == "ensemble: seed 3: its worker died 3 times (killed by SIGKILL)\n"
    assert [bool(row["error"]) for row in table_of(out)] == [False, False, True, False]


@pytest.mark.slow
def test_what_fails_or_gives_something_else_when_made_again_is_said(tmp_path, ensemble) -> None:
    asked = (*SMALL, "lies,fails_later", "--seeds", "1-2", "--out", tmp_path / "out")
    assert ensemble(*asked, "--workers", "1").returncode == 0
    assert ensemble(*asked, "--workers", "2", "--again").returncode == 0  # the same crowd, on other workers
    failed = ensemble(*asked, "--workers", "1", "--again", FAIL="1")
    assert (failed.returncode, failed.stderr) == (
        1, "ensemble: seed 1: ValueError: told to\nensemble: seed 2: ValueError: told to\n")
    other = ensemble(*asked, "--workers", "1", "--again", MEASURED="3")  # rows from before are still there
    assert other.returncode == 1
    assert [line.partition(": ")[2].split(" by ")[0] for line in other.stderr.splitlines()] == [
        f"THE MEASURE fails_later DIFFERS with seed {seed}: 1.0" for seed in (1, 2)]
    assert [(row["fails_later"], row["differs"]) for row in table_of(tmp_path / "out")] == [("1.0", "fails_later")] * 2
    crowd = ensemble(*asked, "--workers", "1", "--again", LIES="1")
    assert crowd.returncode == 1
    assert [line.split(":")[:2] for line in crowd.stderr.splitlines() if "CROWD" in line] == [
        ["ensemble", f" THE CROWD DIFFERS with seed {seed}"] for seed in (1, 2)]


@pytest.mark.slow
def test_interrupted_when_made_again_it_says_what_the_command_does(tmp_path, start, ensemble) -> None:
    out = tmp_path / "out"
    asked = (*SMALL, "waits", "--seeds", "1-8", "--workers", "1", "--out", out)
    assert ensemble(*asked).returncode == 0
    process = start(*asked, "--again", WAIT="0.3")
    while process.poll() is None and len(read_rows(out / "rows")[0]) < 10:  # the first of two has been counted
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    number, end = process.communicate()[1].splitlines()[-1].removeprefix("ensemble: ").split(" ", 1)
    assert process.returncode == 130 and 1 <= int(number) < 8
    assert end == "of 8 runs were made again; the same command begins with the first"


@pytest.mark.slow
def test_interrupted_at_random_moments_it_resumes_to_the_same_table(tmp_path, start, ensemble) -> None:
    asked = (*SMALL, "stuck,speed,population", "--seeds", "1-24", "--steps", "100", "--workers", "2", "--out")
    assert ensemble(*asked, tmp_path / "whole").returncode == 0
    chance, out, codes = random.Random(7), tmp_path / "out", []
    for number in (signal.SIGINT, KILL, signal.SIGTERM):
        process, before = start(*asked, out), len(read_rows(out / "rows")[0])
        wanted = before + chance.randint(1, 5)
        while process.poll() is None and len(read_rows(out / "rows")[0]) < wanted:
            time.sleep(0.02)
        time.sleep(chance.random() * 0.1)
        process.send_signal(number)
        process.communicate()
        codes.append(process.returncode)
        rows, damaged = read_rows(out / "rows")
        assert len({row.key for row in rows}) >= min(wanted, 24) and not damaged
    assert codes == [130, -KILL, 143] or 0 in codes  # a fast machine may have been done before
    assert ensemble(*asked, out).returncode == 0
    assert results(out) == results(tmp_path / "whole")
    keys = [row.key for row in read_rows(out / "rows")[0]]
    assert len(keys) == len(set(keys)) == 24  # none was made twice


def test_a_full_disk_ends_it_in_one_line_and_keeps_what_is_finished(tmp_path, environment, ensemble) -> None:
    out = tmp_path / "out"
    asked = [*SMALL, "population", "--seeds", "1-60", "--workers", "1", "--out", str(out)]
    done = subprocess.run([sys.executable, "-c", FULL, "ensemble", *asked], env=environment, capture_output=True,
                          encoding="utf-8")
    assert done.returncode == 1 and done.stdout == ""
    (path,) = (out / "rows").iterdir()
    assert done.stderr == f"crowd-demo: --out: {path}: File too large; what is finished is kept\n"
    rows, damaged = read_rows(out / "rows")
    assert 0 < len(rows) < 60 and not damaged
    assert ensemble(*asked).returncode == 0 and len(table_of(out)) == len(read_rows(out / "rows")[0]) == 60


def test_the_table_is_the_same_for_any_number_of_workers(tmp_path, capfd) -> None:
    plan = api.make_plan("1k", seeds="1-6", overrides=["agents=100"], steps=20,
                         vary={"crowd.radius": [20, 40], "optimizations.neighbours": ["sorted", "kd_tree"]},
                         measures=["stuck", "speed", "overlap", "neighbours", "step_ms"])
    tables = []
    for workers in (1, 3):
        rows = list(api.run(plan, tmp_path / str(workers), workers=workers))
        table = api.table(plan, tmp_path / str(workers))
        assert len(rows) == len(table.rows) == table.finished == 24
        tables.append(table.csv(circumstances=False).encode())
    assert tables[0] == tables[1]
    assert len({row["worker"] for row in table.rows}) == 3


def test_a_dry_run_says_how_many_how_long_and_how_much(tmp_path, capsys) -> None:
    out = tmp_path / "out"

    def said(*more: str) -> list[str]:
        assert main(["ensemble", *SMALL, "population", "--out", str(out), "--workers", "2", *more]) == 0
        return capsys.readouterr().out.splitlines()

    runs, memory, times = said("--dry-run", "--seeds", "1-30")
    assert runs == "30 runs, 0 of them finished" and memory.startswith("about ") and " MB per run, " in memory
    assert re.fullmatch(r"about [\d.]+ s for one run; about [\d.]+ s for 30 runs to make with [12] workers?", times)
    assert not out.exists()
    said("--seeds", "1-2")
    assert said("--dry-run", "--seeds", "1-30")[0] == "30 runs, 2 of them finished"
    one, _, times = said("--dry-run", "--seeds", "3")
    assert one == "1 run, 0 of them finished" and times.endswith(" for 1 run to make with 1 worker")


@pytest.mark.quick
@pytest.mark.parametrize(("args", "lines"), [
    (["--seeds", "x", "--vary", "a", "--set", "b"], [
        "--seeds: must be whole numbers such as 1-100 or 1,5,9, not 'x'", "--vary:1: a: must be key.path=value,value, not 'a'",
        "--set:1: b: must be key.path=value, not 'b'"]),
    (["--measure", "stuk"], ["--measure: no measure 'stuk' (did you mean stuck?)"]),
    (["--config", "20kk"], ["20kk: no such file, nor a shipped configuration (did you mean 20k?)"]),
    (["--out", ""], [f"{USAGE}argument --out: must not be empty; see {SEE}"]),
    (["--steps", "999999999999"], [f"{USAGE}argument --steps: must be a whole number from 1 to 1000000000, "
                                   f"not '999999999999'; see {SEE}"]),
    (["--workers", "0"], [f"{USAGE}argument --workers: must be a whole number from 1 to 1000000000, not '0'; see {SEE}"]),
    (["--workers", "1", "--scheduler", "a:1"],
     [f"{USAGE}argument --scheduler: not allowed with argument --workers; see {SEE}"]),
    (["--scheduler", "nonsense"],
     [f"{USAGE}argument --scheduler: must be an address such as tcp://10.0.0.1:8786, not 'nonsense'; see {SEE}"]),
])
def test_a_mistake_is_one_line(tmp_path, capsys, args, lines) -> None:
    try:
        code = main(["ensemble", "--out", str(tmp_path / "out"), *args])
    except SystemExit as leaving:
        code = leaving.code  # type: ignore[assignment]
    out, err = capsys.readouterr()
    assert (code, out, err.splitlines()) == (2, "", lines) and not (tmp_path / "out").exists()


def link_out(path: Path) -> None:
    mine = Path("mine").absolute()
    mine.write_text("precious", "utf-8")
    path.symlink_to(mine)


@pytest.mark.quick
@pytest.mark.parametrize("name", ["rows/a.rows", "manifest.json", "table.csv"])
@pytest.mark.parametrize(("make", "wrong"), [
    (make_fifo, "not a regular file"), (link_out, "a link that leads out of "),
    (lambda path: path.symlink_to("/dev/zero"), "a link that leads out of ")])
@pytest.mark.usefixtures("in_tmp_path")
def test_what_can_be_no_file_is_refused_before_any_run(tmp_path, capsys, name, make, wrong) -> None:
    out, path = tmp_path / "out", tmp_path / "out" / name
    path.parent.mkdir(parents=True)
    make(path)
    assert main(["ensemble", "--config", "1k", "--out", str(out)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{path}: {wrong}")
    with pytest.raises(ValueError, match=wrong):
        list(api.run(api.make_plan("1k"), out))
    assert make is not link_out or Path("mine").read_text("utf-8") == "precious"
