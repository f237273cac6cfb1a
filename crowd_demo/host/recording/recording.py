"""A recording: what was done to a crowd and when, and its state hash now and then, so that the run can be repeated.

A file of lines, each with a checksum, that only grows: each action is written before the step that it changes, so a crash
leaves a recording that leads to it. format.py has the format. What takes long is done beside the frames, from
snapshots: the hashes, and the line of a crowd that begins in the middle of its run. A frame pays for the copy.

A replay makes the steps with their actions at their ticks, and compares the state hashes. It says that they are the
same, or the first tick at which they differ. A recording without an end was cut off, as by a crash: it is replayed for as long
as the run may have gone on after its last line, so that the crash happens again.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel

from crowd_demo.host.files import write_file
from crowd_demo.host.recording.format import (
    FORMAT,
    MAGIC,
    Act,
    Begin,
    End,
    Reached,
    RecordingHeader,
    Script,
    WentBack,
    snapshot_line,
    text_of,
)
from crowd_demo.host.system import beside_frames
from crowd_demo.registry.texts import printable
from crowd_demo.sim.actions import Action, as_data
from crowd_demo.sim.save_format import SaveError, check, naming
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot
from crowd_demo.version import __version__

MANY_AGENTS = 100_000  # above, hashes are taken less often: one takes as long as some steps
FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | getattr(os, "O_BINARY", 0)
MAX_WAITING = 64_000_000  # bytes of several snapshots whose hashes are not computed yet: then a hash is left out
HASH_S, HASH_S_OF_MANY = 1.0, 10.0  # of the crowd's time


def hash_interval(sim: Simulation) -> int:
    seconds = HASH_S_OF_MANY if sim.agents.count > MANY_AGENTS else HASH_S
    return max(round(seconds * sim.config.time.step_hz), 1)


class Recording:
    """Writes the file. Call its methods from the thread that makes the steps, between two steps.

    Lines stand in the order of the calls, but for hashes, which say after which jump they were taken. A file that cannot be
    written any more ends the recording: `error` says why, and nothing is raised.
    """

    def __init__(self, path: Path, sim: Simulation) -> None:
        """Begin with the simulation as it is now. Raises OSError if there can be no such file."""
        self.path = path
        self.error = ""
        self.nbytes = 0  # written so far
        self._jumps = 0  # beginnings and rewinds so far
        self._lock = threading.Lock()  # lines come from several threads
        self._beside = beside_frames()
        self._hashes: list[Future[None]] = []  # that are not computed yet
        self._last: Future[None] | None = None  # line that was left to `_beside`
        self._end: Future[None] | None = None
        self._file: int | None = os.open(path, FLAGS, 0o666)
        self._write(RecordingHeader(magic=MAGIC, format=FORMAT, program=__version__))
        self.begin(sim)

    # --- what happens ------------------------------------------------------------------------------------------------

    def begin(self, sim: Simulation, left: int | None = None) -> None:
        """Go on with another simulation, or another state, after a restart or a load at the tick `left`."""
        self._first_tick, self._actions_before = sim.tick, len(sim.history)
        self._jumps += 1
        config = sim.config
        if (sim.tick == 0 and not sim.history and sim.terrain.version == 0 and sim.agents.count == config.agents
                and sim.optimizations == config.optimizations):  # its configuration is all there is to record
            self._write(Begin(config=config.model_dump(mode="json"), map_digest=sim.terrain.map_digest, left=left))
        else:
            self._last = self._beside.submit(self._append, snapshot_line(sim.snapshot(), left))

    def acted(self, tick: int, action: Action) -> None:
        self._write(Act(tick=tick, action=as_data(action)))

    def rewound(self, sim: Simulation, left: int) -> None:
        """The simulation went back from the tick `left` and goes on from where it is, perhaps from before the beginning."""
        actions = len(sim.history) - self._actions_before
        if sim.tick < self._first_tick or actions < 0:
            self.begin(sim, left)
        else:
            self._jumps += 1
            self._write(WentBack(left=left, to=sim.tick, actions=actions))

    def stepped(self, sim: Simulation) -> None:
        """Call after each step."""
        if self._file is not None and sim.tick % hash_interval(sim) == 0:
            self._hashes = [job for job in self._hashes if not job.done()]
            nbytes = (len(self._hashes) + 1) * sim.agents.count * len(sim.agents.names) * 4
            if self._hashes and nbytes > MAX_WAITING:
                self._write(Reached(tick=sim.tick, jump=self._jumps))
            else:
                self._hashes.append(self._beside.submit(self._write_hash, sim.snapshot(), self._jumps))

    def end(self, sim: Simulation, crash: str = "") -> None:
        """End the recording with the last hash or the crash, in the background; `is_written` says when that is done."""
        self._end = self._beside.submit(self._write_end, sim.tick, None if crash else sim.snapshot(), crash)
        self._beside.shutdown(wait=False)

    @property
    def is_written(self) -> bool:
        return self._end is not None and self._end.done()

    def wait(self) -> None:
        """Wait until all is written of a recording that has ended."""
        if self._end:
            self._end.result()

    # --- lines -------------------------------------------------------------------------------------------------------

    def _write(self, line: BaseModel) -> None:
        """Write a line now; or beside the frames, if one before it is left to that thread and not finished."""
        if self._last and not self._last.done():
            self._last = self._beside.submit(self._append, [text_of(line)])
        else:
            self._append([text_of(line)])

    def _write_hash(self, snapshot: Snapshot, jump: int) -> None:
        self._append([text_of(Reached(tick=snapshot.tick, jump=jump, hash=snapshot.state_hash()))])

    def _write_end(self, tick: int, snapshot: Snapshot | None, crash: str) -> None:
        self._append([text_of(End(tick=tick, hash=snapshot.state_hash() if snapshot else "", crash=crash))])
        with self._guarded():
            if self._file is not None:
                os.close(self._file)
            self._file = None

    def _append(self, pieces: Iterable[bytes]) -> None:
        with self._guarded():
            for piece in pieces:
                while piece and self._file is not None:
                    written = os.write(self._file, piece)
                    self.nbytes += written
                    piece = piece[written:]

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Let one thread write at a time; after an error nothing is written any more."""
        try:
            with self._lock:
                yield
        except (OSError, ValueError, MemoryError) as error:
            self.error = self.error or getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
            self._file = None


