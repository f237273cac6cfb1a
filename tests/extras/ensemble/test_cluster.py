"""A Dask cluster of this machine: two workers, of which one is killed in the middle."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crowd_demo import ensemble as api
from crowd_demo.cli import main
from crowd_demo.extras.ensemble.executors import ExecutorError
from crowd_demo.extras.ensemble.running import read_rows

dask_config = pytest.importorskip("dask.config", reason="Dask is an extra")
pytest.importorskip("distributed", reason="Dask is an extra: pip install crowd-demo[cluster]")

ROOT = Path(__file__).parents[3]
STARTED_S = 120.0  # the longest that a loaded machine may need to start the cluster


class Cluster:
    """A scheduler and two workers, processes of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
                             "DASK_DISTRIBUTED__WORKER__DAEMON": "False"}
        self.processes: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        self._start("distributed.cli.dask_scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard",
                    "--scheduler-file", str(file))
        self._wait(file.exists)
        for _ in range(2):
            self.add_worker()
        from distributed import Client

        self.client = Client(scheduler_file=str(file), timeout=STARTED_S, set_as_default=False)
        self.address = str(self.client.scheduler.address)
        self.client.wait_for_workers(2, timeout=STARTED_S)

    def add_worker(self) -> None:
        self._start("distributed.cli.dask_worker", "--scheduler-file", str(self._folder / "scheduler.json"), "--no-nanny",
                    "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1", "--local-directory", str(self._folder))

    def _start(self, module: str, *arguments: str) -> None:
        log = (self._folder / f"{len(self.processes)}.log").open("wb")
        self.processes.append(subprocess.Popen([sys.executable, "-m", module, *arguments], env=self._environment,
                                               stdout=log, stderr=log, cwd=self._folder))
        log.close()

    def _wait(self, ready) -> None:
        end = time.monotonic() + STARTED_S
        while not ready():
            assert time.monotonic() < end and self.processes[0].poll() is None, self.log(0)
            time.sleep(0.05)

    def log(self, number: int) -> str:
        return (self._folder / f"{number}.log").read_text("utf-8")

    def close(self) -> None:
        self.client.close()
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    (tmp_path / "dask").mkdir()
    cluster = Cluster(tmp_path / "dask")
    try:
        yield cluster
    finally:
        cluster.close()


def plan_of(runs: int, steps: int) -> api.Plan:
    return api.make_plan("1k", seeds=f"1-{runs}", overrides=["agents=100"], steps=steps, measures=["stuck", "speed"])


def test_a_worker_that_is_killed_in_the_middle_costs_only_its_run(tmp_path: Path, cluster: Cluster) -> None:
    plan, victim = plan_of(12, 200), cluster.processes[1]
    rows = api.run(plan, tmp_path / "out", scheduler=cluster.address)
    at_work = set()
    for row in rows:
        assert row["state_hash"] and not row["error"]
        at_work.add(row["worker"])
        if len(at_work) == 2:  # on a loaded machine one of them may have taken several runs by then
            victim.kill()
    table = api.table(plan, tmp_path / "out")
    assert table.finished == 12 and not table.failed and not table.differences
    assert len(read_rows(tmp_path / "out/rows")[0]) == 12
    assert len({row["worker"] for row in table.rows}) == 2 and victim.wait() == -9
    assert len(list(api.run(plan, tmp_path / "here", workers=2))) == 12
    assert api.table(plan, tmp_path / "here").csv(circumstances=False) == table.csv(circumstances=False)


@pytest.mark.slow
def test_without_workers_it_waits_for_one(tmp_path: Path, cluster: Cluster) -> None:
    for process in cluster.processes[1:]:
        process.kill()
        process.wait()
    threading.Timer(2.0, cluster.add_worker).start()
    assert all(row["state_hash"] for row in api.run(plan_of(3, 20), tmp_path / "out", scheduler=cluster.address))


@pytest.mark.slow
def test_a_scheduler_that_is_lost_is_one_line_and_keeps_what_is_finished(tmp_path: Path, cluster: Cluster) -> None:
    rows = api.run(plan_of(40, 300), tmp_path / "out", scheduler=cluster.address)
    with dask_config.set({"distributed.comm.timeouts.connect": "1s"}), pytest.raises(ExecutorError, match="scheduler is gone"):
        for number, _ in enumerate(rows):
            if number == 3:
                for process in cluster.processes:
                    process.kill()
    assert 4 <= len(read_rows(tmp_path / "out/rows")[0]) < 40


@pytest.mark.slow
def test_the_command_says_in_two_lines_that_the_scheduler_is_lost(tmp_path: Path, cluster: Cluster) -> None:
    out = tmp_path / "out"
    asked = ["--config", "1k", "--agents", "100", "--steps", "300", "--seeds", "1-400", "--out", str(out)]
    process = subprocess.Popen([sys.executable, "-m", "crowd_demo", "ensemble", *asked, "--scheduler", cluster.address],
                               encoding="utf-8", stderr=subprocess.PIPE)
    while process.poll() is None and not read_rows(out / "rows")[0]:
        time.sleep(0.05)
    for each in cluster.processes:
        each.kill()
    said = process.communicate()[1].splitlines()
    assert process.returncode == 1 and len(said) == 2 and said[0] == "crowd-demo: the scheduler is gone", said
    assert said[1].endswith(" of 400 runs are finished; the same command makes the others")
    assert not said[1].startswith("ensemble: 0 ")


def test_the_command_takes_an_address(tmp_path: Path, cluster: Cluster, capsys) -> None:
    asked = ["ensemble", "--config", "1k", "--agents", "50", "--steps", "20", "--seeds", "1-4", "--out", str(tmp_path / "out")]
    assert main([*asked, "--scheduler", cluster.address, "--plot"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'out'}: 4 of 4 runs have a row without an error\n"
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"rows", "manifest.json", "table.csv", "plot.png"}
    assert main([*asked, "--workers", "1", "--again"]) == 0  # here the same crowds as there
    capsys.readouterr()
    assert main([*asked, "--dry-run", "--workers", "1", "--seeds", "1-6"]) == 0
    assert capsys.readouterr().out.startswith("6 runs, 4 of them finished\n")


def test_where_no_scheduler_answers_it_is_one_line(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("crowd_demo.extras.ensemble.executors.CONNECT_S", 0.5)
    with pytest.raises(ExecutorError, match="no scheduler answers at tcp://127") as caught:
        list(api.run(plan_of(1, 10), tmp_path / "out", scheduler="tcp://127.0.0.1:1"))
    assert "\n" not in str(caught.value)
    asked = ["ensemble", "--config", "1k", "--seeds", "1-4", "--out", str(tmp_path / "out"), "--scheduler", "tcp://127.0.0.1:1"]
    assert main(asked) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and lines[1] == "ensemble: 0 of 4 runs are finished; the same command makes the others"
