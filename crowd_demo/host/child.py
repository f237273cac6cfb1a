"""Python processes that this one starts: each runs `main` of a module of this program, gets lines and answers by lines.

They run the very package that this process runs, and look for others where it does. `python -m` would look for all of them
in the working folder first, and execute what lies there under such a name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from queue import SimpleQueue
from typing import IO, NoReturn, TextIO

CLOSE_S = 0.2  # the longest to wait for the end of a killed process
ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
NO_CONSOLE = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # on Windows


def start(module: str, *arguments: str, stdin: int | None = None, stdout: int | None = None, stderr: int | None = None,
          env: Mapping[str, str] | None = None, process_group: int | None = None,
          start_new_session: bool = False) -> subprocess.Popen[str]:
    """Run `main(*arguments)` of a module in another process; the rest is as Popen takes it. Raises OSError."""
    return subprocess.Popen([sys.executable, "-P", __file__, json.dumps(sys.path), module, *arguments], encoding="utf-8",
                            creationflags=NO_CONSOLE, stdin=stdin, stdout=stdout, stderr=stderr, env=env,
                            process_group=process_group, start_new_session=start_new_session)


class Conversation:
    """Lines to a process, and its answers. It may end at any time. Only one thread may ask it; any may close it."""

    def __init__(self, says: IO[str], hears: IO[str], end: Callable[[], None]) -> None:
        self._says, self._hears, self.close = says, hears, end

    def ask(self, line: str) -> str:
        """Send a line and wait for the answer; return an empty text if the process has ended."""
        with suppress(OSError, ValueError):  # ValueError: closed here
            print(line, file=self._hears, flush=True)
            return self._says.readline().rstrip("\n")
        return ""


def talk_to(process: subprocess.Popen[str]) -> Conversation:
    """Return the conversation with a process that was started with pipes; closing it kills the process."""
    assert process.stdin and process.stdout
    return Conversation(process.stdout, process.stdin, partial(kill, process))


def kill(process: subprocess.Popen[str]) -> None:
    """Kill the process.

    One that runs only when a core is free needs such a core also to end, so a thread waits for that if it takes long.
    """
    process.kill()
    waiting = threading.Thread(target=close_when_ended, args=(process,), name="crowd-demo end of a process", daemon=True)
    waiting.start()
    waiting.join(CLOSE_S)


def close_when_ended(process: subprocess.Popen[str]) -> None:
    """Wait for its end, then close its streams; earlier, closing would wait for a thread that still reads."""
    with suppress(OSError), process:
        process.wait()


# --- in the process that was started ---------------------------------------------------------------------------------

def exit_at_once() -> NoReturn:
    os._exit(0)


def lines_of(stream: Iterable[str], at_end: Callable[[], object] = exit_at_once) -> SimpleQueue[str]:
    """What the parent says, without line ends. When it says no more, exit in the middle of anything, or do something else."""
    lines: SimpleQueue[str] = SimpleQueue()

    def read() -> None:
        with suppress(OSError):
            for line in stream:
                lines.put(line.rstrip("\n"))
        at_end()

    threading.Thread(target=read, daemon=True).start()
    return lines


def standard_lines(at_end: Callable[[], object] = exit_at_once) -> tuple[SimpleQueue[str], TextIO]:
    """Return the lines of standard input, and standard output for answers; what is printed goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not be taken for an answer
    return lines_of(open(0, encoding="utf-8"), at_end), answers


def _run() -> None:
    """What `start` asked for. The package comes from where this file lies, wherever else there is one of its name."""
    _, path, module, *arguments = sys.argv
    sys.path[:] = json.loads(path)
    package = Path(__file__).parents[1]
    spec = spec_from_file_location(package.name, package / "__init__.py")
    assert spec and spec.loader
    sys.modules[spec.name] = made = module_from_spec(spec)
    spec.loader.exec_module(made)
    import_module(module).main(*arguments)


if __name__ == "__main__":
    _run()
