"""Benchmarks: comparison of commits and made arrays."""

import math
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import compare
import numpy as np
import pytest
import table
from calibrate import BOUNDS, SCENES, shortfall
from compare import HERE, ChildError, ChildVariant, StartVariant
from crowds import simulation
from driven import Driven
from made_arrays import KEYFRAME, is_allowed, made_arrays
from table import Found

from crowd_demo.extras.lab.validate import EXPERIMENTS
from crowd_demo.extras.lab.validate.validation import FITTED, HELD_OUT, Reading
from crowd_demo.measure.comparison import BlockTimes, TimedBlock
from crowd_demo.registry.built_in import COLOURS, OVERLAYS

BLOCKS = 10
OLDEST = "5c74cb94"  # that can be compared


def timed(step_ms: float, stage: str = "interaction") -> list[BlockTimes]:
    """Blocks whose steps take so long, give or take 5 %, and a third of that in one stage."""
    steps = np.random.default_rng(1).uniform(0.95, 1.05, (BLOCKS, 4)).astype(np.float32) * step_ms
    return [BlockTimes(TimedBlock(4, {"step": ms, "draw": 2 * ms}), TimedBlock(4, {stage: ms / 3})) for ms in steps]


def found(hash_now: str = "a") -> compare.Found:
    variants = {"old": timed(3), "old again": timed(3), "new": timed(2, "look")}
    return compare.compared(variants, {"old": "a", "old again": "a", "new": hash_now}, "old", "old again")


@pytest.mark.skipif(sys.platform == "win32", reason="benchmarks are for POSIX")
@pytest.mark.quick
def test_frames_steps_and_stages_of_both_are_listed() -> None:
    head, *rows, noise, hashes = compare.table(found(), "new")
    assert head.split()[:2] == ["old", "new"] and hashes == "one state hash: a"
    assert [row.split()[0] for row in rows] == ["frame", "step", "draw", "interaction", "look"]
    assert rows[0].split()[-1] == "faster" and rows[0].split()[4] == "0.667"
    assert rows[3].split()[2:] == [rows[3].split()[2], "-"] and rows[4].split()[2] == "-"  # neither has the other's stage
    assert noise == "noise: old against itself 1.000  1.000-1.000"


@pytest.mark.skipif(sys.platform == "win32", reason="benchmarks are for POSIX")
@pytest.mark.quick
def test_crowds_that_differ_are_said_to() -> None:
    assert list(compare.table(found("b"), "new"))[-1] == "THE CROWDS DIFFER: old a, new b"
    assert found("b")["frame"].differing() == ["new"] and not found("a")["frame"].differing()


@pytest.mark.skipif(sys.platform == "win32", reason="benchmarks are for POSIX")
@pytest.mark.quick
def test_few_blocks_conclude_nothing() -> None:
    few = {name: blocks[:3] for name, blocks in {"old": timed(3), "again": timed(3), "new": timed(2)}.items()}
    *_, row, _, _ = compare.table(compare.compared(few, dict.fromkeys(few, ""), "old", "again"), "new")
    assert row.endswith("0.667  too few blocks")


@pytest.mark.skipif(sys.platform == "win32", reason="benchmarks are for POSIX")
@pytest.mark.quick
@pytest.mark.parametrize("arguments, line", [
    (["--against", "no-such-commit"], "git: fatal: Needed a single revision"),
    (["--against", "HEAD", "--frames", "1024"], "--frames: a block has at most 1023, not 1024"),
    (["--against", "HEAD", "--set", "seed"], "--set:1: seed: must be key.path=value, not 'seed'"),
    (["--against", "HEAD", "--here", "seed"], "--here:1: seed: must be key.path=value, not 'seed'"),
])
def test_a_mistake_is_one_line(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(arguments) == 2
    assert tuple(capsys.readouterr()) == ("", line + "\n")


@pytest.mark.skipif(sys.platform == "win32", reason="benchmarks are for POSIX")
@pytest.mark.quick
def test_a_commit_is_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = tmp_path / "repository"
    (repository / "crowd_demo").mkdir(parents=True)
    (repository / "crowd_demo" / "__init__.py").write_text("", "utf-8")
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]):
        subprocess.run(["git", "-C", str(repository), *command], check=True)
    monkeypatch.setattr(compare, "ROOT", repository)
    monkeypatch.setattr(compare, "KEPT", tmp_path / "kept")
    install = compare.at_commit("HEAD")
    assert (install.folder / "crowd_demo" / "__init__.py").exists()
    assert install.environment["PYTHONPATH"] == str(install.folder)
    monkeypatch.setattr(compare, "tarfile", None)
    assert compare.at_commit("HEAD") == install


