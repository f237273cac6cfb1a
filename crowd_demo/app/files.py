"""The files of the working folder: saves, recordings and pages of the crowd, and scenarios.

The current scenario is saved as NAME.yaml, and as NAME.map if no shipped map has the same tiles; NAME.png is its
picture in menus. The files have the
edited scenario at its start, which is what a restart begins with: walls that were built and torn down by hand, destinations,
exits, forces that stay, numbers, techniques, the number of agents and the view. What events did is left out: it happens
again. Before something is done that would lose what was built, the user is asked, unless a file holds it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import ExitStack, suppress
from functools import partial
from itertools import count
from pathlib import Path
from shlex import quote

import numpy as np
import pygame

from crowd_demo.app.copying import Shown, effective, yaml_of
from crowd_demo.app.crowd import Crowd
from crowd_demo.app.dialog import MAX_TYPED, Dialogs, Question, TextDialog
from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen import NOTICE_S, Notices, png_of
from crowd_demo.app.technique_controls import Techniques
from crowd_demo.config.behaviours import PeopleSettings
from crowd_demo.config.events import MAX_EVENTS, ScenarioEvent
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.maps import octile_of
from crowd_demo.config.resources import list_configs, list_maps
from crowd_demo.host.child import ONE_THREAD, start
from crowd_demo.host.files import free_name, replacing, why_unwritable
from crowd_demo.host.recording.format import SUFFIX, Save, newest, read_save, write_save
from crowd_demo.host.recording.recording import Recording, write_clip
from crowd_demo.host.system import beside_frames, in_thread, lower_priority
from crowd_demo.registry.texts import error_line, printable, reason
from crowd_demo.render.camera import Camera
from crowd_demo.render.hud.status import RunningJob
from crowd_demo.render.hud.views import KEPT as PICTURE
from crowd_demo.render.hud.views import loaded_picture
from crowd_demo.sim.actions import Action
from crowd_demo.sim.edits import PutForce
from crowd_demo.sim.save_format import SaveError
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot, same_world
from crowd_demo.sprites.pixels import plain_surface

RECORDING_SUFFIX, PAGE_SUFFIX = ".replay", ".html"
MAX_AT_ONCE = 2  # save files that are being written or wait for that
EXPORTED_S = 30.0  # of the past that becomes a page
EXPORTER = "crowd_demo.extras.commands.export"  # which reads what is written here, and must not be imported: it lies above
FOLDER = Path("configs")  # of the working folder: its scenarios are in the menu
NAME = "[A-Za-z0-9][A-Za-z0-9_-]*"
SUFFIXES = (".yaml", ".map", ".png")
LONG_S = 8.0  # to read a command
TITLE = "Save as a scenario named"


def replay_command(path: Path) -> str:
    return f"crowd-demo replay {quote(path.as_posix())}"


class PageExport:
    """A process that makes a page of a recording, which is written for it, in the background. Both stay, or none.

    `progress` is its last line.
    """

    def __init__(self, page: Path, first: Snapshot, last: Snapshot) -> None:
        self.page, self.recording = page, page.with_suffix(RECORDING_SUFFIX)
        self.progress, self.cancelled, self._error = "0%", False, ""
        self._files = self.page.absolute(), self.recording.absolute()
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
            with start(EXPORTER, str(self.recording), str(self.page), env={**os.environ, **ONE_THREAD},
                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as self._process:
                if self.cancelled:
                    self.cancel()
                for line in self._process.stdout or ():
                    self.progress = line.strip()
                if self._process.wait():
                    self._error = "its process has ended" if self.progress.endswith("%") else self.progress
        except OSError as error:
            self._error = reason(error)
        if self._error or self.cancelled:
            for path in self._files:
                path.unlink(missing_ok=True)

    def outcome(self) -> str:
        """Return what came of it, once its job is done."""
        if self.cancelled:
            return f"cancelled: {self.page} is not written"
        if self._error:
            return f"cannot export: {self._error}"
        return f"exported {self.page}, {self.page.stat().st_size / 1e6:,.1f} MB ({self.recording} reproduces it)"


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
                self._notices.add(f"{said} {recording.path}. Replay it: {replay_command(recording.path)}", "record", LONG_S)
        if (export := self.exporting) and export.job.done():
            self.exporting = None
            self._notices.add(export.outcome(), "export", NOTICE_S if export.cancelled else LONG_S)
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
        """The export that is running, as a row of jobs; none if there is none."""
        export = self.exporting
        return [RunningJob(f"exporting {export.page}", float(export.progress.rstrip("%")) / 100, export.progress)
                ] if export and export.progress.endswith("%") else []

    def export(self) -> None:
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
            if not same_world(crowd.config, saved.snapshot.config):
                raise SaveError(f"{path}: was saved in another world: use crowd-demo --load")
            crowd.bring_back(saved.snapshot, saved.restore, crowd.left_behind(f"load of {path}"))
            crowd.kept_edits.append(crowd.edits)
            self._notices.add(f"loaded {path}", "load")
        except (SaveError, OSError) as error:
            self._notices.add(str(error), "load")


# --- scenarios -------------------------------------------------------------------------------------------------------

class ScenarioFiles:
    """Files that this run has written are replaced without a question; all others only after one."""

    def __init__(self, crowd: Crowd, dialogs: Dialogs, keymap: Keymap, notices: Notices, on_screen: Callable[[], Shown],
                 opened: str | None) -> None:
        """`opened` is the name of the present configuration."""
        self._crowd, self._dialogs, self._keymap, self._notices = crowd, dialogs, keymap, notices
        self._on_screen = on_screen
        self._opened = Path(opened or "crowd").stem
        self.written: dict[Path, tuple[Action, ...]] = {}  # by the name of the YAML file: what was built
        self._given_up: tuple[Action, ...] = ()
        self._question: Question | None = None
        self._typing: TextDialog | None = None
        self._confirmed = ""  # the name whose files may be replaced

    # --- what would be lost ------------------------------------------------------------------------------------------

    @property
    def has_unsaved(self) -> bool:
        """Return whether there are edits that no file holds. That of a replay is in its recording."""
        edits = () if self._crowd.player else self._crowd.edits
        return bool(edits) and edits not in self._crowd.kept_edits

    @property
    def built_meanwhile(self) -> bool:
        """Return whether something was built since the user agreed to lose what there was."""
        return self.has_unsaved and self._crowd.edits != self._given_up

    @property
    def is_asking(self) -> bool:
        return self._question is not None and not self._question.closed

    def before_losing(self, question: str, then: Callable[[], object], otherwise: Callable[[], object] = lambda: None) -> None:
        """Do what loses all that was built; if no file holds it, ask before that, and do the other thing unless they agree."""
        if not self.has_unsaved:
            then()
            return
        self._question = Question(f"{question} What was built is not saved", ("discard it", "go back"),
                                  partial(self._give_up, then), otherwise, esc_stays=True,
                                  notes=(f"{self._save_key} saves it",))
        self._dialogs.open(self._question)

    def _give_up(self, then: Callable[[], object]) -> None:
        self._given_up = self._crowd.edits
        then()

    @property
    def _save_key(self) -> str:
        return self._keymap.key("save_scenario") or "saving as a scenario"

    # --- saving ------------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Let the user type a name, beginning with one that is free; the second time, take the one that is shown."""
        if self._question:
            self._question.close()
        if self._typing and not self._typing.closed:
            self._typing.press("return", False)
            return
        self._confirmed = ""
        name = re.sub("[^A-Za-z0-9_-]+|-[0-9]+$", "", self._opened).lstrip("-_")[:MAX_TYPED - 5] or "crowd"
        # the file of this run that was written last, if it is the scenario that is shown; or else a free name
        own = [path.stem for path in list(self.written)[-1:]
               if re.fullmatch(rf"{re.escape(name)}(-[0-9]+)?", path.stem)]
        numbered = (f"{name}-{number}" for number in count(1))
        free = (each for each in numbered if not any(map(os.path.lexists, files_of(each))))
        self._typing = TextDialog(TITLE, self._use, own[0] if own else next(free))
        self._dialogs.open(self._typing)

    def _use(self, name: str) -> None:
        """Save under a name. Raises ValueError, in one line, for one that cannot be, or not without asking."""
        if not re.fullmatch(NAME, name):
            raise ValueError("a name is made of letters, digits, - and _")
        if name in list_configs():
            raise ValueError(f"{name} is a shipped scenario: take another name")
        paths = files_of(name)
        with suppress(OSError):  # `why_unwritable` says why
            FOLDER.mkdir(exist_ok=True)
        if why := next(filter(None, map(why_unwritable, paths)), None):
            raise ValueError(why)
        foreign = [] if paths[0] in self.written else [path for path in paths if os.path.lexists(path)]
        if foreign and self._confirmed != name:
            self._confirmed = name
            raise ValueError(f"{foreign[0]} exists: Enter again replaces it")
        self._crowd.apply(partial(self._write, paths[0]))

    def _write(self, path: Path) -> None:
        """Write the files. Call from the thread that makes the steps, between two of them."""
        crowd, edits = self._crowd, self._crowd.edits
        try:
            about = f"saved from {self._opened}" + ", with what was built there" * bool(edits)
            files = texts_of(path, self._on_screen(), crowd.at_its_start(0), about, bool(edits))
            drawn: dict[Path, str | bytes] = {}
            if crowd.scene:  # the present view without panels
                shown, camera = pygame.Rect(0, 0, *PICTURE), self._on_screen().camera
                surface = plain_surface(camera.size)
                crowd.sim.prepare_picture()
                crowd.scene.draw(surface, camera)
                part = surface.subsurface(shown.fit(surface.get_rect()))
                drawn[path.with_suffix(".png")] = png_of(pygame.transform.smoothscale(part, PICTURE))
            write_together(files | drawn)
            loaded_picture.cache_clear()
        except (OSError, ValueError) as error:
            self._notices.add(f"cannot save {path}: {reason(error)}", "scenario file", LONG_S)
            return
        self.written.pop(path, None)
        self.written[path] = edits
        crowd.kept_edits.append(edits)
        names = " and ".join(map(str, sorted(files, reverse=True)))
        how = f"{self._keymap.key('scenarios')} or crowd-demo --config {path.as_posix()}"
        self._notices.add(f"saved {names}. Open it: {how}", "scenario file", LONG_S)

    # --- for the command ---------------------------------------------------------------------------------------------

    def named(self, shown: Shown, name: str | None) -> tuple[Shown, str | None]:
        """Return what is shown, and the file that contains all edits; without one, the opened file and a warning."""
        if not (edits := self._crowd.edits):
            return shown, name
        for path, held in self.written.items():
            if held == edits:
                try:
                    read = load_config(path)
                    held_there: dict[str, object] = {"map": read.map, "events": read.events}
                    if isinstance(people := shown.config.behaviour_settings, PeopleSettings):
                        held_there["crowd"] = people.model_copy(update={"exits": read.crowd.exits})
                    return shown._replace(config=shown.config.model_copy(update=held_there)), str(path)
                except ConfigError:  # it was changed since
                    continue
        unsaved = f"unsaved edits are not in this: {self._save_key} saves a file that holds it"
        return shown._replace(unsaved=unsaved), name


