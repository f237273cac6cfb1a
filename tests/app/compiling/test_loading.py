"""What is compiled before the first frame, and the screen meanwhile."""

import subprocess
import sys
import threading
from concurrent.futures import Future

import pygame
import pytest
from driven import Driven
from hud_spy import Spy

from crowd_demo.app import main
from crowd_demo.app.key_input import Keymap
from crowd_demo.app.main import show_progress
from crowd_demo.compute import cache
from crowd_demo.config.keys import Keys
from crowd_demo.config.resources import assets_folder
from crowd_demo.host.compiling import compilers
from crowd_demo.host.compiling.loading import Loaded, LoadingProgress
from crowd_demo.host.system import ShutdownRequest
from crowd_demo.registry import texts
from crowd_demo.registry.built_in import BEHAVIOURS
from crowd_demo.render.hud.views import loaded_picture

NOTHING_COMPILES = """
import os, sys, types
os.environ["SDL_VIDEODRIVER"] = "dummy"
import numba
from numba.core.dispatcher import Dispatcher
sys.path.insert(0, "tests")
from driven import Driven
from crowd_demo.compute.jit import Kernel

def overloads():
    found = [getattr(value, "entry", value) for name, module in sys.modules.items() if name.startswith("crowd_demo")
             for value in vars(module).values() if isinstance(value, Dispatcher | Kernel)]
    kernels = {id(value): value for value in found}
    return {(kernel.__module__, kernel.__name__, str(signature))
            for kernel in kernels.values() for signature in kernel.overloads}

driven = Driven("crowd.speed_max=120", *sys.argv[1:])
loaded = overloads()
assert loaded
for zoom in (0.05, 1.0):
    driven.program.camera.look_at(500, 500, zoom)
    driven.frames(5)
assert overloads() == loaded, sorted(overloads() - loaded)
"""

SWITCHES = """
from crowd_demo.compute.jit import compile_launches
from crowd_demo.host.compiling.ahead import KernelFinder, all_choices

ahead = KernelFinder(driven.config)
for options in all_choices(driven.config.optimizations):
    compile_launches(ahead.missing(options))
loaded = overloads()
for options in all_choices(driven.config.optimizations):
    driven.program.sim.optimizations = options
    driven.program.sim.tick = 0  # so that a reorder is due
    driven.frames(2)
    assert overloads() == loaded, sorted(overloads() - loaded)
"""