def write_clip(path: Path, first: Snapshot, last: Snapshot) -> None:
    """Write a recording of what led from one snapshot of a run to another one. Raises OSError."""
    actions = last.history[len(first.history):]
    lines = [RecordingHeader(magic=MAGIC, format=FORMAT, program=__version__), *(
        Act(tick=tick, action=as_data(action)) for tick, action in actions), End(tick=last.tick, hash=last.state_hash())]
    header, *others = map(text_of, lines)
    write_file(path, header, *snapshot_line(first), *others)


# --- replay -----------------------------------------------------------------------------------------------------------

class Player:
    """Replays a recording; call `start`, then `step` until `done`. `start_at` is the first tick whose hash is compared."""

    def __init__(self, script: Script, start_at: int = 0) -> None:
        self.script, self.start_at = script, start_at
        self.part = script.parts[0]  # the present one
        self.done = False
        self.compared = 0  # hashes that were the same
        self.parted: tuple[int, str, str] | None = None  # tick, the recorded hash, the present one
        self.begun = False  # whether `start_at` was reached

    def start(self, sim: Simulation) -> Simulation:
        """Return the simulation to begin with: this one, if its configuration is the recorded one. Raises SaveError."""
        self._run = self._play(sim)
        return self.step()

    def step(self, apply: Callable[[Simulation, Action], None] = Simulation.apply) -> Simulation:
        """Make a step, unless the replay is done; return the simulation to go on with: another one after a restart.

        `apply` does the actions.
        """
        self._apply = apply
        return next(self._run)

    def _play(self, sim: Simulation) -> Iterator[Simulation]:
        """Yield the simulation after each step and what was done at its tick; the last one again and again."""
        for part in self.script.parts:
            self.part = part
            if sim.config is not part.config or (sim.tick and not part.snapshot):
                sim = Simulation(part.config)
            with naming(self.script.path):
                if part.snapshot:
                    check(part.snapshot, sim)
                    sim.restore(part.snapshot)
                if part.map_digest not in (None, sim.terrain.map_digest):
                    raise SaveError(f"the map {sim.config.map} has changed since")
            actions = deque(part.actions)
            self._act(sim, actions)
            while not self.parted and sim.tick < self._end(sim):
                yield sim
                sim.step()
                self._compare(sim, self.part.hashes.get(sim.tick, ""))
                self._act(sim, actions)
            if self.parted:
                break
        else:
            self._compare(sim, self.part.last_hash)
        self.done = True
        while True:
            yield sim

    def _act(self, sim: Simulation, actions: deque[tuple[int, Action]]) -> None:
        self.begun = self.begun or sim.tick >= self.start_at
        while actions and actions[0][0] <= sim.tick:
            with naming(f"{self.script.path}: tick {sim.tick}"):
                self._apply(sim, actions.popleft()[1])

    def _end(self, sim: Simulation) -> int:
        """The tick at which the present part is over."""
        if self.part is not self.script.parts[-1] or (self.script.ended and not self.script.crash):
            return self.part.end
        return self.part.end + (1 if self.script.crash else hash_interval(sim))

    def _compare(self, sim: Simulation, recorded: str) -> None:
        """Compare the present state with a hash, if one was recorded."""
        if not recorded or not (self.begun or sim.tick >= self.start_at):
            return
        present = sim.state_hash()
        if present == recorded:
            self.compared += 1
        else:
            self.parted = sim.tick, recorded, present

    def verdict(self, tick: int) -> str:
        """Return one line about the result, up to the tick reached."""
        name = self.script.path
        if self.parted:
            at, recorded, present = self.parted
            return printable(f"{name}: parts at tick {at:,}: {recorded} was recorded, {present} is here")
        how = "" if self.script.ended else "; the recording was cut off there" if self.done else ""
        crash = f"; there it crashed: {self.script.crash}" if self.script.crash else ""
        left = "" if self.done else " (not to its end)"
        hashes = f"{self.compared:,} hash{'es' * (self.compared != 1)}"
        return printable(f"{name}: the same {hashes} up to tick {tick:,}{left}{how}{crash}")

    def report(self) -> dict[str, object]:
        return {
            "recording": str(self.script.path),  # its path
            "complete": self.done and not self.parted,  # whether the replay reached its end
            "hashes": self.compared,  # number of identical hashes
            "parted_at": self.parted[0] if self.parted else None,  # the first tick with another hash
        }
