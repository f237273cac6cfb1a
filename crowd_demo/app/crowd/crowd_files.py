"""The files of the crowd that is shown: what is saved of it, loaded and recorded, in the working folder."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import Future, wait
from functools import partial
from pathlib import Path
from shlex import quote

from crowd_demo.app.crowd.crowd import Crowd, agents_at_start
from crowd_demo.app.crowd.technique_controls import Techniques
from crowd_demo.app.screen.notices import Notices
from crowd_demo.host.child import ONE_THREAD, start
from crowd_demo.host.files import free_name
from crowd_demo.host.recording.recording import Recording, write_clip
from crowd_demo.host.recording.saves import SUFFIX, Save, newest, read_save, write_save
from crowd_demo.host.system import beside_frames, in_thread, lower_priority
from crowd_demo.registry.texts import error_line, reason
from crowd_demo.render.camera import Camera
from crowd_demo.render.hud.status import RunningJob
from crowd_demo.sim.save_format import SaveError
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot, differences, same_world

RECORDING_SUFFIX, PAGE_SUFFIX = ".replay", ".html"
LONG_S = 8.0  # to read a command
MAX_AT_ONCE = 2  # save files that are being written or wait for that
EXPORTED_S = 30.0  # of the past that becomes a page
EXPORTER = "crowd_demo.extras.commands.export"  # which reads what is written here, and must not be imported: it lies above


def replay_command(path: Path) -> str:
    return f"crowd-demo replay {quote(path.as_posix())}"


class PageExport:
    """A process that makes a page of a recording, which is written for it, in the background. Both stay, or none.

    `progress` is its last line; afterwards `error` says what went wrong, if anything did.
    """

    def __init__(self, page: Path, first: Snapshot, last: Snapshot) -> None:
        self.page, self.recording = page, page.with_suffix(RECORDING_SUFFIX)
        self.progress, self.error, self.cancelled = "0%", "", False
        self._process: subprocess.Popen[str] | None = None
        self.job = in_thread(partial(self._make, first, last), "crowd-demo export")

    def cancel(self) -> None:
        self.cancelled = True
        if self._process and self._process.stdin:
            self._process.stdin.close()

    def _make(self, first: Snapshot, last: Snapshot) -> None:
        lower_priority()
        try:
            write_clip(self.recording, first, last)
            self._follow(start(EXPORTER, str(self.recording), str(self.page), env={**os.environ, **ONE_THREAD},
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
        except OSError as error:
            self.error = reason(error)
        if self.error or self.cancelled:
            for path in (self.page, self.recording):
                path.unlink(missing_ok=True)

    def _follow(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert process.stdin and process.stdout
        if self.cancelled:
            self.cancel()
        with process.stdout:
            for line in process.stdout:
                self.progress = line.strip()
        if process.wait() and not self.cancelled:
            self.error = "its process has ended" if self.progress.endswith("%") else self.progress
        process.stdin.close()


class CrowdFiles:
    """`broken` is the last recording that could not be completed."""

    def __init__(self, crowd: Crowd, techniques: Techniques, camera: Camera, notices: Notices) -> None:
        self.broken: Recording | None = None
        self._crowd, self._techniques, self._camera, self._notices = crowd, techniques, camera, notices
        self._writer = beside_frames()
        self._saving: dict[Path, Future[None]] = {}
        self.exporting: PageExport | None = None
        self._ended: dict[Recording, str] = {}  # recordings of which not all is written, and what is said of each then

    def news(self) -> None:
        """Show which files were written since the last call, and which could not be."""
        if (present := self._crowd.recording) and present.error:
            self._ended[present] = ""
            self._crowd.recording = None
        for recording in [each for each in self._ended if each.error or each.is_written]:
            said = self._ended.pop(recording)
            if recording.error:
                self._notices.add(f"the recording ends: {recording.error}", "record")
                self.broken = recording
            else:
                path = recording.path
                self._notices.add(f"{said} {path}. Replay it: {replay_command(path)}", "record", LONG_S)
        if self.exporting:
            self._tell_export(self.exporting)
        for path in [path for path, job in list(self._saving.items()) if job.done()]:
            error = self._saving.pop(path).exception()
            self._notices.add(f"cannot save {path}: {reason(error)}" if error else f"saved {path}")

    def finish(self, timeout_s: float) -> None:
        """End the recording and wait until it is written, and at most so long for what is being saved; cancel the page."""
        self.close_recording()
        if self.exporting:
            self.exporting.cancel()
            wait((self.exporting.job,), timeout_s)
        for recording in self._ended:
            recording.wait()
        wait(self._saving.values(), timeout_s)
        self.news()

    def take_over(self, left: CrowdFiles) -> None:
        """Take over the files that another program is still writing, once it has left its recording."""
        self._writer, self._saving, self._ended = left._writer, left._saving, left._ended
        self.broken, self.exporting = left.broken, left.exporting

    # --- recordings --------------------------------------------------------------------------------------------------

    def start_recording(self, path: Path) -> None:
        """Record from now on. Raises OSError."""
        self._crowd.begin_new_future()
        self._crowd.recording = Recording(path, self._crowd.sim)

    def close_recording(self, crash: str = "", said: str = "recorded") -> None:
        """End the recording at the present tick, which may be in the past, or with a crash; `news` says when it is written."""
        if recording := self._crowd.recording:
            self._crowd.begin_new_future()
            recording.end(self._crowd.sim, crash)
            self._ended[recording] = said
            self._crowd.recording = None

    def crashed(self, error: BaseException) -> None:
        """End the recording with the step that crashed, and name the file in a note of the error."""
        if recording := self._crowd.recording:
            self.close_recording(error_line(error)[:200])
            recording.wait()
            error.add_note(f"{replay_command(recording.path)} leads there again")

    def toggle_recording(self) -> None:
        try:
            if self._crowd.recording:
                self.close_recording()
            else:
                path = free_name(Path(), RECORDING_SUFFIX)
                self.start_recording(path)
                recording = self._crowd.recording
                self._notices.add(f"recording {path}", "record", holds=lambda: self._crowd.recording is recording)
        except OSError as error:
            self._notices.add(f"cannot record: {reason(error)}", "record")

    # --- pages -------------------------------------------------------------------------------------------------------

    @property
    def jobs(self) -> list[RunningJob]:
        """The page that is being made."""
        export = self.exporting
        return [RunningJob(f"exporting {export.page}", float(export.progress.rstrip("%")) / 100, export.progress)
                ] if export and export.progress.endswith("%") else []

    def export(self) -> None:
        """Begin a page of the last seconds before the present tick."""
        crowd, sim = self._crowd, self._crowd.sim
        begin = max(sim.tick - round(EXPORTED_S * sim.config.time.step_hz), crowd.timeline.oldest)
        first = crowd.timeline.keyframes.before(begin)
        if not first or first.tick == sim.tick:
            self._notices.add("there is no past yet that could become a page" if first else
                              "no past is kept of this crowd that could become a page: time.rewind_mb", "export")
            return
        scene = first.config.scene.model_copy(update={"colours": crowd.scene.colours} if crowd.scene else {})
        config = first.config.model_copy(update={"camera": self._camera.settings(), "scene": scene})
        recordings = [path.with_suffix(PAGE_SUFFIX) for path in Path().glob(f"*{RECORDING_SUFFIX}")]
        page = free_name(Path(), PAGE_SUFFIX, taken=recordings)
        self.exporting = PageExport(page, first._replace(config=config), sim.snapshot())

    def _tell_export(self, export: PageExport) -> None:
        if not export.job.done():
            return
        self.exporting = None
        if export.cancelled:
            self._notices.add(f"cancelled: {export.page} is not written", "export")
        elif export.error:
            self._notices.add(f"cannot export: {export.error}", "export", LONG_S)
        else:
            size = f"{export.page.stat().st_size / 1e6:,.1f} MB"
            said = f"exported {export.page}, {size} ({export.recording} reproduces it)"
            self._notices.add(said, "export", LONG_S)

    # --- saves -------------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Save under a free name, in the background; block while `MAX_AT_ONCE` are unfinished, as each holds its snapshot."""
        unfinished = [path for path, job in list(self._saving.items()) if not job.done()]
        if len(unfinished) == MAX_AT_ONCE:
            wait(self._saving.values())
        path = free_name(Path(), SUFFIX, taken=unfinished)
        snapshot = self._crowd.sim.snapshot()
        config = snapshot.config.model_copy(update={"camera": self._camera.settings()})
        techniques = {**snapshot.techniques, **self._techniques.switcher.pending}  # what is being compiled is asked for, too
        edits, kept = self._crowd.edits, self._crowd.kept_edits
        job = self._writer.submit(write_save, path, snapshot._replace(config=config, techniques=techniques))
        self._saving[path] = job
        job.add_done_callback(lambda job: None if job.exception() else kept.append(edits))

    def load_newest(self) -> None:
        """Go on with the crowd that was saved last. Call from the worker's thread."""
        wait(self._saving.values())
        try:
            path = newest(Path())
            if not path:
                self._notices.add(f"there is no *{SUFFIX} file in {Path.cwd()}", "load")
                return
            crowd, saved = self._crowd, Save(path, read_save(path))
            config, left = saved.snapshot.config, crowd.sim.tick
            if not same_world(crowd.config, config):
                raise SaveError(f"{path}: was saved in another world: use crowd-demo --load")
            sim = Simulation(config) if differences(crowd.sim.config, config) else crowd.sim
            saved.restore(sim)
            crowd.go_on_with(sim, left)
            crowd.agents_asked = agents_at_start(sim)
            crowd.kept_edits.append(crowd.edits)
            self._notices.add(f"loaded {path}", "load")
        except (SaveError, OSError) as error:
            self._notices.add(str(error), "load")
