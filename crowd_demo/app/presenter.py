"""What the main thread adds to the picture of the crowd (HUD, notices), and the window that shows it.

After a frame that took long the picture is kept as the worker has drawn it: while the next step lasts, what keys ask of
the window alone is drawn over that.

`status_of` and `moment_of` say what the HUD and the cards get of the program; they change nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import pygame

from crowd_demo.app.card.trial import Moment
from crowd_demo.app.program import Program
from crowd_demo.app.screen.window import save_picture, screen, set_mode
from crowd_demo.measure.proof import DrawnView
from crowd_demo.registry.texts import reason
from crowd_demo.render.hud.navigation import label
from crowd_demo.render.hud.sections import NUMBERS
from crowd_demo.render.hud.status import Hovered, MinimapView, Status
from crowd_demo.render.hud.text_panels import RAW

LONG_FRAME_MS = 30.0


class Presenter:
    """Draws over what the worker's thread has drawn, and presents it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        program.resize(screen().get_size())  # which a window manager may have chosen
        self._fullscreen = program.fullscreen
        self._picture: pygame.Surface | None = None  # the last one, without what is drawn over it, if the frame took long
        self.set_title()

    def present(self, hovered: Hovered | None) -> None:
        """Complete the picture, save it if that was requested, and show it."""
        profile = self.program.sim.profile
        with profile.stage("hud"):
            self._picture = screen().copy() if profile.frame_ms(1).max(initial=0) > LONG_FRAME_MS else None
            self._draw_hud(hovered)
        self.save_requested()
        with profile.stage("hud"):
            self.program.hud.draw_message()
        with profile.stage("flip"):
            pygame.display.flip()

    def answer(self, keys: Sequence[str]) -> None:
        """While a step takes long, show over the last picture what changes at once, and which keys come next."""
        self._picture = self._picture or screen().copy()  # the first time that it takes long there is an older HUD in it
        if self._picture.get_size() != screen().get_size():
            screen().fill("black")
        screen().blit(self._picture, (0, 0))
        self._draw_hud(None, [f"Queued: {', '.join(keys)} (applied after the current step)"] if keys else [])
        self.program.hud.draw_message()
        pygame.display.flip()

    def _draw_hud(self, hovered: Hovered | None, notices: Sequence[str] = ()) -> None:
        program, picture = self.program, screen()
        program.collect_news()
        status = status_of(program, hovered)
        status = status._replace(notices=[*status.notices, *notices])
        program.hud.draw(picture, program.sim, status, time.perf_counter())

    def save_requested(self) -> None:
        path, self.program.picture_path = self.program.picture_path, None
        if not path:
            return
        try:
            save_picture(screen(), path)
            self.program.notices.add(f"saved {path}")
        except OSError as error:
            self.program.notices.add(f"cannot save {path}: {reason(error)}")

    def fit_window(self) -> None:
        """Change to full screen or back, if that was requested, and follow the size of the window."""
        program = self.program
        if program.fullscreen != self._fullscreen:
            self._fullscreen = program.fullscreen
            program.resize(set_mode(program.window, self._fullscreen).get_size())
        self.follow_size()

    def follow_size(self) -> None:
        program, size, before = self.program, screen().get_size(), self.program.camera.size
        program.resize(size)
        if size != before and not self._fullscreen:
            program.window = program.window.model_copy(update={"width": size[0], "height": size[1]})
            program.preferences.change(size=size)

    def set_title(self, what: str = "") -> None:
        title = self.program.window.title
        pygame.display.set_caption(f"{title} - {what}" if what else title)


def status_of(program: Program, hovered: Hovered | None = None) -> Status:
    """Return what the HUD shows of the program in this frame; `hovered` is what the cursor rests on."""
    crowd, panels, techniques, scene = program.crowd, program.panels.now, program.techniques, program.crowd.scene
    notices, past = program.notices.present() if program.notices.shown else [], crowd.past()
    has_timeline, top = program.has_timeline, program.dialogs.top if program.dialogs.stack else None
    if crowd.in_past and not has_timeline:
        notices.append(label(past))
    return Status(
        paused=crowd.paused, speed=crowd.speed, caption=program.caption.present(),
        answer=program.answers.answer if not (program.guide.latest and program.guide.tour) else None,
        pending=techniques.switcher.pending, notices=notices,
        jobs=[*([techniques.switcher.job] if techniques.switcher.pending else []), *program.files.jobs],
        pointer=program.pointer.at if program.pointer.in_window else None,
        readings=program.cards.readings, touched=techniques.touched, clock=crowd.clock,
        past=past if has_timeline else None, panels=panels, ticks=techniques.ticks,
        view=top.view() if top else None, hovered=hovered, measured=program.measured,
        numbers=program.numbers.rows() if NUMBERS in panels.opened else (),
        tour=tour.view() if program.guide.latest and (tour := program.guide.tour) else None,
        card=program.cards.card() if program.cards.trial else None,
        legend_items=program.overlays.legend_items,
        legend=scene.legend() if scene else None,
        inspection=found._replace(is_open=RAW in panels.opened) if (found := program.inspector.found) else None,
        minimap=MinimapView(program.camera.view_rect(), program.overlays.frozen, scene.ground.small(scene.sim.terrain))
        if scene and program.minimap_shown else None,
        halves=program.split.halves, tools=program.tools.bar() if program.tools.shown else None,
        brush=program.tools.brush() if program.pointer.on_ground and not top else None,
        rings=program.tools.rings() if program.sim.forces.present else (),
        flow=program.tools.flow() if program.sim.counts.has_line else None)


def moment_of(program: Program, alpha: float) -> Moment:
    """Return what the cards have to know at the end of a frame's computation; `alpha` is the part of a step that is drawn."""
    camera, crowd, scene, frozen = program.camera, program.crowd, program.crowd.scene, program.overlays.frozen
    view_key = (camera.x, camera.y, camera.zoom, camera.size, frozenset(program.overlays.shown), program.seeing.colours,
                frozen, crowd.speed, crowd.paused)
    view = DrawnView(scene, camera, frozen, alpha) if scene else None
    return Moment(program.sim, view, view_key, crowd.paused, program.panels.now.hud == "off", program.techniques.switcher.busy,
                  program.techniques.deferred)
