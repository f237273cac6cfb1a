"""The command that compares hashes between platforms: what it pins, chooses and tells. Real platforms are run by hand."""

import json
import re
import sys
from pathlib import Path
from platform import machine
from typing import Any

import platform_child
import platforms
import pytest
import yaml
from compare import ChildError
from platforms import Found, Platform

from crowd_demo.config.loader import load_config
from crowd_demo.registry.built_in import OWN_BEHAVIOURS

PINNED = json.loads(platforms.PINNED.read_text("utf-8"))
TWO = {"1k": ["a", "b", "c"], "maze": ["d", "e", "f"]}
KNOWN = {each.name: each for each in platforms.PLATFORMS}
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", [pytest.param("1k", marks=pytest.mark.quick), "20k", "crates", *(
    pytest.param(name, marks=pytest.mark.slow) for name in platforms.CONFIGS if name not in ("1k", "20k", "crates"))])
def test_the_hash_of_each_tick_is_the_one_that_was_pinned(name: str) -> None:
    assert platform_child.hashes(name, platforms.TICKS) == PINNED[name]


@pytest.mark.slow
@pytest.mark.skipif(machine() not in ("x86_64", "AMD64"), reason="these are x86 processors")
@pytest.mark.parametrize("name", ["avx2", "sse2"])
def test_narrower_registers_give_the_same_crowd(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(platforms, "KEPT", tmp_path)
    found = platforms.run(KNOWN[name], ["20k-flock", "1k", "crates"])
    assert not found.failure and platforms.verdict(found, PINNED) == "3 agree"


@pytest.mark.quick
def test_thirteen_configurations_have_every_behaviour_and_every_avoidance() -> None:
    assert list(PINNED) == list(platforms.CONFIGS) and len(platforms.CONFIGS) == 13
    assert {len(set(hashes)) for hashes in PINNED.values()} == {platforms.TICKS}, "every tick has a hash of its own"
    configs = [load_config(name) for name in platforms.CONFIGS]
    assert {each.behaviour for each in configs} == {entry.name for entry in OWN_BEHAVIOURS} - {"playback"}
    assert {"push", "slow_down"} <= {each.optimizations.avoidance for each in configs}


# --- what is told ----------------------------------------------------------------------------------------------------

@pytest.mark.quick
@pytest.mark.parametrize("hashes, failure, told", [
    (TWO, "", "2 agree"),
    (TWO | {"maze": ["d", "x", "y"]}, "", "DIFFERS: maze from tick 2; 1 agree"),
    ({"1k": ["x", "b", "c"]}, "killed", "DIFFERS: 1k from tick 1; could not be run further: killed"),
    ({"1k": TWO["1k"]}, "killed", "1 agree; could not be run further: killed"),
    ({}, "there is no apt-get", "could not be run: there is no apt-get")])
def test_a_row_says_agreed_or_where_it_differs_or_why_it_could_not_be_run(hashes: Any, failure: str, told: str) -> None:
    found = Found({"machine": "aarch64", "python": "3.11.2"}, hashes, 12.3, failure)
    assert platforms.verdict(found, TWO) == told
    assert re.sub(" +", " ", platforms.row("arm", found, TWO)) == f"arm aarch64 - - 3.11.2 - - 12 {told}"


@pytest.mark.quick
def test_one_platform_that_fails_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
                                                          capsys: pytest.CaptureFixture[str]) -> None:
    def prepared(platform: Platform, folder: Path) -> tuple[list[str], list[Path]]:
        if platform.name == "two":
            raise ChildError("apt-get: no such host")
        return [sys.executable], []

    child = tmp_path / "child.py"
    child.write_text("import json, sys\nfor n in sys.argv[2:]: print(json.dumps({'config': n, 'hashes': ['a']}))", "utf-8")
    for name, value in {"prepared": prepared, "CHILD": child, "KEPT": tmp_path, "PINNED": tmp_path / "pinned.json",
                        "PLATFORMS": tuple(Platform(name) for name in ("one", "two", "three"))}.items():
        monkeypatch.setattr(platforms, name, value)
    (tmp_path / "pinned.json").write_text(json.dumps({"1k": ["a"], "maze": ["b"]}), "utf-8")
    assert platforms.main(["--config", "1k"]) == 1
    _, *rows = capsys.readouterr().out.splitlines()
    assert [row.split("  ")[-1].strip() for row in rows] == ["1 agree", "could not be run: apt-get: no such host", "1 agree"]
    assert platforms.main(["--only", "one", "three", "--config", "1k"]) == 0
    assert platforms.main(["--only", "one", "--config", "maze"]) == 1, "it differs"


