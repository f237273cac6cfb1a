"""What docs/reliability.md promises, where no other test shows it; and that the tests that it names exist."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from driven import without_progress

from crowd_demo.host.files import UNFINISHED
from crowd_demo.host.recording.format import read_save, write_save

ROOT = Path(__file__).parents[1]
KILLED = 40  # times
SAVES = f"""
import os, random, signal, time
from pathlib import Path
from crowd_demo.host.recording.format import read_save, write_save
from crowd_demo.config.loader import load_config
from crowd_demo.sim.simulation import Simulation

sim, path, chance = Simulation(load_config("1k", ["agents=20000"])), Path("a.crowd"), random.Random(3)
states = [sim.snapshot(), (sim.step(2), sim.snapshot())[1]]
write_save(path, states[0])
unfinished = 0
for _ in range({KILLED}):
    child = os.fork()
    while not child:
        for state in states:
            write_save(path, state)
    time.sleep(chance.random() * 0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert read_save(path).tick in (0, 2)
    unfinished += len(list(Path().glob("{UNFINISHED}*")))
print(unfinished)
os._exit(0)
"""
LIMITED = """
import resource, sys
from crowd_demo.cli import main
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
sys.exit(main(sys.argv[1:]))
"""
posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]), **more}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], env=environment(), cwd=folder, capture_output=True, encoding="utf-8")


@pytest.mark.quick
def test_every_test_that_the_page_names_exists() -> None:
    named = re.findall(r"`([a-z_/]+\.py)::(test_\w+)`", (ROOT / "docs/reliability.md").read_text("utf-8"))
    assert len(named) > 30
    for path, name in named:
        assert f"def {name}(" in (ROOT / "tests" / path).read_text("utf-8"), (path, name)


@posix
def test_a_process_that_is_killed_while_saving_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    done = run(tmp_path, "-c", SAVES)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0, "some were killed in the middle of a file"
    write_save(tmp_path / "b.crowd", read_save(tmp_path / "a.crowd"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.crowd", "b.crowd"]


@posix
def test_more_agents_than_the_process_may_have_memory_for_are_one_line(tmp_path: Path) -> None:
    done = run(tmp_path, "-c", LIMITED, "--config", "1k", "--headless", "--set", "agents=32000000")
    assert done.returncode == 2 and done.stdout == "", done.stderr
    line = r"--set:1: agents: needs about [\d,]+ MB of memory, and [\d,]+ MB are free\n"
    assert re.fullmatch(line, done.stderr), done.stderr


@pytest.mark.slow
def test_five_programs_at_once_share_an_empty_cache_and_have_one_crowd(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "crowd_demo", "--config", "1k", "--headless", "--no-render", "--frames", "20"]
    kernels = tmp_path / "kernels"
    running = [subprocess.Popen([*command, "--report", f"{number}.json"], cwd=tmp_path, encoding="utf-8",
                                env=environment(CROWD_DEMO_CACHE=str(kernels)), stderr=subprocess.PIPE) for number in range(5)]
    told = [(process.communicate()[1], process.returncode) for process in running]
    assert [(without_progress(said), code) for said, code in told] == [("", 0)] * 5
    assert len({json.loads((tmp_path / f"{number}.json").read_text("utf-8"))["state_hash"] for number in range(5)}) == 1
    assert list(kernels.rglob("*.nbc")) and not list(kernels.rglob("*.tmp"))
