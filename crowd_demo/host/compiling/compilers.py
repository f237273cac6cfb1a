"""Compile kernels, in this process and in helpers at once: while a configuration is loaded or opened, and for a technique.

The wanted kernels are a list, which may change at any time. Each process takes the largest kernel that is left, so all
end at about the same time. What a helper has compiled is loaded from the cache. A helper that ends early costs only
time. When a core is free, one more helper compiles what is not wanted yet.

A start with much to compile begins with the exact choices that are compiled soonest; the configured ones follow.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from typing import NamedTuple

from crowd_demo.compute import cache
from crowd_demo.compute.jit import CACHE_LASTS, Launch, compile_launches, is_on_disk
from crowd_demo.config.model import Config, Optimizations, with_values
from crowd_demo.host.compiling.ahead import KernelFinder, kernel_name, key_of
from crowd_demo.host.compiling.helpers import ALL_CHOICES, CAN_FORK, CompilerSource, Helper
from crowd_demo.host.system import in_thread
from crowd_demo.registry.entries import Value
from crowd_demo.registry.techniques import TECHNIQUES

MAX_HELPERS = 3  # each takes a second to start, and some 200 MB
HELPERS_BESIDE_FRAMES = 2  # what a value needs is rarely more than a few kernels
HELPER_NICENESS = 5  # beside frames; small, because a helper shares no lock with them
MAX_IDLE_KERNELS = 3  # that a process compiles in idle moments, before another one takes its place
FEW = 2  # kernels that are sooner compiled than a helper is started
POLL_S = 0.1
SETTLE_S = 0.2  # helpers wait so long, as the wish may change: a key that is pressed again and again
QUICK_AGENTS = 50_000  # with the quick choices a larger crowd would hardly move

OnProgress = Callable[[str, int, int], None]  # what is being compiled, how many are done, and of how many


class Wish(NamedTuple):
    launches: dict[str, Launch]  # by key, the largest first: not compiled in this process yet
    options: Optimizations  # that need them
    since: float  # when they were wanted
    later: int  # how many more will be wanted after them


def helpers_that_fit() -> int:
    """How many helpers have a core of their own."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores - 1, MAX_HELPERS)


def compile_cost(launch: Launch) -> int:
    """A number that grows with the compile time, which depends most on the number of arguments."""
    return len(str(launch.signature()))