@pytest.mark.quick
@pytest.mark.parametrize("arguments, line", [
    (["--only", "here", "vax"], "argument --only: invalid choice: 'vax' (choose from "),
    (["--config", "4k"], "argument --config: invalid choice: '4k' (choose from "),
    (["--pin", "--only", "avx2"], "--pin: all configurations are pinned, from the row here")])
def test_a_mistake_is_one_line(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        platforms.main(arguments)
    out, told = capsys.readouterr()
    assert out == "" and told.startswith(f"benchmarks/platforms.py: {line}") and told.count("\n") == 1


# --- one platform ----------------------------------------------------------------------------------------------------

CHILDREN = {
    "raise SystemExit('out of room')": ("out of room (exit code 1)", ["1k"]),
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": ("no message (exit code -9)", ["1k"]),
    "import time; time.sleep(60)": ("it took more than 1 s", ["1k"]),
    "print('{\"config\": \"ma', end='')": ("", ["1k"])}


@pytest.mark.quick
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("then", CHILDREN)
def test_what_a_child_printed_counts_also_where_it_ends_badly(then: str, tmp_path: Path,
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platforms, "LIMIT_S", 1)
    script = f"print('{{\"numba\": \"0.60\"}}\\n{{\"config\": \"1k\", \"hashes\": []}}', flush=True)\n{then}"
    found = platforms.stepped([sys.executable, "-c", script], {}, tmp_path / "new")
    assert (found.failure, list(found.hashes)) == CHILDREN[then] and found.about == {"numba": "0.60"}


@pytest.mark.quick
def test_code_for_another_processor_must_have_its_registers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = {"registers": "zmm"}
    monkeypatch.setattr(platforms, "prepared", lambda platform, folder: ([], []))
    monkeypatch.setattr(platforms, "stepped", lambda command, variables, folder: Found(told, dict(TWO)))
    monkeypatch.setattr(platforms, "KEPT", tmp_path)
    assert platforms.run(KNOWN["avx2"], ["1k"]).failure == "its code has zmm, not ymm"
    assert not platforms.run(KNOWN["avx512"], ["1k"]).failure and not platforms.run(KNOWN["here"], ["1k"]).failure


@pytest.mark.quick
def test_other_processors_are_told_to_numba_and_must_be_within_this_one(monkeypatch: pytest.MonkeyPatch,
                                                                        tmp_path: Path) -> None:
    stale = tmp_path / "kernels" / "a.nbc"
    stale.parent.mkdir()
    stale.touch()
    assert platforms.variables(KNOWN["sse2"], tmp_path) == {
        "CROWD_DEMO_CACHE": str(stale.parent), "NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""}
    assert not stale.exists(), "everything is compiled"
    monkeypatch.setattr(platforms, "machine", lambda: {"simd": "avx2"})
    assert [platforms.has(needed) for needed in ("avx512f", "avx2", "sse2")] == [False, True, True]
    monkeypatch.setattr(platforms, "machine", lambda: {"simd": "neon"})
    assert not platforms.has("sse2") and "no sse2" in platforms.run(KNOWN["sse2"], ["1k"]).failure


@pytest.mark.quick
def test_versions_are_those_that_are_declared() -> None:
    declared = ["pygame-ce>=2.5.1", "numpy>=1.26", "numba>=0.60,<0.69"]
    assert platforms.requirements(declared, "lowest") == ["numpy==1.26", "numba==0.60"]
    assert platforms.requirements(declared, "newest") == ["numpy>=1.26", "numba>=0.60,<0.69"]


# --- the workflow ----------------------------------------------------------------------------------------------------

@pytest.mark.quick
def test_the_workflow_runs_what_there_is_on_four_systems() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text("utf-8"))["jobs"]
    for job in ("hashes", "quick"):
        systems = {each.partition("-")[0] + each.endswith("-arm") * "-arm" for each in jobs[job]["strategy"]["matrix"]["os"]}
        assert systems == {"ubuntu", "ubuntu-arm", "macos", "windows"}
    commands = [line for job in jobs.values() for step in job["steps"] for line in step.get("run", "").splitlines()]
    assert any("--no-deps" in line and "--pre" in line for line in commands)
    for line in commands:
        assert all((ROOT / path).exists() for path in re.findall(r"(?:benchmarks|tests|docs)/\S+", line)), line
        if "platforms.py" in line:
            assert line == "python benchmarks/platforms.py --only here"
