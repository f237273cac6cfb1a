"""The plan of an ensemble: every combination of varied values, with every seed, as a run that has a key.

The order of the plan is that of its table: the first setting changes slowest, the seed fastest.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

from crowd_demo.config import yaml12
from crowd_demo.config.loader import ConfigError, Override, ReadConfig, as_overrides, parse_each
from crowd_demo.config.model import Config, with_values
from crowd_demo.config.section import close_to, plain, require, whole
from crowd_demo.config.yaml12 import KeyPath, Location, Mistake
from crowd_demo.extras.ensemble.job import Job, code_fingerprint, is_unread, run_key
from crowd_demo.registry.built_in import MEASURES

DEFAULT_EVERY = 10  # steps between two looks
DEFAULT_MEASURES = ("population", "neighbours")
MAX_RUNS = 100_000
LAST_SEED = 2**63 - 1
FORM = "key.path=value,value"

Cell = str | int | float | bool | None  # of a table
Vary = Mapping[str, Sequence[object]]


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
    """Return the values of a sequence, or a text alone; more than a plan may have runs are left out. Raises TypeError."""
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
        if len(by_key) == 1 < len(values) and is_unread(path):
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
    """`key.path=value,value` each, the values YAML scalars or [lists]. Raises ConfigError with a line for each mistake."""
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
