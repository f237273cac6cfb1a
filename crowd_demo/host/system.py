"""The process: its threads and memory, the streams and signals of the shell that started it, and how it ends.

All kernels are called from the worker's thread, so the window responds however long one takes. Numba's number of
threads and OpenMP's pool of threads belong to the thread that calls kernels: another reason for only one. What takes
long and runs no kernel is done by threads beside the frames, of a lower priority.

The standard streams are open, without control characters of others, and have errors that can be told apart from those
of other files; a line on standard error shows progress.

The wish to quit may come from a person or a signal. Neither a kernel nor the compiler can be stopped, so they run in
the worker's thread: the main thread looks at the wish meanwhile, waits a little for what is under way, and then ends
the process all the same.
"""

from __future__ import annotations

import ctypes
import gc
import math
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import NoReturn, Self, TextIO, TypeVar, cast

from crowd_demo.registry.texts import printable

_IMPORTED = time.perf_counter()
NICENESS = 15  # of threads beside the frames, on systems where a thread has a niceness
SWITCH_S = 0.00005  # the longest that a frame waits for the compiling thread, which happens some forty times a frame
EAGER_S = 0.0002  # after this time a compiling thread lets another one run Python code
YOUNG = 350  # objects: fewer than start Python's own collector; there are about 20 more per frame
OLD = 200  # collections of young objects before one of all: that is every minute or so
Result = TypeVar("Result")


# --- threads ---------------------------------------------------------------------------------------------------------

class Worker:
    """Runs jobs one after another. A job's exception is raised by its `result()`. Submitting one costs about 30 us."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._is_done: Callable[[], bool] = lambda: True  # of the last job
        threading.Thread(target=self._work, name="crowd-demo worker", daemon=True).start()

    def submit(self, job: Callable[[], Result]) -> Future[Result]:
        """Run the job after those submitted before it."""
        future: Future[Result] = Future()
        self._is_done = future.done
        self._jobs.put(partial(carry_out, job, future))
        return future

    @property
    def busy(self) -> bool:
        return not self._is_done()

    def _work(self) -> None:
        while True:
            self._jobs.get()()


def carry_out(job: Callable[[], Result], future: Future[Result]) -> None:
    try:
        result = job()
    except BaseException as error:  # whatever it is, the main thread has to know
        future.set_exception(error)
    else:
        future.set_result(result)


def in_thread(job: Callable[[], Result], name: str) -> Future[Result]:
    """Do the job in a thread of its own, for whose end the program does not wait when it exits."""
    future: Future[Result] = Future()
    threading.Thread(target=carry_out, args=(job, future), name=name, daemon=True).start()
    return future


def beside_frames() -> ThreadPoolExecutor:
    """A thread for one job after another, in the time that frames leave. No call of a job may keep Python's lock for long."""
    return ThreadPoolExecutor(1, initializer=lower_priority)


def lower_priority() -> None:
    """Let the frame's threads run first; only on Linux does a thread have a niceness of its own."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


@contextmanager
def eager_threads(interval_s: float = EAGER_S) -> Iterator[None]:
    """Switch between threads often enough for the window to respond."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(interval_s)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextmanager
def compiling_beside_frames() -> Iterator[None]:
    """Let frames go first while this thread may be inside the compiler."""
    lower_priority()
    with eager_threads(SWITCH_S):
        yield


# --- memory and age --------------------------------------------------------------------------------------------------

@contextmanager
def importing() -> Iterator[None]:
    """Import Numba in here: Python does not look for cycles among what stays anyway, now or later.

    That is a tenth of a start, and 50 ms of a frame now and then.
    """
    if "numba" in sys.modules:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def collect_young() -> None:
    """Free cycles once there are many young objects, at the end of a frame and seldom of all objects."""
    young, _, collections = gc.get_count()
    if young >= YOUNG:
        gc.collect(2 if collections >= OLD else 1)


def free_cycles() -> None:
    """Free a program that was left at once: its parts refer to each other, so its crowd would wait for Python's collector."""
    gc.collect()
    give_back_freed()


def give_back_freed() -> None:
    """Return what has been freed to the system, where the C library can (glibc); costs about a millisecond.

    Arrays of some hundred kB come from a heap that only shrinks at its end, so one small object keeps all that lies before
    it: after 1,000 restarts of 20,000 agents a process of 226 MB had 450.
    """
    with suppress(AttributeError, OSError, TypeError):  # another C library; Windows
        ctypes.CDLL(None).malloc_trim(0)


def seconds_since_start() -> float:
    """Seconds since the process was started; where the system does not say, since this module was imported."""
    if sys.platform == "linux":
        with suppress(OSError, ValueError):
            fields = Path("/proc/self/stat").read_text("utf-8").rpartition(")")[2].split()
            began = int(fields[19]) / os.sysconf("SC_CLK_TCK")  # after boot
            return time.clock_gettime(time.CLOCK_BOOTTIME) - began
    return time.perf_counter() - _IMPORTED


# --- how the process ends --------------------------------------------------------------------------------------------

# the codes of every command
OK = 0
FAILED = 1  # a crash (one line, the traceback goes to a file), output that cannot be written, or a comparison that failed
USAGE_ERROR = 2  # also of a configuration
NO_DISPLAY = 3
INTERRUPTED = 130  # by Ctrl-C; 128 + n by signal n

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
POLL_S = 0.05  # how often whoever waits looks whether somebody wants to quit
Files = Mapping[str, Path | None]  # by the option that asks for it


