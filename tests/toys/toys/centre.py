"""An overlay."""

from crowd_demo.render.overlays.base import Looking
from crowd_demo.render.overlays.inks import ink
from crowd_demo.render.overlays.sketch import Sketch


def draw_centre(sketch: Sketch, looking: Looking) -> None:
    x, y = (side / 2 for side in looking.camera.world)
    sketch.circles(x, y, 9 / sketch.zoom, ink((255, 0, 255)), width=3)