def files_of(name: str) -> tuple[Path, ...]:
    """Return the paths of a scenario: those of its YAML, its map and its picture."""
    return tuple(FOLDER / f"{name}{suffix}" for suffix in SUFFIXES)


def texts_of(path: Path, shown: Shown, start: Simulation, about: str, was_built: bool) -> dict[Path, str | bytes]:
    """Return the texts of the files that make a scenario begin as `start` does, in which there are no agents yet.

    `about` is what menus say of it. Whatever actions with `lasts` change must be in one of them: destinations are in
    the map, exits first, forces are events of tick 0, everything else is in `config`. Raises ValueError, in one line.
    """
    config, map_path = effective(shown._replace(sim=start)), path.with_suffix(".map")
    tiles = start.terrain.as_map(path.stem)
    if was_built and (ways := start.ways):  # number the destinations without gaps, exits first
        numbers = np.unique(tiles.marks[tiles.marks >= 0]).tolist()
        order = sorted(numbers, key=lambda number: (number not in ways.exits, number))
        if order != list(range(len(order))) and any(event.do.send for event in config.events):
            raise ValueError("events send people to destinations by number, and these would get other numbers: let the"
                             " first ones stay, and be the exits")
        marks = tiles.marks.copy()
        for new, number in enumerate(order):
            marks[tiles.marks == number] = new
        tiles = tiles._replace(marks=marks)
        people = config.crowd.model_copy(update={"exits": sum(number in ways.exits for number in order)})
        config = config.model_copy(update={"crowd": people})
    if forces := [ScenarioEvent.model_validate({"tick": 0, "do": {put.kind: {
            "at": (put.x, put.y), "radius": put.radius, "strength": put.strength}}})
            for _, put in start.history if isinstance(put, PutForce)]:
        config = config.model_copy(update={"events": (*forces, *config.events)})
    if len(config.events) > MAX_EVENTS:
        raise ValueError(f"its forces and events are too many: {len(config.events)}, at most {MAX_EVENTS}")
    files: dict[Path, str | bytes] = {}
    if was_built or config.map not in (None, *list_maps()):
        files[map_path] = octile_of(tiles)
        config = config.model_copy(update={"map": map_path.name})
        if (origin := start.terrain.origin) and config.behaviour == "playback":  # a map of tiles does not say where it is
            config = config.model_copy(update={
                "playback": config.playback.model_copy(update={"corner": (origin.x, origin.y)}),
                "world": config.world.model_copy(update={"y_axis": "up" if origin.up else "down"})})
    return {path: f"# {printable(about)}\n{yaml_of(config)}", **files}


def write_together(files: Mapping[Path, str | bytes]) -> None:
    """Write files, all of them or none, the first one last. Raises OSError."""
    with ExitStack() as stack:
        for path, text in files.items():
            stack.enter_context(replacing(path)).write_bytes(text.encode() if isinstance(text, str) else text)