class Interrupted(KeyboardInterrupt):
    """A signal that ends the program; `code` is the exit code that shells expect for it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


class ShutdownRequest:
    """Whether the program has to end, `asked`; whether a signal is the reason, `interrupted`; and the exit code then."""

    def __init__(self) -> None:
        self.asked, self.interrupted, self.code = False, False, 0
        self._since = math.inf

    def ask(self) -> None:
        if not self.asked:
            self.asked, self._since = True, time.monotonic()

    def interrupt(self, number: int) -> None:
        self.ask()
        if not self.interrupted:
            self.interrupted, self.code = True, 128 + number

    def left_s(self, after_s: float) -> float:
        """Seconds until `after_s` after the wish to quit; infinite while nobody wishes to."""
        return self._since + after_s - time.monotonic()


def raise_interrupted(number: int) -> NoReturn:
    raise Interrupted(number)


@contextmanager
def signals_to(handle: Callable[[int], object]) -> Iterator[None]:
    """Have `handle` called with the number of a signal that wants the program to end.

    Those that whoever started the program lets it ignore (`nohup`, a shell's background) stay ignored. Only the main thread
    can do that; in others this does nothing.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in SIGNALS}
    heard = [number for number, handler in before.items() if handler != signal.SIG_IGN]
    for number in heard:
        signal.signal(number, lambda number, frame: handle(number))
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number] or signal.SIG_DFL)


def interruptible(job: Callable[[], Result], files: Files | None = None) -> Result:
    """Do the job in a thread, so that a signal ends the process also while a kernel runs. Raises what it raises.

    `files` are those that it does not write if it is interrupted.
    """
    try:
        future = in_thread(job, "crowd-demo job")
        while not wait((future,), timeout=POLL_S).done:
            pass
    except Interrupted as interrupted:
        say_not_written("in the middle", files or {})
        end_process(interrupted.code)
    return future.result()


def say_not_written(when: str, files: Files) -> None:
    """Print a line with the files that were asked for and are not written, if there are any."""
    asked = ", ".join(f"{option} {path}" for option, path in files.items() if path)
    if asked:
        print(f"crowd-demo: left {when}: not written: {asked}", file=sys.stderr)


def end_process(code: int) -> NoReturn:
    """End the process at once, without waiting for its threads."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


# --- standard streams -------------------------------------------------------------------------------------------------

STDOUT = Path("-")  # the name of a file that stands for standard output
ERASE = "\r\x1b[K"  # erases the line of a terminal
REDRAW_EVERY_S = 0.1  # at most, on a terminal
SAY_EVERY_S = 5.0  # elsewhere, unless another time is asked for


class OutputError(OSError):
    """Standard output cannot be written."""


class StandardStream:
    """A stream that escapes what cannot be printed, but line ends and an `ERASE` with which a text begins.

    Errors of standard output are OutputErrors; but a pipe without a reader stays a BrokenPipeError. The first error is
    raised again by `flush`: argparse goes on after one.
    """

    def __init__(self, stream: TextIO, is_output: bool) -> None:
        self._stream, self._is_output = stream, is_output
        self._error: OSError | None = None

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        erase = ERASE * text.startswith(ERASE)
        with self._translated_errors():
            self._stream.write(erase + "\n".join(map(printable, text.removeprefix(ERASE).split("\n"))))
        return len(text)

    def flush(self) -> None:
        with self._translated_errors():
            if self._error:
                raise self._error
            self._stream.flush()

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if not self._is_output:
                raise
            self._error = error if isinstance(error, BrokenPipeError) else OutputError(error.errno, error.strerror)
            raise self._error from None


@contextmanager
def standard_streams() -> Iterator[None]:
    """Within, standard output and error are open, whatever the caller has closed; and output raises OutputErrors.

    Writing to what was closed fails, but is ignored for errors.
    """
    while (number := os.open(os.devnull, os.O_RDONLY)) <= 2:  # so that no other file gets the number of a closed one
        pass
    os.close(number)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115  (it stays open)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        cast(TextIO, StandardStream(sys.stdout, is_output=True)), cast(TextIO, StandardStream(sys.stderr, is_output=False)))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def discard_output() -> None:
    """Send standard output to the null device, so that the flush at exit does not fail again."""
    with suppress(OSError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class ProgressLine:
    """`with ProgressLine("sweep") as line: line.show("30 %")`; at the end nothing of it is left on a terminal."""

    def __init__(self, name: str, every_s: float = SAY_EVERY_S) -> None:
        """`every_s` is the least time between two lines where standard error is no terminal."""
        self._name, self._terminal = name, sys.stderr.isatty()
        self._every_s = REDRAW_EVERY_S if self._terminal else every_s
        self._shown_s = -math.inf if self._terminal else time.monotonic()

    def show(self, what: object) -> None:
        """Show what is being done; cheap enough to be called often."""
        if time.monotonic() - self._shown_s < self._every_s:
            return
        self._shown_s = time.monotonic()
        line = f"{self._name}: {what}"
        if self._terminal:
            print(f"{ERASE}{line[:shutil.get_terminal_size().columns - 1]}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal:
            print(ERASE, end="", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """0.3 s, 45 s, 12 min, 3 h 20 min."""
    if seconds < 1:
        return f"{max(seconds, 0.01):.1g} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60:,} h {minutes % 60} min"
