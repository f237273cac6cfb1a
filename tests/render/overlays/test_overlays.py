"""Every overlay of the registry: it shows what the program does, and changes nothing."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pygame
import pytest
from covering import covering_rows
from crowds import CROWDS, ROPE, Settings, simulation
from overlaid import SIZE, camera_of, pixels, shown

from crowd_demo.compute.jit import Launch
from crowd_demo.config.resources import assets_folder
from crowd_demo.host.compiling.ahead import KernelFinder
from crowd_demo.registry.built_in import OVERLAYS
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.hud.canvas import Pen
from crowd_demo.render.overlays.base import OverlayView, draw_overlays
from crowd_demo.render.overlays.sketch import Scales
from crowd_demo.render.pixels import plain_surface
from crowd_demo.render.scene import Scene
from crowd_demo.sim.simulation import Simulation

GREY = 128, 128, 128
STRUCTURES = [str(choice) for choice in BY_PATH["neighbours"].choices]
GROUND = [name for name, entry in OVERLAYS.items() if entry.on_ground]


@pytest.mark.parametrize("zoom", [2.0, 0.25])
@pytest.mark.parametrize("name", GROUND)
def test_agents_are_drawn_over_what_belongs_to_the_ground(name: str, zoom: float) -> None:
    """Their colours are what they are on any ground; `zoom` shows figures or light."""
    sim = simulation(**CROWDS["crowd"], optimizations__stagger__avoidance=2)
    sim.step(3)
    sim.prepare_picture()
    scene, camera = Scene(sim, sim.config, assets_folder()), camera_of(sim, zoom)

    def picture(ground: tuple[int, int, int], overlaid: bool = False) -> np.ndarray:
        def paint(on: pygame.Surface) -> None:
            on.fill(ground)
            if overlaid and scene.used:
                draw_overlays(on, {name}, OverlayView(sim, camera, None, scene.used, Scales()), Pen())

        scene.draw(surface := plain_surface(SIZE), camera, None, 0.5, paint)
        return pixels(surface)

    black, white, grey, over = picture((0, 0, 0)), picture((255, 255, 255)), picture(GREY), picture(GREY, overlaid=True)
    people = black == white  # no ground is seen there
    assert people.sum() > 100 and (over[people] == black[people]).all()
    assert (over != grey).any()


def with_overlay(sim: Simulation, name: str, zoom: float | None) -> tuple[np.ndarray, np.ndarray, str]:
    """The picture before and after, and what the legend says."""
    surface, view = shown(sim, camera_of(sim, zoom))
    before = pixels(surface)
    (item,) = draw_overlays(surface, {name}, view, Pen())
    return before, pixels(surface), item.text


def arrays(sim: Simulation) -> list[bytes]:
    """All that the next step reads: columns, cells, boxes, and whose turn it is."""
    structure = sim.built_structure
    found = [sim.agents.front.tobytes(), sim.agents.back.tobytes(), sim.grid.start.tobytes(),
             sim.grid.order.tobytes(), sim.terrain.kinds.tobytes()]
    for name in ("box", "order"):
        found.append(getattr(structure, name, np.zeros(0)).tobytes())
    return found


@pytest.fixture(scope="module")
def walked(request: pytest.FixtureRequest) -> Simulation:
    """A crowd of each behaviour, and one on springs, after some steps."""
    sim = simulation(**(ROPE if request.param == "rope" else CROWDS[request.param]))
    sim.step(5)
    return sim


@pytest.mark.parametrize(("walked", "name", "zoom"), [
    row.values() for row in covering_rows({"walked": [*CROWDS, "rope"], "name": list(OVERLAYS), "zoom": [None, 2.0]})],
    indirect=["walked"])
def test_it_draws_or_says_why_not_and_changes_nothing(walked: Simulation, name: str, zoom: float | None) -> None:
    camera = camera_of(walked, zoom)
    walked.prepare_picture()
    state, memory = walked.state_hash(), arrays(walked)
    before, after, text = with_overlay(walked, name, zoom)
    assert walked.state_hash() == state and arrays(walked) == memory
    why = OVERLAYS[name].inactive(walked.situation)
    if why:
        assert text == why and (before == after).all()
    elif name in ("show_links", "show_streams") and (zoom or walked.config.behaviour == "playback"):
        assert camera  # ropes hang elsewhere, and who plays no file stands
    else:
        assert (before != after).any() or "agents as light need no order" in text


@pytest.mark.parametrize("name", OVERLAYS)
def test_looking_every_step_gives_the_same_crowd(name: str) -> None:
    looked_at, alone = simulation(**CROWDS["crowd"]), simulation(**CROWDS["crowd"])
    for _ in range(6):
        looked_at.step()
        with_overlay(looked_at, name, 1.0)
    alone.step(6)
    assert looked_at.state_hash() == alone.state_hash()


@pytest.mark.parametrize("zoom", [0.5, 1.5])
@pytest.mark.parametrize("name", OVERLAYS)
def test_both_blitters_draw_it_alike_culled_or_not_and_in_any_order_in_memory(name: str, zoom: float) -> None:
    pictures = []
    for blitter, cull, when in (("compiled", "grid", "every"), ("pygame", "grid", "every"), ("compiled", "off", "every"),
                                ("compiled", "grid", "off")):
        if (name in ("show_culling", "show_bands") and cull == "off") or (name == "show_curve" and when == "off"):
            continue  # they show just that
        sim = simulation(**CROWDS["crowd"], optimizations__blitter=blitter, optimizations__cull=cull,
                         optimizations__reorder__when=when, optimizations__reorder__every=2)
        sim.step(5)
        pictures.append(with_overlay(sim, name, zoom)[1])
    assert all((picture == pictures[0]).all() for picture in pictures[1:])


@pytest.mark.parametrize("name", OVERLAYS)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_it_follows_the_structure_of_the_moment(structure: str, name: str) -> None:
    """Also after it was changed, before the next step has built it; and in a crowd of nobody."""
    behaviour = "flock" if structure == "field" else "crowd"
    sim = simulation(**CROWDS[behaviour], optimizations__stagger__avoidance=2)
    sim.step(2)
    sim.optimizations.neighbours = structure
    sim.prepare_picture()
    with_overlay(sim, name, 1.0)
    sim.step()
    before, after, text = with_overlay(sim, name, 1.0)
    assert (before != after).any() or OVERLAYS[name].inactive(sim.situation) == text or "dots" in text
    sim.populate(0)
    with_overlay(sim, name, 1.0)
    sim.step()
    with_overlay(sim, name, 1.0)


def test_what_overlays_run_was_compiled_ahead(crowd: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the first picture with an overlay waits for the compiler."""
    sim, ran = simulation(**crowd), set()
    sim.step(3)
    surface, view = shown(sim, camera_of(sim))
    with monkeypatch.context() as patch:
        patch.setattr(Launch, "compiled", SimpleNamespace(overloads={}))
        listed = KernelFinder(sim.config).missing(sim.optimizations)
    run = Launch.run
    monkeypatch.setattr(Launch, "run", lambda each: (ran.add((each.kernel, each.signature())), run(each)))
    draw_overlays(surface, set(OVERLAYS), view, Pen())
    assert ran and ran <= {(each.kernel, each.signature()) for each in listed}
