"""The frame: events -> changes -> steps -> scene -> overlays -> HUD -> present.

The main thread reads events, draws overlays and HUD, and presents the picture; in between, the worker's thread steps the
crowd and draws it. When that takes long, as with a large crowd and no neighbour structure, the window still responds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import replace

import pygame

from crowd_demo.app.compile_process import Precompiler
from crowd_demo.app.input import MOUSE, Command, Input
from crowd_demo.app.keyboard import shown_keys
from crowd_demo.app.opening import CannotOpenError, Opened, Opening
from crowd_demo.app.options import RunOptions
from crowd_demo.app.pace import Pace
from crowd_demo.app.pictures import save_picture
from crowd_demo.app.pointer import Pointer
from crowd_demo.app.program import Program
from crowd_demo.app.quitting import POLL_S
from crowd_demo.app.recorder import Recorder
from crowd_demo.app.slow_frames import Changes, noting_collections
from crowd_demo.app.window import screen, set_mode
from crowd_demo.app.worker import Worker
from crowd_demo.compute.jit import CACHE_LASTS
from crowd_demo.config.keys import ACTIONS, bindings
from crowd_demo.config.model import Config
from crowd_demo.config.resources import assets_folder
from crowd_demo.render.figures.sprites import load_manifest, state_colours
from crowd_demo.render.hud.help import Help, program_entries, technique_entries
from crowd_demo.render.hud.hud import Hud, draw_notices
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.overlays.base import Looking, draw_overlays

HEADLESS_FRAMES = 600
WARMUP_FRAMES = 20  # at most a quarter of a run; the report leaves them out
LONG_S = 0.15  # a frame that takes longer counts as long: events are read before it ends
GRACE_S = 1.2  # how long after the wish to quit the present frame may end, so that the report can be written
UNSEEN_STEPS = 1000  # at most so many a frame, before the tick at which a replay is to begin
LEAST_FRAME_S = 0.001  # a window shows at most 1,000 frames a second
HIDDEN_FRAME_S = 0.05  # least time of a frame while the window is hidden
COMPILING_FRAME_S = 1 / 60  # while a technique waits for its kernels: what is left of a frame's time belongs to the compiler
PRECOMPILE_FRAME = 60  # after so many frames other choices are compiled in the background


class Loop:
    """Runs a loaded program until the user quits, `options.frames` have been shown, or another configuration is ready.

    That one is in `opened` then; until then it is `opening`.
    """

    def __init__(self, config: Config, options: RunOptions, program: Program, worker: Worker) -> None:
        self.config, self.options, self.program, self.worker = config, options, program, worker
        is_open_ended = not options.headless or options.replay or options.tour
        self.frames = options.frames or (sys.maxsize if is_open_ended else HEADLESS_FRAMES)
        self.warmup = 0  # frames that are over and left out
        self.recorder = Recorder(program.sim.profile)
        self.abandoned = False
        self._changes = Changes(program.sim)
        self.pace = Pace(program.sim.dt, config.time.catch_up)
        program.unpaced, program.cards.on = options.headless, not options.headless
        program.leaves_at_once = bool(options.frames)
        self._frame = 0
        self._last = time.perf_counter()
        self._waiting: list[pygame.Event] = []
        self._precompiler: Precompiler | None = None
        self._still: pygame.Surface | None = None  # the picture that is shown while an experiment runs
        self.opening: Opening | None = None
        self.opened: Opened | None = None
        if options.render:
            self._prepare_screen()

    def _prepare_screen(self) -> None:
        self.input = Input(bindings(self.config.keys), pygame.display.get_window_size())
        self.pen = Pen()
        self.hud = Hud({}, state_colours(load_manifest(assets_folder())), self.pen)
        self._show_keys()
        self.pointer = Pointer(self.hud.target_at)
        self.program.list_sections = self.hud.sections
        self.program.resting_on = lambda: self.pointer.resting_on
        self._fullscreen = self.program.fullscreen
        self.program.camera.resize(screen().get_size())  # which a window manager may have chosen
        self._set_title()

    def _show_keys(self) -> None:
        """Show the keys as they are printed on the present keyboard."""
        self._keyboard = self.input.keyboard
        keys = shown_keys(self.config.keys, self._keyboard)
        what = {action: text for action, (_, text) in ACTIONS.items()}
        self.hud.keys = self.program.keys = keys
        self.help = Help(technique_entries(keys), program_entries(keys, what, MOUSE), self.pen)

    def run(self) -> None:
        """Run all frames."""
        try:
            with noting_collections(self.program.sim.profile.note):
                self._run()
        finally:
            if self._precompiler:
                self._precompiler.close()

    def _run(self) -> None:
        while self.program.running and self.left and not self.opened and not (self.options.headless and self._played):
            self.frame()
            if self.program.running and not self.options.headless:
                self.end_window_frame()
        self.recorder.collect()

    @property
    def left(self) -> int:
        """Frames that may still be shown."""
        return self.frames - self._frame

    @property
    def _played(self) -> bool:
        """Is this a replay or a tour, and over?"""
        player = self.program.player
        return player.done if player else self.options.tour is not None and self.program.guide.tour is None

    def _record(self) -> None:
        if self._frame == min(WARMUP_FRAMES, self.frames // 4):
            self.recorder, self.warmup = Recorder(self.program.sim.profile), self._frame
        elif self.recorder.is_due:
            self.recorder.collect()

    def followed(self) -> Loop:
        """Return the loop of what was opened, in the same window."""
        left, opened = self.program, self.opened
        assert opened
        window = left.window.model_copy(update={"title": opened.config.window.title})
        config = opened.config.model_copy(update={"window": window})
        program = Program(config, opened.loaded, left.quitting, opened.name, left.remembers, left.preferences)
        program.take_over(left)
        frames = None if self.frames == sys.maxsize else self.left
        loop = Loop(config, replace(self.options, frames=frames), program, self.worker)
        loop._waiting = self._waiting
        return loop

    def frame(self) -> None:
        """Run one frame, from events to present; or no more than its events, if somebody wants to quit."""
        program, profile = self.program, self.program.sim.profile
        profile.begin_frame()
        now = time.perf_counter()
        elapsed_s, self._last = now - self._last, now
        if self.options.render:
            with profile.stage("events"):
                self._read_events(elapsed_s)
        if not program.running:
            self._save_asked()
            return
        if program.experiments.active:
            self._stand_still()
            return
        steps = self._steps(elapsed_s)
        self._await(self.worker.submit(lambda: self._compute(steps)))
        if self.abandoned:
            return
        program.rate.add(now, profile.steps)
        if self.options.render:
            self._finish_picture()
        if program.switcher.busy:
            profile.note("compiling")
        profile.end_frame(tick=program.sim.tick)
        program.rewind.frame_took(float(profile.frame_ms(1)[-1]))
        self._frame += 1
        self._record()

    # --- the parts of a frame ----------------------------------------------------------------------------------------

    def _read_events(self, elapsed_s: float) -> None:
        events, self._waiting = [*self._waiting, *pygame.event.get()], []
        for event in events:
            self.input.dialog_open = self.program.dialogs.top is not None
            self.input.wanted = self.program.guide.wanted
            self._perform(self.input.read(event))
        for command in self.input.held(elapsed_s):
            self.program.perform(command)
        if self.input.keyboard is not self._keyboard:
            self._show_keys()
        self.program.take_switched()
        self._open_asked()
        self.program.guide.look(self.program)
        if self.options.headless and self.options.tour:
            self.program.guide.go_alone(self.program)
        self._fit_window()

    def _open_asked(self) -> None:
        """Begin to open what somebody has asked for, and tell how far that is."""
        name, self.program.scenario_asked = self.program.scenario_asked, None
        if name:
            self.close()
            self.opening = Opening(name, self.worker, self.options.render)
        if not self.opening:
            return
        try:
            self.opened = self.opening.opened()
            self.program.notify(f"opening {self.opening.name}: {self.opening.progress}", "scenario")
        except CannotOpenError as error:
            self.program.cannot_open(str(error))
            self.opening = None

    def close(self) -> None:
        """Give up what is being opened."""
        if self.opening:
            self.opening.close()

    def _perform(self, commands: Iterable[Command]) -> None:
        for command in commands:
            for meant in self.pointer.read(command):
                self.program.perform(meant)

    def _fit_window(self) -> None:
        program = self.program
        if program.fullscreen != self._fullscreen:
            self._fullscreen = program.fullscreen
            program.camera.resize(set_mode(program.window, self._fullscreen).get_size())
        size = screen().get_size()
        if size != program.camera.size:
            program.camera.resize(size)
            if not self._fullscreen:
                program.prefer_size(size)

    def _steps(self, elapsed_s: float) -> int:
        """How many steps to make in this frame."""
        program = self.program
        if program.player and not program.player.begun:
            return UNSEEN_STEPS
        asked, program.steps_asked = program.steps_asked, 0
        if asked or program.paused:
            return asked
        return 1 if program.unpaced else self.pace.steps(elapsed_s, program.speed)

    def _compute(self, steps: int) -> None:
        """Change, step and draw the crowd; runs in the worker's thread. Stop between two steps if somebody wants to quit."""
        program = self.program
        program.carry_out_changes()
        self._changes.note(program.sim)
        start = time.perf_counter()
        for made in range(1, steps + 1):
            program.step()
            if self.pace.is_enough(made, time.perf_counter() - start) or not program.running:
                break
        self._changes.note(program.sim)
        if program.scene and (program.running or self.options.screenshot):
            alpha = self.pace.owed_s / self.pace.dt
            program.sim.prepare_picture()
            program.scene.draw(screen(), program.camera, program.frozen, alpha)
            if steps and program.looks.now.hud == "full" and program.running:
                with program.sim.profile.stage("meters"):
                    program.meters.read(program.sim)
            if program.cards.on and program.running:
                program.cards.work(program.moment(alpha))

    def _stand_still(self) -> None:
        """Let the experiment go on, and show the crowd as it was when that began. Such a frame is in no record."""
        if self._still is None:
            self._await(self.worker.submit(lambda: self._compute(0)))
            if self.abandoned:
                return
            self._still = screen().copy()
            self._pause_precompiler(True)
        else:
            screen().blit(self._still, (0, 0))
        self._finish_picture()
        self.program.sim.profile.drop_frame()
        self.program.experiments.advance(self.worker)
        if not self.program.experiments.active:
            self._still = None
            self._pause_precompiler(False)
            self.program.rate.clear()

    def _pause_precompiler(self, paused: bool) -> None:
        if self._precompiler:
            self._precompiler.pause(paused)

    def _finish_picture(self) -> None:
        program, profile, picture = self.program, self.program.sim.profile, screen()
        with profile.stage("overlays"):
            looking = Looking(program.sim, program.camera, program.frozen)
            draw_overlays(picture, program.overlays, looking, self.pen)
        with profile.stage("hud"):
            status = program.status()
            self.hud.draw(picture, program.sim, status, time.perf_counter())
            if program.help_shown:
                self.help.draw(picture, self.hud.scale)
        self._save_asked()
        with profile.stage("hud"):
            scale = self.hud.scale
            draw_notices(picture, status.notices, self.pen, scale, self.hud.taken_px)
        with profile.stage("flip"):
            pygame.display.flip()

    def _save_asked(self) -> None:
        """Save the picture that somebody has asked for since the last frame."""
        path, self.program.picture_asked = self.program.picture_asked, None
        if not path:
            return
        try:
            save_picture(screen(), path)
            self.program.notify(f"saved {path}")
        except OSError as error:
            self.program.notify(f"cannot save {path}: {error.strerror or error}")

    # --- frames that take long ---------------------------------------------------------------------------------------

    def _await(self, job: Future[None]) -> None:
        """Wait until the worker is done; if it takes long, quit if the user insists and keep other events for later."""
        with suppress(TimeoutError):  # `wait` would take twice as long to begin
            job.exception(LONG_S)
        if not job.done():
            self._wait_long(job)
        if job.done():
            job.result()
        else:
            self.abandoned = True

    def _wait_long(self, job: Future[None]) -> None:
        self._set_title("a step takes long")
        while self.program.running and not wait((job,), timeout=POLL_S).done:
            if self.options.render:
                self._keep_events()
        if not job.done():
            self._set_title("leaving")
            wait((job,), timeout=max(self.program.quitting.left_s(GRACE_S), 0))
        self._set_title()

    def _set_title(self, what: str = "") -> None:
        """Set the window's title, with what the program is doing."""
        if self.options.render:
            title = self.config.window.title
            pygame.display.set_caption(f"{title} - {what}" if what else title)

    def _keep_events(self) -> None:
        """Keep events for the next frame. The first Esc asks a question that cannot be shown yet; so a second one leaves."""
        self._waiting += [event for event in pygame.event.get() if not self._scrubs(event)]
        asked = sum(self.input.quits(event) for event in self._waiting)
        is_closed = any(event.type == pygame.QUIT for event in self._waiting)
        if is_closed or asked + self.program.is_asking + self.program.leaves_at_once >= 2:
            self.program.quitting.ask()
        elif asked:
            self._set_title("a step takes long: Esc again leaves")

    def _scrubs(self, event: pygame.Event) -> bool:
        """If the event moves along the timeline, let what is sought at present follow it at once."""
        if not (self.pointer.scrubbing and event.type in (pygame.MOUSEMOTION, pygame.MOUSEBUTTONUP)):
            return False
        self._perform(self.input.read(event))
        return True

    def end_window_frame(self) -> None:
        """Start the compiler in the background once the first frames are over; wait if the frame was very short."""
        if self._frame == PRECOMPILE_FRAME and CACHE_LASTS and not (self._precompiler or self.program.experiments.active):
            self._precompiler = Precompiler(self.config, self.program.sim.optimizations)
        spent = time.perf_counter() - self._last
        least = LEAST_FRAME_S if pygame.display.get_active() else HIDDEN_FRAME_S
        if self.program.switcher.busy:
            least = max(least, COMPILING_FRAME_S)
        if spent < least:
            time.sleep(least - spent)
