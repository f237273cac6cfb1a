"""The values of the techniques: those that the crowd has, and those that are requested and compiled meanwhile.

A value takes effect once a thread has its kernels. The thread loads from the disk cache what helpers compile
(compilers.py), and never runs a kernel; it ends when no request is left. It shares Python's lock with the frames, so it
compiles only where there are no helpers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

from crowd_demo.app.crowd import Change, Crowd
from crowd_demo.app.screen import Notices
from crowd_demo.compute.jit import Launch
from crowd_demo.config.model import Optimizations, with_values
from crowd_demo.host.compiling.ahead import KernelFinder, kernel_name, key_of
from crowd_demo.host.compiling.compilers import Compilers, compile_cost
from crowd_demo.host.system import compiling_beside_frames, in_thread
from crowd_demo.registry.entries import Range, Technique, Value
from crowd_demo.registry.techniques import BY_PATH, hud_word, no_effect
from crowd_demo.render.hud.status import Mark, RunningJob
from crowd_demo.sim.actions import Switch

Choice = TypeVar("Choice", bound=Value)
MAX_TICKS = 20  # kept for the graph
TOUCHED_FIRST = "stagger.avoidance"  # the number keys change this until the user has chosen a technique
BESIDE, COLOUR_MODE = "beside", "colour mode"  # owners of other requests: the second crowd, and the colour mode


def next_choice(choices: Sequence[Choice], value: Choice, backwards: bool = False) -> Choice:
    """The choice after a value, or before it; of a value that is no choice the first, or the last."""
    if value not in choices:
        return choices[-1 if backwards else 0]
    return choices[(choices.index(value) + (-1 if backwards else 1)) % len(choices)]


def next_number(numbers: Range, value: float, steps: int) -> Value:
    """The number that many steps above, or below where they are negative, clamped to the range.

    The numbers are 1 2 .. 10 11 .. 20 22 .. 50 55 .. 100 110, a tenth to a twentieth at a time, the same in both
    directions. The unit is 1, or the least number of a range that begins between 0 and 1.
    """
    unit = min(numbers.low or 1, 1)
    for _ in range(abs(steps)):
        units = round(value / unit, 6)
        at = units if steps > 0 else units * (1 - 1e-9)
        power = 10 ** math.floor(math.log10(max(at, 10)) - 1)
        step = int(power * (1 if at < 20 * power else 2 if at < 50 * power else 5))
        units = (math.floor(units / step) + 1 if steps > 0 else math.ceil(units / step) - 1) * step
        value = min(max(round(units * unit, 6), numbers.low), numbers.high)
    return numbers.kind(value)


@dataclass
class Request:
    """A value that a technique is to have in the crowd, or, with an `owner`, in the second crowd; or a colour mode.

    One that `follows` is configured, and was left out at first because its kernels take long to compile. `take` is called
    with the value of an owner once its kernels are compiled.
    """

    path: str
    value: Value
    owner: str = ""
    follows: bool = False
    take: Callable[[Value], object] = lambda value: None
    state: Literal["compiling", "waiting for a step", "in effect"] = "compiling"

    @property
    def is_coming(self) -> bool:
        return not self.owner and self.state in ("compiling", "waiting for a step")


class Switcher:
    """`requests` are the last ones of each technique and owner; `job` is what is being compiled.

    A value takes effect when all of its kernels are there. The values that are compiled soonest come first.
    """

    def __init__(self, ahead: KernelFinder, compilers: Compilers) -> None:
        self.requests: dict[str, Request] = {}
        self.job = RunningJob("compiling")
        self._ahead, self.compilers = ahead, compilers
        self._asked = False  # since `ready` looked last
        self._work: Future[None] | None = None

    def request(self, path: str, value: Value, owner: str = "", follows: bool = False,
                take: Callable[[Value], object] = lambda value: None) -> Request:
        """Ask for a value, in place of the one that was asked for before."""
        self._asked = True
        request = self.requests[owner or path] = Request(path, value, owner, follows, take)
        return request

    @property
    def compiling(self) -> list[Request]:
        return [request for request in self.requests.values() if request.state == "compiling"]

    @property
    def pending(self) -> dict[str, Value]:
        """The values of the crowd whose kernels are not compiled yet, by path."""
        return {request.path: request.value for request in self.compiling if not request.owner}

    def ready(self, options: Optimizations) -> list[Request]:
        """Return the requests whose kernels are compiled beside `options` and those before it; compile the others.

        Raises the thread's error. To be called in every frame: it looks for kernels, which takes milliseconds, after a
        request and when the thread is done.
        """
        if self._work and self._work.done():
            self._work.result()
        compiling = self.compiling
        if not compiling or (self.busy and not self._asked):
            return []
        ready: list[Request] = []
        missing: list[tuple[list[Launch], Optimizations]] = []
        for request in compiling:
            of_colours = request.owner == COLOUR_MODE
            asked = options if of_colours else with_values(options, {request.path: request.value})
            if launches := (self._ahead.missing_colours(str(request.value)) if of_colours
                            else self._ahead.missing(asked)):
                missing.append((launches, asked))
            else:
                ready.append(request)
                request.state = "waiting for a step"
                options = options if request.owner else asked
        self._asked = bool(ready and missing)  # beside what takes effect the others may need more
        if missing or self.busy or self.job.done:  # begin with what compiles fastest; stop if nothing is missing
            launches, asked = min(missing, key=lambda each: sum(map(compile_cost, each[0])), default=([], options))
            later = len({key_of(launch) for others, _ in missing for launch in others} - set(map(key_of, launches)))
            self.compilers.want(launches, asked, later)
            if not launches:
                self.job = RunningJob("compiling")
            elif not self.busy:
                self._work = in_thread(self._compile, "crowd-demo compiler")
        return ready

    def compile_one_by_one(self, options: Optimizations) -> Iterator[str]:
        """Compile what these options need, each kernel in a helper if there is one; yield a line before each.

        A process keeps some 5 MB of each kernel that it compiles, and a tenth of one that it loads.
        """
        for launch in self._ahead.missing(options):
            yield f"compiling {kernel_name(launch)}"
            self.compilers.want((launch,), options)
            self.compilers.work(lambda *_: None, here=False)

    @property
    def busy(self) -> bool:
        return self._work is not None and not self._work.done()

    def close(self, timeout_s: float = 0.0) -> None:
        """Stop after the present kernel, and wait for that at most so long."""
        self.compilers.close()
        if self._work:
            wait((self._work,), timeout_s)

    def _compile(self) -> None:
        """Compile all that is wanted, which may change meanwhile; `ready` raises the error if there is one."""
        with compiling_beside_frames():
            self.compilers.work(self._show_progress, here=False)

    def _show_progress(self, kernel: str, done: int, total: int) -> None:
        self.job = RunningJob(f"compiling {kernel}", done / max(total, 1), f"{done} of {total}")


class Techniques:
    """What is asked of techniques, and what has taken effect.

    touched    the path of the one that was changed last, empty before that
    previous   by path: the value before the last switch
    beginning  is True until a first start has compiled what is not needed at once: all that overlays draw with
    ticks      where techniques were switched, in the graph
    """

    def __init__(self, crowd: Crowd, switcher: Switcher, notices: Notices) -> None:
        self.switcher = switcher
        self.touched = ""
        self.previous: dict[str, Value] = {}
        self.beginning = False
        self.ticks: list[Mark] = []
        self._crowd, self._notices = crowd, notices

    def asked(self) -> Optimizations:
        coming = (request for request in self.switcher.requests.values() if request.is_coming)
        return with_values(self._crowd.sim.optimizations, {request.path: request.value for request in coming})

    def value(self, path: str) -> Value:
        request = self.switcher.requests.get(path)
        return request.value if request and request.is_coming else self._crowd.sim.optimizations.get(path)

    @property
    def deferred(self) -> frozenset[str]:
        """The techniques whose configured values take effect once compiled, until a user changes them."""
        return frozenset(request.path for request in self.switcher.requests.values() if request.follows)

    # --- asking ------------------------------------------------------------------------------------------------------

    def switch(self, path: str, shift: bool = False) -> None:
        """Do what a technique's key does; a value that is still being compiled counts, if the user has chosen it."""
        technique, off = BY_PATH[path], BY_PATH[path].baseline
        value = self._crowd.sim.optimizations.get(path) if path in self.deferred else self.value(path)
        if shift or not technique.has_off:
            value = next_choice(technique.choices, value, backwards=shift and not technique.has_off)
        elif value != off:
            value = off
        else:  # as before it was off, or else as configured, by default, or the first choice that is not off
            configured = self._crowd.config.optimizations.get(path)
            values = self.previous.get(path, configured), configured, technique.default, next_choice(technique.choices, off)
            value = next(value for value in values if value != off)
        self._ask(path, value)

    def choose(self, technique: Technique, value: Value) -> None:
        if self._crowd.takes_changes():
            self._ask(technique.path, value)

    def follow(self, values: Mapping[str, Value]) -> None:
        """Ask for the configured values that were left out at first, because their kernels take long to compile."""
        self.beginning = bool(values)
        for path, value in values.items():
            self.switcher.request(path, value, follows=True)

    def change_number(self, steps: int) -> None:
        """Change the number of the technique that was touched last, up or down; `auto` starts at the number it stands for."""
        technique, sim = BY_PATH[self.touched or TOUCHED_FIRST], self._crowd.sim
        name, path, numbers = technique.label.strip(), technique.path, technique.numbers
        if not numbers:
            self._notices.add(f"{name} has no number to change", path)
            return
        asked = self.value(path)
        before = sim.resolve_auto(path) if asked == "auto" else asked
        if isinstance(before, str):
            before = numbers.low
        value = next_number(numbers, float(before), steps)
        if value == before:
            self._notices.add(f"{name}: {hud_word(value)}, the {'most' if steps > 0 else 'least'}", path)
        else:
            self._ask(path, value)
            self._say(path, value)

    def drag_number(self, path: str, steps: int) -> None:
        """Change a number by so many steps; in a replay do nothing."""
        if not self._crowd.player:
            self.touched = path
            self.change_number(steps)

    def _ask(self, path: str, value: Value) -> None:
        self.touched = path
        self._notices.drop(path)
        if (before := self.value(path)) != value:
            self.previous[path] = before
        if no_effect(path, self._crowd.sim.situation):
            self._say(path, value)
        self.switcher.request(path, value)

    def _say(self, path: str, value: Value) -> None:
        """Show the value that a technique is given, and why that has no effect now, if so."""
        why = no_effect(path, self._crowd.sim.situation)
        self._notices.add(f"{BY_PATH[path].label.strip()}: {hud_word(value)}" + f". {why}" * bool(why), path)

    # --- taking effect -----------------------------------------------------------------------------------------------

    def switch_to_compiled(self) -> None:
        """Switch to the values whose kernels are compiled by now. Call in every frame."""
        pending = self.switcher.pending
        if pending and self.deferred.issuperset(pending) and self._crowd.in_past and not any(
                request.owner for request in self.switcher.compiling):
            return
        ready = self.switcher.ready(self._crowd.sim.optimizations)
        for request in [request for request in ready if request.owner]:
            ready.remove(request)
            request.state = "in effect"
            request.take(request.value)
        for request in ready:
            switch = Switch(request.path, request.value)
            if request.follows:  # the user did not request it, so there is nothing to undo
                self._crowd.apply(partial(self._crowd.carry_out, switch))
            else:
                self._crowd.apply(switch)
        if ready and all(request.follows for request in ready) and not self.switcher.pending:
            self._crowd.apply(self._crowd.begin_past)  # which had other values that nobody chose

    def crowd_changed(self, change: Change) -> None:
        if change.path:
            self.beginning = False
            if change.old != change.new:
                self.previous[change.path] = change.old
            if (request := self.switcher.requests.get(change.path)) and request.value == change.new:
                request.state = "in effect"
            tick = Mark(self._crowd.sim.profile.frames, f"{BY_PATH[change.path].label.strip()} {hud_word(change.new)}")
            self.ticks = [*self.ticks[-MAX_TICKS:], tick]
