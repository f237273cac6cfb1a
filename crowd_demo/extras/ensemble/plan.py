"""The plan of an ensemble: every combination of varied values, with every seed, as a run that has a key; and one run.

The order of the plan is that of its table: the first setting changes slowest, the seed fastest. A worker gets a run as
a `Job` of plain values, and returns a `RunRow`.

A key identifies what the result depends on: the request, and the code that makes it. Versions of libraries are not part
of it, since the state hash does not depend on them; this is tested whenever two machines make the same run.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import re
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from crowd_demo.config import yaml12
from crowd_demo.config.loader import ConfigError, Override, ReadConfig, as_overrides, parse_each
from crowd_demo.config.maps import bytes_of
from crowd_demo.config.model import Config, with_values
from crowd_demo.config.resources import PACKAGE, find_map
from crowd_demo.config.section import close_to, plain, require, whole
from crowd_demo.config.yaml12 import KeyPath, Location, Mistake
from crowd_demo.registry.built_in import MEASURES
from crowd_demo.registry.plugins import sources
from crowd_demo.registry.texts import error_line
from crowd_demo.sim.snapshot import PACE_KEYS, VIEW_SECTIONS

DEFAULT_EVERY = 10  # steps between two looks
DEFAULT_MEASURES = ("population", "neighbours")
MAX_RUNS = 100_000
ONE_RUN = threading.Lock()  # kernels are called from one thread at a time; a Dask worker may have several
LAST_SEED = 2**63 - 1
MAKERS = ("compute", "config", "extras", "grid", "measure", "registry", "sim")  # folders whose code may decide the result
UNREAD = (VIEW_SECTIONS | {"seed", "map"}) - {"optimizations", "measure"}
FORM = "key.path=value,value"

Cell = str | int | float | bool | None  # of a table
Vary = Mapping[str, Sequence[object]]


class Job(BaseModel):
    """A run for a worker, in texts and numbers."""

    key: str
    config: str  # JSON
    steps: int
    every: int  # steps between two looks
    measures: tuple[str, ...]
    code: str  # fingerprint that the worker's program must have


class RunRow(BaseModel):
    """The result of a run. Without an error it has a state hash and all values; None where a measure does not apply."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    key: str
    values: dict[str, float | None] = {}  # by column
    steps: Annotated[int, Field(ge=0, lt=2**63)] = 0
    state_hash: Annotated[str, Field(pattern="^([0-9a-f]{32})?$")] = ""
    error: str = ""
    seconds: float = 0.0
    worker: str = ""  # machine and process
    cpu: str = ""
    versions: str = ""
    finished: float = 0.0  # seconds since 1970, by the clock of the machine that asked for it


class Run(NamedTuple):
    settings: tuple[Cell, ...]  # a value for each of the plan's `varied`
    seed: int
    config: Config
    key: str


class Plan(NamedTuple):
    """All runs, each key once."""

    config: str  # its name or path
    varied: tuple[str, ...]  # dotted paths
    measures: tuple[str, ...]
    columns: tuple[str, ...]  # of all measures: one each, or one for each place
    steps: int
    every: int
    code: str  # fingerprint
    runs: tuple[Run, ...]

    def job(self, run: Run) -> Job:
        return Job(key=run.key, config=run.config.model_dump_json(), steps=self.steps, every=self.every,
                   measures=self.measures, code=self.code)

    def name(self, run: Run) -> str:
        """The run in words: crowd.radius=20, seed 3."""
        settings = zip(self.varied, run.settings, strict=True)
        return ", ".join([*(f"{path}={cell_word(value)}" for path, value in settings), f"seed {run.seed}"])

    @property
    def configs(self) -> list[Config]:
        """One configuration for each combination of settings: that of its first seed."""
        return list({run.settings: run.config for run in reversed(self.runs)}.values())[::-1]


def make_plan(config: str | Path, *, seeds: str | int | Iterable[int] = "1", vary: Vary | None = None,
              overrides: Mapping[str, object] | Iterable[str] = (), steps: int = 600,
              measures: Iterable[str] = DEFAULT_MEASURES, every: int = DEFAULT_EVERY) -> Plan:
    """Return the plan of an ensemble: `seeds` as "1-100", "1,5,9" or whole numbers, `vary` lists of values by dotted path.

    Raises ConfigError, which is a ValueError, with a line for each mistake; TypeError for another kind of argument.
    """
    require("vary", vary or {}, Mapping)
    varied = {str(path): _listed(f"vary: {path}", values) for path, values in (vary or {}).items()}
    return plan_of(config, as_overrides(overrides), varied, seeds_of(seeds), whole("steps", steps),
                   [str(measure) for measure in _listed("measures", measures)], whole("every", every))


