"""Make the runs of a plan that a folder does not have yet.

    DIR/rows/             what is finished: a file for each command that made runs, only ever appended to
    DIR/manifest.json     what was asked for, and what with
    DIR/table.csv         a row for each run of the plan, also in the middle of it; and table.parquet, where pyarrow is there

Kernels are compiled once, before any run begins: the processes of this machine then load them from the kernel cache.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

from crowd_demo.config.maps import Metres, read_map
from crowd_demo.config.memory import PROGRAM, available_bytes, needed_bytes, read_bounded
from crowd_demo.config.model import Config
from crowd_demo.config.resources import find_map, list_maps
from crowd_demo.extras.ensemble.executors import ClusterExecutor, Executor, LocalExecutor
from crowd_demo.extras.ensemble.plan import Plan, Run, RunRow
from crowd_demo.extras.ensemble.table import PLOT, Table, make_table, parquet
from crowd_demo.host.files import MACHINE, is_special, sealed_line, unsealed, write_file
from crowd_demo.host.system import duration
from crowd_demo.measure.experiment import header

ROWS, MANIFEST, TABLE, PARQUET = "rows", "manifest.json", "table.csv", "table.parquet"
TIMED_S = 5.0  # so long one run is watched, at most


class Session:
    """The runs of a plan that a folder does not have yet, and how far they are; also if it is interrupted.

    missing    the runs to make; with `again` all
    damaged    FILE:LINE of damaged rows
    made       rows so far
    errors     of these, by key
    """

    def __init__(self, plan: Plan, out: Path, again: bool = False) -> None:
        """Read what the folder has, which need not exist.

        Raises OSError; ValueError where something else stands in the place of a file that is read or will be written.
        """
        for name in (MANIFEST, TABLE, PARQUET, PLOT):
            check_file(out / name, out)
        rows, self.damaged = read_rows(out / ROWS)
        finished = set() if again else {row.key for row in rows if row.state_hash}  # what failed is tried again
        self.missing = [run for run in plan.runs if run.key not in finished]
        self.made, self.errors, self.workers = 0, dict[str, str](), 0
        self._plan, self._out = plan, out

    def make(self, workers: int | None, scheduler: str | None,
             tell: Callable[[str], object] = lambda text: None) -> Generator[RunRow | None, None, None]:
        """Make the missing runs; yield each row when it is on disk, and None a few times a second.

        `tell` is told what is compiled. Raises OSError, ExecutorError.
        """
        write_manifest(self._plan, self._out)
        if not self.missing:
            return
        jobs = [self._plan.job(run) for run in self.missing]
        with closing(executor_of(self._plan, self.missing, workers, scheduler, tell)) as executor:
            self._began, self.workers = time.monotonic(), executor.workers
            with closing(RowFile(self._out / ROWS)) as file, closing(executor.rows(jobs)) as rows:
                for row in rows:
                    if row:
                        row = row.model_copy(update={"finished": time.time()})
                        file.append(row)
                        self.made += 1
                        self.errors |= {row.key: row.error} if row.error else {}
                    self.workers = executor.workers
                    yield row

    def __str__(self) -> str:
        left, failed = len(self.missing) - self.made, len(self.errors)
        to_go = f", {duration((time.monotonic() - self._began) / self.made * left)} to go" if self.made and left else ""
        return f"{len(self._plan.runs) - left - failed:,} done, {min(self.workers, left)} running, {failed:,} failed{to_go}"


def write_manifest(plan: Plan, out: Path) -> None:
    """Make the folder, and say in it what is asked for. Raises OSError.

    `config` is that of the first run; `varied` has the values that take the place of its own.
    """
    varied = {path: list(dict.fromkeys(run.settings[place] for run in plan.runs)) for place, path in enumerate(plan.varied)}
    content = {**header("ensemble"), "code": plan.code, "name": plan.config, "runs": len(plan.runs), "varied": varied,
               "seeds": list(dict.fromkeys(run.seed for run in plan.runs)), "steps": plan.steps, "every": plan.every,
               "measures": list(plan.measures), "columns": list(plan.columns),
               "config": plan.runs[0].config.model_dump(mode="json", exclude={"keys"})}
    out.mkdir(parents=True, exist_ok=True)
    write_file(out / MANIFEST, (json.dumps(content, indent=2, allow_nan=False) + "\n").encode())


def table_of(plan: Plan, out: Path) -> Table:
    """Merge what the folder has. Raises OSError and ValueError."""
    return make_table(plan, read_rows(out / ROWS)[0])


def write_table(plan: Plan, out: Path) -> Table:
    """Merge what the folder has, and write the table. Raises OSError."""
    table = table_of(plan, out)
    write_file(out / TABLE, table.csv().encode())
    if content := parquet(table):
        write_file(out / PARQUET, content)
    return table


# --- rows on disk ------------------------------------------------------------------------------------------------------

# A folder has a file for each session, to which lines are only ever appended. A line is a row as JSON and a checksum,
# written at once, flushed and synced: whatever ends the program, all lines before are whole. A line that is not is
# skipped and named, and its run is done again. If one cannot be written, what was written of it is cut off again. The
# folder may be somebody else's: what stands in the place of a file is looked at before it is read.

SUFFIX = ".rows"
MAX_BYTES = 1 << 29  # of a file: 100,000 rows with a hundred values each
MAX_NAMED = 100  # damaged lines


class RowFile:
    """Appends rows to a file of this process, so that several may write to one folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        names = (folder / f"{MACHINE}-{os.getpid()}-{number}{SUFFIX}" for number in count())
        self._path = next(path for path in names if not path.exists())
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        if sys.platform != "win32":  # lets a new file be found after a power failure, where the system can do that
            with suppress(OSError):
                number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
                try:
                    os.fsync(number)
                finally:
                    os.close(number)

    def append(self, row: RunRow) -> None:
        """Append it. Raises OSError, and leaves no part of it."""
        before, line = os.fstat(self._file).st_size, sealed_line(row.model_dump_json().encode())
        try:
            while line:  # a disk that fills up takes a part
                line = line[os.write(self._file, line):]
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, before)
            raise OSError(error.errno, error.strerror, str(self._path)) from None

    def close(self) -> None:
        os.close(self._file)


