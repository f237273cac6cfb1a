"""The frame: events -> changes -> steps -> scene -> overlays -> HUD -> present.

The main thread reads events, draws the HUD, and presents the picture; in between, the worker's thread steps the crowd
and draws it, overlays included. While the steps take long, as with a large crowd and no neighbour structure, the main
thread goes on to read events and to answer them; while the worker draws it waits. After such a frame the picture is
kept as the worker has drawn it: what keys ask of the window alone is drawn over that. It follows the camera, moved and
scaled, so panning and zooming stay smooth until the next picture.

Another configuration opens while the window responds and the present crowd goes on. A thread reads it and has its
kernels compiled in other processes. What runs kernels itself, the making of the crowd above all, is done on the
worker's thread between two frames: up to a second for a million agents.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import TypeVar
from weakref import WeakSet

import pygame

from crowd_demo.app import RunOptions
from crowd_demo.app.program import Program
from crowd_demo.app.screen import blit_scaled, save_picture, screen
from crowd_demo.app.technique_controls import Switcher
from crowd_demo.app.window_events import WindowEvents
from crowd_demo.config.keys import key_text
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.memory import TooManyError
from crowd_demo.host.compiling.ahead import KernelFinder
from crowd_demo.host.compiling.compilers import Compilers, helpers_that_fit, to_compile
from crowd_demo.host.compiling.loading import Loaded, LoadingProgress, build, building
from crowd_demo.host.report import COLLECT_EVERY, Recorder
from crowd_demo.host.system import Worker, collect_young, compiling_beside_frames, free_cycles, in_thread
from crowd_demo.registry.texts import reason
from crowd_demo.render.hud.status import Hovered

HEADLESS_FRAMES = 600
LONGEST_S = 3600.0  # of the crowd's time: so long a run without a window waits for the event that ends it
WARMUP_FRAMES = 20  # at most a quarter of a run; the report leaves them out
LONG_FRAME_MS = 30.0
ANSWER_S = LONG_FRAME_MS / 1000  # in a frame that takes longer events are read before it ends, and keys are answered
ANSWER_EVERY_S = 0.012  # how often; and how soon after a frame that took long
LONG_S = 0.15  # the title says so while a frame takes longer
GRACE_S = 1.2  # for the present frame to end after a request to quit, so that the report can be written
GRACE_FRAMES = 4  # the same for a report or a picture where frames take longer: so many times as long as the last one
LEAST_FRAME_S = 0.001  # a window shows at most 1,000 frames a second
HIDDEN_FRAME_S = 0.05  # least time of a frame while the window is hidden
COMPILING_FRAME_S = 1 / 40  # while a technique waits for its kernels: what is left of a frame's time belongs to the compilers
PRECOMPILE_FRAME = 60  # after so many frames other choices are compiled in the background
Result = TypeVar("Result")


class Loop:
    """Runs a loaded program until the user quits or `options.frames` have been shown.

    A configuration that is `opening` is in `opened` once it is ready; then another program follows.
    """

    def __init__(self, program: Program, options: RunOptions, worker: Worker,
                 waiting: list[pygame.Event] | None = None) -> None:
        """`waiting` are events that came before."""
        self.options, self.worker, self._waiting = options, worker, waiting or []
        is_open_ended = not options.headless or options.replay or options.tour
        has_end = any(event.end for event in program.config.events)
        headless = math.ceil(LONGEST_S * program.config.time.step_hz) if has_end else HEADLESS_FRAMES
        self.frames = options.frames or (sys.maxsize if is_open_ended else headless)
        self.abandoned = False
        self.compiling: WeakSet[Switcher | Opening] = WeakSet()  # whose threads may be inside the compiler
        self._drawing = threading.Lock()  # held by the thread that uses the window's surface while the worker is busy
        self._begin(program)

    def _begin(self, program: Program) -> None:
        """Show a program: the first one, or that of the configuration which was opened."""
        self.program = program
        self.recorder = Recorder(program.sim.profile)
        self.opening: Opening | None = None
        self.opened: Loaded | None = None
        self.compiling.add(program.techniques.switcher)
        self._last = time.perf_counter()
        self._waited_s = 0.0  # in which the crowd has made no steps, for it was the turn of the second one
        self._still: pygame.Surface | None = None  # the picture that is shown while an experiment runs
        if self.options.render:
            self.presenter, self.events = Presenter(program), WindowEvents(program, self._waiting)

    def run(self) -> None:
        try:
            while self.program.running and self.frames_left and (self.opened or not self._is_played):
                if self.opened:
                    self.change_over(self.opened)
                    free_cycles()
                self.frame()
                if self.program.running and not self.options.headless:
                    self.end_window_frame()
            if self.options.report:
                self.recorder.collect()
        finally:
            self.program.techniques.switcher.close()

    @property
    def frames_left(self) -> int:
        return self.frames - self.program.sim.profile.frames

    @property
    def _is_played(self) -> bool:
        """Return whether this is a replay, a tour or a scenario without a window, and over."""
        if not self.options.headless:
            return False
        if player := self.program.crowd.player:
            return player.done
        if self.options.tour:
            return self.program.guide.tour is None
        return self.program.sim.events.end_tick is not None

    def change_over(self, opened: Loaded) -> None:
        """Go on with the configuration that was opened."""
        previous, opening = self.program, self.opening
        assert opening
        previous.techniques.switcher.close()
        window = previous.window.model_copy(update={"title": opened.sim.config.window.title})
        config = opened.sim.config.model_copy(update={"window": window})
        self.worker.submit(lambda: previous.files.close_recording(  # takes a snapshot, which may run a kernel
            said="another scenario ended the recording")).result()
        self.frames = self.frames_left
        program = Program(config, opened, replace(self.options, config_name=opening.name), previous.quitting,
                          previous.preferences, rewind=previous.remembers)
        program.take_over(previous)
        self._begin(program)

    def frame(self) -> None:
        """Run one frame, from events to present; only its events after a request to quit."""
        program, profile = self.program, self.program.sim.profile
        profile.begin_frame()
        now = time.perf_counter()
        elapsed_s, self._last = now - self._last, now
        if self.options.render:
            with profile.stage("events"):
                self._read_events(elapsed_s)
        if not program.running:
            if self.options.render:
                self.presenter.save_requested()
            return
        if program.experiments.dialog:
            self._stand_still()
            return
        self._waited_s += elapsed_s
        steps, split = 0, program.split
        if not (split.second and split.is_behind):
            due, self._waited_s = program.crowd.due_steps(self._waited_s), 0.0
            steps = split.fitting(due) if split.second else due
        self._await(self.worker.submit(lambda: self._compute(steps)))
        if self.abandoned:
            return
        program.crowd.rate.add(now, profile.steps)
        if self.options.render:
            self.presenter.present(self.events.mouse.resting_on)
        if program.techniques.switcher.busy:
            profile.note("compiling")
        with profile.stage("garbage"):
            collect_young()
        profile.end_frame(tick=program.sim.tick)
        program.crowd.timeline.frame_took(program.sim.tick, float(profile.frame_ms(1)[-1]))
        if self.options.report:  # the times of all frames take 20 MB per hour
            if profile.frames == min(WARMUP_FRAMES, self.frames // 4):
                self.recorder = Recorder(profile)
            elif profile.frames % COLLECT_EVERY == 0:
                self.recorder.collect()

    # --- the parts of a frame ----------------------------------------------------------------------------------------

    def _read_events(self, elapsed_s: float) -> None:
        """Carry out the events, load the configuration that was chosen, and take up what has become ready."""
        self.events.read(elapsed_s)
        if self.program.inspector.follows and self.program.inspector.at:
            self.program.camera.look_at(*self.program.inspector.at)
        name, self.program.next_scenario = self.program.next_scenario, None
        if name:
            if self.opening:
                self.opening.close()
            self.opening = Opening(name, self.worker, self.options.render)
            self.compiling.add(self.opening)
        if self.opening:
            try:
                self.opened = self.opening.job.result() if self.opening.job.done() else None
                if self.opened and self.program.scenario_files.built_meanwhile:
                    self.opened = None
                    raise CannotOpenError(f"{self.opening.name} was not opened: there are unsaved edits")
                self.program.notices.add(f"opening {self.opening.name}: {self.opening.progress}", "scenario")
            except CannotOpenError as error:
                self.program.cannot_open(str(error))
                self.opening = None
        if self.program.guide.latest and (tour := self.program.guide.tour):
            tour.measure_frame()
            if self.options.headless and self.options.tour:
                tour.go_alone()
        if self.program.techniques.switcher.compiling:
            self.program.techniques.switch_to_compiled()
        if self.program.numbers.dragged:
            self.program.numbers.offer()
        self.presenter.follow_size()

    def _compute(self, steps: int) -> None:
        """Change, step and draw the crowd; runs in the worker's thread. Stop between two steps after a request to quit."""
        program, crowd = self.program, self.program.crowd
        crowd.carry_out_changes(lambda: program.running)
        program.controls.populate_on()
        if program.tools.strokes:
            program.tools.work()
        if steps and program.hawk.led:
            program.hawk.lead()
        crowd.make_steps(steps, lambda: program.running)
        if (ways := program.sim.ways) and ways.waits and ways.steps > 1:
            program.notices.add(f"ways follow the new walls: {ways.following} of {len(ways.fields.made)}", "ways",
                                holds=lambda: ways.waits)
        program.tell_changes()
        if program.crowd.scene and (program.running or self.options.screenshot):
            alpha = crowd.pace.owed_s / crowd.pace.dt
            program.sim.prepare_picture()
            with self._drawing:
                panels, overlays = program.panels.now, program.overlays
                on_ground = partial(overlays.draw_on_ground, panels)
                program.crowd.scene.draw(screen(), program.camera, overlays.frozen, alpha, on_ground)
                overlays.draw(screen(), panels)
                if program.split.second:
                    program.split.draw(screen(), alpha, overlays.draw_on_both)
                self.presenter.is_drawn = True
            if steps and program.panels.now.hud != "off" and program.running:
                with program.sim.profile.stage("meters"):  # one of a large crowd takes long
                    program.crowd.meters.read(program.sim)
            if program.cards.on and program.running:
                with self._drawing:  # the camera stays where it is
                    program.cards.work(program.moment(alpha))

    def _stand_still(self) -> None:
        """Let the experiment go on over a still picture of the crowd. The profile leaves out such a frame."""
        if self._still is None or self._still.get_size() != screen().get_size():
            self._await(self.worker.submit(lambda: self._compute(0)))
            if self.abandoned:
                return
            self._still = screen().copy()
            self.program.techniques.switcher.compilers.pause_choices()
        else:
            screen().blit(self._still, (0, 0))
            self.presenter.is_drawn = True
        self.presenter.present(self.events.mouse.resting_on)
        self.program.sim.profile.drop_frame()
        self.program.experiments.advance(self.worker)
        if not self.program.experiments.dialog:
            self._still = None
            self.program.crowd.rate.clear()

    # --- frames that take long ---------------------------------------------------------------------------------------

    def _await(self, job: Future[None]) -> None:
        """Wait until the worker is done or there is a request to quit; if it takes long, answer keys meanwhile."""
        title_at = time.perf_counter() + LONG_S
        with suppress(TimeoutError):  # `wait` would take twice as long to begin
            job.result(ANSWER_EVERY_S if self.options.render and self.presenter.picture else ANSWER_S)
            return
        set_title = self.presenter.set_title if self.options.render else lambda what="": None
        to_answer = self.options.render and self.events.pressed
        while self.program.running and not wait((job,), timeout=ANSWER_EVERY_S).done:
            if time.perf_counter() >= title_at:
                set_title("a step takes long")
                title_at = math.inf
            # Not while the worker draws: reading events lets the window follow its new size, which frees that surface.
            if self.options.render and self._drawing.acquire(blocking=False):
                try:
                    if self.presenter.is_drawn:  # an answer draws over it
                        self.presenter.keep_picture()
                    changed = self.events.read_at_once()
                    self.presenter.follow_size()
                    if changed or to_answer or self.presenter.is_outdated:
                        self.presenter.answer([key_text(pygame.key.name(event.key)) for event in self.events.waiting
                                               if event.type == pygame.KEYDOWN])
                    to_answer = False
                finally:
                    self._drawing.release()
        if not job.done():
            set_title("leaving")
            frames = GRACE_FRAMES if self.options.report or self.options.screenshot else 0
            grace_s = max(GRACE_S, frames * float(self.program.sim.profile.frame_ms(1).max(initial=0)) / 1000)
            wait((job,), timeout=max(self.program.quitting.left_s(grace_s), 0))
        set_title()
        self.abandoned = not job.done()
        if not self.abandoned:
            job.result()

    def end_window_frame(self) -> None:
        """Have other choices compiled in idle moments, once the first frames are over; wait if the frame was very short."""
        compilers = self.program.techniques.switcher.compilers
        if self.program.techniques.switcher.busy or self.program.experiments.dialog:
            compilers.pause_choices()
        elif self.program.sim.profile.frames >= PRECOMPILE_FRAME:
            compilers.compile_choices(self.program.sim.optimizations)
        spent = time.perf_counter() - self._last
        least = LEAST_FRAME_S if pygame.display.get_active() else HIDDEN_FRAME_S
        if self.program.techniques.switcher.busy:
            least = max(least, COMPILING_FRAME_S)
        if spent < least:
            time.sleep(least - spent)