def _listed(name: str, values: object) -> list[object]:
    """Return the values of a sequence, or a text alone; more than a plan may have runs are left out. Raises
    TypeError."""
    if isinstance(values := plain(values), str):
        return [values]
    if not isinstance(values, Iterable):
        raise TypeError(f"{name}: must be a list, not {values!r:.60}")
    return [plain(value) for value in islice(values, MAX_RUNS + 1)]


def plan_of(name: str | Path, overrides: Sequence[Override], vary: Vary, seeds: Sequence[int], steps: int,
            measures: Sequence[str], every: int) -> Plan:
    """Return the plan. Raises ConfigError with a line for each mistake."""
    if mistakes := list(_mistakes(vary, seeds, steps, measures, every)):
        raise ConfigError(mistakes)
    code, varied, measures = code_fingerprint(), tuple(vary), tuple(dict.fromkeys(measures))
    runs, configs = [], []
    for settings in product(*vary.values()):
        own = [Override(Location("--vary", number), tuple(path.split(".")), value)
               for number, (path, value) in enumerate(zip(varied, settings, strict=True), 1)]
        config = ReadConfig.read(name, [*overrides, *own]).config
        config = config.model_copy(update={"optimizations": with_values(config.optimizations, {"threads": 1})})
        mistakes += [_mistake("--measure", f"{measure}: the configuration names no {places};"
                                           f" --set measure.{places}.NAME=[x, y, x, y] names one")
                     for measure in measures
                     if (places := MEASURES[measure].places) and not getattr(config.measure, places)]
        configs.append(config)
        cells = tuple(value if value is None or isinstance(value, str | int | float) else str(value) for value in settings)
        for seed in seeds:
            seeded = config.model_copy(update={"seed": seed})
            runs.append(Run(cells, seed, seeded, run_key(seeded, steps, every, measures, code)))
    behaviours = {config.behaviour for config in configs}
    mistakes += [_mistake("--measure", f"{measure}: only for {' and '.join(MEASURES[measure].behaviours)}, not for"
                                       f" {' and '.join(sorted(behaviours))}")
                 for measure in measures if MEASURES[measure].behaviours and not behaviours & {*MEASURES[measure].behaviours}]
    if mistakes := mistakes or list(_same(vary, [run.key for run in runs[::len(seeds)]])):
        raise ConfigError(dict.fromkeys(mistakes))
    kinds = {measure: MEASURES[measure].places for measure in measures}
    columns = dict.fromkeys(column for measure, kind in kinds.items() for config in configs for column in (
        [f"{measure}.{name}" for name in getattr(config.measure, kind)] if kind else [measure]))
    return Plan(str(name), varied, measures, tuple(columns), steps, every, code, tuple(runs))


def _same(vary: Vary, keys: Sequence[str]) -> Iterator[Mistake]:
    """Values that make no other run; `keys` are those of one seed, in the order of the plan."""
    stride = len(keys)
    for path, values in vary.items():
        stride //= len(values)
        by_key = dict[str, list[object]]()
        for value, key in zip(values, keys[::stride], strict=False):  # the other settings as they are first
            by_key.setdefault(key, []).append(value)
        is_unread = path in PACE_KEYS or path.partition(".")[0] in UNREAD - {"seed", "map"}
        if len(by_key) == 1 < len(values) and is_unread:
            yield _mistake("--vary", f"{path}: no run depends on it")
        else:
            yield from (_mistake("--vary", f"{path}: {' and '.join(map(str, same))} are the same")
                        for same in by_key.values() if len(same) > 1)


