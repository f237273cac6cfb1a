"""The view: smooth zoom, bookmarks, colour modes, and the actions that change them.

Wheel and keys set how far to zoom; `glide` does a part of that in each frame, so that a notch takes about a sixth of a
second. Without a window the whole zoom is made at once, so that pictures do not depend on the clock.
"""

from __future__ import annotations

import math
from concurrent.futures import Future

from crowd_demo.app.crowd.crowd import Crowd
from crowd_demo.app.screen.notices import Notices
from crowd_demo.config.model import Config
from crowd_demo.host.compiling.ahead import KernelFinder
from crowd_demo.host.compiling.compilers import Compilers
from crowd_demo.host.system import compiling_beside_frames, in_thread
from crowd_demo.registry.built_in import COLOURS
from crowd_demo.render.camera import Camera

GLIDE_S = 0.05  # in which a glide comes nearer by a factor of e
DONE = 1e-3  # of a factor: what is left of a glide is made at once
NOTCH = 1.15**2  # of the zoom, a press


class CameraControls:
    """`smooth`: zooming glides, and a colour mode waits for its kernels. `ahead` and `compilers` find and compile them."""

    def __init__(self, config: Config, camera: Camera, crowd: Crowd, notices: Notices, smooth: bool, ahead: KernelFinder,
                 compilers: Compilers) -> None:
        self.smooth, self._ahead, self._compilers = smooth, ahead, compilers
        self.waits = ""  # the colour mode that is being compiled
        self._compiling: Future[None] | None = None
        self._configured, self._camera, self._crowd, self._notices = config.scene.colours, camera, crowd, notices
        self.zoom_left = 1.0  # the factor by which to zoom still
        self._at = 0.0, 0.0  # the pixel that stays where it is
        self._bookmarks: dict[int, tuple[float, float, float]] = {}

    # --- zoom --------------------------------------------------------------------------------------------------------

    def fit(self) -> None:
        self.zoom_left = 1.0
        self._camera.fit()

    def zoom(self, x: float, y: float, factor: float) -> None:
        """Zoom by `factor`; the world point under pixel (x, y) stays there."""
        self.zoom_left, self._at = self.zoom_left * factor, (x, y)
        if not self.smooth:
            self.glide(math.inf)

    def zoom_middle(self, notches: int) -> None:
        width, height = self._camera.size
        self.zoom(width / 2, height / 2, NOTCH**notches)

    def glide(self, elapsed_s: float) -> None:
        """Make the part of the zoom for that time."""
        part = 1 - math.exp(-elapsed_s / GLIDE_S)
        factor = self.zoom_left ** part if abs(math.log(self.zoom_left)) * (1 - part) > DONE else self.zoom_left
        before = self._camera.zoom
        self._camera.zoom_at(*self._at, factor)
        ended = self._camera.zoom == before  # it cannot zoom any farther
        self.zoom_left = 1.0 if ended else self.zoom_left / factor

    def look_at(self, x: float, y: float, zoom: float | None = None) -> None:
        self.zoom_left = 1.0
        self._camera.look_at(x, y, zoom)

    # --- bookmarks ---------------------------------------------------------------------------------------------------

    def keep(self, number: int) -> None:
        self._bookmarks[number] = x, y, zoom = self._camera.x, self._camera.y, self._camera.zoom
        view = f"{x:.0f},{y:.0f},{zoom:.3g}"  # as `export --view` takes it
        self._notices.add(f"bookmark {number} is this view, {view}: Ctrl+{number} shows it", "bookmark")

    def go_to(self, number: int) -> None:
        if number in self._bookmarks:
            self.look_at(*self._bookmarks[number])
        else:
            self._notices.add(f"there is no bookmark {number} yet: Ctrl+Shift+{number} keeps this view", "bookmark",
                              holds=lambda: number not in self._bookmarks)

    # --- colours -----------------------------------------------------------------------------------------------------

    @property
    def colours(self) -> str:
        return self._crowd.scene.colours if self._crowd.scene else self._configured

    def show_colours(self, name: str) -> None:
        """Show a colour mode as soon as its kernels are compiled, and go on with the present one until then."""
        self.waits = name
        if self.smooth and self._ahead.missing_colours(name):
            self._notices.add(f"compiling the colours: {name}", "colours", holds=lambda: self.waits == name)
        else:
            self._show(name)

    def show_compiled(self) -> None:
        """Show the colour mode that waits, once it is compiled. Call in every frame in which there is one."""
        if self._compiling and not self._compiling.done():
            return
        if self._compiling:
            self._compiling.result()
        self._compiling = None
        if launches := self._ahead.missing_colours(self.waits):
            self._compilers.want(launches, self._crowd.sim.optimizations, owner=self)
            self._compiling = in_thread(self._compile, "crowd-demo colours")
        else:
            self._show(self.waits)

    def _compile(self) -> None:
        with compiling_beside_frames():
            self._compilers.work(lambda *_: None, here=False, owner=self)

    def _show(self, name: str) -> None:
        self.waits = ""
        if self._crowd.scene:
            self._crowd.scene.show_colours(name)
            if not self._crowd.scene.legend():  # which says the same
                self._notices.add(f"colours: {name}, {COLOURS[name].why}", "colours", holds=lambda: self.colours == name)

    def next_colours(self, backwards: bool = False) -> None:
        """Go on to the next mode that tells something of this crowd."""
        names = self._crowd.scene.telling_colours() if self._crowd.scene else list(COLOURS)
        self.show_colours(names[(names.index(self.waits or self.colours) + (-1 if backwards else 1)) % len(names)])
