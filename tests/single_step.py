"""Run a function in a child process, one instruction at a time: a reference for counts of instructions."""

import ctypes
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

TRACE_ME, READ_REGISTER, SINGLE_STEP, POSITION = 0, 3, 9, 16 * 8  # of ptrace; where x86-64 keeps the position


def single_steps(run: Callable[[], object], size: int) -> tuple[Counter[int], dict[int, bytes]]:
    """Return how often each address was executed, and so many bytes of code there. Raises OSError where not allowed."""
    if sys.platform == "win32":
        raise OSError("no single steps on this system")
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.restype, ptrace.argtypes = ctypes.c_long, [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if not (child := os.fork()):
        for part in (lambda: None, run) if (ptrace(TRACE_ME, 0, None, None) == 0) else ():
            part()
            os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    seen, code = Counter[int](), dict[int, bytes]()
    try:
        _, status = os.waitpid(child, 0)
        while not os.WIFEXITED(status) and (not seen or os.WSTOPSIG(status) != signal.SIGSTOP):
            ptrace(SINGLE_STEP, child, None, None)
            _, status = os.waitpid(child, 0)
            seen[ptrace(READ_REGISTER, child, POSITION, None)] += 1
        if os.WIFEXITED(status):
            raise OSError("single steps are not allowed")
        with Path(f"/proc/{child}/mem").open("rb", 0) as memory:
            for at in seen:
                with suppress(OSError):
                    memory.seek(at)
                    code[at] = memory.read(size)
        return seen, code
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