@pytest.mark.skipif(sys.platform == "win32", reason="benchmarks are for POSIX")
@pytest.mark.quick
def test_a_cold_start_has_a_cache_of_its_own_and_counts_the_cpu_seconds_of_children(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("import os, subprocess, sys\nprint(os.environ['CROWD_DEMO_CACHE'], file=open('cache', 'a'))\n"
                       "subprocess.run([sys.executable, '-c', 'sum(range(10**7))'])\n", "utf-8")
    variant = StartVariant(compare.Install("a", tmp_path, (sys.executable, str(program))), "1k", {})
    blocks = variant.run(2)
    assert set(blocks) == {"wall", "cpu"} and all(block.steps == 2 for block in blocks.values())
    first, second = (tmp_path / "cache").read_text("utf-8").split()
    assert first != second and not Path(first).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="benchmarks are for POSIX")
@pytest.mark.quick
def test_the_child_imports_what_the_oldest_commit_has_or_else_this_one() -> None:
    folder = Path(compare.__file__).parent
    oldest, here = re.findall(r'import_module\("(crowd_demo[.\w]+)"\)', (folder / "child.py").read_text(encoding="utf-8"))
    assert find_spec(here) and not find_spec(oldest)
    if not _git(folder, f"{OLDEST}:crowd_demo"):
        pytest.skip(f"commit {OLDEST} is not in this clone")
    assert _git(folder, f"{OLDEST}:{oldest.replace('.', '/')}.py")


def _git(folder: Path, what: str) -> bool:
    """Is it in the repository?"""
    return subprocess.run(["git", "-C", str(folder), "cat-file", "-e", what], capture_output=True, check=False).returncode == 0


# --- a crowd in a process of its own ---------------------------------------------------------------------------------

SMALL = {"agents": 300, "map": None, "world.width": 400, "world.height": 300, "window.width": 64, "window.height": 64}


@pytest.mark.skipif(sys.platform == "win32", reason="benchmarks are for POSIX")
@pytest.mark.parametrize("picture", [True, False])
def test_a_child_runs_the_same_crowd(picture: bool) -> None:
    with closing(ChildVariant(HERE, "1k", SMALL, picture)) as variant:
        blocks = [variant.run(3), variant.run(2)]
        state_hash, layer = variant.end()
    here = simulation("1k", **{key.replace(".", "__"): "null" if value is None else value for key, value in SMALL.items()},
                      steps=5)
    assert state_hash == here.state_hash() and layer in ("tbb", "omp", "workqueue")
    assert [block.frame.steps for block in blocks] == [3, 2]
    assert set(blocks[0].frame.times_ms) == ({"step", "draw"} if picture else {"step"})
    assert all(len(ms) == 2 for timed in blocks[1] for ms in timed.times_ms.values())
    assert ("blit" in blocks[1].stages.times_ms) == picture and "interaction" in blocks[1].stages.times_ms


@pytest.mark.skipif(sys.platform == "win32", reason="benchmarks are for POSIX")
def test_a_child_that_ends_says_why() -> None:
    with pytest.raises(ChildError, match=r"^here: ended with code 1: .*no such file, nor a shipped configuration"):
        ChildVariant(HERE, "29k", {}, picture=False)


# --- the table of targets --------------------------------------------------------------------------------------------

