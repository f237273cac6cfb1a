"""From a configuration to an exit code: open the window, load while a progress bar is shown, run, report.

The window opens before the compiler is imported: the worker's thread does that, and modules that need it are imported
later. The loading screen shows the scenario's picture, enlarged by a whole number, over its own blur, a bar, and what
to try. Keys are kept for the program that comes, and their tries say so.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future, wait
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn

import pygame

from crowd_demo.app import RunOptions
from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen import (
    NoDisplayError,
    Preferences,
    caption_of,
    close_window,
    on_lost_display,
    open_window,
    save_picture,
    screen,
    user_file,
)
from crowd_demo.config.model import Config
from crowd_demo.config.resources import find_config, picture_of
from crowd_demo.host.compiling.loading import Loaded, LoadingProgress, load_program
from crowd_demo.host.system import (
    FAILED,
    NO_DISPLAY,
    OK,
    POLL_S,
    STDOUT,
    USAGE_ERROR,
    OutputError,
    ProgressLine,
    ShutdownRequest,
    Worker,
    eager_threads,
    end_process,
    say_not_written,
    seconds_since_start,
    signals_to,
)
from crowd_demo.registry.entries import load
from crowd_demo.registry.texts import reason
from crowd_demo.render.hud.canvas import ACCENT, DIM, EDGE, HUGE, LARGE, NORMAL, TOUCHED, Canvas, Pen, scale_for
from crowd_demo.render.hud.card import Caption
from crowd_demo.render.hud.views import loaded_picture

if TYPE_CHECKING:
    from crowd_demo.app.loop import Loop
    from crowd_demo.app.trace import Trace
    from crowd_demo.host.recording.recording import Player

PRINT_EVERY_S = 0.2  # of the progress of loading, without a window
WRITE_S = 5.0  # how long report and picture may take after a request to quit: the hash of a large crowd takes seconds
LOST_S = 3.0  # how long the end of the recording may take once the display is lost
LAST_KERNEL_S = 10.0  # the longest time to wait after a crash for the compiler to finish its present kernel
BACKGROUND, SHADE = (16, 20, 27), (30, 30, 30)  # the blur is multiplied with the shade
BLUR = 8, 5  # pixels into which the picture is shrunk
FRAME_S = 1 / 15  # the compilers need the time
SIDE, GAP, PICTURE = 341.0, 48.0, 556.0  # units: the width of what stands at the right, the gap, the largest picture
LEAST_PICTURE, FRAME = 120.0, 4.0
ROW, LINE = 62.0, 21.0  # units: from one try to the next, from one line to the next
Try = tuple[str, str, str, bool]  # a key, what it does, what is seen then, and whether it was pressed
NOTED = "Noted: it begins when {} ready."
TRIES = {  # what an action does, what is seen then, and what it has to wait for
    "simd": ("Switch SIMD lanes off and on", "A card shows what they gain.", "lanes are"),
    "freeze": ("Freeze what the camera sees", "Zoom out: the rest was never drawn.", "the crowd is"),
    "tour": ("Take a tour", "Short pages, one idea each.", "the crowd is"),
}


def run(config: Config, options: RunOptions) -> int:
    """Run the program; return the exit code. Raises whatever crashes it."""
    session = Session(config, options)
    with signals_to(session.quitting.interrupt):
        if options.render:
            try:
                open_window(session.preferences.window(config.window), options.headless)
                on_lost_display(session.display_lost)
            except NoDisplayError as error:
                print(f"crowd-demo: no window can be opened ({error}): --headless runs without one", file=sys.stderr)
                return NO_DISPLAY
        try:
            return session.leave(session.run())
        except BaseException as error:
            from crowd_demo.sim.save_format import SaveError

            if isinstance(error, SaveError):  # about a saved crowd or a recording: found once there is a simulation
                print(error, file=sys.stderr)
                return session.leave(USAGE_ERROR)
            session.close(FAILED, LAST_KERNEL_S)  # so that the interpreter can exit cleanly
            raise


class Session:
    """One run and its threads: a window in which one configuration is shown after another."""

    def __init__(self, config: Config, options: RunOptions) -> None:
        self.config = config  # with which it begins
        self.options = options
        self.quitting = ShutdownRequest()
        self.preferences = Preferences(None if options.headless else user_file())
        self.worker = Worker()
        self.loop: Loop | None = None
        self.player: Player | None = None
        self.record_failed = False
        self.trace: Trace | None = None
        outputs = {"--screenshot": options.screenshot, "--report": options.report, "--trace": options.trace}
        self.keys: list[pygame.Event] = []  # that were pressed while loading
        self.unwritten = {option: path for option, path in outputs.items() if path}

    def run(self) -> int:
        """Load, run and write the outputs; return the exit code."""
        startup_s = self._begin()
        if not self.loop:
            return self._left("while loading", OK)
        try:
            return self._play(self.loop, startup_s)
        except BaseException as error:
            self.loop.program.files.crashed(error)
            raise

    def _begin(self) -> dict[str, float]:
        """Make the loop of the first configuration, unless the user quits while it loads; return what that took.

        What was loaded is kept by the loop alone, so that it can be freed when another configuration is opened.
        """
        progress = LoadingProgress()
        job = self.worker.submit(lambda: self._loaded(progress))
        with eager_threads():
            if self.options.headless:
                with ProgressLine("crowd-demo") as line:
                    while not self.quitting.asked and not wait((job,), timeout=PRINT_EVERY_S).done:
                        line.show(progress)
            else:
                self.keys = show_progress(job, progress, Keymap(self.config.keys), self.quitting, self.options.config_name)
        if self.quitting.asked:
            return {}
        loaded = job.result()
        from crowd_demo.app.loop import Loop
        from crowd_demo.app.program import Program

        program = Program(self.config, loaded, self.options, self.quitting, self.preferences, self.player,
                          rewind=not self.options.headless)
        if path := self.unwritten.pop("--trace", None):
            from crowd_demo.app.trace import Trace, TracedProfile

            self.trace = Trace(path)
            program.sim.profile = TracedProfile(self.trace)
        if self.options.tour:
            program.guide.begin(self.options.tour, program, opened=True)
        self.loop = Loop(program, self.options, self.worker, self.keys)
        if self.options.is_interactive and not self.options.tour:
            program.show_caption()
        program.techniques.follow(loaded.follow)
        if self.options.record:
            try:
                program.files.start_recording(self.options.record)
            except OSError as error:
                print(f"crowd-demo: --record: cannot write {self.options.record}: {reason(error)}", file=sys.stderr)
                self.record_failed = True
        return {"import": loaded.import_s, "compile": loaded.compile_s}

    def _play(self, loop: Loop, startup_s: dict[str, float]) -> int:
        """Run the loop to its end, write the outputs, and say how a replay went or what came of a scenario."""
        loop.frame()
        startup_s["first_frame"] = seconds_since_start()
        loop.run()
        if loop.abandoned:
            return self._left("in the middle of a step", FAILED)
        job = self.worker.submit(lambda: self._write(loop, startup_s))  # a large picture takes long
        waited_s = max(-self.quitting.left_s(0), 0)  # for the frame of the request to quit
        while self.quitting.left_s(waited_s + WRITE_S) > 0:
            if wait((job,), timeout=POLL_S).done:
                code = job.result()
                break
        else:
            code = self._left("while writing", FAILED)
        program, player = loop.program, self.player
        is_aside = self.options.report == STDOUT
        if player:
            print(player.verdict(program.sim.tick), file=sys.stderr if is_aside or player.parted else sys.stdout)
        elif self.options.headless and not is_aside and (outcome := program.outcome):
            print(*outcome.lines, sep="\n")
        if broken := program.files.broken:
            print(f"crowd-demo: the recording {broken.path} is not complete: {broken.error}", file=sys.stderr)
        return FAILED if (player and player.parted) or self.record_failed or broken else code

    def leave(self, code: int) -> int:
        """Return the code; or end the process, if a thread is still inside a kernel or the compiler and cannot be stopped."""
        code = self.close(self.quitting.code or code)
        if self.worker.busy or (self.loop and any(thread.busy for thread in self.loop.compiling)):
            end_process(code)
        close_window()
        return code

    def display_lost(self) -> NoReturn:
        """Leave as far as that is possible in the middle of a call of Xlib: end the recording, and say where it is."""
        self.quitting.ask()
        try:
            files = self.loop.program.files if self.loop else None
            recording = self.loop.program.crowd.recording if self.loop else None
            if files:
                wait((self.worker.submit(lambda: files.finish(LOST_S)),), timeout=LOST_S)
            if self.trace:
                self.trace.close()
            where = f", the run is recorded in {recording.path.absolute()}" if recording else ""
            print(f"crowd-demo: the display was lost{where}", file=sys.stderr)
            self._left("without a display", NO_DISPLAY)
        finally:
            end_process(NO_DISPLAY)

    def close(self, code: int, timeout_s: float = 0.0) -> int:
        """Save the preferences, end the trace, and stop compiling: wait at most so long for each thread.

        Return the code, or 1 if the trace is not whole.
        """
        self.preferences.save()
        for thread in list(self.loop.compiling) if self.loop else ():
            thread.close(timeout_s)
        if self.trace:
            self.trace.close()
        return code or (FAILED if self.trace and self.trace.error else OK)

    def _loaded(self, progress: LoadingProgress) -> Loaded:
        """Load, and put the crowd into the state in which the run begins."""
        loaded = load_program(self.config, self.options.render, progress, self.options.is_interactive)
        if self.options.load:
            self.options.load.restore(loaded.sim)
        if self.options.replay:
            from crowd_demo.host.recording.recording import Player

            self.player = Player(self.options.replay, self.options.replay_from)
            sim = self.player.start(loaded.sim)
            if loaded.scene:
                loaded.scene.sim = sim
            loaded = loaded._replace(sim=sim)
        return loaded

    def _left(self, when: str, code: int) -> int:
        """Report which outputs are missing; return the code, or 0 if there was to be none."""
        say_not_written(when, self.unwritten)
        return code if self.unwritten else OK

    def _write(self, loop: Loop, startup_s: dict[str, float]) -> int:
        """Write report and screenshot; one that cannot be written costs a line on standard error, not the other one."""
        from crowd_demo.host.report import report, write_report

        code = OK
        loop.program.files.finish(WRITE_S)
        for option, path in list(self.unwritten.items()):
            try:
                if option == "--screenshot":
                    save_picture(screen(), path)
                else:
                    interrupted = self.quitting.interrupted
                    content = report(loop.program.config, loop.program.sim, loop.recorder, startup_s, interrupted)
                    if self.player:
                        content["replay"] = self.player.report()
                    if outcome := loop.program.outcome:
                        content["outcome"] = outcome.report()
                    if self.options.why and not interrupted:
                        content["why"] = [figure._asdict() for figure in load("crowd_demo.extras.why:figures")(
                            loop.program.sim, self.options.why) if figure]
                    write_report(content, path)
            except OutputError:  # the command line says so
                raise
            except BrokenPipeError:  # the reader wanted no more
                pass
            except OSError as error:
                code = FAILED
                print(f"crowd-demo: {option}: cannot write {path}: {reason(error)}", file=sys.stderr)
            del self.unwritten[option]
        return code


# --- loading ---------------------------------------------------------------------------------------------------------

def show_progress(job: Future[Loaded], progress: LoadingProgress, keymap: Keymap, quitting: ShutdownRequest,
                  name: str | None = None) -> list[pygame.Event]:
    """Draw until the job is done or the user quits; return the key events, which the loaded program then handles.

    `name` is that of the configuration.
    """
    pen, shown, keys = Pen(), 0.0, list[pygame.Event]()
    caption = caption_of(name, keymap) or Caption("crowd-demo", "")
    path = picture_of(find_config(name)) if name and caption.sentence else None
    picture = loaded_picture(path) if path else None
    while not job.done() and not quitting.asked:
        for event in pygame.event.get():
            if keymap.quits(event):
                quitting.ask()
            elif event.type in (pygame.KEYDOWN, pygame.KEYUP):
                keys.append(event)
        pressed = {keymap.action(event)[0] for event in keys if event.type == pygame.KEYDOWN}
        tries = [(keymap.name(action), what, NOTED.format(awaited) if action in pressed else more, action in pressed)
                 for action, (what, more, awaited) in TRIES.items() if keymap.name(action)]
        shown = max(shown, progress.part()) if progress.total else 0.0  # a helper may end before an earlier kernel
        draw_progress(screen(), progress, shown, pen, caption, picture, tries)
        pygame.display.flip()
        wait((job,), timeout=FRAME_S)
    return keys


def draw_progress(on: pygame.Surface, progress: LoadingProgress, part: float, pen: Pen, caption: Caption,
                  picture: pygame.Surface | None = None, tries: Sequence[Try] = ()) -> None:
    """Draw the scenario, what to try, and a bar that is `part` full; while `part` is 0, a light moves on the bar."""
    on.blit(_background(picture, on.get_size()), (0, 0))
    scale = scale_for(on.get_size())
    canvas = Canvas((on.get_width() / scale, on.get_height() / scale), pen, scale, None)
    width, height = canvas.size
    edge = 0.075 * width
    side = min(SIDE, width - 2 * edge)
    wide = min(width - 2 * edge - side - GAP, PICTURE)
    if picture and (times := int(wide * scale / picture.get_width())):  # sharp: each pixel becomes a square
        picture = pygame.transform.scale_by(picture, times)
        wide = picture.get_width() / scale
        edge = max(edge, (width - wide - GAP - side) / 2)
    high = wide * 9 / 16 if picture and wide >= LEAST_PICTURE else 0.0
    top = max(height / 2 - 22 - max(high, 313.0) / 2, 10.0)
    if picture and high:
        canvas.rect(EDGE, (edge - FRAME, top - FRAME, wide + 2 * FRAME, high + 2 * FRAME), radius=FRAME)
        canvas.picture(picture, (edge, top, wide, high))
    low = max(top + high + 42, height / 2 + 170) if high < 200 else top + high + 42
    # at the right what to try, and below it the bar
    left = width - edge - side
    canvas.left("While it gets ready", left, top + 10, LARGE, bold=True)
    canvas.left("three things to try", left, top + 33, NORMAL, DIM)
    top += 56
    for key, what, more, pressed in tries:
        if pressed:
            canvas.rect(TOUCHED, (left - 14, top, side + 14, ROW - 3), radius=8)
        canvas.key(key, left, top + 20, 20)
        canvas.left(canvas.fitted(what, side - 42), left + 42, top + 20, bold=True)
        canvas.left(canvas.fitted(more, side - 42), left + 42, top + 20 + LINE, NORMAL, ACCENT if pressed else DIM)
        top += ROW
    count = f"{min(progress.done + 1, progress.total)} of {progress.total}" if progress.total else ""
    end = canvas.right(count, left + side, top + 25, bold=True)
    canvas.left(canvas.fitted(progress.text, end - left - 10), left, top + 25, NORMAL, DIM)
    canvas.rect(EDGE, (left, top + 41, side, 7), radius=3.5)
    at, filled = (0.0, max(side * part, 7)) if part > 0 else ((side - 40) * abs(time.monotonic() % 2 - 1), 40.0)
    canvas.rect(ACCENT, (left + at, top + 41, filled, 7), radius=3.5)
    canvas.left(canvas.fitted(progress.how_often, side), left, top + 64, NORMAL, DIM)
    canvas.left(canvas.fitted(caption.name, width - 2 * edge, HUGE), edge, low, HUGE, bold=True)
    canvas.left(canvas.fitted(caption.sentence, width - 2 * edge, LARGE), edge, low + 38, LARGE, DIM)
    on.blit(canvas.surface, (0, 0))


@lru_cache(2)
def _background(picture: pygame.Surface | None, size: tuple[int, int]) -> pygame.Surface:
    ground = pygame.Surface(size)
    ground.fill(BACKGROUND)
    if picture:
        blurred = pygame.transform.smoothscale(pygame.transform.smoothscale(picture, BLUR), size)
        blurred.fill(SHADE, special_flags=pygame.BLEND_MULT)
        ground.blit(blurred, (0, 0), special_flags=pygame.BLEND_ADD)
    return ground