def run_fresh(script: str, *arguments: str) -> None:
    """In a process that has compiled nothing yet."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", script, *arguments], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr


EVERY_DAY = [("behaviour=flock",), ("map=doorway",),
             ("behaviour=crates", "optimizations.blitter=pygame", "optimizations.neighbours=aabb_tree"),
             ("optimizations.simd=false", "optimizations.blitter=pygame", "optimizations.depth=full")]
SELDOM = [pytest.param(each, marks=pytest.mark.slow) for each in (
    (), ("behaviour=flock", "map=doorway"), ("agents=0",), ("behaviour=crates",))]


@pytest.mark.parametrize("settings", [*EVERY_DAY, *SELDOM], ids=" ".join)
def test_after_loading_no_kernel_compiles(settings: tuple[str, ...]) -> None:
    run_fresh(NOTHING_COMPILES, *settings)


@pytest.mark.parametrize("behaviour", [
    name if name == "crowd" else pytest.param(name, marks=pytest.mark.slow) for name in BEHAVIOURS])
def test_kernels_of_every_choice_are_known_beforehand(behaviour: str) -> None:
    run_fresh(NOTHING_COMPILES + SWITCHES, f"behaviour={behaviour}")


@pytest.mark.quick
def test_progress_names_what_is_compiled_and_whether_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    progress = LoadingProgress()
    assert str(progress) == "starting" and progress.part() == 0
    progress.compiling("see lanes", 2, 11)
    assert str(progress) == "compiling see lanes (3 of 11, only once: later starts are quick)"
    progress.compiling("the last kernels", 11, 11)
    assert str(progress) == "compiling the last kernels (11 of 11, only once: later starts are quick)"
    monkeypatch.setattr(texts, "_said", {cache.NOT_KEPT})
    progress.compiling("move", 3, 11)
    assert str(progress) == "compiling move (4 of 11)"


@pytest.mark.quick
@pytest.mark.parametrize("size, times", [((640, 360), 0), ((800, 600), 1), ((1280, 720), 2), ((2560, 1440), 3)])
def test_it_shows_the_scenario_sharp_what_to_try_and_how_far_it_is(
        screen: pygame.Surface, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], times: int) -> None:
    spy, job, progress = Spy(), Future[Loaded](), LoadingProgress()
    monkeypatch.setattr(main, "Pen", lambda: spy)
    pygame.display.set_mode(size, depth=32)
    progress.compiling("see lanes", 6, 25)
    pygame.event.post(pygame.Event(pygame.KEYDOWN, key=pygame.K_f, mod=0))
    threading.Timer(0.1, job.set_result, (None,)).start()
    keys = show_progress(job, progress, Keymap(Keys()), ShutdownRequest(), "evacuation")
    assert {"evacuation", "After the alarm, two thousand people leave by three doors.", "7 of 25"} <= set(spy.texts)
    assert {"Switch SIMD lanes off and on", "Take a tour", "Noted: it begins when the crowd is ready."} <= set(spy.texts)
    assert [event.key for event in keys] == [pygame.K_f]
    pictures = [each.box for each in spy.written]
    assert all(pygame.Rect((0, 0), size).contains(box) for box in pictures)
    picture = loaded_picture(assets_folder() / "scenarios" / "evacuation.png")
    assert picture
    row, *_ = rows_of(pygame.transform.scale_by(picture.subsurface(0, 70, 256, 1), max(times, 1)))
    assert sum(row in each for each in rows_of(pygame.display.get_surface())) == times, "so often is each of its rows drawn"


def rows_of(surface: pygame.Surface | None) -> list[bytes]:
    """The red, green and blue of each row of pixels."""
    assert surface
    return [row.tobytes() for row in pygame.surfarray.array3d(surface).swapaxes(0, 1)]


def test_a_key_pressed_before_its_kernels_are_there_has_its_card_when_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "quick_values", lambda config, ahead, launches: {"simd": False})
    driven = Driven(quick=True)
    program, switcher = driven.program, driven.program.techniques.switcher
    program.cards.on, ready = True, switcher.ready
    monkeypatch.setattr(switcher, "ready", lambda options: [])
    pygame.event.post(pygame.Event(pygame.KEYDOWN, key=pygame.K_2, mod=0))
    job = Future[Loaded]()
    threading.Timer(0.1, job.set_result, (None,)).start()
    driven.loop.events.waiting = show_progress(job, LoadingProgress(), program.keymap, ShutdownRequest())
    driven.frames(3)
    assert program.techniques.touched == "simd" and driven.status().pending["simd"] is True, "its row says that it waits"
    assert not program.sim.optimizations.simd and not program.cards.trial
    monkeypatch.setattr(switcher, "ready", ready)
    driven.until(lambda: program.cards.trial)
    card = driven.status().card
    assert program.sim.optimizations.simd and card and (card.title, card.change) == ("SIMD lanes", "off -> on")
    switcher.close()


@pytest.mark.quick
@pytest.mark.parametrize("event", [pygame.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE, mod=0), pygame.Event(pygame.QUIT)])
def test_loading_can_be_left(screen: pygame.Surface, event: pygame.Event) -> None:
    pygame.event.post(event)
    quitting = ShutdownRequest()
    show_progress(Future(), LoadingProgress(), Keymap(Keys()), quitting)
    assert quitting.asked and not quitting.interrupted
