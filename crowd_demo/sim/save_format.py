"""Save files: a snapshot as bytes, and back. Nothing in a file is trusted.

`decode` checks all that can be checked without the simulation, and needs neither Numba nor the map. `check` checks
the rest before the simulation is restored. A decoded snapshot needs about as much memory as its file.

Format:

Format 1: little-endian, without padding.

| bytes | content |
|---|---|
| 16 | `crowd-demo save` and a line feed |
| 4 | format, uint32: 1 |
| 4 | n, uint32: length of the header |
| n | header, JSON in UTF-8 |
| 4 each | `columns` int32[names, agents]: float32 columns by their bits |
| 4 each | `generations` int32[ids] |
| 1 each | `kinds` uint8[rows, columns], of tiles |
| 1 each | `crowding` uint8[2, rows, columns], or [0, rows, columns] without routes around crowds |
| 4 each | `link_ends`, then `link_generations`, int32[links, 2] each |
| 4 each | `population` int32[at most 1024] |
| | the arrays of the parts, in their order in the header |
| 32 | BLAKE2b-256 of all bytes before |

The header has `program` (version), `config`, `techniques` (path: value), `tick`, `names` of the columns,
`map_digest`, `sorts`, `steps_since_sort`, `drift` and `history` (`[tick, action]`). `shapes` has name: shape in the
order of the arrays. `parts` has, for each name, `values` and `arrays` (name: `[type, shape]`). An action is `{"name":
"populate", ...}` with its fields. The map must be the same.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from crowd_demo.compute.arrays import Ints
from crowd_demo.config.loader import ConfigError, ReadConfig
from crowd_demo.config.model import Config
from crowd_demo.profile import HISTORY
from crowd_demo.registry.entries import Value
from crowd_demo.registry.texts import printable
from crowd_demo.sim import edits, events, tuning  # noqa: F401  # register actions
from crowd_demo.sim.actions import Action, as_data, from_data
from crowd_demo.sim.behaviours.base import make_behaviour
from crowd_demo.sim.snapshot import Snapshot
from crowd_demo.sim.store.state import ARRAY_TYPES, EMPTY, PartState, check_columns, dtypes_of

if TYPE_CHECKING:
    from crowd_demo.sim.simulation import Simulation

MAGIC = b"crowd-demo save\n"
FORMAT = 1
_HEAD = struct.Struct("<16sII")  # magic, format, bytes of the header
CHECKSUM_BYTES = 32
MAX_TICKS = 1 << 27  # of the schedule (neighbours/schedule.py)
ARRAYS = {"columns": (np.int32, 2), "generations": (np.int32, 1), "kinds": (np.uint8, 2), "crowding": (np.uint8, 3),
          "link_ends": (np.int32, 2), "link_generations": (np.int32, 2), "population": (np.int32, 1)}
"""Name -> (type, number of axes), in their order in a file."""
_TYPES = {kind.name: kind for kind in ARRAY_TYPES}


class SaveError(ValueError):
    """What is wrong with a save file or a recording, in one line."""


@contextmanager
def naming(origin: object) -> Iterator[None]:
    """Turn a mistake in a file, or too little memory for it, into a SaveError of one printable line that names the origin."""
    try:
        yield
    except MemoryError:
        raise SaveError(printable(f"{origin}: needs more memory than there is")) from None
    except ValueError as error:
        raise SaveError(printable(f"{origin}: {error}")) from None


Count = Annotated[int, Field(ge=0, lt=2**63)]


class PartHeader(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    values: dict[str, JsonValue]
    arrays: dict[str, tuple[str, list[Count]]]  # type and shape


class Header(BaseModel):
    """What a file says beside its arrays."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    program: str
    config: dict[str, object]
    techniques: dict[str, Value]
    tick: Annotated[int, Field(ge=0, lt=MAX_TICKS)]
    names: list[str]
    map_digest: str
    sorts: Count
    steps_since_sort: Count
    drift: Annotated[float, Field(ge=0)]
    history: list[tuple[Count, dict[str, object]]]
    shapes: dict[str, list[Count]]
    parts: dict[str, PartHeader]


