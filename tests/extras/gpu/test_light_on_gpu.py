"""Light that a graphics card adds up, which the processor plays here: the picture is the processor's to the bit."""

import numpy as np
import pytest
from crowds import FLOCK, simulation
from emulated_gpu import install_gpu

from crowd_demo.extras.gpu.cuda import GraphicsProcessor
from crowd_demo.measure.proof import Picture, picture_hash
from crowd_demo.render import scene
from crowd_demo.render.figures import sprited

pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def gpu(monkeypatch: pytest.MonkeyPatch) -> GraphicsProcessor:
    assert sprited.MANY <= scene.WORTH_A_GPU, "a crowd that a GPU draws has no shadows"
    monkeypatch.setattr(scene, "WORTH_A_GPU", 1)
    monkeypatch.setattr(sprited, "MANY", 0)
    return install_gpu(monkeypatch, 300)


@pytest.mark.parametrize("colours", ["looks", "heading", "speed", "age", "density"])
@pytest.mark.parametrize("side", [4000, 40], ids=["loose", "so dense that sums saturate"])
def test_the_picture_is_the_same(colours: str, side: int) -> None:
    settings = {**FLOCK, "agents": 4000, "world__width": 8000, "world__height": 6000, "scene__colours": colours,
                "spawn__pattern": "clump", "spawn__share": 1, "spawn__box": side / 8000}
    pictures = {}
    for device in ("cpu", "cuda"):
        sim = simulation(**settings)
        sim.optimizations.device = device
        sim.step(2)
        picture = Picture(sim, size=(320, 240))
        pictures[device] = picture_hash(picture)
        assert (picture.scene._on_gpu is not None) == (device == "cuda" and colours != "density")
        assert sim.profile.counters["visible"] == 4000
    assert pictures["cpu"] == pictures["cuda"]


@pytest.mark.parametrize("colours", ["looks", "heading"])
def test_so_is_the_picture_of_people(colours: str) -> None:
    pictures = {}
    for device in ("cpu", "cuda"):
        sim = simulation(name="100k", agents=2000, world__width=9000, world__height=9000, scene__colours=colours,
                         camera__zoom=0.06)
        sim.optimizations.device = device
        sim.step(20)
        picture = Picture(sim, size=(320, 240))
        pictures[device] = picture_hash(picture)
        assert (picture.scene._on_gpu is not None) == (device == "cuda")
    assert pictures["cpu"] == pictures["cuda"]


def test_what_overlays_ask_of_the_picture_comes_from_the_gpu() -> None:
    sim = simulation(**{**FLOCK, "world__width": 8000, "world__height": 6000})
    sim.optimizations.device = "cuda"
    sim.step(2)
    picture = Picture(sim, size=(320, 240))
    picture.draw()
    used = picture.scene.used
    assert used and len(used.slots) == 500
    assert (np.sort(used.now.agents.id[used.slots]) == np.arange(500)).all()
