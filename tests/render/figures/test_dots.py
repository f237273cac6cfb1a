import numpy as np
import pytest
import reference_render as reference
import render_crowds as crowds
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.render.camera import Camera
from crowd_demo.render.figures import birds, dots, hunt, people
from crowd_demo.render.projection import hash_ids

COLOURS = [(20, 124, 220), (52, 16, 72), (222, 64, 0)]
AHEAD = np.float32(1 / 120)
sizes_px = st.sampled_from([1.0, 2.0, 3.9])


def view(zoom=0.16):
    camera = Camera((crowds.WIDTH, crowds.HEIGHT), (60, 40))
    camera.look_at(200, 150, zoom)
    return camera.view()


def ground():
    return np.random.default_rng(2).integers(0, 1 << 24, (40, 60)).astype(np.uint32)


def look_of_people(size_px, state):
    shape = dots.shapes(size_px, (people.FULL, people.HOLLOW, people.CROSS))
    return people.PeopleLook(people.values_of(COLOURS), shape, size_px < dots.SINGLE_PX, state)


def look_of_birds(size_px):
    return birds.BirdLook(birds.wheel(), dots.shapes(size_px, (birds.DOT,)), size_px < dots.SINGLE_PX)


def compiled(workers, slots, agents, look, drawer=None):
    drawer, frame = drawer or dots.Dots(), ground()
    for call in drawer.calls(workers, slots, agents, AHEAD, view(), look, frame):
        call.run()
    return frame, drawer.on_screen


def by_numpy(slots, agents, look):
    frame = ground()
    return frame, dots.draw_plain(slots, agents, AHEAD, view(), look, frame)


def crowd(seed, count):
    rng = np.random.default_rng(seed)
    slots = rng.permutation(count)[:count - count // 4].astype(np.int32)
    return slots, crowds.crowd(seed, count), rng.integers(0, 3, count + 16).astype(np.int32)


@given(crowds.seeds, crowds.counts, crowds.workers, sizes_px)
def test_people_are_the_same_dots_by_kernels_by_numpy_and_by_the_reference(seed, count, workers, size_px):
    slots, agents, state = crowd(seed, count)
    look = look_of_people(size_px, state)
    frame, on_screen = compiled(workers, slots, agents, look)
    plain, plain_on_screen = by_numpy(slots, agents, look)
    values = [look.value[state[slot] * 4 + hash_ids(agents.id[slot:slot + 1])[0] % 4] for slot in slots]
    shapes = [look.shape[state[slot]] for slot in slots]
    expected = ground()
    seen = reference.dots(expected, slots, agents, AHEAD, view(), values, shapes)
    assert np.array_equal(frame, expected) and np.array_equal(plain, expected)
    assert on_screen == plain_on_screen == seen


@given(crowds.seeds, crowds.counts, crowds.workers, sizes_px)
def test_birds_are_the_same_dots_in_any_order_and_by_numpy(seed, count, workers, size_px):
    slots, agents, _ = crowd(seed, count)
    look = look_of_birds(size_px)
    frame, on_screen = compiled(workers, slots, agents, look)
    backwards, _ = compiled(1, slots[::-1].copy(), agents, look)
    plain, plain_on_screen = by_numpy(slots, agents, look)
    assert np.array_equal(frame, backwards) and np.array_equal(frame, plain)
    assert on_screen == plain_on_screen


def test_the_layers_are_clean_for_the_next_frame():
    slots, agents, state = crowd(3, 200)
    drawer, look = dots.Dots(), look_of_people(3.9, state)
    first, _ = compiled(3, slots, agents, look, drawer)
    compiled(3, slots, agents, look_of_people(3.9, 2 - state), drawer)
    again, _ = compiled(3, slots, agents, look, drawer)
    assert np.array_equal(first, again)


@pytest.mark.quick
def test_states_differ_in_shape_where_there_is_room_and_in_rank_always():
    nobody = np.zeros(0, np.int32)
    large, small = look_of_people(3.9, nobody), look_of_people(1.0, nobody)
    assert len(set(large.shape.tolist())) == 3 and not large.single
    assert set(small.shape.tolist()) == {1 << 4} and small.single
    assert (large.value >> 24).tolist() == [1] * 4 + [2] * 4 + [3] * 4


@pytest.mark.quick
def test_only_who_walks_has_tints_and_keeps_the_own_one_in_whatever_slot():
    value = people.values_of(COLOURS).reshape(3, 4) & 0xFFFFFF
    assert [len(set(tints)) for tints in value.tolist()] == [4, 1, 1]
    assert value[:, 1].tolist() == [r << 16 | g << 8 | b for r, g, b in COLOURS]
    slots, agents, state = crowd(5, 60)
    moved = np.random.default_rng(6).permutation(len(agents.id))
    after = type(agents)(*(column[moved] for column in agents))
    now = np.argsort(moved)[slots].astype(np.int32)
    before, afterwards = look_of_people(1.0, state), look_of_people(1.0, state[moved])
    assert np.array_equal(compiled(1, slots, agents, before)[0], compiled(1, now, after, afterwards)[0])


@pytest.mark.quick
def test_the_wheel_shows_the_direction_of_flight():
    agents, slots = crowds.crowd(0, 5), np.arange(5, dtype=np.int32)
    agents.vx[:5], agents.vy[:5] = [0, 1, 0, -1, 0], [-1, 0, 1, 0, 0]
    colours = look_of_birds(1.0).plain(slots, agents)[0] & 0xFFFFFF
    up, right, down, left, still = (int(colour) for colour in colours)
    assert [up, right, down, left] == [r << 16 | g << 8 | b for r, g, b in birds.WHEEL]
    assert still == right


@given(crowds.seeds, crowds.counts, crowds.workers, sizes_px)
def test_predators_lie_over_their_prey_and_are_the_same_by_numpy(seed, count, workers, size_px):
    slots, agents, _ = crowd(seed, count)
    look = hunt.HuntLook(look_of_birds(size_px)._replace(single=False), 60, False)
    frame, on_screen = compiled(workers, slots, agents, look)
    plain, plain_on_screen = by_numpy(slots, agents, look)
    assert np.array_equal(frame, plain) and on_screen == plain_on_screen
    alone, _ = by_numpy(slots[agents.id[slots] < 60], agents, look)
    red = alone == hunt.PREDATOR
    assert (frame[red] == hunt.PREDATOR).all()