@pytest.mark.quick
def test_lines_are_met_or_missed_or_say_why_not(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def failing(quick: bool) -> Iterator[Found]:
        yield Found("cats", 1, 1)
        raise ChildError("here: ended with code 1: x")

    monkeypatch.setattr(table, "LINES", {
        "one": lambda quick: [Found("birds", 1.2, 1.5)],
        "two": lambda quick: [Found("people", 2.0, 1.5), Found("dogs", math.nan, 1)], "three": failing})
    assert (table.main(["one"]), table.main([])) == (0, 1)
    told = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[-1] for line in told[:4]] == ["met", "missed", "missed", "met"]
    assert told[4] == "three could not be measured: here: ended with code 1: x"


def test_each_colour_mode_and_each_overlay_takes_its_turn() -> None:
    for kind, names in (("colours", COLOURS.keys() - {"looks"}), ("overlay", OVERLAYS)):
        plain, times = table.looked(kind, "1k", 16, "agents=50")
        assert set(times) == set(names) and all(each.shape == (2, 2) and each.min() > 0 for each in (plain, *times.values()))


# --- the search for the constants of slowing down --------------------------------------------------------------------

@pytest.mark.quick
@pytest.mark.parametrize("value, low, high, short", [
    (1.5, 1.2, 2.0, 0), (1.26, 1.2, 2.0, 0), (1.2, 1.2, 2.0, 1), (1.14, 1.2, 2.0, 2), (2.1, 1.2, 2.0, 2), (9, 1.2, 2.0, 4),
    (20, 20, 20, 0), (19, 20, 20, 3), (math.inf, 0, 5, 3), (0.9, 0.8, 1, 0), (1, 0.8, 1, 0)])
def test_a_number_falls_short_by_margins(value: float, low: float, high: float, short: float) -> None:
    assert max(0.0, shortfall(Reading("flow", value, low, high))) == pytest.approx(short, abs=1e-6)


@pytest.mark.quick
def test_its_scenes_are_those_of_the_validation() -> None:
    assert all(set(numbers) <= set(EXPERIMENTS[name].numbers) for name, numbers in SCENES.items())


@pytest.mark.quick
def test_the_page_of_the_validation_names_the_experiments_that_it_does_not_use() -> None:
    roles = {name: experiment.role for name, experiment in EXPERIMENTS.items()}
    assert set(SCENES) == {name for name, role in roles.items() if role == FITTED}
    fitted, not_fitted = len(SCENES), list(roles.values()).count(HELD_OUT)
    assert (fitted, fitted + not_fitted, len(BOUNDS)) == (11, 15, 8), "as the pages say: README, findings, model, validation"


# --- No array of more than 1 kB is made in a steady frame, and whoever looks for them finds them ---------------------

SIZES = {  # as each configuration, but smaller, and all of it in view
    "20k": ("agents=2000", "world.width=1400", "world.height=800", "camera.center=null", "camera.zoom=null"),
    "20k-flock": ("agents=3000", "world.width=1600", "world.height=900"),
    "crates": ("agents=3000", "world.width=500", "world.height=400"),
}


@pytest.mark.parametrize("name", SIZES)
def test_a_steady_frame_makes_no_arrays(name: str) -> None:
    driven = Driven(*SIZES[name], config=name)
    worker = driven.loop.worker
    run(driven, 1.5, 200)
    with made_arrays(lambda job: worker.submit(job).result()) as made:
        run(driven, 1.5)
    others = Counter(str(each) for each in made if not is_allowed(each))
    assert not others, "\n".join(f"{count} times {what}" for what, count in others.most_common())
    assert any(KEYFRAME in each.callers for each in made), "the arrays of keyframes are found"


def run(driven: Driven, seconds: float, frames: int = 0) -> None:
    """Long enough for meters and parts of the HUD, which go by the clock, and for sprites, which go by frames."""
    end = time.monotonic() + seconds
    while time.monotonic() < end or driven.program.sim.tick < frames:
        driven.frames()