# --- what the main thread adds to the picture ------------------------------------------------------------------------

class Presenter:
    """Draws over what the worker's thread has drawn, and presents it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        program.resize(screen().get_size())  # which a window manager may have chosen
        self.picture: pygame.Surface | None = None  # the last one, without what is drawn over it, if it took long
        self.is_drawn = False  # whether the window has this frame's picture, and nothing over it
        self._view = self._shown = program.camera.view_rect()  # of the last picture, and of the last answer
        self.set_title()

    @property
    def is_outdated(self) -> bool:
        """Return whether the camera has moved since the window last showed something."""
        return self._shown != self.program.camera.view_rect() and not self.program.split.second

    def present(self, hovered: Hovered | None) -> None:
        """Complete the picture, save it if that was requested, and show it."""
        profile = self.program.sim.profile
        with profile.stage("hud"):
            if self.is_drawn:
                self.picture = screen().copy() if profile.frame_ms(1).max(initial=0) > LONG_FRAME_MS else None
                self._view = self._shown = self.program.camera.view_rect()
            elif self.picture:
                self._draw_picture()
            self.is_drawn = False
            self._draw_hud(hovered)
        self.save_requested()
        with profile.stage("hud"):
            self.program.hud.draw_message()
        with profile.stage("flip"):
            pygame.display.flip()

    def answer(self, keys: Sequence[str]) -> None:
        """While a step takes long, show over the last picture what changes at once, and which keys come next."""
        self.picture = self.picture or screen().copy()  # the first time that it takes long there is an older HUD in it
        self._draw_picture()
        queued = [f"Queued: {', '.join(keys)} (applied after the current step)"] if keys else []
        self._draw_hud(None, queued, with_panels=self.program.sim.profile.frames > 0)
        self.program.hud.draw_message()
        pygame.display.flip()

    def keep_picture(self) -> None:
        """Keep what was drawn in this frame, which takes longer."""
        self.picture, self.is_drawn, self._view = screen().copy(), False, self.program.camera.view_rect()

    def _draw_picture(self) -> None:
        """Draw the picture that was kept where the camera now shows it."""
        picture, view, camera = self.picture, self._view, self.program.camera
        assert picture
        if self.is_outdated or picture.get_size() != screen().get_size():
            screen().fill("black")
        if view == camera.view_rect() or self.program.split.second:
            screen().blit(picture, (0, 0))
        else:
            factor = camera.zoom * (view.right - view.left) / picture.get_width()
            blit_scaled(screen(), picture, *camera.world_to_screen(view.left, view.top), factor)
        self._shown = camera.view_rect()

    def _draw_hud(self, hovered: Hovered | None, notices: Sequence[str] = (), with_panels: bool = True) -> None:
        program = self.program
        program.collect_news()
        status = program.status(hovered, notices)
        if not with_panels:
            status = status._replace(panels=status.panels._replace(hud="off"), past=None, caption=None)
        program.hud.draw(screen(), program.sim, status, time.perf_counter())

    def save_requested(self) -> None:
        path, self.program.picture_path = self.program.picture_path, None
        if not path:
            return
        try:
            save_picture(screen(), path)
            self.program.notices.add(f"saved {path}")
        except OSError as error:
            self.program.notices.add(f"cannot save {path}: {reason(error)}")

    def follow_size(self) -> None:
        """Follow the size of the window; outside full screen it is a preference."""
        program, size, before = self.program, screen().get_size(), self.program.camera.size
        program.resize(size)
        if size != before and not program.fullscreen:
            program.window = program.window.model_copy(update={"width": size[0], "height": size[1]})
            program.preferences.change(size=size)

    def set_title(self, what: str = "") -> None:
        title = self.program.window.title
        pygame.display.set_caption(f"{title} - {what}" if what else title)


# --- opening another configuration -----------------------------------------------------------------------------------

class CannotOpenError(Exception):
    """Why a configuration cannot be opened, in one line."""


class Opening:
    """A configuration that is being opened: a shipped name or a path. `progress` says how far it is."""

    def __init__(self, name: str, worker: Worker, render: bool) -> None:
        self.name = name
        self.progress = LoadingProgress()
        self._worker, self._render = worker, render
        self._closed = False
        self.job = in_thread(self._open, "crowd-demo opening")  # raises CannotOpenError

    @property
    def busy(self) -> bool:
        """Return whether the thread is at work, so that it may be inside the compiler."""
        return not self.job.done()

    def close(self, timeout_s: float = 0.0) -> None:
        """Give up as soon as possible, and wait for that at most so long."""
        self._closed = True
        wait((self.job,), timeout_s)

    def _open(self) -> Loaded:
        try:
            with compiling_beside_frames():
                config = load_config(self.name)
                start = time.perf_counter()
                ahead = self._on_worker(lambda: KernelFinder(config, self._render))
                launches = ahead.missing(config.optimizations)
                with closing(Compilers(config)) as compilers:
                    if missing := to_compile(launches):
                        compilers.start(min(max(helpers_that_fit(), 1), missing))
                    compilers.want(launches, config.optimizations)
                    compilers.work(self._show_progress, here=False)
                compiled = time.perf_counter()
                self.progress.say(building(config))
                sim, scene = self._on_worker(lambda: build(config, self._render))
                return Loaded(sim, scene, ahead, compilers, {}, 0.0, compiled - start)
        except ConfigError as error:
            raise CannotOpenError(error.lines[0]) from None
        except (MemoryError, TooManyError):
            raise CannotOpenError(f"{self.name}: too little memory for it beside the present crowd") from None

    def _on_worker(self, job: Callable[[], Result]) -> Result:
        self._go_on()
        return self._worker.submit(job).result()

    def _show_progress(self, kernel: str, done: int, total: int) -> None:
        self._go_on()
        self.progress.compiling(kernel, done, total)

    def _go_on(self) -> None:
        if self._closed:
            raise CannotOpenError(f"{self.name}: given up")
