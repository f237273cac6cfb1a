"""`--trace FILE`: the run as a Chrome trace, which ui.perfetto.dev and chrome://tracing open.

Format: a JSON array of events (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU). The
array need not be closed: each frame is written as it ends, so what a crash leaves can be opened. There are spans of
frames, steps and stages on the threads that they ran on, counters where they change, and instants for what is noted
(actions, collections).

A traced run has another profile, `TracedProfile`; one that is not traced pays nothing. Times are whole nanoseconds. A
frame of people takes about 2 kB; at `MAX_BYTES` the trace ends, and the run goes on without.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from crowd_demo.profile import Profile
from crowd_demo.registry.texts import reason

MAX_BYTES = 256_000_000  # half an hour at 60 frames a second
END = "\n]\n"
_encoded = json.JSONEncoder(separators=(",", ":")).encode


class Trace:
    """A file of events. `error` is why it could not be written to its end; a line on standard error has said so."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.error: OSError | None = None
        self._file: BinaryIO | None = None
        self._bytes = 0
        self._begin_ns = time.perf_counter_ns()
        self._threads: dict[int, int] = {}  # identity of a thread -> its number in the file
        self._events: list[str] = []
        try:
            self._file = path.open("wb")
        except OSError as error:
            self._fail(error)
        self._write("[\n" + _encoded({"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "crowd-demo"}}))

    def span(self, name: str, start_ns: int, end_ns: int, **arguments: int) -> None:
        """Something that has ended; times of `time.perf_counter_ns`."""
        self._add(name, "X", start_ns, dur=(end_ns - start_ns) / 1000, **({"args": arguments} if arguments else {}))

    def instant(self, name: str) -> None:
        self._add(name, "i", time.perf_counter_ns(), s="t")

    def counter(self, name: str, value: float, now_ns: int) -> None:
        self._add(name, "C", now_ns, args={"value": float(value)})

    def flush(self) -> None:
        """Write the events since the last call. A trace that is full or cannot be written ends here; a line says so."""
        events, self._events = self._events, []
        text = "".join(f",\n{event}" for event in events)
        if self._file and self._bytes + len(text) > MAX_BYTES:
            print(f"crowd-demo: --trace: {self.path} ends at {MAX_BYTES / 1e6:g} MB, the run goes on", file=sys.stderr)
            self.close()
        self._write(text)

    def close(self) -> None:
        """Write what is left, and end the file; what comes later is lost."""
        self._write("".join(f",\n{event}" for event in self._events) + END)
        self._end()

    def _add(self, name: str, kind: str, now_ns: int, **rest: object) -> None:
        """Add an event of the present thread; the first one of a thread is preceded by its name."""
        if not self._file:
            return
        identity = threading.get_ident()
        if identity not in self._threads:
            number = self._threads[identity] = len(self._threads) + 1
            thread = {"name": threading.current_thread().name}
            self._events.append(_encoded({"name": "thread_name", "ph": "M", "pid": 1, "tid": number, "args": thread}))
        number, us = self._threads[identity], (now_ns - self._begin_ns) / 1000
        self._events.append(_encoded({"name": name, "ph": kind, "pid": 1, "tid": number, "ts": us, **rest}))

    def _write(self, text: str) -> None:
        if not self._file:
            return
        try:
            self._bytes += self._file.write(text.encode())
            self._file.flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        print(f"crowd-demo: --trace: cannot write {self.path}: {reason(error)}", file=sys.stderr)
        self.error = error
        self._end()

    def _end(self) -> None:
        file, self._file = self._file, None
        with suppress(OSError):  # it has been said already
            if file:
                file.close()


class TracedProfile(Profile):
    """A profile that writes everything it measures into a trace as well."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self.trace = trace
        self._begin_frame_ns = self._begin_step_ns = time.perf_counter_ns()
        self._written: dict[str, float] = {}  # counters as they stand in the file

    def fresh(self) -> TracedProfile:
        return TracedProfile(self.trace)

    def ran(self, name: str, start_ns: int, end_ns: int) -> None:
        """Add the time to that of the stage, as `Profile` does, and write it as a span."""
        super().ran(name, start_ns, end_ns)
        self.trace.span(name, start_ns, end_ns)

    def note(self, text: str) -> None:
        super().note(text)
        self.trace.instant(text)

    def begin_step(self) -> None:
        super().begin_step()
        self._begin_step_ns = time.perf_counter_ns()

    def end_step(self) -> None:
        super().end_step()
        self.trace.span("step", self._begin_step_ns, time.perf_counter_ns())

    def begin_frame(self) -> None:
        super().begin_frame()
        self._begin_frame_ns = time.perf_counter_ns()

    def end_frame(self, ms: float | None = None, tick: int = 0) -> None:
        end_ns = time.perf_counter_ns()
        self.trace.span("frame", self._begin_frame_ns, end_ns, frame=self.frames, tick=tick)
        super().end_frame((end_ns - self._begin_frame_ns) / 1e6 if ms is None else ms, tick)
        for name, value in self.counters.items():
            if self._written.get(name) != value:
                self.trace.counter(name, value, end_ns)
        self._written = self.counters.copy()
        self.trace.flush()
