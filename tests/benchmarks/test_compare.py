"""The parts of the benchmarks that neither install, compile nor take times."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import compare
import installs
import limit
import numpy as np
import pytest
from variants import ColdVariant

from crowd_demo.config.loader import load_config
from crowd_demo.extras.lab.claims.experiments import against_c
from crowd_demo.measure.comparison import BlockTimes, TimedBlock

pytestmark = [pytest.mark.quick, pytest.mark.skipif(sys.platform == "win32", reason="benchmarks are for POSIX")]
BLOCKS = 10
OLDEST = "5c74cb94"  # that can be compared


def timed(step_ms: float, stage: str = "interaction") -> list[BlockTimes]:
    """Blocks whose steps take so long, give or take 5 %, and a third of that in one stage."""
    steps = np.random.default_rng(1).uniform(0.95, 1.05, (BLOCKS, 4)).astype(np.float32) * step_ms
    return [BlockTimes(TimedBlock(4, {"step": ms, "draw": 2 * ms}), TimedBlock(4, {stage: ms / 3})) for ms in steps]


def found(hash_now: str = "a") -> compare.Found:
    variants = {"old": timed(3), "old again": timed(3), "new": timed(2, "look")}
    return compare.compared(variants, {"old": "a", "old again": "a", "new": hash_now}, "old", "old again")


def test_frames_steps_and_stages_of_both_are_listed() -> None:
    head, *rows, noise, hashes = compare.table(found(), "new")
    assert head.split()[:2] == ["old", "new"] and hashes == "one state hash: a"
    assert [row.split()[0] for row in rows] == ["frame", "step", "draw", "interaction", "look"]
    assert rows[0].split()[-1] == "faster" and rows[0].split()[4] == "0.667"
    assert rows[3].split()[2:] == [rows[3].split()[2], "-"] and rows[4].split()[2] == "-"  # neither has the other's stage
    assert noise == "noise: old against itself 1.000  1.000-1.000"


def test_crowds_that_differ_are_said_to() -> None:
    assert list(compare.table(found("b"), "new"))[-1] == "THE CROWDS DIFFER: old a, new b"
    record = found("b")["frame"].record()
    assert record["differing"] == ["new"] and list(record["arms"]) == ["old", "old again", "new"]  # type: ignore[call-overload]
    assert not found("a")["frame"].differing()


def test_few_blocks_conclude_nothing() -> None:
    few = {name: blocks[:3] for name, blocks in {"old": timed(3), "again": timed(3), "new": timed(2)}.items()}
    *_, row, _, _ = compare.table(compare.compared(few, dict.fromkeys(few, ""), "old", "again"), "new")
    assert row.endswith("0.667  too few blocks")


@pytest.mark.parametrize("arguments, line", [
    (["--against", "no-such-commit"], "git: fatal: Needed a single revision"),
    (["--against", "HEAD", "--frames", "1024"], "--frames: a block has at most 1023, not 1024"),
    (["--against", "HEAD", "--no-install", "--extra", "fast"], "--extra: nothing is installed with --no-install"),
    (["--against", "HEAD", "--set", "seed"], "--set:1: seed: must be key.path=value, not 'seed'"),
    (["--against", "HEAD", "--here", "seed"], "--here:1: seed: must be key.path=value, not 'seed'"),
    (["--against", "HEAD", "--json", "/no/such/a.json"], "--json: there is no folder /no/such"),
])
def test_a_mistake_is_one_line(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(arguments) == 2
    assert tuple(capsys.readouterr()) == ("", line + "\n")


def test_a_commit_is_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = tmp_path / "repository"
    (repository / "crowd_demo").mkdir(parents=True)
    (repository / "crowd_demo" / "__init__.py").write_text("", "utf-8")
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]):
        subprocess.run(["git", "-C", str(repository), *command], check=True)
    monkeypatch.setattr(installs, "ROOT", repository)
    monkeypatch.setattr(installs, "KEPT", tmp_path / "kept")
    install = installs.at_commit("HEAD", installed=False)
    assert (install.folder / "crowd_demo" / "__init__.py").exists()
    assert install.environment["PYTHONPATH"] == str(install.folder)
    monkeypatch.setattr(installs, "_unpack", None)
    assert installs.at_commit("HEAD", installed=False) == install
    install.check(install.folder / "crowd_demo")
    with pytest.raises(installs.InstallError, match=f"{install.name}: the program was imported from /elsewhere"):
        install.check(Path("/elsewhere"))


def test_a_cold_start_has_a_cache_of_its_own_and_counts_the_cpu_seconds_of_children(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("import os, subprocess, sys\nprint(os.environ['CROWD_DEMO_CACHE'], file=open('cache', 'a'))\n"
                       "subprocess.run([sys.executable, '-c', 'sum(range(10**7))'])\n", "utf-8")
    install = installs.from_sources("a", tmp_path)
    command = [*install.command, str(program)]
    variant = ColdVariant(installs.Install("a", command, tmp_path, tmp_path, install.environment), "1k", {})
    blocks = variant.run(2)
    assert set(blocks) == {"wall", "cpu"} and all(block.steps == 2 for block in blocks.values())
    first, second = (tmp_path / "cache").read_text("utf-8").split()
    assert first != second and not Path(first).exists()


# --- the limit -------------------------------------------------------------------------------------------------------

def test_the_flock_has_the_density_of_the_c_program() -> None:
    config = load_config("20k-flock", limit.settings(1_000_000, 2))
    assert config.agents == 1_000_000 and config.optimizations.threads == 2
    neighbours = config.agents * np.pi * config.flock.sight**2 / (config.world.width * config.world.height)
    assert neighbours == pytest.approx(12.6, rel=1e-3) and config.flock.crowding == 40
    assert (config.optimizations.stagger.avoidance, config.optimizations.reorder.every) == (1, 60)


def test_the_ratio_is_that_of_the_least_steps_of_all_blocks() -> None:
    c = [limit.Times(2.0 + k, 3.0) for k in range(8)]
    ours = [limit.Times(3.0 * (2 + k), 9.0) for k in range(8)]
    ours[5] = limit.Times(5.0, 6.0)
    got = limit.concluded(20_000, 1, c, ours)
    assert (got.ratio, got.paired.value, got.c, got.ours) == (2.5, 3.0, (2.0, 3.0), (5.0, 9.0))
    assert limit.row(got).split()[:2] == ["20,000", "1"]


def test_larger_crowds_have_shorter_blocks() -> None:
    assert [limit.steps_of(agents) for agents in (1_000, 20_000, 100_000, 1_000_000)] == [120, 120, 24, 20]


@pytest.mark.parametrize("simd, compiler, why", [
    ("avx2", "g++", "this processor has no AVX-512"), ("avx512f", "no-such-compiler", "there is no C++ compiler"),
    ("avx512f", "false", "false cannot compile flock_step.cpp: no message")])
def test_where_there_is_no_c_program_it_is_skipped_and_said_so(simd: str, compiler: str, why: str, tmp_path: Path,
                                                               monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(against_c, "machine", lambda: {"simd": simd})
    monkeypatch.setenv("CXX", compiler)
    assert limit.main(["--json", str(tmp_path / "a.json")]) == 0
    assert capsys.readouterr().out == f"limit: skipped: {why}\n"
    assert json.loads((tmp_path / "a.json").read_text("utf-8"))["results"] == []


def test_the_c_program_is_asked_for_the_steps_that_it_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], **options: Any) -> SimpleNamespace:
        assert command == ["limit", "20000", "2", "43"] and options["env"]["OMP_WAIT_POLICY"] == "passive"
        return SimpleNamespace(returncode=0, stdout='{"ms_min": 0.5, "ms_med": 0.75}')

    monkeypatch.setattr(subprocess, "run", run)
    assert limit.LimitVariant(Path("limit"), 20_000, 2).run(40) == (0.5, 0.75)


def test_the_child_imports_only_what_the_oldest_commit_has() -> None:
    folder = Path(compare.__file__).parent
    child = ast.parse((folder / "child.py").read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(child) if isinstance(node, ast.ImportFrom) and node.module}
    ours = [module.replace(".", "/") for module in modules if module.startswith("crowd_demo.")]
    assert ours
    if not _git(folder, f"{OLDEST}:crowd_demo"):
        pytest.skip(f"commit {OLDEST} is not in this clone")
    assert [path for path in ours if not _git(folder, f"{OLDEST}:{path}.py")] == []


def _git(folder: Path, what: str) -> bool:
    """Is it in the repository?"""
    return subprocess.run(["git", "-C", str(folder), "cat-file", "-e", what], capture_output=True, check=False).returncode == 0