def encoded(snapshot: Snapshot, program: str) -> tuple[bytes | memoryview, ...]:
    """Return the parts of a save file, one behind the other, without a copy of the arrays.

    Raises ValueError for a history with an action that nobody registered.
    """
    arrays = {name: np.ascontiguousarray(getattr(snapshot, name), np.dtype(kind).newbyteorder("<"))
              for name, (kind, _) in ARRAYS.items()}
    header = Header(
        program=program, config=snapshot.config.model_dump(mode="json"), techniques=dict(snapshot.techniques),
        tick=snapshot.tick, names=list(snapshot.names), map_digest=snapshot.map_digest, sorts=snapshot.sorts,
        steps_since_sort=snapshot.steps_since_sort, drift=snapshot.drift,
        history=[(tick, as_data(action)) for tick, action in snapshot.history],
        shapes={name: list(array.shape) for name, array in arrays.items()},
        parts={name: PartHeader(values=dict(part.values), arrays={  # type: ignore[arg-type]  # which pydantic checks
            own: (array.dtype.name, list(array.shape)) for own, array in part.arrays.items()})
            for name, part in snapshot.parts.items()})
    text = header.model_dump_json().encode()
    of_parts = (np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
                for part in snapshot.parts.values() for array in part.arrays.values())
    raw = (array.reshape(-1).view(np.uint8).data for array in (*arrays.values(), *of_parts))
    return sealed(_HEAD.pack(MAGIC, FORMAT, len(text)), text, *raw)


def sealed(*parts: bytes | memoryview) -> tuple[bytes | memoryview, ...]:
    digest = hashlib.blake2b(digest_size=CHECKSUM_BYTES)
    for part in parts:
        digest.update(part)
    return (*parts, digest.digest())


def decode(data: bytes) -> Snapshot:
    """Return the snapshot in a save file. Raises SaveError for a file of another format, damaged or inconsistent."""
    header, start = _header(data)
    arrays, parts = _arrays(header, memoryview(data)[start:-CHECKSUM_BYTES])
    snapshot = Snapshot(
        config=config_of(header.config), tick=header.tick, techniques=header.techniques, names=tuple(header.names),
        map_digest=header.map_digest, sorts=header.sorts, steps_since_sort=header.steps_since_sort, drift=header.drift,
        history=_history(header.history, header.tick), parts=parts, **arrays)
    _check_ids(snapshot)
    return _with_techniques(snapshot)


def config_of(data: dict[str, object]) -> Config:
    """Return the configuration that a file holds. Raises SaveError."""
    try:
        return ReadConfig.of(data, "config").config
    except ConfigError as error:
        raise SaveError(error.lines[0]) from None


def check(snapshot: Snapshot, sim: Simulation) -> None:
    """Raise ValueError if the simulation, made from the snapshot's configuration, could not go on from there.

    Also for parts of the state that it does not have, or could not restore.
    """
    _require(snapshot.names == sim.agents.names, f"the columns are not those of {sim.config.behaviour}")
    sim.check_room(snapshot.agents)
    _require(snapshot.map_digest == sim.terrain.map_digest, f"the map {sim.config.map} has changed since")
    _require(sim.terrain.allows(snapshot.kinds), "there are tiles that no wall makes")
    _require(sim.crowding.allows(snapshot.crowding), "crowding: not the prices of these tiles")
    _require(sim.links.active or not len(snapshot.link_ends), "there are links, but the configuration has none")
    for name in snapshot.parts.keys() - {part.name for part in sim.parts}:
        raise SaveError(f"{name[:40]}: this crowd has no such state")
    for part in sim.parts:
        with naming(part.name):
            part.check(snapshot.parts.get(part.name, EMPTY))
    widest = sim.numbers.widest_of(snapshot.parts.get(sim.numbers.name, EMPTY))
    bounds = dict(sim.bounds_of(make_behaviour(widest)))
    if ways := sim.ways:
        bounds["goal"] = 0, max(ways.count_in(snapshot.parts.get(ways.name, EMPTY)) - 1, 0)
    check_columns(snapshot.columns, dtypes_of(sim.agents.kind), bounds)


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise SaveError(otherwise)


# --- the parts of a file ---------------------------------------------------------------------------------------------

