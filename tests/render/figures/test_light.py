import numpy as np
import pytest
import reference_render as reference
import render_crowds as crowds
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.render.camera import Camera
from crowd_demo.render.drawing import Shades
from crowd_demo.render.figures import light
from crowd_demo.render.inks import channels_of

PALETTE = np.array([0xFFFFFF, 0x147CDC, 0xDE4000, 0x000000], np.uint32)
AHEAD = np.float32(1 / 120)
areas = st.sampled_from([0.05, 0.3, 1.0, 9.0])


def view(zoom=0.16, size=(60, 40)):
    camera = Camera((crowds.WIDTH, crowds.HEIGHT), size)
    camera.look_at(200, 150, zoom)
    return camera.view()


def ground(size=(60, 40)):
    return np.random.default_rng(2).integers(0, 1 << 24, size[::-1]).astype(np.uint32)


def compiled(workers, slots, agents, shades, area, drawer=None, size=(60, 40)):
    drawer, frame = drawer or light.Light(), ground(size)
    for launch in drawer.launches(workers, slots, agents, AHEAD, view(size=size), shades, area, frame):
        launch.run()
    return frame, drawer.on_screen.sum()


def by_numpy(slots, agents, shades, area):
    frame = ground()
    return frame, light.draw_plain(slots, agents, AHEAD, view(), shades, area, frame)


def crowd(seed, count):
    rng = np.random.default_rng(seed)
    slots = rng.permutation(count)[:count - count // 4].astype(np.int32)
    return slots, crowds.crowd(seed, count), Shades(rng.integers(0, 4, len(slots)).astype(np.uint8), PALETTE)


def pile(count, colours=1):
    """That many agents in one place."""
    agents = crowds.crowd(0, count)
    agents.x[:], agents.y[:], agents.vx[:], agents.vy[:] = 200, 150, 0, 0
    return np.arange(count, dtype=np.int32), agents, Shades(np.full(count, colours, np.uint8), PALETTE)


def channels(frame):
    return channels_of(frame.ravel()).astype(int)


@given(crowds.seeds, crowds.counts, crowds.workers, areas)
def test_light_is_the_same_by_kernels_by_numpy_and_by_the_reference(seed, count, workers, area):
    slots, agents, shades = crowd(seed, count)
    frame, on_screen = compiled(workers, slots, agents, shades, area)
    plain, plain_on_screen = by_numpy(slots, agents, shades, area)
    assert np.array_equal(frame, plain)
    expected = ground()
    seen = reference.light(expected, slots, agents, AHEAD, view(), channels_of(PALETTE)[shades.number].tolist(), area)
    assert np.abs(channels(frame) - channels(expected)).max() <= 1, "but for the rounding of float32"
    assert on_screen == plain_on_screen == seen


@given(crowds.seeds, crowds.counts, st.integers(1, 50), st.integers(1, 20))
def test_light_does_not_depend_on_order_or_workers_in_a_picture_of_any_size(seed, count, width, height):
    slots, agents, shades = crowd(seed, count)
    backwards = slots[::-1].copy(), agents, shades._replace(number=shades.number[::-1].copy())
    one, _ = compiled(1, slots, agents, shades, 1.0, size=(width, height))
    for workers in (2, 3):
        assert np.array_equal(one, compiled(workers, *backwards, 1.0, size=(width, height))[0])


@pytest.mark.parametrize("workers", [1, 3])
def test_a_pile_burns_out_and_does_not_run_over(workers):
    for count in (100, 257, 258, 3000):
        slots, agents, shades = pile(count)
        frame, _ = compiled(workers, slots, agents, shades, 1.0)
        assert np.array_equal(frame, by_numpy(slots, agents, shades, 1.0)[0])
        red, green, blue = channels(frame[20:21, 30:31])[0].tolist()
        assert blue >= 0xDC and green >= 0x7C and red >= 0x14, "never darker than one of them"


@pytest.mark.quick
def test_a_lone_agent_covers_its_area_and_colours_add_up():
    """Over black, the sum of a small white figure's light is its area; twice as many give nearly twice as much."""
    slots, agents, _ = pile(1)
    sums = []
    for number in (1, 2):
        frame = np.zeros((40, 60), np.uint32)
        light.draw_plain(np.repeat(slots, number), agents, AHEAD, view(), Shades(np.zeros(number, np.uint8), PALETTE), 0.5,
                         frame)
        sums.append((frame & 255).sum() / 255)
    assert sums[0] == pytest.approx(0.5, rel=0.1) and sums[1] == pytest.approx(1.0, rel=0.15)


@pytest.mark.quick
def test_zooming_out_leaves_a_crowd_as_bright_as_it_was():
    rng = np.random.default_rng(5)
    agents = crowds.crowd(1, 20_000)
    agents.x[:], agents.y[:] = rng.uniform(0, 400, len(agents.x)), rng.uniform(0, 300, len(agents.x))
    slots = np.arange(20_000, dtype=np.int32)
    shades = Shades(np.zeros(20_000, np.uint8), PALETTE)
    means = []
    for zoom in (0.5, 0.35, 0.25):
        frame = np.zeros((40, 60), np.uint32)
        light.draw_plain(slots, agents, np.float32(0), view(zoom), shades, 5.0 * zoom**2, frame)
        means.append(float((frame & 255).mean()))
    assert max(means) < 1.06 * min(means) and 60 < means[0] < 200


@pytest.mark.quick
def test_the_tone_curve_is_nearly_that_of_figures_thrown_at_random():
    covered = np.linspace(0, 6, 50)
    assert np.abs((1 + covered / 16) ** -16 - np.exp(-covered)).max() < 0.02
