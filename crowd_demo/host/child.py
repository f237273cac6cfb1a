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
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from queue import SimpleQueue
from typing import NoReturn, TextIO

NO_CONSOLE = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # on Windows


def start(module: str, *arguments: str, stdin: int | None = None, stdout: int | None = None, stderr: int | None = None,
          env: Mapping[str, str] | None = None, process_group: int | None = None,
          start_new_session: bool = False) -> subprocess.Popen[str]:
    """Run `main(*arguments)` of a module in another process; the rest is as Popen takes it. Raises OSError."""
    return subprocess.Popen([sys.executable, "-P", __file__, json.dumps(sys.path), module, *arguments], encoding="utf-8",
                            creationflags=NO_CONSOLE, stdin=stdin, stdout=stdout, stderr=stderr, env=env,
                            process_group=process_group, start_new_session=start_new_session)


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