def _header(data: bytes) -> tuple[Header, int]:
    """(header, where the arrays begin), once the checksum is right."""
    _require(data.startswith(MAGIC), "is not a save file of crowd-demo")
    _require(len(data) >= _HEAD.size + CHECKSUM_BYTES, "is damaged: it ends too early")
    _, version, size = _HEAD.unpack_from(data)
    _require(version == FORMAT, f"has format {version}; this program reads format {FORMAT}")
    right = hashlib.blake2b(memoryview(data)[:-CHECKSUM_BYTES], digest_size=CHECKSUM_BYTES).digest()
    _require(data[-CHECKSUM_BYTES:] == right, "is damaged: its checksum is wrong")
    start = _HEAD.size + size
    _require(start <= len(data) - CHECKSUM_BYTES, "is damaged: its header is too long")
    try:
        return Header.model_validate_json(data[_HEAD.size:start]), start
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise SaveError(f"is damaged: header: {'.'.join(map(str, first['loc']))[:80]}: {first['msg']}"[:300]) from None


def _arrays(header: Header, data: memoryview) -> tuple[dict[str, Any], dict[str, PartState]]:
    """The arrays by name, as read-only views of the data where this machine is little-endian; and the parts with theirs."""
    _require(list(header.shapes) == list(ARRAYS), "is damaged: header: shapes: not those of a snapshot")
    start = 0

    def following(name: str, kind: np.dtype[np.generic], shape: Sequence[int]) -> NDArray[np.generic]:
        nonlocal start
        size = math.prod(shape) * kind.itemsize
        _require(start + size <= len(data), f"is damaged: {name} has another shape")
        array = np.frombuffer(data[start:start + size], kind.newbyteorder("<")).reshape(shape)
        start += size
        return array.astype(kind, copy=False)

    found, parts = {}, {}
    for (name, (kind, axes)), shape in zip(ARRAYS.items(), header.shapes.values(), strict=True):
        _require(len(shape) == axes, f"is damaged: {name} has another shape")
        found[name] = following(name, np.dtype(kind), shape)
    for name, part in header.parts.items():
        for own, (type_name, _) in part.arrays.items():
            _require(type_name in _TYPES, f"is damaged: {name}: {own} has an unknown type")
        parts[name] = PartState(part.values, {
            own: following(f"{name}: {own}", _TYPES[type_name], shape) for own, (type_name, shape) in part.arrays.items()})
    _require(start == len(data), "is damaged: it is longer than its arrays")
    return found, parts


def _history(entries: Sequence[tuple[int, dict[str, object]]], now: int) -> tuple[tuple[int, Action], ...]:
    ticks = [tick for tick, _ in entries]
    with naming("history"):
        _require([*ticks, now] == sorted([*ticks, now]), "ticks are not in order")
        return tuple((tick, from_data(data)) for tick, data in entries)


def _check_ids(snapshot: Snapshot) -> None:
    """Raise SaveError for ids, links or counts that contradict each other."""
    limit, columns = len(snapshot.generations), snapshot.columns
    _require(len(columns) == len(set(snapshot.names)) == len(snapshot.names) > 0 and snapshot.names[0] == "id",
             "is damaged: columns and their names differ")
    ids = columns[0]
    _require(_all_within(ids, limit) and np.bincount(ids).max(initial=0) <= 1, "column id: not each once, from 0")
    _require(not (snapshot.generations < 0).any(), "generations: there is one below 0")
    ends, when = snapshot.link_ends, snapshot.link_generations
    _require(ends.shape == when.shape == (len(ends), 2), "links: not two ends each")
    _require(_all_within(ends, limit) and bool((ends[:, 0] < ends[:, 1]).all()), "links: not two ids each, the lower first")
    _require(len(snapshot.population) <= HISTORY, "population: too long")


def _all_within(ids: Ints, limit: int) -> bool:
    return not ids.size or bool(ids.min() >= 0 and ids.max() < limit)


def _with_techniques(snapshot: Snapshot) -> Snapshot:
    """The snapshot, its techniques also those of its configuration, so that a program starts with them."""
    options = snapshot.config.optimizations.model_copy(deep=True)
    with naming("techniques"):
        for path, value in snapshot.techniques.items():
            options.set(path, value)
    return snapshot._replace(config=snapshot.config.model_copy(update={"optimizations": options}))
