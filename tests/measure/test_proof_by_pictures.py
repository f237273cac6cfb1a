"""The view drawn both ways: one picture for all techniques of drawing, but for depth order."""

from __future__ import annotations

from itertools import pairwise

import pytest
from crowds import CROWD, simulation

from crowd_demo.config.resources import assets_folder
from crowd_demo.measure.proof import DrawnView, Pictures, bands
from crowd_demo.render.camera import Camera
from crowd_demo.render.cull import Cull
from crowd_demo.render.scene import Scene
from crowd_demo.sim.simulation import Simulation


def view_of(sim: Simulation, zoom: float = 1.5) -> DrawnView:
    camera = Camera((500.0, 400.0), (320, 181))
    camera.look_at(250, 200, zoom)
    return DrawnView(Scene(sim, sim.config, assets_folder()), camera, alpha=0.4)


def finish(proof: Pictures) -> Pictures:
    for _ in proof.parts():
        assert proof.finding.kind == "running"
    return proof


@pytest.mark.parametrize(("path", "old", "new"), [
    ("cull", "grid", "off"), ("cull", "agents", "grid"), ("depth", "full", "bands"), ("blitter", "compiled", "pygame")])
def test_techniques_of_drawing_give_the_same_picture(path: str, old, new) -> None:
    sim = simulation(**CROWD)
    sim.step(3)
    view, before, counters = view_of(sim), sim.state_hash(), dict(sim.profile.counters)
    finding = finish(Pictures(sim, view, {path: old}, {path: new})).finding
    assert finding.kind == "same" and finding.text.startswith("same picture: ")
    assert view.scene.sim is sim and sim.state_hash() == before
    assert sim.profile.counters == counters and "cull" not in sim.profile.stages


def test_the_picture_is_that_of_the_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another view has another hash, and the view may move meanwhile."""
    sim = simulation(**CROWD)
    texts = set()
    for zoom in (1.5, 1.5, 2.0):
        view = view_of(sim, zoom)
        proof = Pictures(sim, view, {"cull": "grid"}, {"cull": "off"})
        view.camera.pan(100, 0)
        texts.add(finish(proof).finding.text)
    assert len(texts) == 2


def test_without_depth_order_pictures_may_differ() -> None:
    sim = simulation("1k", agents=3000, map="null", world__width=500, world__height=400)
    finding = finish(Pictures(sim, view_of(sim), {"depth": "off"}, {"depth": "full"})).finding
    share, _, why = finding.text.partition("% of the pixels differ: ")
    assert finding.kind == "apart" and 0 < float(share) < 100 and "depth" in why


def test_a_wrong_culling_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Cull.run

    def forgetful(self, launches, workers, most):
        slots = run(self, launches, workers, most)
        return slots[:-20] if len(launches) and "cull_cells" in launches[0].name else slots
    monkeypatch.setattr(Cull, "run", forgetful)
    sim = simulation(**CROWD)
    sim.step()
    finding = finish(Pictures(sim, view_of(sim), {"cull": "off"}, {"cull": "grid"})).finding
    assert finding.kind == "differs" and finding.text.startswith("THE PICTURES DIFFER: ")


@pytest.mark.quick
@pytest.mark.parametrize("height", [1, 5, 181, 720])
def test_bands_are_the_rows_of_the_picture(height: int) -> None:
    camera = Camera((500.0, 400.0), (320, height))
    camera.look_at(10, 390, 0.7)
    found = list(bands(camera))
    assert sum(band.size[1] for band in found) == height
    assert found[0].view_rect().top == pytest.approx(camera.view_rect().top)
    for above, below in pairwise(found):
        assert above.view_rect().bottom == pytest.approx(below.view_rect().top) and above.x == camera.x
    assert found[-1].view_rect().bottom == pytest.approx(camera.view_rect().bottom)