def check_inside(path: Path, folder: Path) -> None:
    """Raise ValueError where links lead out of the folder."""
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise ValueError(f"{path}: a link that leads out of {folder}")


def check_file(path: Path, folder: Path) -> None:
    """Raise ValueError where links lead out of the folder, or to what is neither a regular file nor missing."""
    check_inside(path, folder)
    if is_special(path):
        raise ValueError(f"{path}: not a regular file")


def read_rows(folder: Path) -> tuple[list[RunRow], list[str]]:
    """Read a folder of an ensemble, which need not exist; return its rows, and FILE:LINE of up to `MAX_NAMED` damaged ones.

    Rows come in the order of files and lines; a key may come several times.
    Raises OSError; ValueError for what can be none of its files, and where links lead out of the ensemble's folder.
    """
    check_inside(folder, folder.parent)
    rows, damaged = list[RunRow](), list[str]()
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        check_file(path, folder)
        data = read_bounded(path, MAX_BYTES)
        if len(data) > MAX_BYTES:
            raise ValueError(f"{path}: larger than {MAX_BYTES >> 20:,} MB")
        for number, line in enumerate(io.BytesIO(data), 1):
            try:
                rows.append(RunRow.model_validate_json(unsealed(line.removesuffix(b"\n"))))
            except ValueError:
                damaged += [f"{path}:{number}"] * (line != b"\n")
    if more := damaged[MAX_NAMED:]:
        damaged[MAX_NAMED - 1:] = [f"{damaged[MAX_NAMED - 1]} (and {len(more):,} more lines)"]
    return rows, damaged


# --- who makes the runs ----------------------------------------------------------------------------------------------

def executor_of(plan: Plan, runs: Sequence[Run], workers: int | None, scheduler: str | None,
                tell: Callable[[str], object] = lambda text: None) -> Executor:
    """A Dask cluster if a scheduler's address is given, else processes of this machine, for which kernels are compiled before.

    `tell` is told what is compiled. Raises ExecutorError where there is no such cluster.
    """
    if scheduler is not None:
        return ClusterExecutor(scheduler)
    if runs:
        warm({run.settings: run.config for run in runs}.values(), tell)
    _, cores, fit = capacity(plan.configs)
    return LocalExecutor(min(workers or cores, fit))


def warm(configs: Iterable[Config], tell: Callable[[str], object]) -> None:
    """Compile the kernels of these configurations, with as many helper processes as pay."""
    tell("importing the compiler")
    from crowd_demo.host.compiling.ahead import KernelFinder
    from crowd_demo.host.compiling.compilers import Compilers

    def compiling(kernel: str, done: int, total: int) -> None:
        tell(f"compiling {kernel} ({min(done + 1, total)} of {total})")

    for config in {_what_decides(config): config for config in configs}.values():
        with closing(Compilers(config)) as compilers:
            compilers.compile_first(KernelFinder(config, False).missing(config.optimizations), config.optimizations, compiling)


def _what_decides(config: Config) -> str:
    """What decides which kernels there are: techniques and words; of other numbers only whether they are zero."""
    others = _without_numbers(config.model_dump(exclude={"optimizations", "keys", "measure"}))
    return f"{config.optimizations.model_dump()} {others}"


def _without_numbers(value: object) -> object:
    if isinstance(value, dict):
        return {name: _without_numbers(child) for name, child in value.items()}
    return value != 0 if isinstance(value, int | float) else value


# --- memory and time ---------------------------------------------------------------------------------------------------

def capacity(configs: Iterable[Config]) -> tuple[int, int, int]:
    """Return (bytes of the largest run in a process of its own, cores, how many such runs fit into memory)."""
    largest, free = max(map(run_bytes, configs)), available_bytes()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return largest, cores, sys.maxsize if free is None else max(free // largest, 1)


def run_bytes(config: Config) -> int:
    """Bytes that a run takes, about. It draws nothing."""
    tiles = destinations = 0
    if config.map is not None and config.map not in list_maps():
        found = read_map(find_map(config.map), Metres(*config.map_scale))
        tiles, destinations = found.kinds.size, int(found.marks.max()) + 1
    return PROGRAM + sum(size for part, size in needed_bytes(config, tiles, destinations).items() if part != "window")


def run_seconds(plan: Plan, run: Run) -> float:
    """Seconds that a run takes: its crowd is made here, and stepped for a while; its kernels are compiled already."""
    from crowd_demo.sim.simulation import Simulation

    began = time.perf_counter()
    sim = Simulation(run.config)
    sim.step()
    made = time.perf_counter()
    while sim.tick < plan.steps and time.perf_counter() - made < TIMED_S:
        sim.step()
    return made - began + (time.perf_counter() - made) / max(sim.tick - 1, 1) * plan.steps