class Compilers:
    """Call `want`, then `work`. Other threads may call `want` meanwhile."""

    def __init__(self, config: Config, source: CompilerSource | None = None) -> None:
        self._config = config
        self._helpers: list[Helper] = []
        self._idle: Helper | None = None  # compiles other choices; None while that is paused
        self._has_all_choices = False
        self._source = source  # of the helpers' processes, once there is one
        self._changed = threading.Condition()
        self._wish = Wish({}, config.optimizations, 0.0, 0)
        self._done = 0  # kernels, since there was nothing more to compile
        self._begun: set[str] = set()  # being compiled
        self._kept: set[str] = set()  # in the cache: only to be loaded

    # --- what is wanted ----------------------------------------------------------------------------------------------

    def want(self, launches: Sequence[Launch], options: Optimizations, later: int = 0) -> None:
        """Replace what is wanted by these kernels, which those options need; `later` is how many more will follow."""
        wanted = {key_of(launch): launch for launch in sorted(launches, key=compile_cost, reverse=True)}
        kept = {key for key, launch in wanted.items() if is_on_disk(launch)}
        with self._changed:
            self._done *= bool(self._wish.launches or self._wish.later)
            self._wish = Wish(wanted, options, time.monotonic(), later)
            self._kept |= kept
            self._changed.notify_all()

    def work(self, on_progress: OnProgress, here: bool = True) -> None:
        """Compile all that is wanted. If not `here`, this process only loads what helpers compile, while it has any.

        Kernels that a helper has compiled come first: loading is quick, and otherwise all would be loaded at the end.
        """
        while (wish := self._wish).launches:
            with self._changed:
                alone = here or not self._helpers
                free = [key for key in wish.launches if key not in self._begun and (alone or key in self._kept)]
                key = max(free, key=self._kept.__contains__, default=None)
                if key:
                    self._begun.add(key)
                else:
                    self._changed.wait(POLL_S)  # helpers compile the rest
                begun = next((kernel_name(each) for name, each in wish.launches.items() if name in self._begun), "kernels")
            # What a helper has compiled is done when it is loaded, too.
            on_progress(begun, self._done, self._done + len(wish.launches) + wish.later)
            if key:
                compile_launches((wish.launches[key],))
                with self._changed:
                    self._done += 1
                    self._begun.remove(key)
                    self._wish.launches.pop(key, None)  # which may be another one by now

    def compile_first(self, launches: Sequence[Launch], options: Optimizations, on_progress: OnProgress) -> None:
        """Compile these kernels, which the first frames need with those options, with as many helpers as pay."""
        self.want(launches, options)
        if len({key_of(launch) for launch in launches} - self._kept) > FEW:
            self.start()
        self.work(on_progress, here=not CAN_FORK)

    # --- helpers -----------------------------------------------------------------------------------------------------

    def start_early(self) -> None:
        """Start helpers if nothing was ever compiled by this version: they need two seconds to start.

        Where they are copies, wait for the first process. It has compiled what a crowd is built with, which this one
        then only loads: a process that compiles keeps 50 MB.
        """
        if self._source or cache.is_empty():
            self.start()
        if self._source and CAN_FORK:
            with closing(Helper(self._source)) as first:
                first.compile("no kernel", self._config.optimizations)

    def start(self, count: int | None = None, niceness: int = 0) -> None:
        """Start helpers: so many, or as many as pay while no frames are shown.

        There are none where they could not pass on what they compile.
        """
        if not CACHE_LASTS or self._helpers:
            return
        self._source = self._source or CompilerSource(self._config, niceness)
        for _ in range(helpers_that_fit() + CAN_FORK if count is None else count):
            self.employ(Helper(self._source))

    def employ(self, helper: Helper) -> None:
        self._helpers.append(helper)
        in_thread(partial(self._feed, helper), "crowd-demo helper")

    def yield_to_frames(self) -> None:
        """Lower the priority of what helpers are told from now on, so that frames come first."""
        self.start()
        if self._source:
            self._source.niceness = HELPER_NICENESS

    def close(self) -> None:
        """Forget what is wanted and end all helpers. New ones may be started."""
        with self._changed:
            self._wish.launches.clear()
        self.pause_choices()
        self._keep_helpers(0)
        source, self._source = self._source, None
        if source:
            source.close()

    def _keep_helpers(self, count: int) -> None:
        with self._changed:
            ended, self._helpers = self._helpers[count:], self._helpers[:count]
            self._changed.notify_all()
        for helper in ended:
            helper.close()

    def _feed(self, helper: Helper) -> None:
        """Have a helper compile one kernel after the other, until it ends."""
        while wanted := self._next_for(helper):
            key, options = wanted
            done = helper.compile(key, options)
            with self._changed:
                self._begun.discard(key)
                if done:
                    self._kept.add(key)
                elif helper in self._helpers:
                    self._helpers.remove(helper)
                self._changed.notify_all()
        helper.close()

    def _next_for(self, helper: Helper) -> tuple[str, Optimizations] | None:
        """Wait for a kernel that this helper may compile, and the options that need it; None if the helper has ended."""
        with self._changed:
            while helper in self._helpers:
                key = next((key for key in self._wish.launches if key not in self._begun | self._kept), None)  # the largest
                if not key:
                    helper.rest()
                    self._changed.wait()
                elif (early_s := self._wish.since + SETTLE_S - time.monotonic()) > 0:
                    self._changed.wait(early_s)
                else:
                    self._begun.add(key)
                    return key, self._wish.options
        return None

    # --- other choices -----------------------------------------------------------------------------------------------

    def compile_choices(self, options: Optimizations) -> None:
        """Compile the kernels of all other choices than these options, and of all colour modes, when a core is free.

        A technique that is switched on for the first time is then loaded (0.01 s) instead of compiled (seconds).
        Helpers for one that is switched on before are started, too.
        """
        if not CACHE_LASTS or self._idle or self._has_all_choices:
            return
        self._keep_helpers(HELPERS_BESIDE_FRAMES)
        self.start(min(helpers_that_fit() + 1, HELPERS_BESIDE_FRAMES), HELPER_NICENESS)  # the frames leave most of a core
        assert self._source
        self._idle = Helper(self._source, MAX_IDLE_KERNELS)
        in_thread(partial(self._compile_choices, self._idle, options.model_copy(deep=True)), "crowd-demo precompiler")

    def pause_choices(self) -> None:
        """End the process that compiles other choices: it runs at idle priority, and so could not hurry."""
        helper, self._idle = self._idle, None
        if helper:
            helper.close()

    def _compile_choices(self, helper: Helper, options: Optimizations) -> None:
        while helper.compile(ALL_CHOICES, options):
            pass
        if helper is self._idle:  # else it was paused
            self._has_all_choices = True
        helper.close()


def quick_values(config: Config, ahead: KernelFinder, launches: Sequence[Launch]) -> dict[str, Value]:
    """Exact values, by path, with which there is much less to compile than for `launches`, those of the configured ones.

    Empty where that saves nothing.
    """
    most = to_compile(launches)
    if most <= FEW or config.agents > QUICK_AGENTS or not CACHE_LASTS:
        return {}
    configured = config.optimizations
    quick = {technique.path: technique.quick for technique in TECHNIQUES
             if technique.quick not in (None, configured.get(technique.path))}
    least = to_compile(ahead.missing(with_values(configured, quick), overlays=False))
    return quick if quick and most - least > FEW else {}


def to_compile(launches: Sequence[Launch]) -> int:
    return sum(not is_on_disk(launch) for launch in launches)
