"""What the program tells those who do not know it: the HUD and the cards. Reading it changes nothing."""

from __future__ import annotations

from crowd_demo.app.card.trial import Moment
from crowd_demo.app.program import Program
from crowd_demo.measure.proof import DrawnView
from crowd_demo.render.hud.navigation import label
from crowd_demo.render.hud.status import Hovered, MinimapView, Status


def status_of(program: Program, hovered: Hovered | None = None) -> Status:
    """Return what the HUD shows of the program in this frame; `hovered` is what the cursor rests on."""
    crowd, looks, techniques, scene = program.crowd, program.looks.now, program.techniques, program.crowd.scene
    notices, past = program.notices.present(), crowd.past()
    if techniques.switcher.pending:
        notices.append(techniques.switcher.text or "compiling")
    has_timeline = program.has_timeline
    if crowd.rewind.in_past and not has_timeline:
        notices.append(label(past))
    return Status(
        paused=program.time.paused, speed=program.time.speed, pending=techniques.switcher.pending, notices=notices,
        readings=program.cards.readings, touched=techniques.touched, clock=program.time.clock,
        past=past if has_timeline else None, panels=looks, ticks=techniques.ticks,
        view=program.dialogs.top.view() if program.dialogs.top else None, hovered=hovered, measured=program.measured,
        tour=program.guide.view(program), card=program.cards.card(), legend_items=program.overlays.legend_items,
        legend=scene.legend() if scene else None, inspection=program.inspector.found,
        minimap=MinimapView(program.camera.view_rect(), program.overlays.frozen, scene.ground.small(scene.sim.terrain))
        if scene and program.minimap_shown else None)


def moment_of(program: Program, alpha: float) -> Moment:
    """Return what the cards have to know at the end of a frame's computation; `alpha` is the part of a step that is drawn."""
    camera, time, scene, frozen = program.camera, program.time, program.crowd.scene, program.overlays.frozen
    view_key = (camera.x, camera.y, camera.zoom, camera.size, frozenset(program.overlays.shown), program.seeing.colours,
                frozen, time.speed, time.paused)
    view = DrawnView(scene, camera, frozen, alpha) if scene else None
    return Moment(program.sim, view, view_key, time.paused, program.looks.now.hud == "off", program.techniques.switcher.busy,
                  program.techniques.followed)
