"""Pictures: the present view, drawn with the old values of techniques and with the new ones; for techniques of drawing.

A copy of the crowd stands still while it is drawn, a band of the view at a time. Without an order of depth, whoever is drawn
last is on top, so the picture depends on the order in which agents are found: it may differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Words
from crowd_demo.measure.proof.finding import Finding, Values, set_values, short, touch
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.pixels import frame_of, plain_surface
from crowd_demo.render.scene import Scene
from crowd_demo.sim.simulation import Simulation

BANDS = 8


class View(NamedTuple):
    """What is drawn, and how."""

    scene: Scene
    camera: Camera
    frozen: Rect | None = None
    alpha: float = 0.0


class Pictures:
    """`view` is the present one."""

    def __init__(self, sim: Simulation, view: View, old: Values, new: Values) -> None:
        self.finding = Finding("running", "the view is being drawn both ways")
        self._sim, self._view, self._values = sim, view, (old, new)
        self._camera = view.camera.band(0, view.camera.size[1])  # a copy: people move theirs

    def parts(self) -> Iterator[None]:
        """Copy the present crowd, and draw each band twice."""
        twin = self._sim.twin()
        yield from touch(twin.agents.front)
        twin.restore(self._sim.state())
        yield
        digests = [hashlib.blake2b(digest_size=16) for _ in self._values]
        pixels = differing = 0
        ordered = True
        for camera in bands(self._camera):
            drawn = []
            for values, digest in zip(self._values, digests, strict=True):
                set_values(twin.optimizations, values)
                drawn.append(self._draw(twin, camera))
                digest.update(drawn[-1].data)
                ordered &= twin.optimizations.depth != "off"
                yield
            pixels, differing = pixels + drawn[0].size, differing + int((drawn[0] != drawn[1]).sum())
        self.finding = told(differing / max(pixels, 1), [digest.hexdigest() for digest in digests], ordered)

    def _draw(self, twin: Simulation, camera: Camera) -> Words:
        """Draw the copy: uint32[height, width], by the program's scene, which meanwhile draws nothing else."""
        scene, surface = self._view.scene, plain_surface(camera.size)
        running, scene.sim = scene.sim, twin
        try:
            twin.prepare_picture()
            scene.draw(surface, camera, self._view.frozen, self._view.alpha)
        finally:
            scene.sim = running
        return frame_of(surface) & np.uint32(0xFFFFFF)


def bands(camera: Camera) -> Iterator[Camera]:
    """Cut a view into at most `BANDS` views, one below the other."""
    ends = np.linspace(0, camera.size[1], min(BANDS, camera.size[1]) + 1).astype(int).tolist()
    for top, bottom in pairwise(ends):
        yield camera.band(top, bottom)


def told(share: float, hashes: list[str], ordered: bool) -> Finding:
    """From the share of the pixels that differ; `ordered` says whether both ways had an order of depth."""
    if not share:
        return Finding("same", f"same picture: {short(hashes[0])}")
    if not ordered:
        return Finding("apart", f"{share:.1%} of the pixels differ: without depth order the last one drawn is on top")
    return Finding("differs", f"THE PICTURES DIFFER: {short(hashes[0])} and {short(hashes[1])}")
