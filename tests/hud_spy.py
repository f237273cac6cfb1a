"""A crowd as the HUD reads it, and what the HUD writes and draws of it."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pygame
from crowds import open_world, simulation
from numpy.typing import NDArray

from crowd_demo.config.keys import ACTIONS, keys_of
from crowd_demo.config.model import Config
from crowd_demo.profile import Profile, Ring
from crowd_demo.registry.entries import GROUPS
from crowd_demo.registry.stages import PARTS
from crowd_demo.render.hud.canvas import TEXT, Colour, Pen
from crowd_demo.render.hud.hud import Hud
from crowd_demo.render.hud.status import PanelSettings, Status

STAGES = {"index": 0.4, "interaction": 0.9, "move": 0.3, "cull": 0.1, "blit": 1.5, "hud": 0.2, "flip": 0.8}
KEYS = {action: keys_of(Config.model_validate({}).keys, action) for action in ACTIONS}
PATHS = frozenset({"stagger.sight", "stagger.paths", "avoidance", "overlap_passes"})


class Written(NamedTuple):
    """A text, its colour, and its height and box in pixels."""

    text: str
    colour: Colour
    size: int
    box: pygame.Rect


class Spy(Pen):
    """A pen that remembers what it has written."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[Written] = []

    def left(self, on: pygame.Surface, text: str, x: int, middle: int, size: int = 13, colour: Colour = TEXT,
             bold: bool = False) -> int:
        end = super().left(on, text, x, middle, size, colour, bold)
        self.written.append(Written(text, colour, size, pygame.Rect(x, middle - size // 2, end - x, size)))
        return end

    @property
    def texts(self) -> list[str]:
        return [each.text for each in self.written]


class ContrastSpy(Pen):
    """A pen that remembers the least contrast of each text with its ground, over a black and over a white picture (WCAG)."""

    def __init__(self) -> None:
        super().__init__()
        self.contrasts: dict[tuple[str, Colour, int], float] = {}

    def left(self, on: pygame.Surface, text: str, x: int, middle: int, size: int = 13, colour: Colour = TEXT,
             bold: bool = False) -> int:
        *ground, alpha = on.get_at((min(max(x, 0), on.get_width() - 1), min(max(middle, 0), on.get_height() - 1)))
        grounds = [[part * alpha / 255 + behind * (1 - alpha / 255) for part in ground] for behind in (0, 255)]
        self.contrasts[text, colour, size] = min(contrast(self.colour(colour), each) for each in grounds)
        return super().left(on, text, x, middle, size, colour, bold)


def contrast(one: Sequence[float], other: Sequence[float]) -> float:
    """1 to 21, by the Web Content Accessibility Guidelines 2.2."""
    darker, brighter = sorted(luminance(colour) for colour in (one, other))
    return (brighter + 0.05) / (darker + 0.05)


def luminance(colour: Sequence[float]) -> float:
    shares = np.array(colour[:3]) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


UNFOLDED = PanelSettings(opened=(*PARTS, "graph", "pace", "neighbours", "errors", "births and deaths", "sorting",
                                 "memory reads", *GROUPS))
TALL = (2400, 2000)  # room for everything


def texts(sim: Any, status: Status = Status(panels=UNFOLDED), size: tuple[int, int] = TALL) -> list[str]:  # noqa: B008
    return written(sim, status, size).texts


def written(sim: Any, status: Status = Status(panels=UNFOLDED), size: tuple[int, int] = TALL) -> Spy:  # noqa: B008
    spy = Spy()
    panels = UNFOLDED if status.panels == PanelSettings() else status.panels
    Hud(KEYS, pen=spy).draw(picture(size), sim, status._replace(panels=panels), 0.0)
    return spy


def colour_of_text(sim: Any, text: str, status: Status = Status()) -> Colour:  # noqa: B008
    return {each.text: each.colour for each in written(sim, status).written}[text]


def measured(frames: int = 50) -> Profile:
    profile = Profile()
    profile.counters.update(visible=90, drawn=95, neighbours_per_agent=11.8, candidates_per_agent=47.3)
    for _ in range(frames):
        profile.begin_step()
        for stage, ms in STAGES.items():
            profile.add(stage, ms)
            if stage == "move":
                profile.end_step()
        profile.end_frame(sum(STAGES.values()) + 0.5)
    return profile


def crowd(**states: int) -> Any:
    """A flock of which some steps have been measured; unlike a real one it also looks for paths and may have states."""
    sim: Any = simulation("1k", behaviour="flock", agents=100, **open_world(4000, 3000))
    sim.profile, sim.states, sim.behaviour.techniques = measured(), lambda: states, PATHS
    have_lived(sim, range(90, 101))
    return sim


def have_lived(sim: Any, counts: Iterable[int]) -> None:
    """Have so many agents after each of the last steps."""
    sim.lived = Ring(np.int32)
    for count in counts:
        sim.lived.put(count)


def picture(size: tuple[int, int] = (1280, 720)) -> pygame.Surface:
    surface = pygame.Surface(size, depth=32)
    surface.fill((176, 170, 158))
    return surface


def pixels(surface: pygame.Surface) -> NDArray[np.uint8]:
    return pygame.surfarray.array3d(surface)


def drawn(hud: Hud, sim: Any, status: Status = Status(), now_s: float = 0.0,  # noqa: B008  (a NamedTuple)
          size: tuple[int, int] = (1280, 720)) -> NDArray[np.uint8]:
    surface = picture(size)
    hud.draw(surface, sim, status, now_s)
    return pixels(surface)


def changed(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> pygame.Rect:
    """The smallest rectangle that holds all that differs."""
    x, y = np.nonzero((before != after).any(axis=2))
    if not len(x):
        return pygame.Rect(0, 0, 0, 0)
    return pygame.Rect(int(x.min()), int(y.min()), int(np.ptp(x)) + 1, int(np.ptp(y)) + 1)