def cell_text(value: Cell) -> str:
    """A value as CSV has it: nothing for None, and all digits of a number."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def cell_word(value: Cell) -> str:
    return cell_text(value) or "null"


def seeds_of(text: str | int | Iterable[int]) -> list[int]:
    """Return whole numbers of a text such as "1-100" or "1,5,9-12", each once. Raises ConfigError, TypeError."""
    if not isinstance(text, str):
        given = [text] if isinstance(plain(text), int) else text
        return list(dict.fromkeys(whole("seeds", seed) for seed in _listed("seeds", given)))
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,19})(?:\s*-\s*([0-9]{1,19}))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise ConfigError([_mistake("--seeds", f"must be whole numbers such as 1-100 or 1,5,9, not {text[:40]!r}")])
        if last - first + len(found) >= MAX_RUNS:
            raise ConfigError([_mistake("--seeds", f"at most {MAX_RUNS:,} of them")])
        found += range(first, last + 1)
    return list(dict.fromkeys(found))


def parse_varied(texts: Iterable[str]) -> dict[str, list[object]]:
    """`key.path=value,value` each, the values YAML scalars or [lists]. Raises ConfigError with a line for each
    mistake."""
    vary = dict[str, list[object]]()

    def parsed(location: Location, keys: KeyPath, values: str) -> None:
        listed, path = yaml12.read(f"[{values}]"), ".".join(map(str, keys))
        if listed.mistakes or not isinstance(listed.data, list) or not listed.data:
            raise ValueError(listed.mistakes[0].text if listed.mistakes else f"must be {FORM}, not {path + '=' + values!r}")
        if path in vary:
            raise ValueError("varied twice")
        vary[path] = listed.data

    parse_each(texts, "--vary", FORM, parsed)
    return vary


def _mistakes(vary: Vary, seeds: Sequence[int], steps: int, measures: Sequence[str], every: int) -> Iterator[Mistake]:
    count = len(seeds) * math.prod(map(len, vary.values()))
    checks = (
        (not seeds, "--seeds", "none are given"),
        (any(not 0 <= seed <= LAST_SEED for seed in seeds), "--seeds", f"must be whole numbers from 0 to {LAST_SEED}"),
        ("seed" in vary, "--vary", "seed: give --seeds"),
        (count > MAX_RUNS, "--vary", f"{count:,} runs; at most {MAX_RUNS:,}"),
        (not 1 <= every <= steps, "--every", f"must be from 1 to the number of steps, {steps}, not {every}"),
        (not measures, "--measure", f"none are given; there are {', '.join(MEASURES)}"))
    yield from (_mistake(option, text) for wrong, option, text in checks if wrong)
    for path, values in vary.items():
        if not values:
            yield _mistake("--vary", f"{path}: no values are given")
        if path.startswith("optimizations.threads"):
            yield _mistake("--vary", "optimizations.threads: every run has one thread")
        if len({repr(value) for value in values}) < len(values):
            yield _mistake("--vary", f"{path}: a value is given twice")
    for measure in measures:
        if measure not in MEASURES:
            hint = close_to(measure, MEASURES) or f"; there are {', '.join(MEASURES)}"
            yield _mistake("--measure", f"no measure {measure[:40]!r}{hint}")


def _mistake(option: str, text: str) -> Mistake:
    return Mistake(Location(option), (), text)


# --- the key of a run -------------------------------------------------------------------------------------------------

@cache
def _fingerprint(files: tuple[Path, ...]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for path in files:
        name = path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else path.name
        digest.update(hashlib.blake2b(name.encode()).digest() + hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def code_fingerprint() -> str:
    """Hash of the sources of the model, of all that measures it and of all plugins: 16 hex digits."""
    return _fingerprint((*own_sources(), *sources()))


def own_sources() -> list[Path]:
    """The program's own files in the fingerprint: whole folders, so that none is forgotten."""
    return sorted(path for folder in MAKERS for path in (PACKAGE / folder).rglob("*.py"))


def run_key(config: Config, steps: int, every: int, measures: Sequence[str], code: str) -> str:
    """The name of a run: 24 hex digits that say what it was asked for and what made it."""
    values = config.model_dump(mode="json", exclude=set(UNREAD))
    time = {name: value for name, value in values.pop("time").items() if f"time.{name}" not in PACE_KEYS}
    walls = hashlib.blake2b(bytes_of(find_map(config.map)), digest_size=8).hexdigest() if config.map else ""
    asked = {"config": values, "time": time, "seed": config.seed, "map": walls, "steps": steps,
             "every": every, "measures": sorted(measures), "code": code}
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


# --- one run, wherever it is carried out ------------------------------------------------------------------------------

def carry_out(job: Job, worker: str = "") -> RunRow:
    with ONE_RUN:
        began = time.perf_counter()
        try:
            state_hash, steps, values = _run(job)
            row = RunRow(key=job.key, values=values, steps=steps, state_hash=state_hash)
        except (Exception, SystemExit, GeneratorExit) as error:  # of any kind: a run that fails is a row
            row = RunRow(key=job.key, error=error_line(error))
        return row.model_copy(update={**_made_with(), "seconds": time.perf_counter() - began,
                                      "worker": worker or f"{socket.gethostname()}:{os.getpid()}"})


def _run(job: Job) -> tuple[str, int, dict[str, float | None]]:
    """Return the state hash, the steps made, and the values; an event that ends the run ends it here too."""
    from crowd_demo.extras.ensemble.measures import Sampler
    from crowd_demo.sim.simulation import Simulation

    if job.code != code_fingerprint():
        raise RuntimeError("this worker has another version of the program or of its plugins")
    sim = Simulation(Config.model_validate_json(job.config))
    sampler = Sampler(job.measures, sim)
    for done in range(0, job.steps, job.every):
        made = sim.play(min(job.every, job.steps - done))
        is_over = sim.events.end_tick is not None
        if made and (is_over or done + job.every <= job.steps):
            sampler.look()
        if is_over:
            break
    return sim.state_hash(), sim.tick, sampler.folded()


@cache
def _made_with() -> dict[str, str]:
    from crowd_demo.measure.experiment import machine, versions

    found = machine()
    return {"cpu": f"{found['cpu'] or platform.machine()} ({found['simd']})",
            "versions": ", ".join(f"{name} {version}" for name, version in versions().items())}
