"""The state of the program: its parts, what is open, and the actions that need more than one part.

An action's entry names the method that it calls (registry/actions.py). Changes of the crowd wait for the worker's
thread, which carries them out before its next step, so the window does not wait for a long step.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path

from crowd_demo.app import RunOptions
from crowd_demo.app.cards import Cards, Moment
from crowd_demo.app.controls import (
    ANSWER_KEYS,
    CrowdControls,
    Hawk,
    Numbers,
    Outcome,
    PanelControls,
    ShownAnswer,
    agents_of,
    outcome_of,
)
from crowd_demo.app.copying import Shown, copy, put_out
from crowd_demo.app.crowd import Crowd
from crowd_demo.app.dialog import Dialogs, Experiments, Question, TextDialog
from crowd_demo.app.files import LONG_S, CrowdFiles, ScenarioFiles
from crowd_demo.app.key_input import Keymap
from crowd_demo.app.menus import Menus, scenarios_menu, tours_menu
from crowd_demo.app.screen import Notices, Pointer, Preferences, ShownCaption, caption_of, set_mode
from crowd_demo.app.side_by_side import SideBySide
from crowd_demo.app.technique_controls import Switcher, Techniques
from crowd_demo.app.tool_controls import Tools, Undo
from crowd_demo.app.tools import HAND
from crowd_demo.app.tour import WINDOW, Guide
from crowd_demo.app.view_controls import CameraControls, Inspector, Overlays
from crowd_demo.config.keys import ACTIONS
from crowd_demo.config.model import CameraSettings, Config
from crowd_demo.config.resources import assets_folder
from crowd_demo.host.compiling.loading import Loaded
from crowd_demo.host.files import free_name
from crowd_demo.host.recording.recording import Player
from crowd_demo.host.report import save_last_second
from crowd_demo.host.system import ShutdownRequest
from crowd_demo.measure.proof import DrawnView
from crowd_demo.registry.texts import reason
from crowd_demo.render.camera import Camera, Docked
from crowd_demo.render.figures.sprites import load_manifest, state_colours
from crowd_demo.render.hud.hud import Hud
from crowd_demo.render.hud.navigation import label
from crowd_demo.render.hud.panel_layout import docked
from crowd_demo.render.hud.sections import NUMBERS
from crowd_demo.render.hud.status import Hovered, MinimapView, Status
from crowd_demo.render.hud.text_panels import RAW
from crowd_demo.sim.simulation import Simulation


class Program:
    """State of a run. The worker's thread uses `crowd` and `camera` while it computes a frame."""

    def __init__(self, config: Config, loaded: Loaded, options: RunOptions, quitting: ShutdownRequest | None = None,
                 preferences: Preferences | None = None, player: Player | None = None, rewind: bool = True) -> None:
        """With `rewind` what happens is remembered, as far as the configuration's memory for that goes."""
        self.config, self.config_name, self.remembers = config, options.config_name, rewind
        self.quitting = quitting or ShutdownRequest()
        self.preferences = preferences or Preferences()
        self.window = window = self.preferences.window(config.window)
        self.keymap, self.notices, self.caption = Keymap(config.keys), Notices(), ShownCaption()
        self.hud = Hud(self.keymap.shown, state_colours(load_manifest(assets_folder())))
        self.crowd = Crowd(config, loaded.sim, loaded.scene, config.time.rewind_mb if rewind else 0, self.notices,
                           player, unpaced=options.headless, stops_at_end=options.headless)
        self.controls, self.answers = CrowdControls(self.crowd, self.notices), ShownAnswer()
        self.panels = PanelControls(self.preferences, window, self.keymap, lambda: self.hud.is_wide, self.notices)
        self.timeline_shown, self.minimap_shown, self.fullscreen = True, False, window.fullscreen
        self.guide = Guide()
        self.camera = self._configured_view((window.width, window.height))
        self.pointer = Pointer((window.width / 2, window.height / 2))
        self.hawk = Hawk(self.crowd, self.camera, self.pointer, self.notices)
        self.undo = Undo(self.crowd, self.notices)
        self.tools = Tools(self.crowd, self.camera, self.pointer, self.undo, self.keymap, self.notices)
        self.techniques = Techniques(self.crowd, Switcher(loaded.ahead, loaded.compilers), self.notices)
        self.files = CrowdFiles(self.crowd, self.techniques, self.camera, self.notices)
        self.inspector = Inspector(self.crowd, self.camera)
        self.overlays = Overlays(self.crowd, self.camera, self.pointer, self.inspector, config.scene.overlays,
                                 lambda: not self.techniques.beginning, self.hud.uncovered, self.hud.covered)
        self.seeing = CameraControls(config, self.camera, self.crowd, self.techniques.switcher, self.notices,
                                     smooth=not options.headless)
        self.split = SideBySide(self.crowd, self.camera, self.techniques, self.notices)
        self.dialogs = Dialogs()
        self.menus = Menus(self.dialogs, self.crowd, self.techniques, self.panels, self.overlays, self.seeing,
                           self.keymap, self.hud.sections, self.act)
        self.numbers = Numbers(self.crowd, self.panels, self.dialogs, self.notices)
        self.scenario_files = ScenarioFiles(self.crowd, self.dialogs, self.keymap, self.notices, self._on_screen,
                                            self.config_name)
        self.measured: dict[str, str] = {}  # what the last measurement of a technique gave, by path
        self.cards = Cards(self.measured, on=not options.headless)
        self.experiments = Experiments(self.techniques, self.cards, self.dialogs, self.notices, self.config_name,
                                       self._on_screen, self.measured, self.keymap.bindings)
        self.leaves_at_once = bool(options.frames)  # on Esc, without a question
        self.picture_path: Path | None = None
        self.next_scenario: str | None = None  # the name or the path of a configuration that is to be opened

    def act(self, name: str, shifted: bool = False) -> None:
        """Do an action, as with Shift or not; a replay refuses those that change the crowd."""
        action = ACTIONS[name]
        if name in ANSWER_KEYS and name != "quit":
            self.answers.close()
        self.undo.begin_gesture()
        if action.changes and not self.crowd.takes_changes():
            return
        method, *arguments = action.shifted if shifted and action.shifted else action.do
        do = partial(attrgetter(str(method))(self), *arguments)
        if action.queued:
            self.crowd.apply(do)
        else:
            do()

    def take_over(self, previous: Program) -> None:
        """Take over window, panels, notices and tour of the program that is previous. Its recording ends."""
        self.files.take_over(previous.files)
        self.answers.runs = previous.answers.runs
        self.scenario_files.written = previous.scenario_files.written
        if previous.guide.tour:  # one that is over would keep the program in which it ended
            self.guide = previous.guide
        self.panels.now, self.timeline_shown = previous.panels.now, previous.timeline_shown
        self.resize(previous.camera.size)
        self._show_configured(self.camera)
        self.fullscreen, self.minimap_shown = previous.fullscreen, previous.minimap_shown
        self.tools.shown, self.tools.sizes_m = previous.tools.shown, previous.tools.sizes_m
        self.notices.take_over(previous.notices)
        self.sim.profile = previous.sim.profile.fresh()
        self.notices.drop("scenario")
        if tour := self.guide.tour:
            tour.arrived(self)
        else:
            self.show_caption()

    @property
    def running(self) -> bool:
        return not self.quitting.asked

    @property
    def sim(self) -> Simulation:
        return self.crowd.sim

    @property
    def outcome(self) -> Outcome | None:
        """The result of the scenario, if it asks a question."""
        return outcome_of(self.sim) if any(event.end for event in self.sim.config.events) else None

    def tell_changes(self) -> None:
        """Tell the parts what was done to the crowd in this frame. Call from the thread that makes the steps, after them."""
        changed, self.crowd.changed = self.crowd.changed, []
        for change in changed:
            self.techniques.crowd_changed(change)
            self.split.crowd_changed(change)
            self.cards.crowd_changed(change)

    def collect_news(self) -> None:
        """Take up what the parts have found out since the last frame: files that were written, and the meters' readings."""
        self.files.news()
        self.preferences.save(time.monotonic())
        while self.preferences.news:
            self.notices.add(self.preferences.news.pop(0))
        if line := self.crowd.timeline.check.result_line(self.sim.dt):
            self.notices.add(line, "replayed", LONG_S)
        if self.sim.config.events:
            self.answers.look(self.sim, self.config_name, self.keymap)
        self.cards.readings = self.crowd.meters.readings(self.sim)

    def toggle(self, flag: str) -> None:
        setattr(self, flag, not getattr(self, flag))

    def toggle_fullscreen(self) -> None:
        self.fullscreen = not self.fullscreen
        self.resize(set_mode(self.window, self.fullscreen).get_size())

    def show_caption(self) -> None:
        self.caption.show(caption_of(self.config_name, self.keymap))

    # --- what is open ------------------------------------------------------------------------------------------------

    def open_scenarios(self) -> None:
        self.dialogs.open(scenarios_menu(self.open_scenario, self.config_name, self.camera.size[0]))

    def open_scenario(self, name: str) -> None:
        """Open another configuration in this window, a name or a path; until it is ready this one goes on."""
        self.scenario_files.before_losing(f"Open {name}?", partial(setattr, self, "next_scenario", name),
                                          partial(self.cannot_open, f"{name} was not opened"))

    def load(self) -> None:
        self.scenario_files.before_losing("Load the last save?", partial(self.crowd.apply, self.files.load_newest))

    def cannot_open(self, why: str) -> None:
        self.notices.add(why, "scenario")
        if (tour := self.guide.tour) and tour.opening:
            tour.over = True

    def type_agents(self) -> None:
        self.dialogs.open(TextDialog(f"Agents, now {self.crowd.agents_asked:,}",
                                       lambda text: self.controls.populate(agents_of(text))))

    def export(self) -> None:
        """Export the last seconds as a page; or ask whether to cancel the one that is being made."""
        if page := self.files.exporting:
            answers = "cancel it", "go on"
            self.dialogs.open(Question(f"Cancel the export of {page.page}?", answers, page.cancel, esc_stays=True))
        else:
            self.files.export()

    def open_tours(self) -> None:
        if self.guide.tour:
            self.guide.tour.end()
        else:
            self.dialogs.open(tours_menu(partial(self.guide.begin, program=self)))

    def show_card(self) -> None:
        if not self.cards.toggle():
            self.notices.add("no card yet: press the key of a technique while panels are shown", "card",
                             holds=lambda: not self.cards.trial)

    def close_or_quit(self) -> None:
        """Close what is open, the inspector too, and put a tool away; then ask before leaving."""
        if self.dialogs.press("escape", False) or self.controls.stop_populating() or self.answers.close():
            return
        if not self.tools.is_hand:
            self.tools.take(HAND.name)
        elif self.inspector.active:
            self.inspector.stop()
        elif self.leaves_at_once:
            self.quitting.ask()
        elif self.scenario_files.has_unsaved:
            self.close_window()
        else:
            self.dialogs.open(Question("Leave crowd-demo?", ("leave", "go on"), self.quitting.ask))

    def close_window(self) -> None:
        """Leave; if something was built that no file holds ask before, but only once."""
        if self.leaves_at_once or self.scenario_files.is_asking:
            self.quitting.ask()
        else:
            self.scenario_files.before_losing("Leave crowd-demo?", self.quitting.ask)

    # --- the view ----------------------------------------------------------------------------------------------------

    def show(self, settings: CameraSettings, window: tuple[int, int] | None = None) -> None:
        """Show what a configuration's camera would; what that leaves out is as if the world were fitted.

        A zoom that is meant for a window of another size is changed so that the same is seen in this one.
        """
        if window and settings.zoom:
            factor = min(now / meant for now, meant in zip(self.camera.size, window, strict=True))
            settings = settings.model_copy(update={"zoom": settings.zoom * factor})
        self.camera.fit()
        self.camera.show(settings)

    def resize(self, size: tuple[int, int]) -> None:
        """Follow the size of the window: a fitted world fits again, any other view keeps its zoom."""
        before = self.camera.size
        self.camera.resize(size, self._docked(size))
        if size != before and (tour := self.guide.tour):
            tour.show_view()

    def _configured_view(self, size: tuple[int, int]) -> Camera:
        """A camera that shows what the configuration says in a window of that size."""
        walls = self.sim.terrain.walls
        camera = Camera((float(walls.width), float(walls.height)), size, self._docked(size))
        self._show_configured(camera)
        return camera

    def _show_configured(self, camera: Camera) -> None:
        """Show what the configuration says; a zoom that fills a usual window is larger where it would not fill this one."""
        camera.fit()
        camera.show(self.config.camera)
        zoom, (width, height) = self.config.camera.zoom, camera.world
        if zoom and zoom >= max(WINDOW[0] / width, WINDOW[1] / height):
            camera.look_at(camera.x, camera.y, max(zoom, camera.size[0] / width, camera.size[1] / height))

    def _docked(self, size: tuple[int, int]) -> Docked:
        """What panels cover there, beside which a world with a map is shown; any other is shown behind them."""
        return docked(size, self.panels.now, self.has_timeline) if self.config.map else Docked()

    @property
    def has_timeline(self) -> bool:
        return self.timeline_shown and self.panels.now.hud != "off" and self.crowd.timeline.keyframes.bound > 0

    # --- what is on the screen, for others ---------------------------------------------------------------------------

    def ask_picture(self) -> None:
        self.picture_path = free_name(Path(), ".png")

    def copy(self, as_yaml: bool = False) -> None:
        """Put the command that shows what is on the screen on the clipboard and into the terminal; or the YAML."""
        shown, name = self.scenario_files.named(self._on_screen(), self.config_name)
        text, about = copy(shown, name, as_yaml)
        about += f" ({shown.unsaved})" if shown.unsaved else ""
        self.notices.add(f"{'copied' if put_out(text) else 'in the terminal'}: {about}", "copy")

    def save_slow_frames(self) -> None:
        try:
            self.notices.add(save_last_second(self.sim.profile, Path()), "slow frames")
        except (OSError, ValueError) as error:
            self.notices.add(f"cannot save the last second: {reason(error)}", "slow frames")

    def _on_screen(self) -> Shown:
        return Shown(self.config, self.sim, self.camera, self._configured_view(self.camera.size), self.techniques.asked(),
                     self.crowd.agents_asked, self.crowd.speed, self.fullscreen,
                     self.panels.now.hud.replace("right", "full"),
                     self.overlays.frozen is not None, self.seeing.colours, self.overlays.at_first)

    # --- what the HUD and the cards show -----------------------------------------------------------------------------

    def status(self, hovered: Hovered | None = None, more_notices: Sequence[str] = ()) -> Status:
        """Return what the HUD shows of the program in this frame; `hovered` is what the cursor rests on."""
        crowd, panels, techniques, scene = self.crowd, self.panels.now, self.techniques, self.crowd.scene
        notices, past = self.notices.present() if self.notices.shown else [], crowd.past()
        has_timeline, top = self.has_timeline, self.dialogs.top if self.dialogs.stack else None
        if crowd.in_past and not has_timeline:
            notices.append(label(past))
        return Status(
            paused=crowd.paused, speed=crowd.speed, caption=self.caption.present(),
            answer=self.answers.answer if not (self.guide.latest and self.guide.tour) else None,
            pending=techniques.switcher.pending, notices=[*notices, *more_notices],
            jobs=[*([techniques.switcher.job] if techniques.switcher.pending else []), *self.files.jobs],
            pointer=self.pointer.at if self.pointer.in_window else None,
            readings=self.cards.readings, touched=techniques.touched, steps_per_s=crowd.rate.per_s,
            real_speed=None if crowd.paused or crowd.unpaced else crowd.rate.real_speed(crowd.speed, crowd.sim.dt),
            tick=crowd.sim.tick, time_s=crowd.sim.tick * crowd.sim.dt,
            past=past if has_timeline else None, panels=panels, ticks=techniques.ticks,
            view=top.view() if top else None, hovered=hovered, measured=self.measured,
            numbers=self.numbers.rows() if NUMBERS in panels.opened else (),
            tour=tour.view() if self.guide.latest and (tour := self.guide.tour) else None,
            card=self.cards.card() if self.cards.trial else None,
            legend_items=self.overlays.legend_items,
            legend=scene.legend() if scene else None,
            inspection=found._replace(is_open=RAW in panels.opened) if (found := self.inspector.found) else None,
            minimap=MinimapView(self.camera.view_rect(), self.overlays.frozen, scene.ground.small(scene.sim.terrain))
            if scene and self.minimap_shown else None,
            halves=self.split.halves, tools=self.tools.bar() if self.tools.shown else None,
            brush=self.tools.brush() if self.pointer.on_ground and not top else None,
            rings=self.tools.rings() if self.sim.forces.present else (),
            flow=self.tools.flow() if self.sim.counts.has_line else None)

    def moment(self, alpha: float) -> Moment:
        """Return what the cards need at the end of a frame's computation; `alpha` is the part of a step that is drawn."""
        camera, crowd, scene, frozen = self.camera, self.crowd, self.crowd.scene, self.overlays.frozen
        view_key = (camera.x, camera.y, camera.zoom, camera.size, frozenset(self.overlays.shown), self.seeing.colours,
                    frozen, crowd.speed, crowd.paused)
        view = DrawnView(scene, camera, frozen, alpha) if scene else None
        return Moment(self.sim, view, view_key, crowd.paused, self.panels.now.hud == "off", self.techniques.switcher.busy,
                      self.techniques.deferred)
