"""An overlay."""

from crowd_demo.render.inks import ink
from crowd_demo.render.overlays.base import OverlayView, Sketch
from toys.mishaps import happen


def draw_centre(sketch: Sketch, view: OverlayView) -> None:
    happen("overlay")
    x, y = (side / 2 for side in view.camera.world)
    half = 9 / sketch.zoom
    sketch.areas(x - half, y - half, x + half, y + half, ink((255, 0, 255)))
