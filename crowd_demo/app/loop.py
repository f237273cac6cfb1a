"""The frame: events -> changes -> steps -> scene -> overlays -> HUD -> present.

The main thread reads events, draws the HUD, and presents the picture; in between, the worker's thread steps the crowd
and draws it, overlays included. While the steps take long, as with a large crowd and no neighbour structure, the main
thread goes on to read events and to answer them; while the worker draws it waits.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import replace
from functools import partial
from weakref import WeakSet

import pygame

from crowd_demo.app.crowd.opening import CannotOpenError, Opening
from crowd_demo.app.options import RunOptions
from crowd_demo.app.presenter import LONG_FRAME_MS, Presenter, moment_of
from crowd_demo.app.program import Program
from crowd_demo.app.screen.window import screen
from crowd_demo.app.window_events import WindowEvents
from crowd_demo.config.keys import key_text
from crowd_demo.host.compiling.loading import Loaded
from crowd_demo.host.report import COLLECT_EVERY, Recorder, noting_collections
from crowd_demo.host.system import Worker

HEADLESS_FRAMES = 600
LONGEST_S = 3600.0  # of the crowd's time: so long a run without a window waits for the event that ends it
WARMUP_FRAMES = 20  # at most a quarter of a run; the report leaves them out
ANSWER_S = LONG_FRAME_MS / 1000  # in a frame that takes longer events are read before it ends, and keys are answered
ANSWER_EVERY_S = 0.02  # how often
LONG_S = 0.15  # the title says so while a frame takes longer
GRACE_S = 1.2  # for the present frame to end after a request to quit, so that the report can be written
GRACE_FRAMES = 4  # the same for a report or a picture where frames take longer: so many times as long as the last one
LEAST_FRAME_S = 0.001  # a window shows at most 1,000 frames a second
HIDDEN_FRAME_S = 0.05  # least time of a frame while the window is hidden
COMPILING_FRAME_S = 1 / 40  # while a technique waits for its kernels: what is left of a frame's time belongs to the compilers
PRECOMPILE_FRAME = 60  # after so many frames other choices are compiled in the background


class Loop:
    """Runs a loaded program until the user quits, `options.frames` have been shown, or another configuration is ready.

    That one is in `opened` then; until then it is `opening`.
    """

    def __init__(self, program: Program, options: RunOptions, worker: Worker) -> None:
        self.program, self.options, self.worker = program, options, worker
        is_open_ended = not options.headless or options.replay or options.tour
        has_end = any(event.end for event in program.config.events)
        headless = math.ceil(LONGEST_S * program.config.time.step_hz) if has_end else HEADLESS_FRAMES
        self.frames = options.frames or (sys.maxsize if is_open_ended else headless)
        self.warmup = 0  # frames that are over and left out
        self.recorder = Recorder(program.sim.profile)
        self.abandoned = False
        self._frame = 0
        self._last = time.perf_counter()
        self._waited_s = 0.0  # in which the crowd has made no steps, for it was the turn of the second one
        self._still: pygame.Surface | None = None  # the picture that is shown while an experiment runs
        self._drawing = threading.Lock()  # held by the thread that uses the window's surface while the worker is busy
        self.opening: Opening | None = None
        self.openings: WeakSet[Opening] = WeakSet()  # also those that were given up, while they are busy
        self.opened: Loaded | None = None
        if options.render:
            self.presenter, self.events = Presenter(program), WindowEvents(program)

    def run(self) -> None:
        try:
            with noting_collections(self.program.sim.profile.note):
                while self.program.running and self.frames_left and not self.opened and not self._is_played:
                    self.frame()
                    if self.program.running and not self.options.headless:
                        self.end_window_frame()
                if self.options.report:
                    self.recorder.collect()
        finally:
            self.program.techniques.switcher.close()

    @property
    def frames_left(self) -> int:
        return self.frames - self._frame

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

    def _record(self) -> None:
        """Keep the times of all frames, but only for a report: they take 20 MB per hour."""
        if not self.options.report:
            return
        if self._frame == min(WARMUP_FRAMES, self.frames // 4):
            self.recorder, self.warmup = Recorder(self.program.sim.profile), self._frame
        elif self._frame % COLLECT_EVERY == 0:
            self.recorder.collect()

    def next_loop(self) -> Loop:
        """Return the loop of what was opened, in the same window."""
        previous, opening, opened = self.program, self.opening, self.opened
        assert opening and opened
        window = previous.window.model_copy(update={"title": opened.sim.config.window.title})
        config = opened.sim.config.model_copy(update={"window": window})
        self.worker.submit(lambda: previous.files.close_recording(  # takes a snapshot, which may run a kernel
            said="another scenario ended the recording")).result()
        frames = None if self.frames == sys.maxsize else self.frames_left
        options = replace(self.options, frames=frames, config_name=opening.name)
        program = Program(config, opened, options, previous.quitting, previous.preferences, rewind=previous.remembers)
        program.take_over(previous)
        loop = Loop(program, options, self.worker)
        if self.options.render:
            loop.events.waiting = self.events.waiting
        return loop

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
        profile.end_frame(tick=program.sim.tick)
        program.crowd.timeline.frame_took(program.sim.tick, float(profile.frame_ms(1)[-1]))
        self._frame += 1
        self._record()

    # --- the parts of a frame ----------------------------------------------------------------------------------------

    def _read_events(self, elapsed_s: float) -> None:
        self.events.read(elapsed_s)
        if self.program.seeing.zoom_left != 1:
            self.program.seeing.glide(elapsed_s)
        if self.program.seeing.waits:
            self.program.seeing.show_compiled()
        self.program.inspector.move_camera()
        self._open_next()
        if self.program.guide.latest and (tour := self.program.guide.tour):
            tour.measure_frame()
            if self.options.headless and self.options.tour:
                tour.go_alone()
        if self.program.techniques.switcher.compiling:
            self.program.techniques.switch_to_compiled()
        if self.program.numbers.dragged:
            self.program.numbers.offer()
        if self.program.split.second:
            self.program.split.show_compiled(self.program.split.second)
        self.presenter.fit_window()

    def _open_next(self) -> None:
        """Start loading the configuration that the user has chosen, and show its progress."""
        name, self.program.next_scenario = self.program.next_scenario, None
        if name:
            if self.opening:
                self.opening.close()
            self.opening = Opening(name, self.worker, self.options.render)
            self.openings.add(self.opening)
        if not self.opening:
            return
        try:
            self.opened = self.opening.opened()
            if self.opened and self.program.scenario_files.built_meanwhile:
                self.opened = None
                raise CannotOpenError(f"{self.opening.name} was not opened: there are unsaved edits")
            self.program.notices.add(f"opening {self.opening.name}: {self.opening.progress}", "scenario")
        except CannotOpenError as error:
            self.program.cannot_open(str(error))
            self.opening = None

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
        if (ways := program.sim.ways) and ways.waits:
            program.tools.tell_ways(ways)
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
                # Held until the end: an answer would draw over the new picture before it was shown.
                if steps and program.panels.now.hud != "off" and program.running:
                    with program.sim.profile.stage("meters"):
                        program.crowd.meters.read(program.sim)
                if program.cards.on and program.running:
                    program.cards.work(moment_of(program, alpha))

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
        self.presenter.present(self.events.mouse.resting_on)
        self.program.sim.profile.drop_frame()
        self.program.experiments.advance(self.worker)
        if not self.program.experiments.dialog:
            self._still = None
            self.program.crowd.rate.clear()

    # --- frames that take long ---------------------------------------------------------------------------------------

    def _await(self, job: Future[None]) -> None:
        """Wait until the worker is done or there is a request to quit; if it takes long, answer keys meanwhile."""
        with suppress(TimeoutError):  # `wait` would take twice as long to begin
            job.exception(ANSWER_S)
        if not job.done():
            self._wait_long(job)
        if job.done():
            job.result()
        else:
            self.abandoned = True

    def _wait_long(self, job: Future[None]) -> None:
        title_at = time.perf_counter() + LONG_S - ANSWER_S
        to_answer = self.options.render and self.events.pressed
        while self.program.running and not wait((job,), timeout=ANSWER_EVERY_S).done:
            if time.perf_counter() >= title_at:
                self._set_title("a step takes long")
                title_at = math.inf
            if self.options.render:
                to_answer = self._respond(to_answer)
        if not job.done():
            self._set_title("leaving")
            frames = GRACE_FRAMES if self.options.report or self.options.screenshot else 0
            grace_s = max(GRACE_S, frames * float(self.program.sim.profile.frame_ms(1).max(initial=0)) / 1000)
            wait((job,), timeout=max(self.program.quitting.left_s(grace_s), 0))
        self._set_title()

    def _respond(self, to_answer: bool) -> bool:
        """Read events and answer them, but not while the worker draws; return whether an answer is still due.

        Reading events lets the window follow its new size, which frees the surface that is drawn on.
        """
        if not self._drawing.acquire(blocking=False):
            return to_answer
        try:
            changed = self.events.read_at_once()
            self.presenter.follow_size()
            if changed or to_answer:
                self.presenter.answer([key_text(pygame.key.name(event.key)) for event in self.events.waiting
                                       if event.type == pygame.KEYDOWN])
        finally:
            self._drawing.release()
        return False

    def _set_title(self, what: str = "") -> None:
        if self.options.render:
            self.presenter.set_title(what)

    def end_window_frame(self) -> None:
        """Have other choices compiled in idle moments, once the first frames are over; wait if the frame was very short."""
        compilers = self.program.techniques.switcher.compilers
        if self.program.techniques.switcher.busy or self.program.experiments.dialog:
            compilers.pause_choices()
        elif self._frame >= PRECOMPILE_FRAME:
            compilers.compile_choices(self.program.sim.optimizations)
        spent = time.perf_counter() - self._last
        least = LEAST_FRAME_S if pygame.display.get_active() else HIDDEN_FRAME_S
        if self.program.techniques.switcher.busy:
            least = max(least, COMPILING_FRAME_S)
        if spent < least:
            time.sleep(least - spent)
