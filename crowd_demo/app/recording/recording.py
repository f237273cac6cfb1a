"""A recording: what was done to a crowd and when, and its state hash now and then, so that the run can be had again.

A file of lines, each with a checksum, that only grows: each action is written before the step that it changes, so a crash
leaves a recording that leads to it. docs/design/time.md has the format. Hashes are computed in a thread of their own, from
snapshots: a frame pays for the copy.
"""

from __future__ import annotations

import base64
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from crowd_demo import __version__
from crowd_demo.app.recording.format import FORMAT, MAGIC, Act, Begin, End, Header, Reached, WentBack, sealed_line
from crowd_demo.sim.actions import Action, as_data
from crowd_demo.sim.save_format import encode
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot

MANY_AGENTS = 100_000  # above, hashes are taken less often: one takes as long as some steps
FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | getattr(os, "O_BINARY", 0)
HASH_S, HASH_S_OF_MANY = 1.0, 10.0  # of the crowd's time


def hash_interval(sim: Simulation) -> int:
    """Ticks from one hash to the next."""
    seconds = HASH_S_OF_MANY if sim.agents.count > MANY_AGENTS else HASH_S
    return max(round(seconds * sim.config.time.step_hz), 1)


class Recording:
    """Writes the file. Call its methods from the thread that makes the steps, between two steps.

    A file that cannot be written any more ends the recording: `error` says why, and nothing is raised.
    """

    def __init__(self, path: Path, sim: Simulation) -> None:
        """Begin with the simulation as it is now. Raises OSError if there can be no such file."""
        self.path = path
        self.error: OSError | None = None
        self.nbytes = 0  # written so far
        self._jumps = 0  # beginnings and rewinds so far
        self._lock = threading.Lock()  # lines come from two threads
        self._hashing = ThreadPoolExecutor(1)
        self._hash: Future[None] | None = None
        self._file: int | None = os.open(path, FLAGS, 0o666)
        self._write(Header(magic=MAGIC, format=FORMAT, program=__version__))
        self.begin(sim)

    # --- what happens ------------------------------------------------------------------------------------------------

    def begin(self, sim: Simulation, left: int | None = None) -> None:
        """Go on with another simulation, or another state, after a restart or a load at the tick `left`."""
        self._first_tick, self._actions_before = sim.tick, len(sim.history)
        if is_fresh(sim):
            config = sim.config.model_dump(mode="json")
            self._jump(Begin(config=config, map_digest=sim.terrain.map_digest, left=left))
        else:
            saved = base64.b64encode(encode(sim.snapshot(), __version__))
            self._jump(Begin(snapshot=saved.decode(), left=left))

    def acted(self, tick: int, action: Action) -> None:
        """An action was applied."""
        self._write(Act(tick=tick, action=as_data(action)))

    def rewound(self, sim: Simulation, left: int) -> None:
        """The simulation went back from the tick `left` and goes on from where it is, perhaps from before the beginning."""
        actions = len(sim.history) - self._actions_before
        if sim.tick < self._first_tick or actions < 0:
            self.begin(sim, left)
        else:
            self._jump(WentBack(left=left, to=sim.tick, actions=actions))

    def stepped(self, sim: Simulation) -> None:
        """Call after each step."""
        if self._file is not None and sim.tick % hash_interval(sim) == 0:
            if self._hash and not self._hash.done():
                self._write(Reached(tick=sim.tick, jump=self._jumps))
            else:
                self._hash = self._hashing.submit(partial(self._write_hash, sim.snapshot(), self._jumps))

    def close(self, sim: Simulation, crash: str = "") -> None:
        """End the recording with the last hash, or with what crashed it."""
        self._hashing.shutdown()
        self._write(End(tick=sim.tick, hash="" if crash else sim.state_hash(), crash=crash))
        with self._lock:
            file, self._file = self._file, None
            if file is not None:
                self._guarded(partial(os.close, file))

    # --- lines -------------------------------------------------------------------------------------------------------

    def _jump(self, line: BaseModel) -> None:
        self._jumps += 1
        self._write(line)

    def _write_hash(self, snapshot: Snapshot, jump: int) -> None:
        self._write(Reached(tick=snapshot.tick, jump=jump, hash=snapshot.state_hash()))

    def _write(self, line: BaseModel) -> None:
        text = sealed_line(line.model_dump_json(exclude_none=True).encode())
        with self._lock:
            self._guarded(lambda: self._append(text))

    def _append(self, text: bytes) -> None:
        while text and self._file is not None:
            written = os.write(self._file, text)
            self.nbytes += written
            text = text[written:]

    def _guarded(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            self.error, self._file = self.error or error, None


def is_fresh(sim: Simulation) -> bool:
    """Is it as its configuration makes it? Then that is all there is to record."""
    config = sim.config
    return (sim.tick == 0 and not sim.history and sim.terrain.version == 0 and sim.agents.count == config.agents
            and sim.optimizations == config.optimizations)
