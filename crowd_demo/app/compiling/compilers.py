"""Compile a list of kernels, in this process and in helpers at once.

This process takes kernels from the front of the list and the helpers take them from its back, so that each compiles kernels
that share functions: those of the step here, those of the picture there. What a helper has compiled is loaded from the cache.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Self

from crowd_demo.app.compiling.ahead import Ahead, compile_one, kernel_name, key_of
from crowd_demo.app.compiling.compile_process import Helper
from crowd_demo.compute import cache
from crowd_demo.compute.jit import CACHE_LASTS, Call, is_on_disk
from crowd_demo.config.model import Config

MOST_HELPERS = 3  # each takes a second to start, and some 200 MB
FEW = 2  # kernels that are sooner compiled than a helper is started
POLL_S = 0.1


def helpers_that_fit() -> int:
    """How many helpers have a core of their own."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores - 1, MOST_HELPERS)


class Compilers:
    """This process and its helpers, while a configuration is loaded; helpers are started only if much has to be compiled."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._helpers: list[Helper] = []
        if cache.is_empty():  # a helper needs a second to start
            self._start_helpers()

    def compile_first(self, render: bool, tell: Callable[[str, int, int], None]) -> Ahead:
        """Compile what the first frames need; return what finds kernels for other options."""
        ahead = Ahead(self._config, render)
        calls = ahead.missing(self._config.optimizations)
        if not self._helpers and sum(not is_on_disk(call) for call in calls) > FEW:
            self._start_helpers()
        compile_all(calls, self._helpers, lambda kernel, done: tell(kernel, done, len(calls)))
        return ahead

    def _start_helpers(self) -> None:
        if CACHE_LASTS:
            self._helpers = [Helper(self._config) for _ in range(helpers_that_fit())]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for helper in self._helpers:
            helper.close()


def compile_all(calls: Sequence[Call], helpers: Sequence[Helper], tell: Callable[[str, int], None],
                here: bool = True) -> None:
    """Compile the kernels; `tell` is told what is being compiled, and how many are done.

    If not `here`, this process compiles none before the helpers have ended.
    """
    waiting, done = deque(calls), deque[Call]()
    threads = [threading.Thread(target=_feed, args=(helper, waiting, done), daemon=True) for helper in helpers]
    for thread in threads:
        thread.start()
    while here and (call := _taken(waiting.popleft)):
        tell(kernel_name(call), len(done))
        compile_one(call)
        done.append(call)
    for thread in threads:
        while thread.is_alive():
            tell("the last kernels" if here else "kernels", len(done))
            thread.join(POLL_S)
    for call in calls if helpers else ():  # loads those of the helpers, and compiles those at which one failed
        compile_one(call)


def compile_beside(config: Config, calls: Sequence[Call], tell: Callable[[str, int, int], None]) -> None:
    """Compile the kernels while frames go on: helpers compile what is not in the cache, and this process loads it."""
    wanted = [call for call in calls if not is_on_disk(call)]
    helpers = [Helper(config) for _ in range(min(max(helpers_that_fit(), 1), len(wanted)))] if CACHE_LASTS else []
    try:
        compile_all(wanted, helpers, lambda kernel, done: tell(kernel, done, len(wanted)), here=not helpers)
    finally:
        for helper in helpers:
            helper.close()
    for call in calls:
        compile_one(call)


def _feed(helper: Helper, waiting: deque[Call], done: deque[Call]) -> None:
    while (call := _taken(waiting.pop)) and helper.compile(key_of(call)):
        done.append(call)


def _taken(take: Callable[[], Call]) -> Call | None:
    try:
        return take()
    except IndexError:  # somebody else took the last one
        return None
